#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traces of extreme shapes, of a size of choice.

usage: make-shapes.py KIND N FILE

N counts the calls or messages of the shape: shapes below.
"""
import sys

START = 1_700_000_000 * 10**9
CALL, RETURN, MESSAGE = "CALL_SENT", "RET_SENT", "MSG_SENT"


def call(number, begin, end, caller, callee, label=None):
    more = f"label={label}" if label else ""
    yield begin, CALL, caller, callee, f"{number % 65536:x}.{number:x}", more
    if end is not None:
        yield end, RETURN, callee, caller, f"{number % 65536:x}.{number:x}", ""


def same(n):
    """Requests of one stamp."""
    for i in range(n // 2):
        yield from call(2 * i + 1, 0, 0, "c", "a")
        yield from call(2 * i + 2, 0, 0, "a", "b")


def chain(n):
    """One request through n calls, each in the one before it."""
    for i in range(n):
        yield from call(i + 1, 1000 * i, 4000 * n - 1000 * i, f"n{i % 50}", f"n{(i + 1) % 50}")


def fan(n):
    """One request that makes n calls."""
    yield from call(1, 0, 2000 * n, "c", "a")
    for i in range(n):
        yield from call(i + 2, 1000 + 1000 * i, 1400 + 1000 * i, "a", "b")


def burst(n):
    """One request that makes n calls at a time."""
    yield from call(1, 0, 4000 * n, "c", "a")
    for i in range(n):
        yield from call(i + 2, 1000 + i, 2000 * n + i, "a", "b")


def crowd(n, many=40):
    """Requests, many at a time, with a call each."""
    for i in range(n // 2):
        begin = 100_000 * i
        yield from call(2 * i + 1, begin, begin + 100_000 * many, "c", "a")
        yield from call(2 * i + 2, begin + 7_000 * (i % 97), begin + 50_000 * many, "a", "b")


def callees(n):
    """Requests, each to a node of its own."""
    for i in range(n // 2):
        yield from call(2 * i + 1, 100_000 * i, 100_000 * i + 9_000, "c", "a")
        yield from call(2 * i + 2, 100_000 * i + 1_000, 100_000 * i + 5_000, "a", f"b{i}")


def callers(n):
    """Requests, each of a client of its own."""
    for i in range(n // 2):
        yield from call(2 * i + 1, 100_000 * i, 100_000 * i + 9_000, f"c{i}", "a")
        yield from call(2 * i + 2, 100_000 * i + 1_000, 100_000 * i + 5_000, "a", "b")


def names(n):
    """Requests, each of an operation of its own."""
    for i in range(n // 2):
        yield from call(2 * i + 1, 100_000 * i, 100_000 * i + 9_000, "c", "a", f"GET%20/{i}")
        yield from call(2 * i + 2, 100_000 * i + 1_000, 100_000 * i + 5_000, "a", "b", f"q{i}")


def unanswered(n):
    """Calls without returns."""
    for i in range(n // 2):
        yield from call(2 * i + 1, 100_000 * i, None, "c", "a")
        yield from call(2 * i + 2, 100_000 * i + 1_000, None, "a", "b")


def answers(n):
    """Returns without calls."""
    for i in range(n):
        yield 10_000 * i, RETURN, "a", "c", f"{i % 65536:x}.{i:x}", ""


def messages(n):
    """One-way messages through ten nodes."""
    for i in range(n):
        yield 10_000 * i, MESSAGE, f"n{i % 10}", f"n{(i + 1) % 10}", f"{i % 65536:x}.{i:x}", ""


def patterns(n):
    """Requests, each of which makes other calls than those before it."""
    number = 0
    for i in range(n // 8):
        begin = 100_000 * i
        number += 1
        yield from call(number, begin, begin + 90_000, "c", "a")
        for k in range(7):
            number += 1
            yield from call(number, begin + 10_000 * k + 1_000, begin + 10_000 * k + 5_000, "a",
                            f"b{(i >> 2 * k) % 4}")


KINDS = {kind.__name__: kind for kind in (same, chain, fan, burst, crowd, callees, callers, names, unanswered, answers,
                                          messages, patterns)}


def main():
    kind, n, path = sys.argv[1:]
    with open(path, "w") as file:
        file.write("# ravel trace 1\n")
        for at, *words in sorted(KINDS[kind](int(n)), key=lambda line: line[0]):
            at += START
            file.write("\t".join([f"{at // 10**9}.{at % 10**9:09}", *filter(None, words)]) + "\n")


main()
