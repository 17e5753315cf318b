#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
The paper's evaluation, again: sections 7.2, 7.4, 7.5 and 7.6. Those of the convolution
algorithm are in convolution.py.

    make experiments                                  in the build directory: all
    make experiments EXPERIMENTS='figure-19 table-1'  only these
    make experiments EXPERIMENTS=--update             also into docs/evaluation.md and docs/evaluation/

Each experiment writes experiments/NAME.tsv, a line for each run; NAME.md, the table of
docs/evaluation.md; and by gnuplot, where it is installed, NAME.svg. RAVEL names another
program than ./ravel.
"""

import re
import shutil
import sys
import time

import busy_servers
import configuration as conf
import convolution
import drawings
import joint
import measure
import path_probability
import plot
import random_configuration
import real_systems
import trust
from measure import METHODS, SEEDS, mean
from tables import (
    OUT,
    chosen,
    figure,
    in_order,
    percent,
    point,
    values,
    write_plot,
    write_table,
    write_tsv,
)

DOCS = conf.HERE.parent.parent / "docs"

# The cases of Figure 18, and how many sequences make about the same parallelism.
PATHOLOGICAL = {"children-parallel": 1, "children-0-2": 1, "children-d-cc": 1, "penalty-breaker": 1}
CASES = {**PATHOLOGICAL, "multi-tier": 5}


def case(name, sequences, messages=50000):
    text = conf.replaced(conf.load(name), "parallel", sequences * CASES[name])
    return conf.replaced(text, "messages", messages)


# --- tables and curves of cases --------------------------------------------------


def panels_of_cases(rows, column, x, factor=1):
    """A panel for each case, a curve for each method; x is a column, its mean is taken."""
    panels = []
    for name in in_order(rows, "case"):
        curves = []
        for method in METHODS:
            mine = chosen(rows, case=name, method=method)
            points = []
            for step in in_order(mine, "step"):
                at = chosen(mine, step=step)
                points.append(point(factor * mean(values(at, x)), at, column))
            curves.append((method, sorted(points)))
        panels.append((name, curves))
    return panels


def table_of_cases(name, rows, column, steps_label, with_parallelism=False):
    """A line for each case and step, a column for each method."""
    head = ["case", steps_label] + ["parallelism"] * with_parallelism + METHODS
    lines = []
    for c in in_order(rows, "case"):
        for step in in_order(chosen(rows, case=c), "step"):
            at = chosen(rows, case=c, step=step)
            cells = [c, step]
            if with_parallelism:
                cells.append(f"{mean(values(at, 'parallelism')):.3g}")
            lines.append(cells + [percent(chosen(at, method=m), column) for m in METHODS])
    write_table(name, head, lines)


def accuracies(lab, text, seed, truth=None):
    """For each method, its answer to a trace of the configuration, as numbers."""
    trace, lost = lab.trace(text, seed)
    true = lab.true_paths(truth or trace)
    for method in measure.methods(seed):
        found = lab.found_paths(trace, method)
        yield {
            "method": method,
            "parallelism": measure.parallelism(found),
            "lost": lost,
            **lab.accuracy(true, found),
        }


# --- figures 11 and 12 ----------------------------------------------------------

CALL_DELAYS = """
    SELECT p.signature, p.count, ws.name, n.call_delay_mean
    FROM pattern p
    JOIN pattern_node root ON root.pattern = p.id AND root.place = 0
    JOIN node ws ON ws.id = root.node
    JOIN pattern_node n ON n.pattern = p.id AND n.parent = 0
    JOIN node ap ON ap.id = n.node
    WHERE ap.name IN ('AP1', 'AP2')"""


def call_delays(store, signatures):
    """Of each pattern given that was found, the mean ms from the call of the web server to
    the one that it makes to AP1 or AP2; and of each web server, over all their instances."""
    patterns, sums = {}, {"WS1": [0, 0], "WS2": [0, 0]}
    for signature, count, ws, delay in measure.query(store, CALL_DELAYS):
        if signature in signatures:
            patterns[signature] = delay / 1e6
            sums[ws][0] += count * delay / 1e6
            sums[ws][1] += count
    return patterns, {ws: total / n for ws, (total, n) in sums.items()}


def figure_11_12(lab):
    rows = []
    differences = {}  # of a pattern, then of a method: added - normal, for each seed
    for seed in SEEDS:
        normal = {}
        for name in ["multi-tier", "multi-tier-added-delay"]:
            text = conf.replaced(conf.load(name), "parallel", 4)
            text = conf.replaced(text, "think", "uniform(0ms,20ms)")
            trace, _ = lab.trace(text, seed)
            true = lab.true_paths(trace)
            signatures = {s for s, in measure.query(true, "SELECT signature FROM pattern")}
            for method in ["true"] + measure.methods(seed):
                found = true if method == "true" else lab.found_paths(trace, method)
                patterns, servers = call_delays(found, signatures)
                for signature, delay in patterns.items():
                    if name == "multi-tier":
                        normal[method, signature] = delay
                    elif (method, signature) in normal:
                        of_pattern = differences.setdefault(signature, {})
                        of_pattern.setdefault(method, []).append(delay - normal[method, signature])
                rows.append(
                    {
                        "trace": "normal" if name == "multi-tier" else "added",
                        "seed": seed,
                        "method": method,
                        "parallelism": measure.parallelism(found),
                        "patterns": measure.query(found, "SELECT count(*) FROM pattern")[0][0],
                        **servers,
                        **lab.accuracy(true, found),
                    }
                )
    write_tsv("figure-11-12", rows)
    lines = []
    for method in ["true"] + METHODS:
        normal, added = (chosen(rows, trace=t, method=method) for t in ("normal", "added"))
        for ws in ("WS1", "WS2"):
            both = [{"d": a[ws] - n[ws]} for a, n in zip(added, normal)]
            lines.append(
                [method, ws, figure(normal, ws), figure(added, ws), figure(both, "d")]
            )
    write_table(
        "figure-11-12",
        ["method", "server", "normal, ms", "added delay, ms", "difference, ms"],
        lines,
    )
    panels = []
    for method in METHODS:
        curves = []
        for ws in ("WS1", "WS2"):
            points = []
            for x, signature in enumerate(sorted(s for s in differences if ws in s), 1):
                found = [{"d": d} for d in differences[signature].get(method, [])]
                points += [point(x, found, "d", 1)] if found else []
            curves.append((f"patterns with {ws}", points, "points pt 7 ps 0.5"))
        panels.append((method, curves))
    write_plot(
        "figure-11-12",
        panels,
        "true pattern",
        "added delay found before AP, ms",
        settings="set yrange [-20:280]\nset xrange [0:19]",
    )


# --- figure 17 ------------------------------------------------------------------

TOLERANCES = {"0 %": "fn_patterns", "2 %": "fn_patterns_2", "6 %": "fn_patterns_6"}


def figure_17(lab):
    # 36 patterns, the first time with little parallelism, the last but one with the paper's;
    # and 8, where no call is optional.
    n_most = 36
    system = conf.load("multi-tier")
    traces = {
        "all, 1.8": conf.replaced(system, "parallel", 16),
        "all, 3": conf.replaced(system, "parallel", 40),
        "all, 42": conf.replaced(system, "parallel", 760),
        "simple, 42": conf.replaced(conf.without_optional(system), "parallel", 700),
    }
    rows = []
    for name, text in traces.items():
        for seed in SEEDS:
            trace, _ = lab.trace(text, seed)
            true = lab.true_paths(trace)
            n_true = measure.query(true, "SELECT count(*) FROM pattern")[0][0]
            for method in measure.methods(seed):
                found = lab.found_paths(trace, method)
                scores = lab.score(true, found, f"1-{n_most}")
                for n in range(1, min(n_most, n_true) + 1):
                    s = scores[str(n)]
                    rows.append(
                        {
                            "trace": name,
                            "seed": seed,
                            "method": method,
                            "parallelism": measure.parallelism(found),
                            "n": n,
                            "fp": s["fp_patterns"] / n,
                            **{t: s[column] / n for t, column in TOLERANCES.items()},
                        }
                    )
    write_tsv("figure-17", rows)
    panels, lines = [], []
    for method in METHODS:
        for name in traces:
            mine = chosen(rows, method=method, trace=name)
            ns = in_order(mine, "n")
            curves = [
                (t, [point(n, chosen(mine, n=n), t) for n in ns], "lines") for t in TOLERANCES
            ]
            curves.append(("1/N", [(n, 100 / n, 0, 0) for n in ns], "lines dt 2"))
            panels.append((f"{method}, {name}", curves))
            for n in (1, 2, 5, 8, 10, 20, 30, 36):
                at = chosen(mine, n=n)
                if at:
                    lines.append(
                        [method, name, f"{mean(values(mine, 'parallelism')):.2g}"]
                        + [n, f"{100 / n:.1f}"]
                        + [percent(at, t) for t in TOLERANCES]
                        + [percent(at, "fp")]
                    )
    write_table(
        "figure-17",
        ["method", "trace", "parallelism", "N", "1/N"]
        + ["false negatives, 0 %", "2 %", "6 %", "false positives"],
        lines,
    )
    write_plot(
        "figure-17",
        panels,
        "N",
        "false negatives, %",
        settings="set yrange [0:105]\nset xrange [0:36]\nset key above maxrows 2",
        columns=2,
    )


# --- figures 19 to 21 -------------------------------------------------------------


def figure_19(lab):
    rows = []
    for name in CASES:
        for step in (1, 2, 4, 8, 16, 32, 64, 128):
            for seed in SEEDS:
                for a in accuracies(lab, case(name, step), seed):
                    rows.append({"case": name, "step": step, "seed": seed, **a})
    write_tsv("figure-19", rows)
    table_of_cases("figure-19", rows, "fp", "sequences", with_parallelism=True)
    write_plot(
        "figure-19",
        panels_of_cases(rows, "fp", "parallelism"),
        "mean parallelism",
        "false positive instances, %",
        settings="set logscale x\nset yrange [0:105]\nset key bottom right",
    )


def figure_20(lab):
    rows = []
    for name in CASES:
        for step in (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5):
            for seed in SEEDS:
                for a in accuracies(lab, conf.with_deviation(case(name, 8), step), seed):
                    rows.append({"case": name, "step": step, "seed": seed, **a})
    write_tsv("figure-20", rows)
    table_of_cases("figure-20", rows, "fp", "deviation / mean")
    write_plot(
        "figure-20",
        panels_of_cases(rows, "fp", "step"),
        "standard deviation of delays, as a share of their mean",
        "false positive instances, %",
        settings="set yrange [0:105]",
    )


# Rates of capture, as shares of the mean rate of messages.
RATES = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 1.0, 1.01, 1.02]
RATES += [1.03, 1.04, 1.05, 1.06, 1.08, 1.1, 1.15, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0]

# The columns of its table.
LOSSES = [(0, 0.01), (0.01, 0.03), (0.03, 0.1), (0.1, 0.2), (0.2, 0.5)]


def figure_21(lab):
    rows = []
    for name in CASES:
        text = case(name, 4)
        for seed in SEEDS:
            whole, _ = lab.trace(text, seed, "whole")
            (first, last, messages), = measure.query(
                lab.true_paths(whole), "SELECT first, last, messages FROM run"
            )
            for step in RATES:
                rate = round(step * messages / ((last - first) / 1e9))
                lossy = list(accuracies(lab, conf.with_sniffer(text, rate), seed, truth=whole))
                for a in lossy:
                    rows.append({"case": name, "step": step, "rate": rate, "seed": seed, **a})
                if lossy[0]["lost"] == 0:
                    break
    write_tsv("figure-21", rows)
    lines = []
    for name in CASES:
        for method in METHODS:
            mine = chosen(rows, case=name, method=method)
            rates = values(mine, "rate")
            whole = [r for r in mine if r["lost"] == 0]
            cells = [name, method, f"{min(rates)} to {max(rates)}", percent(whole, "fn")]
            for low, high in LOSSES:
                cells.append(percent([r for r in mine if low < r["lost"] <= high], "fn"))
            lines.append(cells)
    write_table(
        "figure-21",
        ["case", "method", "rates, /s", "no loss"]
        + [f"{100 * low:.0f} to {100 * high:.0f} %" for low, high in LOSSES],
        lines,
    )
    write_plot(
        "figure-21",
        panels_of_cases(rows, "fn", "lost", 100),
        "messages lost, %",
        "false negative instances, %",
        settings="set yrange [0:105]\nset xrange [0:52]\nset key bottom right",
    )


# --- figure 22 ----------------------------------------------------------------------

WINDOW = ["--skew-window", "30ms"]
SMOOTH = ["--smooth", "1"]
COMPENSATIONS = {
    "none": ("+", []),
    "window": ("+", WINDOW),
    "window + smooth": ("+", WINDOW + SMOOTH),
    "reversed": ("-", WINDOW + SMOOTH),
}


def figure_22(lab):
    rows = []
    steps = range(0, 65, 5)
    slow = conf.load("multi-tier-slow")
    traces = {
        "deviation 10 %": conf.replaced(conf.with_deviation(slow, 0.1), "parallel", 8),
        "deviation 20 %": slow,
    }
    for name, text in traces.items():
        for seed in SEEDS:
            trace, _ = lab.trace(text, seed)
            true = lab.true_paths(trace)
            for step in steps:
                for compensation, (sign, options) in COMPENSATIONS.items():
                    skewed = lab.skewed(trace, f"WS2={sign}{step}ms")
                    for method in measure.methods(seed):
                        # Smoothing is the paper's.
                        usable = options if method == "paper" else [o for o in options if o not in SMOOTH]
                        if method == "paper" and not usable:
                            usable = ["--skew-window", "0s"]
                        found = lab.found_paths(skewed, method, *usable)
                        rows.append(
                            {
                                "trace": name,
                                "step": step,
                                "compensation": compensation,
                                "seed": seed,
                                "method": method,
                                "parallelism": measure.parallelism(found),
                                **lab.accuracy(true, found),
                            }
                        )
    write_tsv("figure-22", rows)
    lines, panels = [], []
    for name in traces:
        p = mean(values(chosen(rows, trace=name, step=0, compensation="none"), "parallelism"))
        title = f"{name}, parallelism {p:.2g}"
        for method in METHODS:
            mine = chosen(rows, trace=name, method=method)
            for step in steps:
                at = chosen(mine, step=step)
                cells = [percent(chosen(at, compensation=c), "fn") for c in COMPENSATIONS]
                lines.append([title, method, step] + cells)
            curves = [
                (c, [point(s, chosen(mine, step=s, compensation=c), "fn") for s in steps])
                for c in COMPENSATIONS
            ]
            panels.append((f"{method}, {title}", curves))
    write_table(
        "figure-22",
        ["trace", "method", "skew, ms"] + list(COMPENSATIONS),
        lines,
    )
    write_plot(
        "figure-22",
        panels,
        "clock of WS2 fast (reversed: slow) by, ms",
        "false negative instances, %",
        settings="set yrange [0:100]",
    )


# --- table 1 ------------------------------------------------------------------------


def table_1(lab):
    normal = conf.replaced(conf.load("multi-tier"), "parallel", 4)
    added = conf.replaced(conf.load("multi-tier-added-delay"), "parallel", 4)
    normal, added = (conf.replaced(t, "think", "uniform(0ms,20ms)") for t in (normal, added))
    crowd = conf.replaced(conf.slower(conf.load("multi-tier"), 1.3), "think", "uniform(0ms,28ms)")
    calm = conf.replaced(conf.slower(conf.load("multi-tier"), 0.8), "think", "uniform(0ms,106ms)")
    # The trace, the paper's parallelism and length, the configuration.
    traces = [
        ("short", 1.793, 20164, normal),
        ("normal", 1.641, 202520, normal),
        ("added delay", 1.744, 196438, added),
        ("long", 1.612, 2026658, normal),
        ("parallelism low", 1.146, 769638, conf.replaced(calm, "parallel", 2)),
        ("parallelism medium", 5.116, 770344, conf.each_sequences(crowd, 10)),
        ("parallelism high", 45.057, 775254, conf.each_sequences(crowd, 100)),
    ]
    rows = []
    for name, paper, messages, text in traces:
        for seed in SEEDS:
            trace, _ = lab.trace(conf.replaced(text, "messages", messages), seed)
            store = lab.found_paths(trace, "paper")
            (first, last, n), = measure.query(store, "SELECT first, last, messages FROM run")
            mb, seconds = measure.memory_and_time(trace, "paper")
            rows.append(
                {
                    "trace": name,
                    "seed": seed,
                    "messages": n,
                    "duration": (last - first) / 1e9,
                    "paper": paper,
                    "parallelism": measure.parallelism(store),
                    "mb": mb,
                    "seconds": seconds,
                }
            )
    write_tsv("table-1", rows)
    lines = []
    for name, paper, _, _ in traces:
        mine = chosen(rows, trace=name)
        lines.append(
            [name, f"{mean(values(mine, 'messages')):,.0f}", paper]
            + [figure(mine, "parallelism"), figure(mine, "mb", 1), figure(mine, "seconds", 3)]
        )
    write_table(
        "table-1",
        ["trace", "messages", "parallelism, paper", "here", "MB", "CPU s"],
        lines,
    )


# --- systems of random configurations -----------------------------------------------

UNSEEN = range(1001, 1021)  # seeds below 1001 are for fitting


def unseen(name, lab, steps, axis, trace_of):
    """The table and the plot of systems never seen; trace_of(system, step) makes a trace."""
    rows = []
    for step in steps:
        for system in UNSEEN:
            trace = trace_of(system, step)
            true = lab.true_paths(trace)
            for method in METHODS:
                found = lab.found_paths(trace, method)
                parallelism = measure.parallelism(found)
                a = {"method": method, "parallelism": parallelism, **lab.accuracy(true, found)}
                rows.append({"step": step, "system": system, **a})
    write_tsv(name, rows)
    lines = []
    for step in steps:
        at = chosen(rows, step=step)
        line = [step, figure(chosen(at, method=METHODS[0]), "parallelism")]
        for column in ("parents", "instances", "latency"):
            line += [percent(chosen(at, method=m), column) for m in METHODS]
        lines.append(line)
    head = [axis, "parallelism"]
    for what in ("right parents", "whole requests", "error of latency"):
        head += [f"{what}, {METHODS[0]}"] + METHODS[1:]
    write_table(name, head, lines)
    panels = []
    for title, column in (("right parents", "parents"), ("right instances", "instances")):
        curves = []
        for method in METHODS:
            mine = chosen(rows, method=method)
            curves.append((method, [point(x, chosen(mine, step=x), column) for x in steps]))
        panels.append((title, curves))
    settings = "set logscale x\nset yrange [0:105]\nset key bottom left"
    write_plot(name, panels, axis, "%", settings=settings)


def random_systems(lab):
    def trace_of(system, sequences):
        return lab.trace(random_configuration.configuration(system, sequences), 1)[0]

    unseen("random", lab, (1, 2, 5, 10, 20, 50), "sequences", trace_of)


def busy_systems(lab):
    def trace_of(system, clients):
        trace = lab.file("trace")
        with open(trace, "w", encoding="ascii") as file:
            file.write(busy_servers.trace(system, clients, 3000))
        return trace

    unseen("busy", lab, (2, 4, 8, 16, 32), "clients", trace_of)


# ------------------------------------------------------------------------------------

EXPERIMENTS = {
    "figure-11-12": figure_11_12,
    "figure-17": figure_17,
    "figure-19": figure_19,
    "figure-20": figure_20,
    "figure-21": figure_21,
    "figure-22": figure_22,
    "table-1": table_1,
    "random": random_systems,
    "busy": busy_systems,
    **convolution.EXPERIMENTS,
    **joint.EXPERIMENTS,
    **real_systems.EXPERIMENTS,
    **path_probability.EXPERIMENTS,
    **trust.EXPERIMENTS,
    **drawings.EXPERIMENTS,
}
# What --update writes besides.
UPDATES = {"trust": trust.update}


def update(name):
    """Puts the table, the plot or both into the documentation: where the page has a place for the table, or a
    link to it; and beside it the plot."""
    page = DOCS / "evaluation.md"
    table = (OUT / f"{name}.md").read_text()
    text = re.sub(
        rf"(<!-- table of {name} -->\n).*?(<!-- end -->)",
        lambda m: m[1] + table + m[2],
        page.read_text(),
        flags=re.S,
    )
    page.write_text(text)
    if f"(evaluation/{name}.md)" in text:
        (DOCS / "evaluation" / f"{name}.md").write_text(table)
    picture = OUT / f"{name}.svg"
    if picture.exists():
        (DOCS / "evaluation").mkdir(exist_ok=True)
        shutil.copy(picture, DOCS / "evaluation")


def main(arguments):
    updating = "--update" in arguments
    names = [a for a in arguments if a != "--update"] or list(EXPERIMENTS)
    for name in names:
        if name not in EXPERIMENTS:
            sys.exit(f"experiments: no experiment {name}; there are {', '.join(EXPERIMENTS)}")
    OUT.mkdir(exist_ok=True)
    if not plot.available():
        print(
            "experiments: gnuplot is not installed (package gnuplot-nox): numbers, but no plots",
            file=sys.stderr,
        )
    for name in names:
        started = time.monotonic()
        with measure.Laboratory() as lab:
            EXPERIMENTS[name](lab)
        if updating:
            update(name)
            UPDATES.get(name, lambda: None)()
        print(f"experiments/{name}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
