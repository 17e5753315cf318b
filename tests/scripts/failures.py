#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes a trace of requests of which some fail, for a reason that is planted, and compares what
ravel says with that.

failures.py make KIND TRACE TRUTH: requests to client>web1>auth>redis, some with a cache and a
log. KIND says where a call fails: depth1 (the root's own fault), depth2, depth3; retried (an error
that is tried again: in vain, or with success, after which the caller may fail by itself), swallowed
(an error that its caller swallows, in requests of which some fail elsewhere), late (an answer that its
caller did not wait for, which then fails, or asks again and may fail by itself); or all, of each in turn.
failures.py check TRUTH ANSWER: ANSWER is what ravel query says of failed_request, as TSV.
"""
import random
import sys

WORDS = {'redis': ['LOADING', 'OOM', 'CLUSTERDOWN', 'NO_ANSWER'], 'auth': ['UNAVAILABLE', '503'],
         'web1': ['500', '502'], 'cache': ['SERVER_ERROR'], 'log': ['NACK']}
LABELS = {'redis': 'GET', 'auth': 'auth.Check/Token', 'web1': 'GET%20/home', 'cache': 'get',
          'log': 'publish%20log'}
NS = 10 ** 9
MS = 10 ** 6


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.number = 0

    def delay(self, ms):
        return int(self.random.uniform(0.8, 1.2) * ms * MS)

    def call(self, time, caller, callee, inside, outcome=None, waits=None):
        """A call from time on; inside(time) makes its own calls. When it ended, or its caller, who waits
        for some ms, gave it up."""
        self.number += 1
        key = '%s\t%s\t%x.%x' % (caller, callee, 40000 + self.number % 1000, self.number)
        back = '%s\t%s\t%x.%x' % (callee, caller, 40000 + self.number % 1000, self.number)
        self.lines.append((time, 'CALL_SENT', key, 'bytes=64 label=' + LABELS[callee]))
        end = inside(time + self.delay(0.5)) + self.delay(0.5)
        status = 'end=reset' if outcome == 'NO_ANSWER' else 'bytes=64 st=' + outcome if outcome else 'bytes=64'
        self.lines.append((end, 'RET_SENT', back, status))
        return time + self.delay(waits) if waits else end


def request(w, time, kind):
    """The node and outcome of the culprit, or None; and when the request ended."""
    word = {node: w.random.choice(words) for node, words in WORDS.items()}
    depth = {'depth1': 1, 'depth2': 2, 'depth3': 3}.get(kind, 0)
    attempts, mended, fails_after, fails_elsewhere = 1, True, False, False
    if kind == 'retried':
        attempts = w.random.randint(2, 4)
        mended = w.random.random() > 1 / 3
        fails_after = mended and w.random.random() > 1 / 2
    if kind == 'swallowed':
        fails_elsewhere = w.random.random() < 0.5

    def leaf(t):
        return t + w.delay(1)

    def in_auth(t):
        if kind == 'swallowed':  # the cache is down, and auth does without it
            t = w.call(t, 'auth', 'cache', leaf, word['cache']) + w.delay(0.2)
        if late:  # it answers 200 ms later
            t = w.call(t, 'auth', 'redis', lambda t: t + 200 * MS, waits=20) + w.delay(0.2)
            if late in ('fails', 'swallowed'):
                return t
        for i in range(attempts):
            last = i == attempts - 1
            fails = depth == 3 or (kind == 'retried' and not (last and mended)) or fails_elsewhere
            t = w.call(t, 'auth', 'redis', leaf, word['redis'] if fails else None) + w.delay(0.2)
        return t

    late = w.random.choice(['fails', 'mended', 'fails_after', 'swallowed']) if kind == 'late' else None
    fails_after |= late == 'fails_after'

    failed = depth > 0 or not mended or fails_after or fails_elsewhere or late == 'fails'
    auth_fails = failed and depth != 1

    def in_web(t):
        if kind == 'swallowed':
            t = w.call(t, 'web1', 'log', leaf, word['log']) + w.delay(0.2)
        return w.call(t, 'web1', 'auth', in_auth, word['auth'] if auth_fails else None) + \
            w.delay(0.2)

    end = w.call(time, 'client', 'web1', in_web, word['web1'] if failed else None)
    if not failed:
        return None, end
    if late == 'fails':
        return ('redis', 'NO_ANSWER'), end
    node = 'auth' if fails_after else {1: 'web1', 2: 'auth'}.get(depth, 'redis')
    return (node, word[node]), end


def make(kind, trace, truth):
    kinds = ['depth1', 'depth2', 'depth3', 'retried', 'swallowed', 'late']
    w, time, planted = Writer(kind), 1800000000 * NS, []
    for i in range(300):
        one = kinds[i % len(kinds)] if kind == 'all' else kind if i % 3 == 0 else 'good'
        culprit, end = request(w, time, one)
        if culprit:
            planted.append('%d\t%s\t%s\n' % (time, *culprit))
        time = end + w.delay(3 if one != 'late' else 300)
    with open(trace, 'w', encoding='utf-8') as out:
        out.write('# ravel trace 1\n# clocks: one\n')
        for time, op, key, attrs in sorted(w.lines):
            out.write('%d.%09d\t%s\t%s\t%s\n' % (time // NS, time % NS, op, key, attrs))
    with open(truth, 'w', encoding='utf-8') as out:
        out.writelines(planted)


def check(truth, answer):
    planted = [line.split() for line in open(truth, encoding='utf-8')]
    found = [line.split() for line in open(answer, encoding='utf-8')][1:]
    right = sum(f in planted for f in found)
    print('%d of %d, %d found' % (right, len(planted), len(found)))
    return 0 if right == len(planted) == len(found) and planted else 1


if sys.argv[1] == 'make':
    make(*sys.argv[2:])
else:
    sys.exit(check(*sys.argv[2:]))
