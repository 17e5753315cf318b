#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What each constant of inference/model/tuning.h is worth: the program is built without it, that is with
a value that takes away what it does, and finds the parents of systems of known truth.

    ablation-inference.py BUILD [--only NAME,...] [--groups NAME,...] > systems.tsv
    ablation-inference.py --table systems.tsv

BUILD is the folder where the program was built. The systems are those of ablation_systems.py; each
group has the systems on which its constants act. A line has the right parents in percent and the
calibration error, the change of both, and the CPU time as a ratio."""

import argparse
import csv
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import ablation_systems

# The value that takes away what a constant does; where there is none, the half or the double. A
# constant that no group below names is tried on systems of several kinds.
WITHOUT = {
    "WALK_COUNT": "1", "BACKOFF_WEIGHT": "0.001", "GENERAL_WEIGHT": "0.001", "RARE_EVENTS": "0",
    "RARE_EVENTS_SHARE": "0", "STAMPS_COARSE": "1e18", "SMOOTH_DELAYS": "1", "SMOOTH_MOST": "1", "DENSITY_WEIGHT": "0.01",
    "DENSITY_WEIGHT_PART": "1e9", "RARE_SHARE": "1000000", "LEARN_FROM": "2048",
    "BOUNDS_ROUNDS": "1", "MOST_WEIGHT": "1", "REMEMBERED": "0", "FRESH_ROUNDS": "0",
    "ROUNDS": "2", "CALM_ROUNDS": "1", "CHAIN_ROUNDS": "0", "CHAIN_SWEEPS": "0",
    "LEAST_BEST_SHARE": "0", "ASSIGNED": "1", "MOST_TAKEN": "(1 - 1e-15)", "LEAST_SHARE": "1e-30",
    "LEAST_OFFERED": "0", "NEGLIGIBLE_AT_FIRST": "0", "NEGLIGIBLE": "0", "KEPT": "0.9",
    "LEAST_RATE": "1e-200", "MOST_RATE": "1e30", "TRELLIS_LEAST": "0", "LEAST_SKIP": "1e-200",
    "MAX_AT_CALL": "4", "MAX_OPEN": "1", "HOPELESS": "1000", "LEAST_CHANCE": "1e-9",
    "CERTAIN": "2", "PRIOR_DRAWINGS": "0.001", "MOST_PRIOR_DRAWINGS": "1e9",
    "FIRST_DRAWINGS": "0", "WARM_UP": "0", "COOL_DOWN": "0", "COLD": "1", "SETTLE": "1",
    "DECIDE": "0", "FIRST_OPINION": "1.0", "SURE_ODDS": "1e30", "USUAL_ODDS": "1e30",
    "DOUBT": "0.0", "ASTRAY": "0.0", "MOST_ASTRAY": "1.0", "TIED_ASTRAY": "0.0",
    "WORTH_NAMING": "0.5", "LEAST_GAIN": "0.0", "LEAST_GAIN_EACH": "0.0",
    "MOST_ORDERED": "0", "REACH": "1", "ORDER_PAIRS": "0", "PRIOR_PAIRS": "0", "MOST_MIXED": "0",
    "SURE_TRIGGER": "0.0", "OPEN_PAIR": "0.0", "SUPPOSED": "1.0",
    "LEAST_FACTOR": "1e-30", "NO_ORDER": "1e9", "ORDER_ROUNDS": "0", "SUPPOSE_ROUNDS": "0",
    "STAGE_ROUNDS": "1", "ORDER_STAGES": "1", "IN_ORDER": "1e9",
    "MAYBE_FACTOR": "1.0", "ORDER_ODDS": "1.0", "ROOTS_BY_ACCIDENT": "1e9",
    "LEASE_DEALS": "1", "LEASE_BACKOFF": "0.01", "LEASE_GAIN": "0", "LEASE_TIMES": "0",
    "LEASE_SUPPOSE_ROUNDS": "0", "LEASE_TIED": "2.0", "LEASE_LEAST_CHANCE": "1e-30",
    "NUMBERS_CALLS": "(1 << 30)", "NUMBERS_OFF": "0.0", "NUMBERS_SURE": "1", "NUMBERS_SPREAD": "1e9",
    "NUMBERS_END": "0", "NUMBERS_WORK": "10", "NUMBERS_BROKEN": "1.0",
}
# By group, the systems on which constants act, and the values that they are changed to there. An
# empty one is that of WITHOUT.
GROUPS = {
    "workers": (["u8", "u24", "p8", "workers", "loops"], {
        "OUT_OF_TURN": ["0", "(16 * LOG_UNIT)"], "MOST_TOO_EARLY": ["1e9"], "WORKER_ROUNDS": ["1"],
        "WORKER_KINDS": ["1"], "WORKER_BLOCK": ["1"], "WORKER_CALLS": ["512", "(1 << 20)"],
        "WORKER_PAIRS": ["(1 << 30)"], "WORKERS_EACH": ["1000000"], "RATE_OF_WAITING": ["1.0"],
        "LEAST_QUEUE_GAIN": ["0"], "LEAST_GAIN_WAITS": ["0"], "FEW_WAITING": ["0.0", "1.0"],
        "LOW_WAITING": ["0.0"], "MOST_EARLY": ["1.0"], "OVERRULED": ["2.0"], "LEAST_WAITED": ["0"],
        "LEAST_WAITED_PART": ["1000000"]}),
    "workers that are none": (["loops, 95", "busy", "j2", "p2", "w1", "g8"], {
        "MOST_TOO_EARLY": ["1e9"], "LEAST_QUEUE_GAIN": ["0"], "LEAST_GAIN_WAITS": ["0"],
        "FEW_WAITING": ["1.0"], "MOST_EARLY": ["1.0"], "OVERRULED": ["2.0"], "LEAST_WAITED": ["0"],
        "LEAST_WAITED_PART": ["1000000"]}),
    "identifiers": (["p8 ids", "pt24 ids", "j24 ids"], {
        "MATCH_BACKOFF": ["0.01"], "MATCH_GAIN": ["0"],
        "MATCH_TIMES": ["0"], "MATCH_ROUNDS": ["1"]}),
    "leases": (["w3", "w3 n", "p8", "u24", "pt24", "w3 lifo", "p8 lifo"], {
        "LEASE_DEALS": [""], "LEASE_BACKOFF": [""], "LEASE_GAIN": [""], "LEASE_TIMES": [""],
        "LEASE_SUPPOSE_ROUNDS": [""], "LEASE_SUPPOSED": ["0.5"], "LEASE_TIED": [""],
        "LEASE_ASTRAY": ["0.0", "1.0"], "LEASE_LEAST_CHANCE": [""], "BLOCKS_LOST": ["0.0", "1e9"]}),
    "processes": (["p8", "p8 n", "pt24", "pt24 n", "p8 lifo", "pt24 lifo"], {
        "PROCESS_USES": ["1"], "PROCESS_PAIRS": ["(1 << 30)"], "PROCESS_BLOCK": ["1"],
        "PROCESS_DEALS": ["1"], "PROCESS_BACKOFF": ["0.01"], "PROCESS_OWN": ["3.0"],
        "PROCESS_OTHER": ["0.8"], "PROCESS_APART": ["1.0"], "PROCESS_STARTS": ["1"],
        "PROCESS_SWEEPS": ["1"], "PROCESS_GAIN": ["0"], "PROCESS_TIMES": ["0"],
        "PROCESS_GAIN_EACH": ["0"], "PROCESS_RATIO": ["10.0", "100.0"]}),
    "event loops": (["n24", "g8", "loops"], {
        "LOOP_REACH": ["16"], "LOOP_TRIGGERS": ["1"], "LOOP_MOST": ["0"], "LOOP_BLOCK": ["256"],
        "LOOP_PART": ["64"], "LOOP_NOWHERE": ["0"], "LOOP_ASTRAY": ["1e-9"],
        "LOOP_BACKOFF": ["1e-9"], "LOOP_LEAST_AGREEMENT": ["1e-9"], "LOOP_ROUNDS": ["1"],
        "LOOP_FIRST_STEPS": ["1"], "LOOP_LATER_STEPS": ["1"], "LOOP_LOSS": ["1e9"],
        "LOOP_LAST_LOSS": ["1e9"], "LOOP_SAYS": ["1.0"],
        "LOOP_LEAST_SAID": ["1e-9"], "LEARNED_PART": ["0"], "LEAST_PRIOR": ["1.0", "0"]}),
    "event loops that are none": (["busy", "workers", "random, 20", "pt24", "loops, 95"], {
        "LOOP_LOSS": ["1e9"], "LOOP_LAST_LOSS": ["1e9"]}),
    "sizes": (["w3 n", "p8 n", "pt24 n", "u8 n", "u24 dealt", "pt24 dealt"], {
        "SIZE_NEIGHBOURS": ["2", "1000000"], "SIZE_DEALS": ["2"], "SIZE_DEVIATIONS": ["0"],
        "SIZE_EXCESS": ["0"], "PAIR_WEIGHT": ["0.01"], "MOST_SIZED": ["1000000"],
        "SIZE_ROUNDS": ["0"]}),
    "probabilities": (["u8", "u24", "p8", "w3", "pt24", "g8", "busy"], {
        "AGAIN_DRAWN": ["2"], "SECOND_LOST": ["1e9"],
        "SURE_ODDS": [""], "USUAL_ODDS": [""], "DOUBT": [""], "FIRST_OPINION": [""],
        "ASTRAY": [""], "MOST_ASTRAY": [""], "TIED_ASTRAY": [""], "HOPELESS": [""]}),
    "paths": (["w3 paths", "p8 paths", "u8 paths"], {"FAMILY_DOUBT": ["1e-6", "1.0"]}),
    "order": (["g8", "j24", "busy", "random, 20"], {
        "DISPATCH_GAIN": ["-1e9"], "HOPELESS_ODDS": ["1e9"],
        "PLAIN_TRIGGERS": ["2.0"],
        "PLAIN_ODDS": ["0"], "SUPPOSED": [""], "LEAST_FACTOR": [""],
        "ORDER_ROUNDS": [""], "SUPPOSE_ROUNDS": [""], "IN_ORDER": [""],
        "MAYBE_FACTOR": [""], "ORDER_ODDS": [""], "NO_ORDER": [""]}),
    "drawings": (["drawn"], {"DRAWN_BELOW": ["0.0", "2.0"], "DRAW_WARM_UP": ["0"], "DRAW_SWEEPS": ["1"]}),
    "starts": (["workers", "random, 50", "pt24"], {
        "OTHER_BOUNDS": ["12"], "START_ROUNDS": ["1", "8"]}),
    "windows": (["windows", "long, windows"], {
        "GO_ON_ROUNDS": ["1"], "LEARN_AGAIN": ["1000000000"], "LEARN_AGAIN_PART": ["1", "1000000000"]}),
    "coarse stamps": (["coarse"], {
        "STAMPS_COARSE": [""], "STAMPS_COARSEST": ["10000"], "STAMPS_ENOUGH": ["0"]}),
    "roots": (["m1", "q1", "w3", "u8"], {"ROOTS_BY_ACCIDENT": ["0", ""]}),
    "long traces": (["long"], {
        "WALK_MAX_STATES": ["64"], "CUT_SHARE": ["1", "1000000"], "LEARN_FROM": [""],
        "LEARN_BELIEFS": ["(1 << 30)"], "PART_LIVES": ["1"], "PART_BELIEFS": ["(1 << 16)"],
        "LONG_LIVES": ["8"], "LONG_BELIEFS": ["(1 << 12)", "(1 << 30)"],
        "MOST_IN_PART": ["(1 << 14)"], "STRETCH": ["256"]}),
}
GROUPS["others"] = (["u24", "pt24", "j24", "n24", "g8", "w3 n", "random, 20"], {
    name: [""] for name in WITHOUT if not any(name in values for _, values in GROUPS.values())})
# Of the others, LEARNING_LOAD is for several processes, HALF_THE_ROUNDS for the progress that is
# shown, LONGEST_PART for what is read from a model, and what WORTH_NAMING names is in no parent.
JITTERS = (1, 2, 3)
COLUMNS = ["group", "constant", "value", "without", "system", "right", "points", "error", "error more",
           "CPU", "same", "traces", "queues", "no queues"]
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TUNING = os.path.join(SOURCE, "inference", "model", "tuning.h")
LIBRARY = "libravel.a"


def constants():
    with open(TUNING, encoding="utf-8") as lines:
        return re.findall(r"^#define (\w+) +(\S.*)$", lines.read(), re.M)


def command(build, target, changed):
    """The command by which make would make the target."""
    said = subprocess.run(["make", "-n", "-C", build, "V=1", "--assume-new=" + changed, target],
                          capture_output=True, text=True, check=True).stdout.replace("\\\n", " ")
    return [line for line in said.splitlines() if f"-o {target}" in line][0].split(";")[-1]


def users(name):
    """The sources of inference that a constant is in, or whose headers it is in."""
    text = {str(f.relative_to(SOURCE)): f.read_text(encoding="utf-8")
            for f in sorted(pathlib.Path(SOURCE, "inference").rglob("*.[ch]"))}
    uses = {f for f, t in text.items() if not f.endswith("/tuning.h") and re.search(rf"\b{name}\b", t)}
    while True:
        more = {f for f, t in text.items() for h in uses if h.endswith(".h") and f'"{h}"' in t}
        if more <= uses:
            return sorted(f for f in uses if f.endswith(".c"))
        uses |= more


def build_without(build, name, value, work):
    """The program with another value: what uses it is linked before the library."""
    os.makedirs(f"{work}/inference", exist_ok=True)
    with open(TUNING, encoding="utf-8") as lines:
        text = re.sub(rf"^(#define {name}) .*$", rf"\1 {value}", lines.read(), flags=re.M)
    with open(f"{work}/inference/model/tuning.h", "w", encoding="utf-8") as out:
        out.write(text)
    flags = subprocess.run(["pkg-config", "--cflags", "glib-2.0"], capture_output=True, text=True,
                           check=True).stdout.split()
    made = []
    for file in users(name):
        made.append(f"{work}/{file.replace('/', '-')}.o")
        subprocess.run(["gcc", "-std=gnu11", "-O2", "-ffp-contract=off", "-DHAVE_CONFIG_H",
                        "-I", work, "-I", build, "-I", SOURCE, *flags, "-c", f"{SOURCE}/{file}",
                        "-o", made[-1]], check=True)
    program = f"{work}/ravel"
    link = command(os.path.abspath(build), "ravel", LIBRARY)
    link = link.replace("-o ravel", "-o " + shlex.quote(program)).replace(
        LIBRARY, shlex.join(made) + " " + LIBRARY)
    subprocess.run(["sh", "-c", link], check=True, cwd=build)
    return program


def systems_of(group):
    return GROUPS[group][0]


def measure_systems(build, groups, only, work):
    """Writes a line for each value and system."""
    ravel = f"{build}/ravel"
    out = csv.DictWriter(sys.stdout, COLUMNS, delimiter="\t", lineterminator="\n")
    out.writeheader()
    value_of, traces, whole = dict(constants()), {}, {}

    def system(name, seed=0):
        folder = f"{work}/{seed}"
        os.makedirs(folder, exist_ok=True)
        return ablation_systems.system(ravel, name, folder, build, seed)

    def write(group, constant, value, without, name, result):
        all_of = whole[name]
        right, wrong = ablation_systems.queues_said(name, result.queues)
        share = 100 * result.right / result.n
        out.writerow(dict(zip(COLUMNS, [
            group, constant, value, without, name, f"{share:.2f}",
            f"{share - 100 * all_of.right / all_of.n:+.2f}", f"{result.error:.4f}",
            f"{result.error - all_of.error:+.4f}", f"{result.cpu / all_of.cpu:.2f}",
            sum(a == b for a, b in zip(result.answers, all_of.answers)), len(result.answers), right, wrong])))
        sys.stdout.flush()

    for group in groups:
        for name in systems_of(group):
            if name not in whole:
                traces[name] = system(name)
                if traces[name]:
                    whole[name] = ablation_systems.measured(ravel, traces[name], work)
                    for seed in JITTERS:
                        moved = ablation_systems.measured(ravel, system(name, seed), work)
                        write("", "jitter", "", seed, name, moved)
            if traces[name]:
                write(group, "all", "", "", name, whole[name])
        for constant, values in GROUPS[group][1].items():
            if only and constant not in only:
                continue
            for value in values:
                value = value or WITHOUT[constant]
                program = build_without(build, constant, value, work)
                for name in systems_of(group):
                    if traces[name]:
                        write(group, constant, value_of[constant], value, name,
                              ablation_systems.measured(program, traces[name], work))


def spans(rows):
    """By system, from where to where right parents and the calibration error come with all constants,
    by stamps as they are and moved; no less than what a few calls make."""
    found = {}
    for row in rows:
        if row["constant"] in ("all", "jitter"):
            found.setdefault(row["system"], []).append((float(row["points"]), float(row["error more"])))
    return {name: [(min(v), max(v), max(max(v) - min(v), least))
                   for v, least in zip(zip(*values), (0.1, 0.003))]
            for name, values in found.items()}


def is_beyond(value, span):
    """Further out than all that came by moved stamps, and by as much again."""
    low, high, width = span
    return not low - width <= value <= high + width


def is_same(row):
    """To the last byte, and by what is measured beside parents."""
    return (row["same"] == row["traces"] and not float(row["points"]) and
            not float(row["error more"]))


def cell(row, spans):
    """Points, and the change of the calibration error in thousandths; what is beyond in bold."""
    values = float(row["points"]), float(row["error more"])
    if is_same(row):
        return "="
    points, error = (f"**{text}**" if is_beyond(value, span) else text for text, value, span in
                     zip((row["points"], f"{1000 * values[1]:+.0f}"), values, spans[row["system"]]))
    return f"{points} ({error})"


def print_table(group, mine, moved):
    names = systems_of(group)
    names = [n for n in names if any(r["system"] == n for r in mine)]
    queues = group.startswith("workers")
    whole = {r["system"]: r for r in mine if r["constant"] == "all"}
    print(f"| {group} | value | changed to | " + " | ".join(names) + " | CPU |" + " queues |" * queues)
    print("|---|---:|---:|" + "---|" * len(names) + "---:|" + "---|" * queues)
    print("| all of them | | | " + " | ".join(
        f"{whole[n]['right']} ({1000 * float(whole[n]['error']):.0f})" for n in names) + " | |" +
          f" {said(whole.values())} |" * queues)
    print("| *moved stamps* | | | " + " | ".join(
        "{:+.2f} to {:+.2f} ({:+.0f} to {:+.0f})".format(
            *moved[n][0][:2], *(1000 * e for e in moved[n][1][:2])) for n in names) + " | |" +
          " |" * queues)
    same = []
    keys = dict.fromkeys((r["constant"], r["value"], r["without"]) for r in mine if r["constant"] != "all")
    for key in keys:
        changed = {r["system"]: r for r in mine if (r["constant"], r["value"], r["without"]) == key}
        cpu = sum(float(r["CPU"]) for r in changed.values()) / len(changed)
        if all(map(is_same, changed.values())) and \
                said(changed.values()) == said(whole.values()):
            same.append(f"`{key[0]}` = {key[2]} ({cpu:.2f})")
            continue
        print(f"| `{key[0]}` | {key[1]} | {key[2]} | " +
              " | ".join(cell(changed[n], moved) for n in names if n in changed) + f" | {cpu:.2f} |" +
              f" {said(changed.values())} |" * queues)
    if same:
        print("\nThe same answers, CPU in brackets:", ", ".join(same) + ".")
    print()


def print_tables(rows):
    moved = spans(rows)
    queues = {row["system"]: said([row]) for row in rows if row["constant"] == "all"}
    differ, beyond = {}, set()
    for row in rows:
        if row["group"] and row["constant"] != "all":
            same = is_same(row) and said([row]) == queues[row["system"]]
            differ[row["constant"]] = differ.get(row["constant"], False) or not same
            if "**" in cell(row, moved) or said([row]) != queues[row["system"]]:
                beyond.add(row["constant"])
    for group in dict.fromkeys(row["group"] for row in rows if row["group"]):
        print_table(group, [row for row in rows if row["group"] == group], moved)
    for text, some in (("The same answers everywhere", [n for n in differ if not differ[n]]),
                       ("Other answers, but none beyond what moved stamps do",
                        [n for n in differ if differ[n] and n not in beyond])):
        print(f"{text}: {', '.join(f'`{n}`' for n in some)}.\n")


def said(rows):
    rows = list(rows)
    return f"{sum(int(r['queues']) for r in rows)}, {sum(int(r['no queues']) for r in rows)}"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", nargs="?", default=".")
    options.add_argument("--only", default="")
    options.add_argument("--groups", default=",".join(GROUPS))
    options.add_argument("--table", metavar="systems.tsv")
    options = options.parse_args()
    build = os.path.abspath(options.build)
    only = set(filter(None, options.only.split(",")))
    if options.table:
        with open(options.table, encoding="utf-8") as lines:
            print_tables(list(csv.DictReader(lines, delimiter="\t")))
        return
    with tempfile.TemporaryDirectory() as work:
        measure_systems(build, options.groups.split(","), only, work)


if __name__ == "__main__":
    main()
