#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare-calls.py CALLS PARENTS [PATHS JSON]: the share of calls whose parent agrees.

CALLS is what `ravel nesting --calls` wrote. PARENTS has a line a call: start caller callee id
parent_caller parent_callee parent_id, '-' for none. PATHS has lines count, mean latency, pattern
(client->A(B,C), children sorted) and is compared with the JSON of `ravel nesting --format json -n 0`.
Prints "calls agreeing patterns agreeing-patterns".
"""
import json
import sys


def key(start, caller, callee, ident):
    whole, _, part = start.partition('.')
    return int(whole), int((part + '000000000')[:9]), caller, callee, ident


def main():
    found = {}
    with open(sys.argv[1], encoding='utf-8') as f:
        next(f)
        for line in f:
            v = line.rstrip('\n').split('\t')
            found[key(v[0], v[2], v[3], v[4])] = tuple(v[6:9])
    total = agree = 0
    with open(sys.argv[2], encoding='utf-8') as f:
        for line in f:
            v = line.split()
            total += 1
            agree += found.get(key(*v[:4])) == tuple(v[4:7])
    out = [total, agree]
    if len(sys.argv) > 3:
        want, have = {}, {}
        with open(sys.argv[3], encoding='utf-8') as f:
            for line in f:
                count, _, signature = line.rstrip('\n').split('\t')
                want[signature.replace('->', '>', 1)] = int(count)
        with open(sys.argv[4], encoding='utf-8') as f:
            for p in json.load(f)['patterns']:
                have[p['signature']] = have.get(p['signature'], 0) + int(p['count'])
        out += [len(want), sum(have.get(s) == n for s, n in want.items()),
                len(set(have) - set(want))]
    print(*out)


main()
