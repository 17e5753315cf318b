#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a store says of requests whose fault was planted (faults.sh); TAP, a line a check, no plan.

    blame.py STORE LOG BASE hit PATH PLACE MS [MS [BEYOND]]
                        each request for the path has its additional time at the place: MS, or from the one to the
                        other, and as long as the client waited longer than for the path BASE, to 5 %
                        and BEYOND ms
    blame.py STORE LOG BASE calm PATH NODE...
                        the nodes have the same own time for the path as for BASE
    blame.py STORE LOG BASE late PATH MS PLACE
                        a request has more time at the place than elsewhere if and only if it took longer than MS
    blame.py STORE LOG BASE status PATH CALLER CALLEE STATUS COUNT
                        the requests for the path, and no others, have COUNT such calls

A place is a node, a node and a mark (db! and db* of docs/paths.md), or an edge and a cause: web > db (resent).
"""
import collections
import contextlib
import sqlite3
import statistics
import sys

from check import report

PATHS = """SELECT path.id, path.latency, label.name FROM path JOIN call ON call.id = first_call
  JOIN label ON label.id = call.label ORDER BY path.start"""
OWN = """SELECT path, node.written, continues, own FROM call JOIN node ON node.id = +call.callee"""
CAUSES = """SELECT path, caller.written, callee.written, cause, time FROM call_cause
  JOIN call ON call.id = call_cause.call JOIN node caller ON caller.id = +call.caller
  JOIN node callee ON callee.id = +call.callee"""
OUTCOMES = """SELECT path, caller.written, callee.written, outcome FROM call
  JOIN node caller ON caller.id = +call.caller JOIN node callee ON callee.id = +call.callee
  WHERE outcome IS NOT NULL"""
MARKS = {"no answer": "!", "late": "*"}



def read(store):
    """Of each request its latency and its places with their times, by its path."""
    found = collections.defaultdict(list)
    requests = {}
    with contextlib.closing(sqlite3.connect(store)) as base:
        for number, latency, label in base.execute(PATHS):
            requests[number] = (latency, collections.Counter())
            found[label.partition(" ")[2]].append(requests[number])
        for path, node, continues, own in base.execute(OWN):
            if path in requests:
                requests[path][1][node + MARKS.get(continues, "")] += own
        for path, caller, callee, outcome in base.execute(OUTCOMES):
            if path in requests:
                requests[path][1][f"{caller}>{callee} {outcome}"] += 1  # ns, which is nothing
        for path, caller, callee, cause, time in base.execute(CAUSES):
            if path in requests:
                requests[path][1][f"{caller} > {callee} ({cause})"] += time
    return found


def usual(requests):
    return collections.Counter({place: statistics.median(places[place] for _, places in requests)
                                for place in set().union(*(places for _, places in requests))})


def ms(time):
    return f"{time / 1e6:.2f} ms"


def hit(found, log, base, path, place, low, high=None, beyond=0):
    requests, calm, places_of = found[path], usual(found[base]), place.split("|")
    truth = [latency for each, latency in log if each == path]
    if not report(requests and len(requests) == len(truth), f"{len(truth)} requests for {path}",
                  f"found {len(requests)}"):
        return
    # The machine may be late, too: then another place has more, in one request of ten at most.
    worst = collections.Counter(max((time - calm[name], name) for name, time in places.items())[1]
                                for _, places in requests)
    times = [sum(places[each] for each in places_of) for _, places in requests]
    high = float(high or float(low) * 1.02 + 3)
    report(min(times) >= float(low) * 1e6 and sum(worst[each] for each in places_of) >= .9 * len(requests),
           f"{path}: {place} has the additional time", *(f"{n} times {name}" for name, n in worst.items()),
           f"found {', '.join(map(ms, times))}")
    report(statistics.median(times) <= high * 1e6, f"{path}: {low} to {high:g} ms there",
           f"found {', '.join(map(ms, times))}")
    longer = statistics.median(truth) - statistics.median(latency for each, latency in log if each == base)
    more = statistics.median(times) - sum(calm[each] for each in places_of)
    report(abs(more - longer) <= longer / 20 + float(beyond) * 1e6,
           f"{path}: as many as the client waited longer", f"{ms(more)}, {ms(longer)}")


def calm(found, _log, base, path, *nodes):
    for node in nodes:
        new = sorted(places[node] for _, places in found[path])
        old = sorted(places[node] for _, places in found[base])
        if not report(old and new, f"{path} and {base} were found", f"{len(new)} and {len(old)} times"):
            continue
        # Other programs make the machine late: the lower quartiles tell, but for 0.15 ms of timers' noise.
        before, after = old[len(old) // 4], new[len(new) // 4]
        report(abs(after - before) <= max(before / 100, 150000), f"{path}: {node} has its usual time",
               f"{ms(after)}, usually {ms(before)}")


def late(found, log, _base, path, limit, place):
    slow = sum(latency > float(limit) * 1e6 for each, latency in log if each == path)
    told = [latency for latency, places in found[path] if max(places, key=places.get) == place]
    report(slow and len(told) == slow and min(told) > float(limit) * 1e6,
           f"{path}: {place} has the most time of {slow} late requests, and of no others",
           f"of {len(told)}, from {ms(min(told, default=0))} on; not of",
           *(f"{ms(latency)}: {', '.join(f'{name} {ms(time)}' for name, time in places.items())}"
             for latency, places in found[path]
             if latency > float(limit) * 1e6 and max(places, key=places.get) != place))


def status(found, _log, _base, path, caller, callee, outcome, count):
    told = {each: sum(places[f"{caller}>{callee} {outcome}"] for _, places in requests)
            for each, requests in found.items()}
    told = {each: n for each, n in told.items() if n}
    report(told == {path: int(count)}, f"{path}: {count} times {caller}>{callee} {outcome}", f"found {told}")


def main():
    store, log, base, kind, *arguments = sys.argv[1:]
    with open(log, encoding="ascii") as file:
        truth = [(path, int(end) - int(start)) for path, start, end, _ in map(str.split, file)]
    {"hit": hit, "calm": calm, "late": late, "status": status}[kind](read(store), truth, base, *arguments)


if __name__ == "__main__":
    main()
