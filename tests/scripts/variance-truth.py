#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""variance-truth.py TRACE JSON: whether JSON, of `ravel variance --format json`, is what the definitions say.

TRACE has the true paths (path=), one stamp at each end of a call. All is computed from it alone, in the most obvious
way: each request's factors as a list, sums of whole numbers, no store. Says what differs, and then ends with 1.
"""
import bisect
import collections
import itertools
import json
import math
import sys
import urllib.parse

FEWEST, RARE, PAIR, LEAST_R, BATCHES, T = 100, 0.01, 0.05, 0.25, 20, 2.093


class Call:
    def __init__(self, caller, callee, start, label):
        self.caller, self.callee, self.start, self.label = caller, callee, start, label
        self.end, self.own, self.children = None, 0, []


def read(name):
    """The roots, in order of time, and all calls."""
    calls, order = {}, []
    with open(name, encoding="utf-8") as file:
        for line in file:
            if line[0] == "#":
                continue
            stamp, operation, sender, receiver, _, *rest = line.split()
            facts = dict(word.split("=", 1) for word in rest)
            seconds, _, part = stamp.partition(".")
            time = int(seconds) * 10**9 + int(part.ljust(9, "0"))
            place = facts["path"]
            if operation.startswith("CALL"):
                label = urllib.parse.unquote(facts["label"]) if "label" in facts else None
                calls[place] = Call(sender, receiver, time, label)
                order.append(place)
            else:
                calls[place].end = time
    roots = []
    for place in order:
        parent = calls.get(place.rpartition(".")[0])
        (parent.children if parent else roots).append(calls[place])
    return roots, [calls[place] for place in order]


def give(call, low, high):
    """docs/paths.md, "Own time"."""
    pieces = [
        (min(c.end, high), max(c.start, low), i, c)
        for i, c in enumerate(call.children)
        if c.start < high and max(c.start, low) <= min(c.end, high)
    ]
    time = high
    for end, start, _, child in sorted(pieces, key=lambda p: p[:3], reverse=True):
        if end <= time:
            call.own += time - end
            give(child, start, end)
            time = start
    call.own += time - low


def walk(call, chain=()):
    chain += (call.callee,)
    yield chain, call
    for child in call.children:
        yield from walk(child, chain)


def shape(call):
    return call.callee, tuple(sorted(shape(c) for c in call.children))


def find_slots(requests):
    """By chain, the slot that it is of: a tuple of tuples of replicas."""
    having = collections.defaultdict(set)
    for i, root in enumerate(requests):
        for chain, _ in walk(root):
            having[chain].add(i)
    slot_of = {}

    def below(slot, chains):
        for chain in chains:
            slot_of[chain] = slot
        here = set().union(*(having[chain] for chain in chains))
        kids = collections.defaultdict(list)
        for chain in having:
            if chain[:-1] in chains:
                kids[chain[-1]].append(chain)
        asked = {kid: set().union(*(having[c] for c in cs)) for kid, cs in kids.items()}
        left = sorted(kids, key=lambda kid: (-len(asked[kid]), kid))
        while left:
            group = []
            for kid in left:
                if all(len(asked[kid] & asked[other]) <= 0.01 * len(asked[kid]) for other in group):
                    group.append(kid)
            if len(set().union(*(asked[kid] for kid in group))) < 0.98 * len(here):
                group = left[:1]
            left = [kid for kid in left if kid not in group]
            below(slot + (tuple(sorted(group)),), [c for kid in group for c in kids[kid]])

    root = (requests[0].callee,)
    below((root,), [root])
    return slot_of


def covariance(x, y):
    """n squared times it, exactly."""
    return len(x) * sum(a * b for a, b in zip(x, y)) - sum(x) * sum(y)


def quantile(values, q):
    return sorted(values)[max(math.ceil(q * len(values)), 1) - 1]


def mean(values):
    return sum(values) / len(values)


def busy(calls):
    """By call, how many others its callee was serving when it came: they came before and went after."""
    at = collections.defaultdict(list)
    for call in calls:
        at[call.callee].append(call)
    others = {}
    for node, group in at.items():
        group = [c for c in group if c.end > c.start]
        starts, ends = sorted(c.start for c in group), sorted(c.end for c in group)
        for call in at[node]:
            others[call] = bisect.bisect_left(starts, call.start) - bisect.bisect_right(ends, call.start)
    return others


def bin_of(n):
    return n if n < 16 else (n.bit_length(), n >> (n.bit_length() - 2))


def load(calls, others):
    """Calls of each replica about their own mean."""
    between = total = bins = up = across = 0
    for group in calls.values():
        here, sizes = mean([c.own for c in group]), mean([others[c] for c in group])
        by_bin = collections.defaultdict(list)
        for call in group:
            by_bin[bin_of(others[call])].append(call.own)
            total += (call.own - here) ** 2
            up += (call.own - here) * (others[call] - sizes)
            across += (others[call] - sizes) ** 2
        between += sum(len(b) * (mean(b) - here) ** 2 for b in by_bin.values())
        bins += len(by_bin) - 1
    everything = list(itertools.chain(*calls.values()))
    idle = [c.own for c in everything if not others[c]]
    explained = between / total - bins / len(everything) if total else 0
    return max(0, explained), up / across if across else 0, mean(idle) if idle else None


def replicas(slot, slot_of, requests, groups, times, total):
    """What the means by chain have of the variance, and which is slow; of frequent patterns with one chain of the slot."""
    by_chain = collections.defaultdict(list)
    for group in groups:
        chains = {chain for chain, _ in walk(requests[group[0]]) if slot_of[chain] == slot}
        for i in group if len(chains) == 1 else []:
            own = sum(c.own for chain, c in walk(requests[i]) if slot_of[chain] == slot)
            by_chain[min(chains)].append((own, times[i]))
    if len(by_chain) < 2:
        return {}
    everything = list(itertools.chain(*by_chain.values()))
    own, time = (mean([v[k] for v in everything]) for k in (0, 1))
    means = {c: tuple(mean([v[k] for v in vs]) for k in (0, 1)) for c, vs in by_chain.items()}
    sums = sum(len(by_chain[c]) * (m[0] - own) * (m[1] - time) for c, m in means.items())
    slow, quick = (pick(means, key=lambda c: means[c][0]) for pick in (max, min))
    names = {"slow": " / ".join(slow[1:] or slow), "quick": " / ".join(quick[1:] or quick)}
    values = {"slow_mean": means[slow][0], "quick_mean": means[quick][0]}
    return names | values | {"by_replica": sums * len(times) / total}


def where(slot):
    return " / ".join("|".join(names) for names in slot[1:] or slot)


def entry(requests, others):
    """What JSON should have, by name."""
    times = [r.end - r.start for r in requests]
    slot_of = find_slots(requests)
    factors = {slot: [0] * len(requests) for slot in set(slot_of.values())}
    calls = {slot: collections.defaultdict(list) for slot in factors}
    patterns = collections.defaultdict(list)
    for i, root in enumerate(requests):
        patterns[shape(root)].append(i)
        for chain, call in walk(root):
            factors[slot_of[chain]][i] += call.own
            calls[slot_of[chain]][call.callee].append(call)
    groups = [p for p in patterns.values() if len(p) >= RARE * len(requests)]
    rare = [i for p in patterns.values() if len(p) < RARE * len(requests) for i in p]
    groups += [rare] if rare else []
    total = covariance(times, times)
    n = len(times)
    p40, p60, p99 = (quantile(times, q) for q in (0.4, 0.6, 0.99))
    slow = [i for i in range(n) if times[i] >= p99]
    usual = [i for i in range(n) if p40 <= times[i] <= p60]

    def pick(values, which):
        return [values[i] for i in which]

    def within(x, y):
        return sum(covariance(pick(x, g), pick(y, g)) / len(g) for g in groups) / (total / n)

    def slower(values):
        return mean(pick(values, slow)) - mean(pick(values, usual))

    def error(x):
        shares = []
        for b in range(BATCHES):
            rest = [i for i in range(n) if i * BATCHES // n != b]
            y = pick(times, rest)
            shares.append(covariance(pick(x, rest), y) / covariance(y, y))
        return T * math.sqrt((BATCHES - 1) / BATCHES * sum((s - mean(shares)) ** 2 for s in shares))

    rows = {}
    for slot, x in factors.items():
        row = rows[where(slot)] = {"all": covariance(x, times) / total, "same": within(x, times)}
        row["which"] = row["all"] - row["same"]
        row["error"] = error(x)
        row["mean"] = sum(x) / sum(times)
        row["tail"] = slower(x) / slower(times) if slower(times) else 0
        row |= replicas(slot, slot_of, requests, [g for g in groups if g is not rare], times, total)
        row["explained"], row["slope"], row["idle"] = load(calls[slot], others)
    pairs = {}
    for a, b in itertools.combinations(sorted(factors), 2):
        share = 2 * within(factors[a], factors[b])
        if share >= PAIR:
            r = share / 2 / math.sqrt(within(factors[a], factors[a]) * within(factors[b], factors[b]))
            if r >= LEAST_R:
                pairs[frozenset((where(a), where(b)))] = {"share": share, "r": r}
    squares = sorted(((t - mean(times)) ** 2 for t in times), reverse=True)
    sums = list(itertools.accumulate(squares))
    head = {"mean": mean(times), "deviation": math.sqrt(total) / n, "requests": n}
    head |= {"p50": quantile(times, 0.5), "p99": p99}
    head["half"] = bisect.bisect_left(sums, sums[-1] / 2) + 1
    return head, rows, pairs


def compare(what, expected, found):
    """How many differ."""
    wrong = 0
    for key, value in expected.items():
        got = found[key] if key in found else "nothing"
        got = float(got) if isinstance(got, str) and got.isdigit() else got
        value = str(value) if isinstance(got, str) else value
        if value is None or got is None or isinstance(got, str):
            same = value == got
        else:
            same = abs(value - got) <= 1e-7 * max(1, abs(value))
        if not same:
            print(f"{what}: {key} is {got}, expected {value}")
            wrong += 1
    return wrong


def check_entry(name, requests, others, found):
    head, rows, pairs = entry(requests, others)
    wrong = compare(name, head, found)
    got = {row["where"]: row | (row["busy"] or {}) for row in found["rows"] if row["kind"] == "own"}
    shares = sum(row["all"] for row in found["rows"])
    wrong += compare(name, {"sum": 1}, {"sum": shares})
    for place in rows | got:
        wrong += compare(f"{name}: {place}", rows.get(place, {"place": None}), got.get(place, {}))
    got = {
        frozenset(found["rows"][p[side]]["where"] for side in "ab"): p for p in found["together"]
    }
    for pair in pairs | got:
        wrong += compare(f"{name}: {sorted(pair)}", pairs.get(pair, {"pair": None}), got.get(pair, {}))
    return wrong


def main():
    sys.setrecursionlimit(100000)
    roots, calls = read(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        found = {(e["entry"], e["label"]): e for e in json.load(file)["entries"]}
    entries = collections.defaultdict(list)
    for root in roots:
        give(root, root.start, root.end)
        entries[f"{root.caller}>{root.callee}", root.label].append(root)
    others = busy(calls)
    wrong = compare("entries", {"number": len(entries)}, {"number": len(found)})
    compared = 0
    for key, requests in entries.items():
        if key not in found:
            print(f"{key}: not there")
            wrong += 1
        elif len(requests) >= FEWEST:
            wrong += check_entry(str(key), requests, others, found[key])
            compared += len(found[key]["rows"])
    print(f"{compared} rows compared, {wrong} wrong")
    return wrong > 0 or compared == 0


sys.exit(main())
