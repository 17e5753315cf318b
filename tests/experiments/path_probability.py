# SPDX-License-Identifier: BSD-2-Clause
"""Whether a path that is said to be right with a probability is: of captured systems whose every
call is known.

A path is wholly right if it is one request's calls, each below its true parent, and none is
missing that was captured. The systems are not part of the project: they are used where
RAVEL_SHARED, or ../shared beside the sources, has them."""

import bisect
import collections
import functools
import math
import os
import pathlib
import subprocess
import sys

import measure
from tables import chosen, in_order, write_table, write_tsv

SHARED = pathlib.Path(
    os.environ.get("RAVEL_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared")
)
WILD = ["w1", "w3", "g8", "m1", "e1"]
SERVICES = ["j2", "j24", "n2", "n24", "p2", "p8", "pt24", "u8", "u24"]
SHOPS = ["testbed-small", "testbed-conc8", "testbed-conc32"]
SYSTEMS = (
    [f"wild/{name}" for name in WILD] + [f"services/{name}" for name in SERVICES] + SHOPS
)

SURE = 0.9
NEAR = 10**6  # ns between a captured call and truth's, where ids do not tell
FIRST = 10  # patterns that everyone reads
BINS = 10

# Of a call: who, when, and its parent's number in the same list; None for a root.
Call = collections.namedtuple("Call", "caller callee id start end parent")


# --- truth ---------------------------------------------------------------------------------


def nanoseconds(text):
    if text == "-":
        return None
    seconds, _, rest = text.partition(".")
    return int(seconds) * 10**9 + int(rest.ljust(9, "0"))


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if line[0] != "#" and line.strip()]


def wild_truth(folder):
    """The calls of truth.tsv; messages that are none are left out."""
    rows = [row for row in rows_of(folder / "truth.tsv") if row[9] in ("call", "relay")]
    number = {tuple(row[:3]): i for i, row in enumerate(rows)}
    return [
        Call(*row[:3], nanoseconds(row[7]), nanoseconds(row[8]), number.get(tuple(row[3:6])))
        for row in rows
    ]


