#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What each field of inference/model/tuning.def is worth: ravel finds the parents of systems of known
truth with a value that takes away the field's effect (ravel nesting --tune).

    ablation-inference.py BUILD [--only NAME,...] [--groups NAME,...] > systems.tsv
    ablation-inference.py --table systems.tsv

BUILD is the folder where the program was built. The systems are those of ablation_systems.py; each
group has the systems on which its constants act. A line has the right parents in percent and the
calibration error, the change of both, and the CPU time as a ratio."""

import argparse
import csv
import os
import re
import sys
import tempfile

import ablation_systems

# The value that takes away a field's effect; where there is none, the half or the double. A field
# that no group below names is tried on systems of several kinds.
WITHOUT = {
    "walk_count": "1", "backoff_weight": "0.001", "general_weight": "0.001", "rare_events": "0",
    "rare_events_share": "0", "smooth_delays": "1", "smooth_most": "1", "density_weight": "1",
    "density_weight_part": "1000000000", "rare_share": "1000000", "learn_from": "2048",
    "bounds_rounds": "1", "fresh_rounds": "0", "rounds": "2", "chain_rounds": "0",
    "chain_sweeps": "0", "least_best_share": "0", "assigned": "1",
    "most_taken": "0.999999999999999", "least_share": "1e-30", "least_offered": "0",
    "negligible_at_first": "0", "negligible": "0", "kept_share": "0.9", "trellis_least": "0",
    "hopeless_loss": "1000", "least_chance": "1e-9", "certain": "2", "prior_drawings": "1",
    "most_prior_drawings": "1000000000", "first_drawings": "0", "warm_up": "0", "cool_down": "0",
    "cold_power": "1", "settle_rounds": "1", "decide_rounds": "0", "first_opinion": "1.0",
    "sure_odds": "1e9", "usual_odds": "1e9", "calibration_scale": "0.0", "error_rate": "0.0",
    "fit_error_rate": "0.9", "most_error_rate": "0.95", "dependent": "1e-9",
    "tied_error_rate": "0.0", "least_gain": "0.0",
    "order_pairs": "0", "prior_pairs": "0", "sure_trigger": "0.0",
    "open_pair": "0.0", "supposed": "1.0", "least_factor": "1e-30", "no_order": "1e9",
    "order_rounds": "0", "suppose_rounds": "0", "stage_rounds": "1", "order_stages": "1",
    "in_order": "1e9", "maybe_factor": "1.0", "order_odds": "1.0", "roots_by_accident": "1e9",
    "least_waits": "0", "lease_deals": "1", "lease_backoff": "1", "evidence_gain": "0", "evidence_times": "0",
    "lease_suppose_rounds": "0", "lease_tied": "2.0", "lease_least_chance": "1e-30",
    "numbers_calls": "1000000000", "numbers_off": "0.0", "numbers_sure": "1",
    "numbers_spread": "1e9", "numbers_end": "0", "numbers_broken": "1.0",
}
# By group, the systems on which constants act, and the values that they are changed to there. An
# empty one is that of WITHOUT.
GROUPS = {
    "workers": (["u8", "u24", "p8", "workers", "loops"], {
        "out_of_turn": ["0", "16"], "least_queue_gain": ["0", "50"], "out_of_queue": ["1e-9", "0.1"],
        "most_early": ["1.0"], "most_out_of_queue": ["1.0"],
    }),
    "workers that are none": (["loops, 95", "busy", "j2", "p2", "w1", "g8"], {
        "least_queue_gain": ["0"], "most_early": ["1.0"], "most_out_of_queue": ["1.0"], "least_waits": [""],
    }),
    "identifiers": (["p8 ids", "pt24 ids", "j24 ids"], {
        "match_backoff": ["0.01"], "evidence_gain": ["0"], "evidence_times": ["0"],
    }),
    "leases": (["w3", "w3 n", "p8", "u24", "pt24", "w3 lifo", "p8 lifo"], {
        "lease_deals": [""], "lease_backoff": [""], "evidence_gain": [""], "evidence_times": [""],
        "lease_suppose_rounds": [""], "lease_supposed": ["0.5"], "lease_tied": [""],
        "lease_error_rate": ["0.0", "1.0"], "lease_least_chance": [""],
        "blocks_lost": ["0.0", "1e9"], "transaction_error_rate": ["1.0"],
    }),
    "processes": (["p8", "p8 n", "pt24", "pt24 n", "p8 lifo", "pt24 lifo"], {
        "process_uses": ["1"], "process_deals": ["1"], "process_backoff": ["0.01"],
        "process_own": ["3.0"], "process_other": ["0.8"],
        "process_starts": ["1"], "evidence_gain": ["0"],
        "evidence_times": ["0"], "process_ratio": ["10.0", "100.0"],
    }),
    "event loops": (["n24", "g8", "loops"], {
        "loop_error_rate": ["1e-9"], "loop_backoff": ["1e-9"], "loop_least_agreement": ["1e-9"],
        "loop_first_steps": ["1"], "loop_later_steps": ["1"], "loop_loss": ["1e9"],
        "loop_last_loss": ["1e9"], "loop_says": ["1.0"], "loop_least_said": ["1e-9"],
        "learned_part": ["0"], "least_prior": ["1.0", "0"],
    }),
    "event loops that are none": (["busy", "workers", "random, 20", "pt24", "loops, 95"], {
        "loop_loss": ["1e9"], "loop_last_loss": ["1e9"],
    }),
    "sizes": (["w3 n", "p8 n", "pt24 n", "u8 n", "u24 dealt", "pt24 dealt"], {
        "size_deals": ["2"], "size_deviations": ["0"],
        "label_deviations": ["0", "1000000"], "label_least_deviation": ["0"], "least_gain": [""],
    }),
    "probabilities": (["u8", "u24", "p8", "w3", "pt24", "g8", "busy"], {
        "again_drawn": ["2"], "second_lost": ["1e9"], "sure_odds": [""], "usual_odds": [""],
        "calibration_scale": [""], "first_opinion": [""], "error_rate": [""],
        "fit_error_rate": [""], "most_error_rate": [""], "dependent": ["1e9"],
        "tied_error_rate": [""], "hopeless_loss": [""],
    }),
    "paths": (["w3 paths", "p8 paths", "u8 paths"], {
        "family_doubt": ["1e-6", "1.0"],
    }),
    "order": (["g8", "j24", "busy", "random, 20"], {
        "dispatch_gain": ["0"], "plain_triggers": ["2.0"], "all_triggers": ["2.0"],
        "plain_odds": ["0"], "supposed": [""], "least_factor": [""], "order_rounds": [""],
        "suppose_rounds": [""], "in_order": [""], "maybe_factor": [""], "order_odds": [""],
        "no_order": [""], "reverse_odds": ["0"],
    }),
    "drawings": (["drawn"], {
        "drawn_below": ["0.0", "2.0"], "draw_warm_up": ["0"], "draw_sweeps": ["1"],
    }),
    "starts": (["workers", "random, 50", "pt24"], {
        "other_bounds": ["12"], "start_rounds": ["1", "8"],
    }),
    "windows": (["windows", "long, windows"], {
        "go_on_rounds": ["1"], "learn_again": ["1000000000"],
        "learn_again_part": ["1", "1000000000"],
    }),
    "roots": (["m1", "q1", "w3", "u8"], {
        "roots_by_accident": ["0", ""],
    }),
    "long traces": (["long"], {
        "cut_share": ["1", "1000000"], "learn_from": [""], "part_lives": ["1"], "context_lives": ["0"],
    }),
}
GROUPS["others"] = (["u24", "pt24", "j24", "n24", "g8", "w3 n", "random, 20"], {
    name: [""] for name in WITHOUT if not any(name in values for _, values in GROUPS.values())})
GROUPS["others"][1]["label_least_deviation"] = ["0"]
JITTERS = (1, 2, 3)
COLUMNS = ["group", "constant", "value", "without", "system", "right", "points", "error", "error more",
           "CPU", "same", "traces", "queues", "no queues"]
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TUNING = os.path.join(SOURCE, "inference", "model", "tuning.def")


def constants():
    with open(TUNING, encoding="utf-8") as lines:
        return re.findall(r"^(?:INT|COUNT|REAL)\((\w+), (.*)\)$", lines.read(), re.M)


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
                for name in systems_of(group):
                    if traces[name]:
                        write(group, constant, value_of[constant], value, name,
                              ablation_systems.measured(ravel, traces[name], work,
                                                        [f"--tune={constant}={value}"]))


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
              " | ".join(cell(changed[n], moved) if n in changed else "" for n in names) + f" | {cpu:.2f} |" +
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
