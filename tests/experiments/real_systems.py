# SPDX-License-Identifier: BSD-2-Clause
"""How right the parents are on systems that are not of our making, and how far its probabilities
can be trusted.

The captured systems are not part of the project: they are used where RAVEL_SHARED, or ../shared
beside the sources, has them. Truth is written into the trace as path=, which only --cheat and
the oracle read."""

import collections
import gzip
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

import configuration as conf
import measure
import random_configuration
from tables import chosen, in_order, write_table, write_tsv

SHARED = pathlib.Path(
    os.environ.get("RAVEL_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared")
)

Call = collections.namedtuple("Call", "caller callee id parent lines label")


# --- traces with their truth ----------------------------------------------------------


def written_with_truth(calls, name):
    """Writes the trace. Calls are in order of time, by id; lines are (time in ns, text of the
    operation, whether it is a call's)."""
    place, n_children, n_roots = {}, collections.Counter(), 0
    lines = []
    for key, call in calls.items():
        parent = call.parent
        if parent is None:
            n_roots += 1
            place[key] = str(n_roots)
        else:
            n_children[parent] += 1
            place[key] = f"{place[parent]}.{n_children[parent]}"
        attributes = f" path={place[key]}" + (f" label={call.label}" if call.label else "")
        for time, operation, calling in call.lines:
            ends = (call.caller, call.callee) if calling else (call.callee, call.caller)
            stamp = f"{time // 10**9}.{time % 10**9:09}"
            lines.append((time, f"{stamp} {operation} {' '.join(ends)} {call.id}{attributes}\n"))
    lines.sort(key=lambda line: line[0])
    pathlib.Path(name).write_text("# ravel trace 1\n" + "".join(text for _, text in lines))


def nanoseconds(text):
    seconds, _, rest = text.partition(".")
    return int(seconds) * 10**9 + int(rest.ljust(9, "0"))


def in_time(calls):
    """In order of their first stamp, a parent before its children."""
    order = sorted(calls, key=lambda key: (calls[key].lines[0][0], key))
    done = {}

    def add(key):
        if key not in done:
            if calls[key].parent is not None:
                add(calls[key].parent)
            done[key] = calls[key]

    for key in order:
        add(key)
    return done


