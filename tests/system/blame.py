#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a store says of requests whose fault was planted (faults.sh); TAP, a line a check, no plan.

    blame.py STORE LOG BASE hit PATH PLACE MS [MS [BEYOND]]
                        each request for the path has its additional time at the place: MS, or from the one to the
                        other, and as long as the client waited longer than for the path BASE, to 5 %,
                        BEYOND ms and the quartiles' distance for BASE
    blame.py STORE LOG BASE calm PATH NODE...
                        in each request for the path the nodes have the own time that the packets beside LOG say
    blame.py STORE LOG BASE late PATH MS PLACE
                        a request has more time at the place than elsewhere if and only if it took longer than MS
    blame.py STORE LOG BASE status PATH CALLER CALLEE STATUS COUNT
                        the requests for the path, and no others, have COUNT such calls

A place is a node, a node and a mark (db! and db* of docs/paths.md), or an edge and a cause: web > db (resent).
"""
import collections
import contextlib
import os
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
    truth = [end - start for each, start, end in log if each == path]
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
    usually = statistics.quantiles((end - start for each, start, end in log if each == base), n=4)
    longer = statistics.median(truth) - usually[1]
    more = statistics.median(times) - sum(calm[each] for each in places_of)
    noise = usually[2] - usually[0]
    report(abs(more - longer) <= longer / 20 + float(beyond) * 1e6 + noise,
           f"{path}: as many as the client waited longer", f"{ms(more)}, {ms(longer)} with a noise of {ms(noise)}")


def read_exchanges(folder, node):
    """Calls in the order of their starts: start, caller, callee, end; by the packets at the node (faults.py watch)."""
    with open(os.path.join(folder, "nodes"), encoding="ascii") as file:
        names = dict(map(str.split, file))
    path = os.path.join(folder, f"packets.{node}")
    exchanges, last, seen = [], {}, set()
    with open(path if os.path.exists(path) else os.path.join(folder, "packets"), encoding="ascii") as file:
        for time, *ends, sequence in map(str.split, file):
            if (*ends, sequence) in seen:
                continue
            seen.add((*ends, sequence))
            callee = min(ends, key=lambda end: int(end.split(":")[1]))
            exchange, called = last.get(frozenset(ends)), callee == ends[1]
            if called and (not exchange or exchange[3]):
                exchange = last[frozenset(ends)] = [int(time), *(names[end.split(":")[0]] for end in ends), 0]
                exchanges.append(exchange)
            elif not called and exchange:
                exchange[3] = int(time)
    return exchanges


# Timers, caches and other programs make servers 1 to 6 % slower from one half of a run without a fault to the other.
# So each request is compared with its own packets, but for 10 us.
def calm(found, log, _base, path, *nodes):
    spans = sorted((start, end) for each, start, end in log if each == path)
    at_once = any(later[0] < span[1] for span, later in zip(spans, spans[1:]))  # then a call may be another request's
    for node in nodes:
        exchanges, truth = read_exchanges(os.path.dirname(sys.argv[2]), node), []
        for start, _, callee, end in exchanges:
            if callee == node and any(first <= start <= last for first, last in spans):
                truth.append(end - start - sum(inner[3] - inner[0] for inner in exchanges
                                               if inner[1] == node and start <= inner[0] <= end))
        told = sorted(places[node] for _, places in found[path])
        truth.sort()
        wrong = sum(abs(a - b) > max(b / 100, 10000) for a, b in zip(told, truth))
        report(told and len(told) == len(truth) and wrong <= (len(told) / 20 if at_once else 0),
               f"{path}: {node} has the time of its packets",
               f"{len(told)} and {len(truth)} times", *(f"{ms(a)}, {ms(b)}" for a, b in zip(told, truth)))


def late(found, log, _base, path, limit, place):
    slow = sum(end - start > float(limit) * 1e6 for each, start, end in log if each == path)
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
        truth = [(path, int(start), int(end)) for path, start, end, _ in map(str.split, file)]
    {"hit": hit, "calm": calm, "late": late, "status": status}[kind](read(store), truth, base, *arguments)


if __name__ == "__main__":
    main()
