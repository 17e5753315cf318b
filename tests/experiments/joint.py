# SPDX-License-Identifier: BSD-2-Clause
"""How right `ravel convolution --method auto` is on systems of known truth, and what each element
of it is worth. Everything goes by the defaults of the program."""

import os
import subprocess

import configuration as conf
import mail_configuration
import measure
import prefixes
import random_configuration
from convolution import found_prefixes, messages_of
from measure import SEEDS
from tables import chosen, in_order, percent, values, write_table, write_tsv

MESSAGES = 20000
SECOND = 10**9

# As convolution/joint/node-causes.h numbers them.
ELEMENTS = {
    "all": 0,
    "without explaining away": 1 << 0,
    "without one effect a cause": 1 << 1,
    "without effects beside others": 1 << 2,
    "without the second look": 1 << 3,
    "without a price of densities": 1 << 4,
    "without past and future": 1 << 5 | 1 << 6,
    "without the future": 1 << 6,
    "without the test for wrong causes": 1 << 7,
    "without return consistency": 1 << 8,
    "without the order of answers": 1 << 9,
    "without the test for wrong answers": 1 << 10,
}


def short(text):
    return conf.replaced(text, "messages", MESSAGES)


def multi_tier():
    return short(conf.load("multi-tier"))


def figure_10():
    return conf.load("figure-10")


def publish_subscribe():
    text = conf.load("publish-subscribe")
    return text.replace("duration=20min", f"messages={MESSAGES}")


# By name: the configuration for a seed, and what is done to its trace.
SCENARIOS = {
    "Figure 10, deviation 10 %": (lambda _: figure_10(), {}),
    "Figure 10, deviation 25 %": (lambda _: conf.with_deviation(figure_10(), 0.25), {}),
    "Figure 10, deviation 50 %": (lambda _: conf.with_deviation(figure_10(), 0.5), {}),
    "Figure 10, loss 5 %": (lambda _: figure_10(), {"loss": 0.05}),
    "Figure 10, noise 10 %": (lambda _: figure_10(), {"noise": 0.1}),
    "Figure 10, noise 25 %": (lambda _: figure_10(), {"noise": 0.25}),
    "Figure 10, noise 50 %": (lambda _: figure_10(), {"noise": 0.5}),
    "multi-tier": (lambda _: multi_tier(), {}),
    "multi-tier, added delay": (lambda _: short(conf.load("multi-tier-added-delay")), {}),
    "multi-tier, deviation 25 %": (lambda _: conf.with_deviation(multi_tier(), 0.25), {}),
    "multi-tier, deviation 50 %": (lambda _: conf.with_deviation(multi_tier(), 0.5), {}),
    "multi-tier, loss 5 %": (lambda _: multi_tier(), {"loss": 0.05}),
    "multi-tier, noise 10 %": (lambda _: multi_tier(), {"noise": 0.1}),
    "multi-tier, noise 25 %": (lambda _: multi_tier(), {"noise": 0.25}),
    "multi-tier, WS2 20 ms early": (lambda _: multi_tier(), {"skew": "WS2=-20ms"}),
    "multi-tier, WS2 60 ms early": (lambda _: multi_tier(), {"skew": "WS2=-60ms"}),
    "publish and subscribe": (lambda _: publish_subscribe(), {}),
    "topics": (lambda _: conf.load("topics"), {}),
    "mail": (mail_configuration.configuration, {"stamp": SECOND}),
    # Systems that nothing was fitted to: see random_configuration.
    "random": (lambda seed: random_configuration.configuration(1000 + seed), {}),
}

ABLATED = ["Figure 10, noise 25 %", "multi-tier, loss 5 %", "topics", "random"]


def scenario(lab, name, seed):
    text, disturbances = SCENARIOS[name]
    skew = disturbances.get("skew")
    disturbances = {k: v for k, v in disturbances.items() if k != "skew"}
    trace, true = messages_of(lab, text(seed), seed, **disturbances)
    return lab.skewed(trace, skew) if skew else trace, true


def row(name, seed, true, found):
    score = prefixes.Score(true, found)
    return {
        "scenario": name,
        "seed": seed,
        "frequent": score.frequent,
        "missed": len(score.missed),
        "reported": score.reported_often,
        "false": len(score.often_false),
        "derived": len(score.often_derived),
        "rare": len(score.false) + len(score.derived) - len(score.often_false) - len(score.often_derived),
        "delay": measure.median(score.delay_errors) if score.delay_errors else None,
        "count": measure.median(score.count_errors) if score.count_errors else None,
    }


def total(rows, column):
    return sum(values(rows, column))


def scenarios(lab):
    rows = []
    for name in SCENARIOS:
        for seed in SEEDS:
            trace, true = scenario(lab, name, seed)
            rows.append(row(name, seed, true, found_prefixes(lab, trace, "auto")))
    write_tsv("scenarios", rows)
    lines = []
    for name in SCENARIOS:
        mine = chosen(rows, scenario=name)
        lines.append(
            [name, total(mine, "frequent"), total(mine, "missed")]
            + [total(mine, c) for c in ("false", "derived")]
            + [percent(mine, "delay"), percent(mine, "count")]
        )
    write_table(
        "scenarios",
        ["scenario", "frequent", "missed", "false", "derived"]
        + ["error of delays, %", "error of counts, %"],
        lines,
    )


def found_without(trace, elements):
    """What is found, by prefix, without some elements."""
    program = os.path.join(os.path.dirname(measure.RAVEL), "tests/experiments/ablate-convolution")
    done = subprocess.run(
        [program, str(elements), trace], stdout=subprocess.PIPE, check=True, text=True
    )
    found = {}
    for line in done.stdout.splitlines():
        path, count, delay = line.split("\t")
        found[tuple(path.split(">"))] = (int(count), [(int(delay), int(count))])
    return found


def ablation(lab):
    rows = []
    for name in ABLATED:
        for seed in SEEDS:
            trace, true = scenario(lab, name, seed)
            for element, number in ELEMENTS.items():
                found = found_without(trace, number)
                rows.append({"element": element, **row(name, seed, true, found)})
    write_tsv("ablation", rows)
    lines = []
    for element in ELEMENTS:
        cells = []
        for name in ABLATED:
            mine = chosen(rows, element=element, scenario=name)
            sums = [total(mine, c) for c in ("missed", "false", "derived")]
            cells.append("/".join(map(str, sums)))
        if element == "all" or cells != lines[0][1:]:  # others change nothing
            lines.append([element, *cells])
    frequent = [total(chosen(rows, element="all", scenario=n), "frequent") for n in ABLATED]
    write_table("ablation", [""] + [f"{n} ({k})" for n, k in zip(ABLATED, frequent)], lines)


EXPERIMENTS = {"scenarios": scenarios, "ablation": ablation}
