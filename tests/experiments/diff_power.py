#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
diff_power.py [--pairs N] [--law LAW,...] [--calls N,...] [--factor F] [--share S] [--dependence D,...]
              [--no-requests] [--load LOAD,...]: how often `ravel diff` gives a false alarm, and how often it finds a tail.

Pairs of runs of a small shop are made, compared, and thrown away:

    GET /item   client>web(auth,db)     half of the requests; db SELECT
    GET /list   client>web(db,db)       a quarter; db LIST
    POST /cart  client>web(auth,db)     a quarter; db INSERT

--calls is the number of calls of SELECT in each run. Own times follow LAW: lognormal (sigma 0.5), wide (lognormal
with sigma 1) or exponential. With --dependence D their level varies over time: its logarithm is a first-order
autoregression with the deviation D and a memory of 50 requests. In the second run of the pairs with a planted
tail the share S of the calls of SELECT takes F times as long.

A line for each case: pairs with an alarm among those without a change, and pairs with a tail where SELECT, or db
in GET /item, is found, of the number of pairs. With --load a line for each share of time, such as 0.9, that
db's two workers are busy: pairs of equal runs with a queue there, and alarms among these. RAVEL names the program. The same options make the same numbers.
"""

import argparse
import math
import os
import random
import subprocess
import tempfile

MILLISECOND = 10**6
MEMORY = 50  # requests
MIX = [("GET /item", ["auth GET", "db SELECT"], 2), ("GET /list", ["db LIST", "db LIST"], 1),
       ("POST /cart", ["auth GET", "db INSERT"], 1)]
MEAN = {"web": 2, "auth": 1, "db SELECT": 4, "db LIST": 6, "db INSERT": 8}  # of own time, ms

LAWS = {
    "lognormal": lambda rng: math.exp(rng.gauss(0, 0.5)),
    "wide": lambda rng: math.exp(rng.gauss(0, 1)),
    "exponential": lambda rng: rng.expovariate(1),
}


QUEUED = """[maketrace]
[tracelet item]
parallel={half}
count={half}
think=uniform(0s,{seconds}s)
path=client > web( 2ms~0.3ms auth( lognormal(0.5ms,0.5) ) db( exp(12ms) ) 1ms~0.2ms )
[tracelet list]
parallel={quarter}
count={quarter}
think=uniform(0s,{seconds}s)
path=client > web( 2ms~0.3ms db( lognormal(8ms,0.5) ) db( exp(6ms) ) 1ms~0.2ms )
[tracelet post]
parallel={quarter}
count={quarter}
think=uniform(0s,{seconds}s)
path=client > web( 1ms~0.3ms auth( lognormal(0.5ms,0.5) ) db( exp(9ms) ) 1ms~0.2ms )
[node db]
servers=2
[node web]
servers=16
"""
WORK = 0.012  # s of db for a request, about, by one of two workers


def queued(ravel, n, load, seed):
    """A run of n requests with a queue before db, as a trace."""
    text = QUEUED.format(half=n // 2, quarter=n // 4, seconds=n * WORK / 2 / load)
    return subprocess.run([ravel, "maketrace", "--seed", str(seed), "--messages", str(20 * n), "-"], input=text,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def trace(rng, law, n, dependence, share, factor):
    """A run with n calls of SELECT on average, as the lines of a trace: one request after the other."""
    lines, now, call, level = ["# ravel trace 1"], 10**18, 0, 0.0
    kinds = [kind for kind in MIX for _ in range(kind[2])]

    def add(what, a, b, number, label=""):
        lines.append(f"{now // 10**9}.{now % 10**9:09d}\t{what}\t{a}\t{b}\t{number}{label}")

    def work(key):
        slower = factor if key == "db SELECT" and rng.random() < share else 1
        return int(MEAN[key] * MILLISECOND * LAWS[law](rng) * math.exp(level) * slower)

    for _ in range(2 * n):
        keep = math.exp(-1 / MEMORY)
        level = keep * level + dependence * math.sqrt(1 - keep * keep) * rng.gauss(0, 1)
        operation, callees, _ = rng.choice(kinds)
        root, call = call + 1, call + 1
        add("CALL_SENT", "client", "web", root, "\tlabel=" + operation.replace(" ", "%20"))
        for callee in callees:
            now += work("web") // 2
            call += 1
            node, label = callee.split()
            add("CALL_SENT", "web", node, call, f"\tlabel={label}")
            now += work(callee if node == "db" else node)
            add("RET_SENT", node, "web", call)
        now += work("web") // 2
        add("RET_SENT", "web", "client", root)
        now += int(rng.expovariate(1) * MILLISECOND)
    return "\n".join(lines) + "\n"


def compare(ravel, folder, runs, options):
    """The rows of two runs that differ beyond chance."""
    stores = []
    for side, text in zip("ab", runs):
        path = os.path.join(folder, side)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        stores.append(path + ".sqlite")
        subprocess.run([ravel, "nesting", *options, "-o", stores[-1], path], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
    out = subprocess.run([ravel, "diff", "--format", "tsv", *stores], capture_output=True, text=True,
                         check=True).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    return [dict(zip(rows[0], row)) for row in rows[1:] if row[11] == "1"]


def is_planted(row):
    """An own time of db's SELECT."""
    return row["kind"] == "own" and row["node"] == "db" and row["label"] in ("SELECT", "GET /item")


def count_queued_alarms(ravel, options, store):
    print("load  requests  alarms  of")
    with tempfile.TemporaryDirectory() as folder:
        for load in map(float, options.load.split(",")):
            for n in map(int, options.calls.split(",")):
                alarms = sum(bool(compare(ravel, folder, [queued(ravel, n, load, 2 * pair + side) for side in (0, 1)],
                                          ["--cheat", *store])) for pair in range(50, 50 + options.pairs))
                print(f"{load:4g}  {n:8}  {alarms:6}  {options.pairs}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="False alarms and power of ravel diff.")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--law", default=",".join(LAWS))
    parser.add_argument("--calls", default="100,250,1000,10000")
    parser.add_argument("--dependence", default="0,0.3")
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--factor", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-requests", action="store_true")
    parser.add_argument("--load")
    options = parser.parse_args()
    ravel = os.environ.get("RAVEL", "ravel")
    store = ["--no-requests"] if options.no_requests else []

    if options.load:
        count_queued_alarms(ravel, options, store)
        return
    print("law          calls  dependence  alarms  found  of")
    with tempfile.TemporaryDirectory() as folder:
        for law in options.law.split(","):
            for calls in map(int, options.calls.split(",")):
                for dependence in map(float, options.dependence.split(",")):
                    alarms = found = 0
                    for pair in range(options.pairs):
                        rng = random.Random(f"{options.seed} {law} {calls} {dependence} {pair}")
                        runs = [trace(rng, law, calls, dependence, share, options.factor)
                                for share in (0, 0, options.share)]
                        alarms += bool(compare(ravel, folder, runs[:2], store))
                        found += any(map(is_planted, compare(ravel, folder, runs[::2], store)))
                    print(f"{law:11}  {calls:5}  {dependence:10g}  {alarms:6}  {found:5}  {options.pairs}", flush=True)


if __name__ == "__main__":
    main()
