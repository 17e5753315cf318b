#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what ravel found with the truth (truth.py); a TAP line a check, no plan.

    check.py patterns TRUTH JSON     the patterns, each with its exact count
    check.py slowest JSON PATTERN NODE MS
                                     who is to blame in a pattern, for more than MS each time
    check.py edges EDGES CALLS       the calls of each edge, and their mean latency
    check.py paths TRUTH JSON        the number of paths; how many have their true pattern is said
"""
import collections
import json
import sys


def report(good, what, *explanation):
    print(f"{'ok' if good else 'not ok'} - {what}")
    if not good:
        for line in explanation:
            print(f"# {line}")
    return good


def rows(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]


def read_truth(path):
    return {signature: int(count) for count, _, _, signature in rows(path)}


def read_patterns(path):
    """By signature, of several the one with the most time."""
    with open(path, encoding="utf-8") as file:
        return {pattern["signature"]: pattern for pattern in reversed(json.load(file)["patterns"])}


def read_found(path):
    """By signature: the patterns of several operations may have the same."""
    found = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for pattern in json.load(file)["patterns"]:
            found[pattern["signature"]] += int(pattern["count"])
    return found


def patterns(truth_path, json_path):
    truth, found = read_truth(truth_path), read_found(json_path)
    for signature, count in truth.items():
        report(found.get(signature) == count, f"{count} times {signature}",
               f"found {found.get(signature, 0)} times")
    surplus = [f"{count} times {signature}" for signature, count in found.items()
               if signature not in truth]
    report(not surplus, "no other pattern", *surplus)


def slowest(json_path, signature, node, limit):
    pattern = read_patterns(json_path).get(signature)
    if not report(pattern, f"{signature} was found"):
        return
    own = [(int(each["own"]["mean"]) / 1e6, each["name"]) for each in pattern["nodes"]]
    worst, culprit = max(own)
    report(culprit == node and worst > float(limit),
           f"{node} is the slow one in it, by more than {limit} ms", f"own times in ms: {sorted(own)}")


def edges(truth_path, calls_path):
    """The latency on the wire lies between the callee's idea of it and the caller's."""
    found = collections.defaultdict(list)
    with open(calls_path, encoding="utf-8") as file:
        header = file.readline().lstrip("#").split()
        column = {name: header.index(name) for name in ("caller", "callee", "call_time", "return_time")}
        for line in file:
            fields = line.rstrip("\n").split("\t")
            caller, callee, call, reply = (fields[i] for i in column.values())
            if reply != "-":
                found[caller, callee].append(nanoseconds(reply) - nanoseconds(call))
    for caller, callee, count, served, called in rows(truth_path):
        times = found.pop((caller, callee), [])
        if not report(len(times) == int(count), f"{count} calls {caller}>{callee}",
                      f"found {len(times)}"):
            continue
        mean = sum(times) / len(times) / 1000
        slack = 50  # µs: the clocks are one, their resolution is not
        high = float(called) or float("inf")  # not logged by nginx
        report(float(served) - slack <= mean <= high + slack,
               f"their mean latency: by log of {callee} <= by ravel <= by log of {caller}",
               f"{served} us, {mean:.1f} us, {called} us")
    report(not found, "calls on no other edge", *(f"{len(t)} calls {a}>{b}" for (a, b), t in found.items()))


def nanoseconds(stamp):
    seconds, _, fraction = stamp.partition(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


def paths(truth_path, json_path):
    truth, found = read_truth(truth_path), read_found(json_path)
    total = sum(truth.values())
    agreed = sum(min(count, found.get(signature, 0)) for signature, count in truth.items())
    report(sum(found.values()) == total, f"{total} paths", f"found {sum(found.values())}")
    print(f"# of {total} paths, {agreed} may have their true pattern")


if __name__ == "__main__":
    {"patterns": patterns, "slowest": slowest, "edges": edges, "paths": paths}[sys.argv[1]](*sys.argv[2:])
