#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""why_test.py RAVEL

The system test of ravel why, captured on the loopback of a network namespace. A Java machine logs its
garbage collections, which are pauses. The workers of gunicorn log when they take a request, and so who waited
for whom. TAP; what is not installed is skipped. Run it by why.sh.
"""
import collections, http.client, json, os, re, shutil, subprocess, sys, threading, time

from brokers import RAVEL, WORK, Capture, is_up, run, tap

HERE = os.path.dirname(os.path.realpath(__file__))
MILLISECOND = 10**6


def load(seconds, port, clients):
    """Each client is (address, path, s between an answer and the next request, whether it keeps its connection)."""
    end = time.time() + seconds

    def ask(address, path, think, keeps):
        line = http.client.HTTPConnection('127.0.0.1', port, source_address=(address, 0))
        while time.time() < end:
            line.request('GET', path)
            line.getresponse().read()
            if not keeps:
                line.close()
            time.sleep(think)

    threads = [threading.Thread(target=ask, args=client) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def why(capture, *options):
    store = os.path.join(WORK, 'store.db')
    capture.lines()
    subprocess.run([RAVEL, 'nesting', '-o', store, '-w', os.devnull, '-'], input=capture.trace, text=True, check=True)
    out = subprocess.run([RAVEL, 'why', '--format', 'json', store, *options], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out.splitlines()[0])


def captured(capture, port):
    """(client, port of it, begin, end) of each call; times in ns."""
    begun = {}
    for line in capture.trace.splitlines():
        if line[0] != '#':
            at, op, sender, receiver, name = line.split()[:5]
            at = int(at.replace('.', ''))
            if op == 'CALL_SENT':
                begun[name] = sender, int(name.split('.')[0], 16), at
            elif name in begun:
                yield *begun.pop(name), at


# --- a Java machine --------------------------------------------------------------

def overlap(times, begin, end):
    return any(b < end and begin < e for b, e in times)


def logged(lines, pattern):
    """(begin, end) in ns of lines that have the time of their end, by the monotonic clock, and ms before it."""
    offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    for found in filter(None, (re.search(pattern, line) for line in lines)):
        end = int(found[1]) + offset
        yield end - round(float(found[2]) * MILLISECOND), end


def test_java():
    port, log = 18930, os.path.join(WORK, 'gc')
    subprocess.run(['javac', '-d', WORK, os.path.join(HERE, 'PauseServer.java')], check=True)
    with open(os.path.join(WORK, 'stops'), 'w') as out:
        server = subprocess.Popen(['java', '-Xms400m', '-Xmx400m', '-XX:+UseSerialGC', '-Xlog:gc:file=%s:tn' % log,
                                   '-Dsun.net.httpserver.nodelay=true', '-cp', WORK, 'PauseServer', str(port)],
                                  stdout=out)
    if not is_up(port, 20):
        return tap(False, 'java: the server is up')
    capture = Capture(port)
    load(20, port, [('127.0.0.%d' % (10 + i), '/', 0.004, True) for i in range(8)])
    answer = why(capture)
    server.kill()
    server.wait()
    calls = list(captured(capture, port))
    collections_ = list(logged(open(log), r'\[(\d+)ns\] GC\(\d+\) Pause.* ([\d.]+)ms$'))
    stops = list(logged(open(out.name), r'(\d+) ([\d.]+)'))
    found = [(int(t['from']), int(t['to'])) for p in answer['pauses'] for t in p['times']]
    truth = [(b, e) for b, e in collections_
             if e - b >= 10 * MILLISECOND and any(c < e - 10 * MILLISECOND and e < r for _, _, c, r in calls)]
    hit = sum(overlap(found, *pause) for pause in truth)
    wrong = sum(not overlap(collections_ + stops, *pause) for pause in found)
    # A busy machine makes its own stops, which hide collections.
    tap(len(truth) >= 5 and hit >= 0.5 * len(truth), 'java: garbage collections of more than 10 ms are pauses',
        ': %d of %d' % (hit, len(truth)))
    tap(wrong <= 0.2 * len(found), 'java: in other pauses its threads stood still as well',
        ': %d of %d did not' % (wrong, len(found)))
    print('#', sum(not overlap(collections_, *p) for p in found), 'stops are not of the collector')


# --- gunicorn --------------------------------------------------------------------

APP = '''
import os, time

def app(environ, start):
    begin = time.time_ns()
    time.sleep(0.12 if environ['PATH_INFO'] == '/slow' else 0.004)
    start('200 OK', [('Content-Length', '2')])
    os.write(1, b'%d %s\\n' % (begin, environ['REMOTE_PORT'].encode()))
    return [b'ok']
'''


def charge(calls, workers):
    """The time that callers waited while others were served. A call is (caller, enter, start, reply)."""
    held = collections.Counter()
    for waiting, enter, start, _ in calls:
        for holding, _, begin, end in calls:
            if begin < start and enter < end:
                held[waiting, holding] += max(0, min(start, end) - max(enter, begin)) / workers
    return held


def test_gunicorn():
    port, workers = 18940, 2
    with open(os.path.join(WORK, 'paths.py'), 'w') as out:
        out.write(APP)
    log = os.path.join(WORK, 'taken')
    with open(log, 'w') as out:
        server = subprocess.Popen([shutil.which('gunicorn') or '/usr/bin/gunicorn', '-w', str(workers), '-b',
                                   '127.0.0.1:%d' % port, '--chdir', WORK, 'paths:app'],
                                  stdout=out, stderr=subprocess.DEVNULL)
    if not is_up(port, 20):
        return tap(False, 'gunicorn: the server is up')
    time.sleep(1)
    capture = Capture(port)
    load(15, port, [('127.0.0.10', '/quick', 0.03, False)] * 6 + [('127.0.0.20', '/slow', 0.06, False)] * 2)
    answer = why(capture, '--waiting')
    server.terminate()
    server.wait()
    taken = collections.defaultdict(list)
    for line in open(log):
        at, client = line.split()
        taken[int(client)].append(int(at))
    calls = []
    for client, its, begin, end in captured(capture, port):
        start = [at for at in taken[its] if begin <= at <= end]
        if start:
            calls.append((client, begin, start[0], end))
    held, quick, slow = charge(calls, workers), '127.0.0.10', '127.0.0.20'
    waited = held[quick, quick] + held[quick, slow]
    behind = [w for w in answer['waits'] if w['for'] == 'worker' and w['waiting'] == quick + ' > GET /quick' and
              w['holding'] == slow + ' > GET /slow']
    share, mean = held[quick, slow] / waited, waited / sum(client == quick for client, *_ in calls)
    said = behind and (behind[0]['workers'], behind[0]['share'], int(behind[0]['mean']))
    tap(bool(said) and said[0] == workers and abs(said[1] - share) < 0.03, 'gunicorn: who waits behind whom',
        ': %s, expected %.3f of the time' % (said, share))
    tap(bool(said) and abs(said[2] / mean - 1) < 0.1, 'gunicorn: for how long',
        ': %s, expected %.1f ms' % (said, mean / MILLISECOND))


TESTS = (('java', test_java, lambda: shutil.which('java') and shutil.which('javac')),
         ('gunicorn', test_gunicorn, lambda: shutil.which('gunicorn') or os.path.exists('/usr/bin/gunicorn')))
run(TESTS)