def shop(folder, labels):
    """The calls of a capture's truth, as packets showed them. One that ends after its parent
    replied is the root of a path of its own."""
    text = subprocess.run(
        ["zstd", "-dcq", str(SHARED / "captures" / folder / "truth_wire.tsv.zst")],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    columns = [line.split("\t") for line in text.splitlines() if line[0] != "#"]
    ends = {c[6]: nanoseconds(c[3]) for c in columns}
    calls = {}
    for i, c in enumerate(columns):
        call, reply = nanoseconds(c[0]), nanoseconds(c[3])
        label = urllib.parse.quote(c[10], safe="/:?=&") if labels and len(c) > 10 else ""
        parent = c[7] if c[7] in ends and ends[c[7]] >= reply else None
        lines = [(call, "CALL_SENT", True), (reply, "RET_SENT", False)]
        calls[c[6]] = Call(c[4], c[5], f"c{i}", parent, lines, label)
    return in_time(calls)


def hotel_truth(name):
    with gzip.open(SHARED / "traces/hotel" / f"{name}.truth.gz", "rt") as file:
        for w in map(str.split, file):
            yield tuple(w[1:4]), None if w[4] == "-" else tuple(w[4:7])


def hotel(name, truth):
    """Two stamps a call."""
    stamps = collections.defaultdict(list)
    with gzip.open(SHARED / "traces/hotel" / f"{name}.trace.gz", "rt") as file:
        for w in map(str.split, file):
            calling = w[1].startswith("CALL")
            key = (w[2], w[3], w[4]) if calling else (w[3], w[2], w[4])
            stamps[key].append((nanoseconds(w[0]), w[1], calling))
    return in_time(
        {key: Call(*key, parent, stamps[key], "") for key, parent in hotel_truth(truth)}
    )


def hotel_four(name, truth):
    """Four stamps a call, in microseconds, each by its own host's clock."""
    stamps = {}
    with gzip.open(SHARED / "traces/hotel" / f"{name}.four.gz", "rt") as file:
        for w in map(str.split, file):
            sent, came, received, replied = (int(t) * 1000 for t in w[:4])
            stamps[tuple(w[4:7])] = [
                (sent, "CALL_SENT", True),
                (received, "CALL_RECV", True),
                (replied, "RET_SENT", False),
                (came, "RET_RECV", False),
            ]
    return in_time(
        {key: Call(*key, parent, stamps[key], "") for key, parent in hotel_truth(truth)}
    )


LOADS = (25, 50, 75, 100, 125, 150)
SYSTEMS = {
    "shop, 8 at a time": lambda: shop("testbed-conc8", False),
    "the same with labels": lambda: shop("testbed-conc8", True),
    "shop, 32 at a time": lambda: shop("testbed-conc32", False),
    "shop, 32, with labels": lambda: shop("testbed-conc32", True),
}
for load in LOADS:
    SYSTEMS[f"hotel, {load} requests a second"] = lambda n=f"hotel_load{load}_sync": hotel(n, n)
for times in (4, 10):
    SYSTEMS[f"hotel, 150, {times} times as dense"] = lambda n=f"hotel_load150_sync_x{times}": hotel(
        n, n
    )
for load in LOADS:
    SYSTEMS[f"four stamps, {load}"] = lambda n=f"hotel_load{load}": hotel_four(n, n)
SYSTEMS["four stamps, 150, 4 times as dense"] = lambda: hotel_four(
    "hotel_load150_x4", "hotel_load150_x4"
)
for load in (50, 100):
    SYSTEMS[f"two stamps, own clocks, {load}"] = lambda n=f"hotel_load{load}": hotel(n, n)

# Traces between others, which are in the TSV alone.
UNTABLED = r"^(hotel, (50|75|100|125) |four stamps, (25|50|75|100|125)$)"


# --- scoring ----------------------------------------------------------------------------


def found_parents(store):
    """By key: the parent's key, the probability and how many candidates there were."""
    rows = measure.query(
        store,
        "SELECT call.id, call.parent, a.written, b.written, trace_id, probability, candidates"
        " FROM call JOIN node AS a ON a.id = caller JOIN node AS b ON b.id = callee",
    )
    key = {row[0]: row[2:5] for row in rows}
    return {row[2:5]: (key.get(row[1]), row[5], row[6]) for row in rows}


def root_of(key, true):
    while true[key] is not None:
        key = true[key]
    return key


def rightness(true, found):
    """The shares of calls whose parent is right, of those that have one, and of whole instances,
    into which no call of another was taken either."""
    wrong, right, children = set(), 0, 0
    for key, parent in true.items():
        got = found.get(key, ("none",))[0]
        children += parent is not None
        right += parent is not None and got == parent
        if got != parent:
            wrong.add(root_of(key, true))
            if got in true:
                wrong.add(root_of(got, true))
    roots = sum(parent is None for parent in true.values())
    return right / children, 1 - len(wrong) / roots


def available():
    if (SHARED / "traces/hotel").is_dir():
        return True
    print("experiments: no ../shared beside the sources: no real systems", file=sys.stderr)
    return False


def chosen_systems():
    """All, or those that REAL_SYSTEMS, a regular expression, finds."""
    wanted = os.environ.get("REAL_SYSTEMS", "")
    return [name for name in SYSTEMS if re.search(wanted, name)]


def real_systems(lab):
    rows = []
    for name in chosen_systems() if available() else []:
        calls = SYSTEMS[name]()
        names = {key: (c.caller, c.callee, c.id) for key, c in calls.items()}
        true = {names[key]: names.get(c.parent) for key, c in calls.items()}
        trace = lab.file("trace")
        written_with_truth(calls, trace)
        for method in measure.METHODS:
            store = lab.found_paths(trace, method, "--no-fold")
            parents, instances = rightness(true, found_parents(store))
            rows.append(
                {
                    "trace": name,
                    "method": method,
                    "calls": len(calls),
                    "parents": parents,
                    "instances": instances,
                }
            )
    if not rows:
        return
    write_tsv("real", rows)
    lines = []
    for name in in_order(rows, "trace"):
        by = {r["method"]: r for r in chosen(rows, trace=name)}
        if re.search(UNTABLED, name):
            continue
        line = [name]
        for column in ("parents", "instances"):
            line += [f"{100 * by[m][column]:.1f}" for m in measure.METHODS]
        lines.append(line)
    write_table(
        "real",
        ["trace"]
        + [f"right parents, {measure.METHODS[0]}"] + measure.METHODS[1:]
        + [f"whole requests, {measure.METHODS[0]}"] + measure.METHODS[1:],
        lines,
    )


# --- calibration ------------------------------------------------------------------------

BINS = 10
FEWEST_CALLS = 100  # of a share in the table


def calibration_traces():
    """Names, and configurations with their seeds, or calls."""
    for system in range(1001, 1007):
        for parallel in (5, 20):
            text = random_configuration.configuration(system, parallel)
            yield "random systems", text, 1
    multi_tier = conf.replaced(conf.load("multi-tier"), "messages", 40000)
    for seed in (1, 2, 3):
        for sequences in (8, 32):
            yield "multi-tier", conf.replaced(multi_tier, "parallel", sequences), seed
    if available():
        for name in ("shop, 8 at a time", "shop, 32 at a time"):
            if name in chosen_systems():
                yield name, SYSTEMS[name](), None


def calibration(lab):
    """Calls with more than one candidate and a true parent, by their parent's probability."""
    count = collections.Counter()
    share, right = collections.Counter(), collections.Counter()
    names = []
    for name, what, seed in calibration_traces():
        if seed is None:
            trace = lab.file("trace")
            written_with_truth(what, trace)
        else:
            trace, _ = lab.trace(what, seed)
        true = found_parents(lab.true_paths(trace))
        for key, (parent, p, candidates) in found_parents(lab.found_paths(trace, "joint")).items():
            if candidates < 2 or true[key][0] is None:
                continue
            at = name, min(int(BINS * p), BINS - 1)
            count[at] += 1
            share[at] += p
            right[at] += parent == true[key][0]
        if name not in names:
            names.append(name)
    rows = [
        {
            "traces": name,
            "bin": b / BINS,
            "calls": count[name, b],
            "mean": share[name, b] / count[name, b],
            "right": right[name, b] / count[name, b],
        }
        for name in names
        for b in range(BINS)
        if count[name, b]
    ]
    write_tsv("calibration", rows)
    lines = []
    for b in range(BINS):
        line = [f"{b / BINS:.1f} to {(b + 1) / BINS:.1f}"]
        for name in names:
            mine = chosen(rows, traces=name, bin=b / BINS)
            enough = mine and mine[0]["calls"] >= FEWEST_CALLS
            line.append(f"{100 * mine[0]['right']:.0f}" if enough else "-")
        lines.append(line)
    write_table("calibration", ["probability", *names], lines)


EXPERIMENTS = {"real": real_systems, "calibration": calibration}
