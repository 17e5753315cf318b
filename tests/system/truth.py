#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What really happened: the services' logs -> the true path patterns.

    truth.py NODES CLIENT-LOG LOG... -o PREFIX

writes PREFIX.truth.tsv, a line a pattern, and PREFIX.edges.tsv, a line an edge
(see service.py for the logs, and for what lies between which times). Fails where
the logs contradict each other, since a truth that may be wrong is worse than none.
"""
import argparse
import collections
import sys


def read(path, names):
    """The (kind, span, caller, callee, start, end, type) of a log."""
    with open(path, encoding="ascii") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == "proxied":  # by nginx: who it asked, no times finer than 1 ms
                span, caller, upstream = fields[1:4]
                yield "call", span, caller, names[upstream.rsplit(":", 1)[0]], 0, 0, ""
            else:
                kind, span, caller, callee, start, end = fields[:6]
                yield kind, span, caller, callee, int(start), int(end), "".join(fields[6:])


def signature(span, callee, children):
    below = sorted(signature(child, name, children) for child, name in children[span])
    return callee + (f"({','.join(below)})" if below else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("nodes")
    parser.add_argument("client")
    parser.add_argument("log", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()

    with open(options.nodes, encoding="ascii") as file:
        names = dict(line.split() for line in file if not line.startswith("#"))
    roots = list(read(options.client, names))
    wanted = {root[1] for root in roots}
    lines = roots + [line for path in options.log for line in read(path, names)
                     if line[1].split(".")[0] in wanted]

    calls = {line[1]: line for line in lines if line[0] == "call"}
    served = {line[1]: line for line in lines if line[0] == "served"}
    if len(calls) + len(served) != len(lines):
        sys.exit("truth: a call was logged twice")
    children = collections.defaultdict(list)
    for span, call in calls.items():
        above = span.rpartition(".")[0]
        if above and calls.get(above, [None] * 4)[3] != call[2]:
            sys.exit(f"truth: {span}: {call[2]} called, but was not called itself")
        children[above].append((span, call[3]))
    for span, line in served.items():
        if span not in calls or calls[span][2:4] != line[2:4]:
            sys.exit(f"truth: {span}: served by {line[3]}, but never called")

    patterns = collections.defaultdict(list)
    for _, span, caller, callee, start, end, kind in roots:
        patterns[f"{caller}>{signature(span, callee, children)}"].append((end - start, kind))
    with open(options.output + ".truth.tsv", "w", encoding="ascii") as file:
        file.write("#count\tclient_mean_us\ttypes\tsignature\n")
        for pattern, found in sorted(patterns.items(), key=lambda item: (-len(item[1]), item[0])):
            mean = sum(time for time, _ in found) / len(found) / 1000
            kinds = ",".join(sorted({kind for _, kind in found}))
            file.write(f"{len(found)}\t{mean:.0f}\t{kinds}\t{pattern}\n")

    edges = collections.defaultdict(list)
    for span, call in calls.items():
        inner = served.get(span)
        edges[call[2:4]].append((call[5] - call[4], inner[5] - inner[4] if inner else 0))
    with open(options.output + ".edges.tsv", "w", encoding="ascii") as file:
        file.write("#caller\tcallee\tcalls\tserved_mean_us\tcall_mean_us\n")
        for (caller, callee), found in sorted(edges.items()):
            inner, outer = (sum(times) / len(found) / 1000 for times in list(zip(*found))[::-1])
            file.write(f"{caller}\t{callee}\t{len(found)}\t{inner:.1f}\t{outer:.1f}\n")


if __name__ == "__main__":
    main()
