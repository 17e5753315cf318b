# SPDX-License-Identifier: BSD-2-Clause
"""How often parents are right that are given 0.9 or more, by what a trace says of itself: how many
candidates its calls have, and whether they have operations. Of systems whose true parents are known.

Only parents that had to be guessed are looked at, whose probability is below 1. What is found goes
into the table of docs/evaluation.md and, with --update, into write/trust-measured.h, of which
ravel makes what it says of a system like these."""

import collections
import json
import pathlib
import subprocess
import sys

import busy_servers
import configuration as conf
import measure
import random_configuration
import real_systems
from tables import OUT, write_table, write_tsv

HEADER = conf.HERE.parent.parent / "write/trust-measured.h"
LOADS = [1, 3, 10, 30, 100]  # mean parallelism: classes begin here, and the last one ends
SURE = 0.9
FEWEST_CALLS = 100  # given so much, of a system that is counted
FEWEST_SYSTEMS = 4  # of a class

# A trace, whether it has operations, whether its packets or messages were captured, and what says
# from the lines of --calls how many are given SURE or more, and how many of these are right.
System = collections.namedtuple("System", "name labels captured trace judge")


def lines_of(calls):
    """The lines of --calls, but for comments: by key the parent's key, and the probability."""
    found = {}
    for line in pathlib.Path(calls).read_text().splitlines():
        cells = line.split("\t")
        if line.startswith("#") or cells[0] == "call_time":
            continue
        found[cells[0], *cells[2:5]] = tuple(cells[5:9]), float(cells[11])
    return found


def sure(probability):
    return SURE <= probability < 1


def against_truth(lab, trace):
    """Of a trace with its truth as path=."""

    def judge(calls):
        true = lab.file("true.calls")
        lab.run("nesting", "--cheat", "--calls", true, "-n", 1, trace)
        parents = {key: parent for key, (parent, _) in lines_of(true).items() if parent[0] != "-"}
        given = [(key, parent) for key, (parent, p) in lines_of(calls).items() if sure(p) and key in parents]
        return len(given), sum(parents[key] == parent for key, parent in given)

    return judge


def by_identifiers(lab, folder):
    """Of packets, whose truth is in identifiers that ravel does not look at: by the score that lies
    beside them, of calls whose probability it sees only where it counts."""

    def judge(calls):
        lines = []
        for line in pathlib.Path(calls).read_text().splitlines():
            cells = line.split("\t")
            if not line.startswith("#") and cells[0] != "call_time" and not sure(float(cells[11])):
                cells[11] = "0"
            lines.append("\t".join(cells))
        masked = lab.file("masked.calls")
        pathlib.Path(masked).write_text("\n".join(lines) + "\n")
        program = real_systems.SHARED / "tools/wild_score.py"
        said = subprocess.run(
            [sys.executable, program, folder, masked, "--json"], stdout=subprocess.PIPE, check=True
        )
        score = json.loads(said.stdout)["all"]
        return score["p90"], score["p90_right"]

    return judge


def generated(lab):
    trace = lab.file("trace")
    for seed in range(1001, 1009):
        for parallel in (2, 5, 20, 50):
            lab.trace(random_configuration.configuration(seed, parallel), 1)
            yield System(f"random {seed}, {parallel} sequences", False, False, trace, against_truth(lab, trace))
    multi_tier = conf.replaced(conf.load("multi-tier"), "messages", 40000)
    for seed in (1, 2, 3):
        for parallel in (8, 32, 100, 300):
            lab.trace(conf.replaced(multi_tier, "parallel", parallel), seed)
            yield System(f"multi-tier {seed}, {parallel} sequences", False, False, trace, against_truth(lab, trace))
    for seed in range(501, 505):
        for clients in (8, 32):
            with open(trace, "w", encoding="ascii") as file:
                file.write(busy_servers.trace(seed, clients, 3000))
            yield System(f"busy servers {seed}, {clients} clients", False, False, trace, against_truth(lab, trace))


def captured(lab):
    trace = lab.file("trace")
    for name, calls in real_systems.SYSTEMS.items():
        calls = calls()
        real_systems.written_with_truth(calls, trace)
        labels = any(call.label for call in calls.values())
        yield System(name, labels, True, trace, against_truth(lab, trace))
    for folder in sorted((real_systems.SHARED / "captures/services").glob("*/b.pcap.zst")):
        folder = folder.parent
        keys = ["--tls-keys", folder / "keys.txt"] if (folder / "keys.txt").exists() else []
        for labels in (True, False):
            options = [*keys] + ([] if labels else ["--no-labels"])
            lab.run("capture", "-r", folder / "b.pcap.zst", "--nodes", folder / "nodes.txt", *options, "-w", trace)
            yield System(folder.name, labels, True, trace, by_identifiers(lab, folder))


def measured(lab, system):
    store, calls = lab.file("found.sqlite"), lab.file("found.calls")
    lab.run("nesting", "--method", "joint", "-n", 1, "-o", store, "--calls", calls, system.trace)
    given, right = system.judge(calls)
    return {
        "system": system.name,
        "operations": int(system.labels),
        "captured": int(system.captured),
        "parallelism": measure.parallelism(store),
        "given": given,
        "right": right,
    }


def classes(rows):
    """By operations and load: the systems that count, of a class that has enough of them."""
    for labels in (0, 1):
        for low, high in zip(LOADS, LOADS[1:]):
            mine = [
                r
                for r in rows
                if r["operations"] == labels and low <= r["parallelism"] < high and r["given"] >= FEWEST_CALLS
            ]
            if len(mine) >= FEWEST_SYSTEMS:
                yield labels, low, high, mine


def share(rows):
    return sum(r["right"] for r in rows) / sum(r["given"] for r in rows)


def trust(lab):
    systems = [generated(lab)] + ([captured(lab)] if real_systems.available() else [])
    rows = [measured(lab, system) for group in systems for system in group]
    write_tsv("trust", rows)
    lines, numbers = [], []
    for labels, low, high, mine in classes(rows):
        least = min(mine, key=lambda r: r["right"] / r["given"])
        n = sum(r["captured"] for r in mine)
        lines.append(
            [
                f"{low} to {high}",
                "yes" if labels else "no",
                len(mine),
                n,
                f"{sum(r['given'] for r in mine):,}",
                f"{100 * share(mine):.1f}",
                f"{100 * least['right'] / least['given']:.1f} ({least['system']})",
            ]
        )
        numbers.append(
            f"{{ {low}, {high}, {labels}, {len(mine)}, {n}, {share(mine):.4f}, {least['right'] / least['given']:.4f} }},"
        )
    write_table(
        "trust",
        ["mean parallelism", "operations", "runs", "captured", "calls given 0.9 or more", "right", "least of a run"],
        lines,
    )
    (OUT / "trust-measured.h").write_text(
        "/* SPDX-License-Identifier: BSD-2-Clause\n"
        " *\n"
        " * Made by tests/experiments/trust.py; docs/evaluation.md has the table. Of systems of known truth:\n"
        " * mean parallelism from and below, whether with operations, how many systems, how many of them\n"
        " * captured; of guessed parents given 0.9 or more the share that was right, and the least of a\n"
        " * system. */\n" + "\n".join(numbers) + "\n"
    )


def update():
    HEADER.write_text((OUT / "trust-measured.h").read_text())


EXPERIMENTS = {"trust": trust}
