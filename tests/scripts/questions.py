#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The questions of ravel-query(1) that are those of Pivot Tracing, and which calls happened before which, against a
second, obvious computation. A line for each that differs; none: all are the same.

questions.py ask RAVEL STORE PAGE [TRUTH]   from the packets' truth, or the store's own calls where there is none
questions.py path TRACE TRUTH               the trace with path= of the truth, on standard output
questions.py copies TRACE N                 N times the trace with path=, 25 s apart
questions.py time RAVEL STORE PAGE SECONDS  each question takes at most so many seconds of processor
questions.py filters RAVEL STORE SECONDS    so does every filter on every column of every view; before: with
                                            a request or two nodes, three times that
"""
import collections
import os
import re
import sqlite3
import subprocess
import sys

# Of a call: its parent's number in the list, which is less; None for a root.
Call = collections.namedtuple("Call", "parent caller callee label start end")


def nanoseconds(text):
    seconds, _, rest = text.partition(".")
    return int(seconds) * 10**9 + int(rest.ljust(9, "0"))


# --- truth -----------------------------------------------------------------------------------


def truth_rows(path):
    text = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line.split("\t") for line in text.splitlines() if line[0] != "#"]


def truth_parents(rows):
    """By span, its parent; one that ends after its parent replied is the root of a path of its own."""
    ends = {row[6]: nanoseconds(row[3]) for row in rows}
    return {row[6]: row[7] if row[7] != "-" and ends[row[7]] >= ends[row[6]] else None for row in rows}


def truth_calls(path):
    rows = truth_rows(path)
    parents = truth_parents(rows)
    rows.sort(key=lambda row: (row[6].count("."), nanoseconds(row[0])))
    number = {row[6]: i for i, row in enumerate(rows)}
    return [Call(number.get(parents[row[6]]), row[4], row[5], row[10], nanoseconds(row[0]), nanoseconds(row[3]))
            for row in rows]


def store_calls(path):
    store = sqlite3.connect(path)
    rows = store.execute("SELECT c.parent, a.written, b.written, l.name, call_sent, ret_sent FROM call c "
                         "JOIN node a ON a.id = c.caller JOIN node b ON b.id = c.callee "
                         "LEFT JOIN label l ON l.id = c.label ORDER BY c.id")
    return [Call(row[0] and row[0] - 1, *row[1:]) for row in rows]


def add_path(trace, truth):
    rows = truth_rows(truth)
    parents = truth_parents(rows)
    path, roots, calls = {}, 0, collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: row[6].count(".")):
        span, parent = row[6], parents[row[6]]
        if parent is None:
            roots += 1
        path[span] = f"{path[parent]}.{span.rsplit('.', 1)[1]}" if parent else str(roots)
    for row in rows:
        calls[row[4], row[5], nanoseconds(row[0]), int(row[9].rsplit(":", 1)[1])].append(path[row[6]])
    of = {}
    with open(trace, encoding="utf-8") as file:
        for line in file:
            words = line.rstrip("\n").split("\t")
            if line[0] != "#" and words[1] == "CALL_SENT":
                key = words[2], words[3], nanoseconds(words[0]), int(words[4].split(".")[0], 16)
                of[words[2], words[3], words[4]] = calls[key].pop(0)
            if line[0] != "#":
                caller, callee = words[2:4] if words[1] == "CALL_SENT" else words[3:1:-1]
                # The truth knows nothing of connections and retransmissions, which are the network's.
                kept = [a for a in " ".join(words[5:]).split() if not a.startswith(("syn=", "stall=", "resent="))]
                words[5:] = [" ".join(kept + ["path=" + of[caller, callee, words[4]]])]
            print(*words, sep="\t")


def copies(trace, n):
    with open(trace, encoding="utf-8") as file:
        lines = file.read().splitlines()
    print(*(line for line in lines if line[0] == "#" and ":" not in line or line.startswith("# ids")), sep="\n")
    rows = [line.split("\t") for line in lines if line[0] != "#"]
    for i in range(n):
        for row in rows:
            seconds, rest = row[0].split(".")
            attributes = re.sub(r"path=(\d+)", lambda m: f"path={int(m[1]) + i * 10**6}", row[5])
            print(f"{int(seconds) + 25 * i}.{rest}", *row[1:5], attributes, sep="\t")


# --- answers ---------------------------------------------------------------------------------


class Paths:
    def __init__(self, calls):
        self.calls = calls
        self.children = collections.defaultdict(list)
        self.root = []
        for i, call in enumerate(calls):
            self.root.append(i if call.parent is None else self.root[call.parent])
            if call.parent is not None:
                self.children[call.parent].append(i)
        self.own = [0] * len(calls)
        for i, call in enumerate(calls):
            if call.parent is None:
                self.walk(i, call.start, call.end)

    def walk(self, i, low, high):
        """Back from the end, along the child that ended last."""
        calls, t = self.calls, high
        pieces = [(min(calls[c].end, high), max(calls[c].start, low), calls[c].start, c) for c in self.children[i]
                  if calls[c].start < high]
        for end, start, _, c in sorted(pieces, reverse=True):
            if end <= t and start <= end:
                self.own[i] += t - end
                self.walk(c, start, end)
                t = start
        self.own[i] += t - low

    def before(self):
        """Pairs: above it, or in a branch that had returned."""
        below = {}
        for i in reversed(range(len(self.calls))):
            below[i] = [i] + [j for c in self.children[i] for j in below[c]]
        for i in range(len(self.calls)):
            for j in below[i][1:]:
                yield i, j
            for a in self.children[i]:
                for b in self.children[i]:
                    if a != b and self.calls[a].end <= self.calls[b].start:
                        yield from ((x, y) for x in below[a] for y in below[b])


def p99(values):
    return sorted(values)[-(-len(values) * 99 // 100) - 1]


def mean(values):
    return sum(values) / len(values)


def answer(paths, limit):
    """The rows of each question: what they are grouped by, and the values."""
    calls, root = paths.calls, paths.root
    latency = [c.end - c.start for c in calls]
    groups = [collections.defaultdict(list) for _ in range(7)]
    last = {}
    for i, c in enumerate(calls):
        slow = latency[root[i]] > limit
        groups[0][c.callee,].append(paths.own[i])
        if c.callee == "postgres":
            groups[1][calls[root[i]].label,].append(latency[i])
        if c.callee.startswith("web"):
            groups[2][c.callee,].append(latency[i])
        if c.callee == "catalog":
            groups[3][c.caller, c.callee].append(latency[i])
            if slow:
                groups[5][c.caller, calls[root[i]].label].append(paths.own[i])
        if slow:
            groups[6][c.callee,].append(paths.own[i])
    for i, j in paths.before():
        if calls[i].callee == "auth" and calls[j].callee == "catalog":
            last[j] = max(last.get(j, 0), calls[i].end)
    for j, end in last.items():
        groups[4][calls[j].caller,].append(calls[j].start - end)
    values = [lambda v: (len(v), sum(v)), lambda v: (len(v), sum(v)), lambda v: (len(v), mean(v)),
              lambda v: (len(v), p99(v)), lambda v: (len(v), mean(v), p99(v)), lambda v: (len(v), mean(v)),
              lambda v: (len(v), mean(v))]
    return [sorted(key + value(v) for key, v in group.items()) for group, value in zip(groups, values)]


def page_questions(page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    return [re.sub(r"\s+", " ", q) for q in re.findall(r"\$ ravel query shop\.sqlite \"(SELECT.*?)\"\n", text, re.S)]


def cells(line):
    return tuple(float(w) if re.fullmatch(r"-?[\d.]+", w) else w for w in line.split("\t"))


def query(ravel, store, question):
    text = subprocess.run([ravel, "query", "--format", "tsv", store, question], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return sorted(cells(line) for line in text.splitlines()[1:])


def same(found, expected):
    return len(found) == len(expected) and all(
        x == y or isinstance(y, float) and abs(x - y) <= 1e-9 * abs(y)
        for a, b in zip(found, expected) for x, y in zip(a, b))


def ask(ravel, store, page, truth):
    questions = page_questions(page)
    paths = Paths(truth_calls(truth) if truth else store_calls(store))
    limit = int(re.search(r"request_latency > (\d+)", " ".join(questions))[1])
    expected = answer(paths, limit)
    if len(questions) != len(expected):
        print(f"{len(questions)} questions, expected {len(expected)}")
    for question, rows in zip(questions, expected):
        found = query(ravel, store, question)
        if not same(found, rows):
            print(question, "\n  found", found[:3], "\n  expected", rows[:3])
    pairs = collections.Counter((paths.calls[i].callee, paths.calls[j].callee) for i, j in paths.before())
    found = query(ravel, store, "SELECT earlier_node, later_node, count(*) FROM before GROUP BY 1, 2")
    if not same(found, sorted(key + (n,) for key, n in pairs.items())):
        print("before:", found[:3])


# --- time -----------------------------------------------------------------------------------


def bounded(ravel, store, question, seconds):
    begun = os.times()
    subprocess.run([ravel, "query", store, question], check=True, stdout=subprocess.DEVNULL)
    ended = os.times()
    took = ended.children_user + ended.children_system - begun.children_user - begun.children_system
    print(f"{took:.2f} s{'' if took <= seconds else ', more than ' + str(seconds)}: {question}", file=sys.stderr)
    if took > seconds:
        print(f"{took:.2f} s: {question}")


VIEWS = ("request request_node slowest_request pattern_hour pattern_callee repeated_call hop request_excess "
         "node_hour path call").split()


def filters(ravel, store, seconds):
    def values(view):
        command = [ravel, "query", "--format", "tsv", store, f"SELECT * FROM {view} LIMIT 1"]
        lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        return zip(*(line.split("\t") for line in lines))

    for view in VIEWS:
        for column, value in values(view):
            value = value if re.fullmatch(r"-?\d+", value) else f"'{value}'"
            most = 2 * seconds if column == "nodes" else seconds  # JSON of all calls
            bounded(ravel, store, f'SELECT count(*) FROM {view} WHERE "{column}" = {value}', most)
    for column in "request = 1000", "earlier_node = 'auth' AND later_node = 'catalog'":
        bounded(ravel, store, f"SELECT count(*) FROM before WHERE {column}", 3 * seconds)


def main():
    what, *rest = sys.argv[1:]
    if what == "ask":
        ask(*rest[:3], rest[3] if len(rest) > 3 else None)
    elif what == "path":
        add_path(*rest)
    elif what == "copies":
        copies(rest[0], int(rest[1]))
    elif what == "time":
        for question in page_questions(rest[2]):
            bounded(rest[0], rest[1], question, float(rest[3]))
    else:
        filters(rest[0], rest[1], float(rest[2]))


main()
