#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""quic_test.py RAVEL FOLDER [TEST...]

The system test of QUIC and HTTP/3, by ngtcp2's client and server. Every call, return, label and status in the
trace is compared with the client's own log: of all packets, of captures that lost some or cut them, and of
connections that were open before. TAP. Run it by quic.sh.
"""
import collections, os, random, re, struct, subprocess, sys, time

RAVEL, WORK, ONLY = sys.argv[1], sys.argv[2], sys.argv[3:]
PATHS = ['/users/%d/orders' % i for i in (1, 2, 3)] + ['/nothing', '/20000', '/big']
LABELS = {p: 'GET /users/{id}/orders' for p in PATHS[:3]} | {'/nothing': 'GET /nothing', '/20000': 'GET /{id}',
                                                              '/big': 'GET /big'}
CIPHERS = '--ciphers=NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+'
SPLIT, EIGHT = '--max-gso-dgrams=1', '--max-streams-bidi=8'
# name: requests, options of the server, of the client, how many connections in turn
TESTS = {
    'eight at a time': (64, [SPLIT, EIGHT], [], 1),
    'AES-256': (12, [SPLIT], [CIPHERS + 'AES-256-GCM'], 1),
    'ChaCha20': (12, [SPLIT], [CIPHERS + 'CHACHA20-POLY1305'], 1),
    'Retry': (12, [SPLIT, '-V'], [], 1),
    'keys updated': (200, [SPLIT, EIGHT], ['--key-update=5ms'], 1),
    'early data': (12, [SPLIT], ['--session-file=session', '--tp-file=parameters'], 3),
    'another address': (64, [SPLIT, EIGHT], ['--change-local-addr=5ms'], 1),
    'another port of a translator': (64, [SPLIT, EIGHT], ['--change-local-addr=5ms', '--nat-rebinding'], 1),
    'packets lost on the way': (200, [SPLIT, EIGHT, '-t', '0.05', '-r', '0.05'], [], 1),
    'datagrams not taken apart': (40, [], [], 1),
    'uploads': (12, [SPLIT], ['--http-method=POST', '--data=key.pem'], 1),
}
count = failed = 0


def tap(good, what, *notes):
    global count, failed
    count += 1
    failed += not good
    print('%sok %d - %s' % ('' if good else 'not ', count, what), flush=True)
    for note in notes:
        print('#', note)


def converse(name, port, requests, server, client, times):
    """Captures NAME.pcap, with the keys in NAME.keys. The client's log: (stream, path, status) of each request
    of each connection."""
    said = []
    dump = subprocess.Popen(['tcpdump', '-i', 'lo', '-s0', '-U', '-B', '65536', '-Z', 'root', '-w', name + '.pcap', 'udp port %d' % port],
                            stderr=subprocess.DEVNULL)
    serve = subprocess.Popen(['gtlsserver', '-d', 'www', *server, '127.0.0.1', str(port), 'key.pem', 'cert.pem'],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    for _ in range(times):
        log = subprocess.run(
            ['gtlsclient', '--sni=shop.test', '--exit-on-all-streams-close', '--no-quic-dump', '--timeout=10s', *client,
             '-n', str(requests), '127.0.0.1', str(port), *('https://shop.test' + p for p in PATHS)],
            capture_output=True, timeout=60, env={**os.environ, 'SSLKEYLOGFILE': name + '.keys'}).stderr
        said.append(read_log(log.decode(errors='replace')))
    size = -1
    while size != (size := os.path.getsize(name + '.pcap')):
        time.sleep(1.5) # tcpdump has yet to read
    for process in dump, serve:
        process.terminate()
        process.wait()
    os.chmod(name + '.keys', 0o600)
    return said


def read_log(log):
    paths, statuses, stream = {}, {}, None
    for line in log.splitlines():
        if found := re.match(r'http: stream 0x([0-9a-f]+) submit request headers', line):
            stream = int(found[1], 16)
        elif found := re.match(r'\[:path: (.*)\]', line):
            paths[stream] = found[1]
        elif found := re.match(r'http: stream 0x([0-9a-f]+) \[:status: (\d+)\]', line):
            statuses[int(found[1], 16)] = found[2]
    return {stream: (path, statuses.get(stream)) for stream, path in paths.items()}


def capture(file, keys=None):
    """The calls and returns of a capture, by connection and stream, its facts and what was said."""
    done = subprocess.run([RAVEL, 'capture', '-r', file, '--labels', '-w', 'trace', '--names',
                           *(['--tls-keys', keys] if keys else [])], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    calls, returns, facts, other = collections.defaultdict(dict), collections.defaultdict(dict), {}, 0
    for line in open('trace'):
        if line.startswith('#'):
            key, _, value = line[2:].strip().rpartition(': ')
            facts[key] = value
            continue
        stamp, op, _, _, number, words = (line.rstrip('\n') + '\t').split('\t')[:6]
        words = dict(w.split('=', 1) for w in words.split())
        port, _, stream = number.partition('.')
        table = {'CALL_SENT': calls, 'RET_SENT': returns}.get(op)
        other += table is None or int(stream, 16) in table[port] # none is expected
        if table is not None:
            table[port][int(stream, 16)] = float(stamp), words
    return calls, returns, facts, done.stderr, other


def differences(said, calls, returns, method='GET', all_there=True):
    """What the trace says otherwise than the clients; and how many calls and returns it has."""
    wrong, n_calls, n_returns = [], 0, 0
    ports = sorted(calls, key=lambda p: min(t for t, _ in calls[p].values()))
    if all_there and len(ports) != len(said):
        wrong.append('%d connections' % len(ports))
    for port, truth in zip(ports, said):
        for stream, (path, status) in truth.items():
            call, answer = calls[port].pop(stream, None), returns[port].pop(stream, None)
            n_calls += call is not None
            n_returns += answer is not None and 'end' not in answer[1]
            if all_there and not (call and answer):
                wrong.append('stream %d is missing' % stream)
            if call:
                label = call[1].get('label', '').replace('%20', ' ')
                if label != LABELS[path].replace('GET', method) and (all_there or label):
                    wrong.append('stream %d: label %s of %s' % (stream, label, path))
            if answer and call and answer[0] < call[0]:
                wrong.append('stream %d: answered before' % stream)
            st = answer[1].get('st', '200') if answer else status
            if st != status and (all_there or 'st' in answer[1]):
                wrong.append('stream %d: status %s' % (stream, st))
        wrong += ['stream %d is none' % s for s in calls[port]]
    return wrong, n_calls, n_returns


def packets_of(file):
    with open(file, 'rb') as data:
        head = data.read(24)
        while len(record := data.read(16)) == 16:
            yield head, record, data.read(struct.unpack('<I', record[8:12])[0])


def rewrite(file, to, take):
    """A capture with those packets that take(number, packet) gives back, as a whole or cut."""
    with open(to, 'wb') as out:
        for i, (head, record, packet) in enumerate(packets_of(file)):
            if i == 0:
                out.write(head)
            if (kept := take(i, packet)) is not None:
                out.write(record[:8] + struct.pack('<I', len(kept)) + record[12:] + kept)


def main():
    os.chdir(WORK)
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'cert.pem',
                    '-days', '2', '-subj', '/CN=shop.test'], check=True, capture_output=True)
    for i in 1, 2, 3:
        os.makedirs('www/users/%d' % i)
        open('www/users/%d/orders' % i, 'w').write('order %d' % i)
    open('www/big', 'wb').write(bytes(150000))
    for port, (name, (requests, server, client, times)) in enumerate(TESTS.items(), 4433):
        if ONLY and name not in ONLY:
            continue
        file = name.replace(' ', '-')
        said = converse(file, port, requests, server, client, times)
        method = 'POST' if '--http-method=POST' in client else 'GET'
        calls, returns, facts, _, other = capture(file + '.pcap', file + '.keys')
        wrong, n, n_returns = differences(said, calls, returns, method)
        tap(not wrong and not other and sum(map(len, said)) == requests * times,
            '%s: %d calls and %d returns, as the client says' % (name, n, n_returns), *wrong[:5], *(
                ['%d other messages' % other] if other else []))
        if 'address' in name or 'translator' in name:
            tap(facts.get('QUIC connections that have changed their addresses') == '1' and
                facts['connections'] == '1', name + ': it is one connection')
    if ONLY and 'eight at a time' not in ONLY:
        return
    whole, keys, said = 'eight-at-a-time.pcap', 'eight-at-a-time.keys', None
    said = converse('eight-at-a-time', 443, *TESTS['eight at a time'])
    for percent in 1, 5, 20:
        rand = random.Random(percent)
        rewrite(whole, 'lost.pcap', lambda i, p: None if i > 8 and rand.random() < percent / 100 else p)
        wrong, n, n_returns = differences(said, *capture('lost.pcap', keys)[:2], all_there=False)
        tap(not wrong, '%d %% of packets lost by the capture: %d calls and %d returns of 64, none wrong' %
            (percent, n, n_returns), *wrong[:5])
    for size in 68, 200:
        rewrite(whole, 'cut.pcap', lambda i, p: p[:size])
        wrong, n, _ = differences(said, *capture('cut.pcap', keys)[:2], all_there=False)
        tap(not wrong, 'packets cut at %d bytes: %d calls, none wrong' % (size, n), *wrong[:5])
    # The bit by which QUIC is told may be any (RFC 9287): here it is set.
    rewrite(whole, 'open.pcap', lambda i, p: p[:42] + bytes([p[42] | 0x40]) + p[43:] if i > 6 else None)
    calls, returns, facts, text, other = capture('open.pcap', keys)
    tap(not calls and not returns and not other, 'open before the capture: no message')
    rewrite(whole, 'late.pcap', lambda i, p: p if i > 0 else None)
    calls, returns, facts, text, other = capture('late.pcap', keys)
    tap(not calls and not other and facts.get('QUIC connections not opened: handshake not seen whole') == '1' and
        'QUIC without keys: 1 connection,' in text, 'the first packet was not seen: it says so')
    calls, returns, facts, text, other = capture(whole)
    tap(not calls and not returns and not other and 'QUIC without keys: 1 connection,' in text,
        'without keys: it says so, and there is no message')


main()
print('1..%d' % count)
sys.exit(failed > 0)
