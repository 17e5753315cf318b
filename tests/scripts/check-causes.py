#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what ravel says of the captures of make-causes.py with the truth.

    check-causes.py RAVEL FOLDER

A line for each capture, "ok" or "not ok" and the figures: whether the place is first in ravel why, its
milliseconds within 2 %, the own times of web and db within 3 %, and whether own, network and queued times add
up to each latency."""

import pathlib
import sqlite3
import subprocess
import sys

CAUSES = """SELECT caller.written || ' > ' || callee.written || ' (' || cause || ')', sum(time), count(*)
  FROM call_cause JOIN call ON call.id = call JOIN node AS caller ON caller.id = call.caller
  JOIN node AS callee ON callee.id = call.callee GROUP BY 1 ORDER BY 2 DESC"""
OWN = """SELECT written, 1e-6 * sum(own) / (SELECT count(*) FROM path) FROM call JOIN node ON node.id = callee
  GROUP BY 1"""
WRONG_SUMS = """SELECT count(*) FROM path WHERE latency <> (SELECT sum(own) + sum(network) FROM call
  WHERE call.id BETWEEN first_call AND first_call + calls - 1)"""
WRONG_PARTS = """SELECT count(*) FROM call WHERE network <>
  coalesce((SELECT sum(time) FROM call_cause WHERE call = call.id), 0)"""


def check(ravel, folder, row):
    name, place, ms, hits, n, web, db = row
    store = folder / f"{name}.sqlite"
    trace = folder / f"{name}.trace"
    subprocess.run([ravel, "capture", "--nodes", folder / "nodes.txt", "-w", trace, folder / f"{name}.pcap"],
                   check=True, stderr=subprocess.DEVNULL)
    subprocess.run([ravel, "nesting", "-o", store, trace], check=True, stdout=subprocess.DEVNULL)
    why = subprocess.run([ravel, "why", store], check=True, capture_output=True, text=True).stdout
    with sqlite3.connect(store) as base:
        found, time, count = (base.execute(CAUSES).fetchall() or [("nothing", 0, 1)])[0]
        own = dict(base.execute(OWN).fetchall())
        paths, = base.execute("SELECT count(*) FROM path").fetchone()
        wrong = base.execute(WRONG_SUMS).fetchone() + base.execute(WRONG_PARTS).fetchone()
    rows = [line.strip() for line in why.splitlines()]
    first = next((rows[i + 1] for i, line in enumerate(rows) if line.startswith("place ")), "")
    mean = time / int(hits) / 1e6
    if ">" not in place:  # nothing was on the way
        found, mean = ((place, float(ms)) if time < .02 * float(ms) * int(hits) * 1e6 else (found, mean))
    good = (found == place and first.startswith(place) and abs(mean / float(ms) - 1) <= .02 and
            abs(own["web"] / float(web) - 1) <= .03 and abs(own["db"] / float(db) - 1) <= .03 and
            paths == int(n) and wrong == (0, 0))
    print(f"{'ok' if good else 'not ok'} {name}: {found} {mean:.2f} ms in {count} (true: {place} {ms} in {hits}); "
          f"web {own['web']:.3f} ({float(web):.3f}), db {own['db']:.3f} ({float(db):.3f}); "
          f"{paths} of {n} paths, {sum(wrong)} wrong sums; why: {first[:40]}")
    return good


def main():
    ravel, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rows = [line.rstrip("\n").split("\t") for line in open(folder / "truth.tsv", encoding="ascii")]
    sys.exit(0 if all([check(ravel, folder, row) for row in rows]) else 1)


if __name__ == "__main__":
    main()