def shop_truth(folder):
    """One that ends after its parent has replied is the root of a path of its own."""
    text = subprocess.run(
        ["zstd", "-dcq", str(folder / "truth_wire.tsv.zst")], stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    rows = [line.split("\t") for line in text.splitlines() if line[0] != "#"]
    number = {row[6]: i for i, row in enumerate(rows)}
    ends = [nanoseconds(row[3]) for row in rows]

    def parent_of(i):
        parent = number.get(rows[i][7])
        return parent if parent is not None and ends[parent] >= ends[i] else None

    return [
        Call(row[4], row[5], None, nanoseconds(row[0]), ends[i], parent_of(i))
        for i, row in enumerate(rows)
    ]


@functools.lru_cache(maxsize=1)
def truth_of(system):
    folder = SHARED / "captures" / system
    return wild_truth(folder) if "/" in system else shop_truth(folder)


# --- what was found --------------------------------------------------------------------------


def found_calls(store):
    """By the store's number of the call."""
    rows = measure.query(
        store,
        "SELECT call.id, a.written, b.written, trace_id, coalesce(call_sent, call_recv),"
        " coalesce(ret_sent, ret_recv), parent FROM call JOIN node AS a ON a.id = caller"
        " JOIN node AS b ON b.id = callee ORDER BY call.id",
    )
    return {row[0]: Call(*row[1:]) for row in rows}


def matched(truth, found):
    """By the number of a found call, that of the true one: by id, or by time on their edge."""
    by_id, by_edge = collections.defaultdict(list), collections.defaultdict(list)
    match, taken = {}, set()

    def take(number, true):
        match[number] = true
        taken.add(true)

    for i, call in enumerate(truth):
        by_id[call.caller, call.callee, call.id].append(i)
    for number, call in found.items():
        same = [i for i in by_id[call.caller, call.callee, call.id] if i not in taken]
        if same and call.id is not None:
            take(number, min(same, key=lambda i: abs(truth[i].start - call.start)))
    for i, call in enumerate(truth):
        if i not in taken:
            by_edge[call.caller, call.callee].append((call.start, i))
    for calls in by_edge.values():
        calls.sort()
    near = []
    for number, call in found.items():
        calls = [] if number in match else by_edge[call.caller, call.callee]
        for at in range(bisect.bisect_left(calls, (call.start - NEAR, -1)), len(calls)):
            start, i = calls[at]
            if start > call.start + NEAR:
                break
            away = abs(start - call.start) + min(NEAR, abs((truth[i].end or 0) - call.end))
            near.append((away, number, i))
    for _, number, i in sorted(near):
        if number not in match and i not in taken:
            take(number, i)
    return match


def children_of(calls, members):
    children = collections.defaultdict(set)
    for number in members:
        if calls[number].parent is not None:
            children[calls[number].parent].add(number)
    return children


def shape(calls, children, number):
    below = sorted(shape(calls, children, child) for child in children[number])
    return f"{calls[number].callee}({','.join(below)})"


def shapes(calls, members, caller_of=lambda name: name):
    """How many there are of each pattern."""
    children = children_of(calls, members)
    return collections.Counter(
        f"{caller_of(calls[number].caller)}>{shape(calls, children, number)}"
        for number in members
        if calls[number].parent is None
    )


def whole_paths(truth, found, match):
    """The numbers of the first calls of paths that are wholly right."""
    captured = set(match.values())
    true_children = children_of(dict(enumerate(truth)), captured)
    found_children = children_of(found, found)

    def is_right(number):
        true = match.get(number)
        children = {match.get(child) for child in found_children[number]}
        return (
            true is not None
            and children == true_children[true]
            and all(is_right(child) for child in found_children[number])
        )

    return {
        number
        for number, call in found.items()
        if call.parent is None
        and number in match
        and truth[match[number]].parent not in captured
        and is_right(number)
    }


def right_parents(truth, found, match):
    """The share of those captured calls that have a parent."""
    number_of = {true: number for number, true in match.items()}
    children = [t for t in match.values() if truth[t].parent is not None]
    return sum(found[number_of[t]].parent == number_of.get(truth[t].parent, -1) for t in children
               ) / max(len(children), 1)


def first_patterns(store, truth, match):
    """Of the first patterns that are said to be right: those that truth has never."""
    true = shapes(dict(enumerate(truth)), set(match.values()))
    rows = measure.query(
        store,
        "SELECT pattern.id, count * mean, probability, signature, count FROM pattern"
        " ORDER BY total DESC, signature",
    )
    found = found_calls(store)
    example = dict(
        measure.query(store, "SELECT pattern, min(first_call) FROM path GROUP BY pattern")
    )
    children = children_of(found, found)
    edges = {(call.caller, call.callee) for call in truth}
    false = []
    for number, _, probability, signature, count in rows[:FIRST]:
        first = example[number]
        pattern = f"{found[first].caller}>{shape(found, children, first)}"
        if probability >= SURE and not true[pattern] and is_judged(found[first], edges):
            false.append(f"{signature} ({count}, {probability:.3f})")
    return false


def is_judged(call, edges):
    """Truth knows of calls on this edge."""
    return (call.caller, call.callee) in edges


def score(system, store):
    truth, found = truth_of(system), found_calls(store)
    match = matched(truth, found)
    whole = whole_paths(truth, found, match)
    edges = {(call.caller, call.callee) for call in truth}
    paths = [
        (p, first in whole)
        for first, p in measure.query(store, "SELECT first_call, probability FROM path")
        if is_judged(found[first], edges)
    ]
    sure = [right for p, right in paths if p >= SURE]
    bins = collections.defaultdict(list)
    for p, right in paths:
        bins[min(int(BINS * p), BINS - 1)].append((p, right))
    error = sum(abs(math.fsum(p - right for p, right in b)) for b in bins.values())
    false = first_patterns(store, truth, match)
    return {
        "calls": len(match),
        "parents": right_parents(truth, found, match),
        "paths": len(paths),
        "right": sum(right for _, right in paths) / max(len(paths), 1),
        "mean": math.fsum(p for p, _ in paths) / max(len(paths), 1),
        "sure": len(sure),
        "sure_right": sum(sure) / len(sure) if sure else None,
        "error": error / max(len(paths), 1),
        "false_patterns": len(false),
    }, false


# --- the experiment ----------------------------------------------------------------------------


def available():
    if (SHARED / "captures" / "services").is_dir():
        return True
    print("experiments: no ../shared beside the sources: no captured systems", file=sys.stderr)
    return False


def trace_of(lab, system, options):
    folder = SHARED / "captures" / system
    packets = folder / ("b.pcap.zst" if "/" in system else "bridge.pcap.zst")
    trace = lab.file("captured")
    lab.run("capture", "-r", packets, "--nodes", folder / "nodes.txt", *options, "-w", trace)
    return trace


def table(rows):
    """A line a system: without operations and with them, and what probabilities with them say."""
    lines = []
    for system in in_order(rows, "system"):
        bare, labelled = (chosen(rows, system=system, labels=l)[0] for l in ("no", "yes"))
        lines.append(
            [system.rpartition("/")[2], f"{labelled['parallelism']:.1f}"]
            + [f"{100 * r[c]:.1f}" for c in ("parents", "right") for r in (bare, labelled)]
            + [f"{100 * labelled['sure'] / labelled['paths']:.0f}"]
            + [f"{100 * labelled['sure_right']:.1f}" if labelled["sure"] else "-"]
            + [f"{labelled['error']:.3f}"]
        )
    write_table(
        "path-probability",
        ["system", "mean parallelism", "right parents, without operations", "with"]
        + ["whole requests, without", "with", "paths given 0.9 or more", "of these right"]
        + ["calibration error"],
        lines,
    )


def path_probability(lab):
    rows = []
    for system in SYSTEMS if available() else []:
        for options in (["--no-labels"], []):
            store = lab.found_paths(trace_of(lab, system, options), "joint", "--no-fold")
            found, false = score(system, store)
            labels = "no" if options else "yes"
            parallelism = measure.parallelism(store)
            rows.append({"system": system, "labels": labels, "parallelism": parallelism, **found})
            for pattern in false:
                print(f"experiments: {system}: never true: {pattern}", file=sys.stderr)
    if not rows:
        return
    write_tsv("path-probability", rows)
    table(rows)


EXPERIMENTS = {"path-probability": path_probability}
