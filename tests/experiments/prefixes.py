# SPDX-License-Identifier: BSD-2-Clause
"""
Path prefixes: how right convolution's paths are.

A path prefix is the sequence of nodes from a root to a message's receiver. In the truth
each message has one immediate cause, the latest arrival at its sender that belongs to the
same piece of work: its call, or the return of a call that it made itself. A found prefix is
*true* if messages took it, *derived* if its edges are a part, in order, of a true path (A>B>A of
A>B>C>B>A), else *false*.

    prefixes.py [--loss P] [--noise P] [--stamp NS] [--seed N] TRACE OUT

writes a trace of `ravel maketrace` as messages and no more, without those lost and with
others at random times on random edges, all stamps rounded down to whole NS; and its truth
as comments, which prefixes.truth() reads again.
"""

import argparse
import collections
import random
import statistics

NOISE, ORPHAN = -2, -3  # in place of a cause: none, or one that was lost
ROOT = -1


class Message:
    __slots__ = ("time", "sender", "receiver", "cause")

    def __init__(self, time, sender, receiver, cause):
        self.time, self.sender, self.receiver, self.cause = time, sender, receiver, cause


def nanoseconds(text):
    whole, _, fraction = text.partition(".")
    return int(whole) * 10**9 + int(fraction.ljust(9, "0"))


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09d}"


def caused_messages(lines):
    """The messages of a trace of maketrace, each with the index of its cause."""
    messages = []
    latest = {}  # by position of a call or one-way message: what came last to who works on it
    for line in lines:
        if line.startswith("#"):
            continue
        field = line.split()
        position = field[5][len("path=") :]
        above = position.rpartition(".")[0]
        work = position if field[1].startswith("RET") else above
        cause = latest.get(work, ROOT) if work else ROOT
        messages.append(Message(nanoseconds(field[0]), field[2], field[3], cause))
        arrives = above if field[1].startswith("RET") else position
        if arrives:
            latest[arrives] = len(messages) - 1
    return messages


def testbed_messages(lines):
    """The same of the truth of a testbed: a line a call, with the span it belongs to."""
    spans = {}
    children = collections.defaultdict(list)
    for line in lines:
        if line.startswith("#"):
            continue
        field = line.rstrip("\n").split("\t")
        spans[field[6]] = (nanoseconds(field[0]), nanoseconds(field[2]), field[4], field[5])
        children[field[7]].append(field[6])
    messages = []
    index = {}
    for name, (call, reply, caller, callee) in spans.items():
        index[name] = len(messages)
        messages.append(Message(call, caller, callee, ROOT))
        messages.append(Message(reply, callee, caller, ROOT))
    for name, (call, reply, _, _) in spans.items():
        arrivals = [(call, index[name])] + [(spans[c][1], index[c] + 1) for c in children[name]]
        for child in children[name]:
            start = spans[child][0]
            messages[index[child]].cause = max(a for a in arrivals if a[0] <= start)[1]
        messages[index[name] + 1].cause = max(a for a in arrivals if a[0] <= reply)[1]
    return reordered(messages)


def reordered(messages):
    """In order of time, causes renumbered."""
    order = sorted(range(len(messages)), key=lambda i: messages[i].time)
    place = {old: new for new, old in enumerate(order)}
    for m in messages:
        m.cause = place[m.cause] if m.cause >= 0 else m.cause
    return [messages[i] for i in order]


def disturbed(messages, loss=0.0, noise=0.0, seed=1):
    """A share of the messages lost, another share more at random times on random edges."""
    rng = random.Random(seed)
    edges = sorted({(m.sender, m.receiver) for m in messages})
    first, last = messages[0].time, messages[-1].time
    more = []
    for _ in range(round(noise * len(messages))):
        more.append(Message(rng.randint(first, last), *rng.choice(edges), NOISE))
    kept = {}
    left = []
    for i, m in enumerate(messages):
        if rng.random() >= loss:
            kept[i] = len(left)
            cause = kept.get(m.cause, ORPHAN) if m.cause >= 0 else m.cause
            left.append(Message(m.time, m.sender, m.receiver, cause))
    return reordered(left + [m for m in more if rng.random() >= loss])


def write(messages, out, stamp=1):
    print("# ravel trace 1", file=out)
    for m in messages:
        print(f"# cause: {m.cause}", file=out)
        time = seconds(m.time // stamp * stamp)
        print(f"{time}\tMSG_SENT\t{m.sender}\t{m.receiver}\t-", file=out)


class Truth:
    """Of each prefix, a tuple of nodes: messages, and their delays after their causes."""

    def __init__(self, messages):
        self.count = collections.Counter()
        self.ends = collections.Counter()
        self.delays = collections.defaultdict(list)
        prefix = [None] * len(messages)
        caused = [0] * len(messages)
        for i, m in enumerate(messages):
            if m.cause == ROOT:
                prefix[i] = (m.sender, m.receiver)
            elif m.cause >= 0 and prefix[m.cause]:
                prefix[i] = prefix[m.cause] + (m.receiver,)
                caused[m.cause] += 1
                self.delays[prefix[i]].append(m.time - messages[m.cause].time)
            if prefix[i]:
                self.count[prefix[i]] += 1
        for i, p in enumerate(prefix):
            if p and not caused[i]:
                self.ends[p] += 1
        self.requests = sum(n for p, n in self.count.items() if len(p) == 2)

    def frequent(self, share=0.01):
        return [p for p, n in self.count.items() if n > share * self.requests]

    def derives(self, prefix):
        edges = list(zip(prefix, prefix[1:]))
        for path in self.count:
            if len(path) <= len(prefix) or path[0] != prefix[0]:
                continue
            steps = iter(zip(path, path[1:]))
            if all(any(step == edge for step in steps) for edge in edges):
                return True
        return False


def truth(path):
    """The truth in the comments of a trace that was written above."""
    messages = []
    with open(path) as lines:
        cause = ROOT
        for line in lines:
            if line.startswith("# cause: "):
                cause = int(line[9:])
            elif not line.startswith("#"):
                field = line.split()
                messages.append(Message(nanoseconds(field[0]), field[2], field[3], cause))
    return Truth(messages)


class Score:
    """found: by prefix, (count, [(delay in ns, share), ...] main delay first)."""

    def __init__(self, true, found, share=0.01):
        often = share * true.requests
        frequent = set(true.frequent(share))
        self.frequent = len(frequent)
        self.missed = sorted(p for p in frequent if p not in found)
        wrong = [p for p in found if p not in true.count]
        self.derived = sorted(p for p in wrong if true.derives(p))
        self.false = sorted(set(wrong) - set(self.derived))
        self.often_derived = [p for p in self.derived if found[p][0] > often]
        self.often_false = [p for p in self.false if found[p][0] > often]
        self.reported = len(found)
        self.reported_often = sum(count > often for count, _ in found.values())
        self.delay_errors, self.count_errors = [], []
        for p in sorted(frequent & set(found)):
            count, delays = found[p]
            self.count_errors.append(abs(count - true.count[p]) / true.count[p])
            if len(p) > 2:
                median = statistics.median(true.delays[p])
                self.delay_errors.append(abs(delays[0][0] - median) / max(median, 1))

    def __str__(self):
        def median(values):
            return 100 * statistics.median(values) if values else 0.0

        return (
            f"{len(self.missed)}/{self.frequent} missed, {len(self.false)} ({len(self.often_false)}) false, "
            f"{len(self.derived)} ({len(self.often_derived)}) derived of {self.reported} ({self.reported_often}); "
            f"delay {median(self.delay_errors):.2f} %, count {median(self.count_errors):.1f} %, "
            f"max {100 * max(self.count_errors, default=0):.0f} %"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--loss", type=float, default=0.0)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--stamp", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--testbed", action="store_true")
    parser.add_argument("trace")
    parser.add_argument("out")
    options = parser.parse_args()
    with open(options.trace) as f:
        made = testbed_messages(f) if options.testbed else caused_messages(f)
    with open(options.out, "w") as f:
        write(disturbed(made, options.loss, options.noise, options.seed), f, options.stamp)
