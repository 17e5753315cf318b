# SPDX-License-Identifier: BSD-2-Clause
"""How right counts of patterns by drawings are, beside those of the paths found, where most of these
are wrong: of the first ten patterns how many are true, and the share of all counts that agrees with
the true ones."""

import json

import configuration as conf
import measure
import random_configuration
from tables import write_table, write_tsv

MESSAGES = 20000


def systems():
    multi_tier = conf.replaced(conf.load("multi-tier"), "messages", MESSAGES)
    for parallel in (300, 400, 560, 760):
        for seed in (1, 2):
            yield f"multi-tier, {parallel} sequences, seed {seed}", conf.replaced(multi_tier, "parallel", parallel), seed
    for system in range(9201, 9211):
        for parallel in (20, 50):
            yield f"random {system}, {parallel} sequences", random_configuration.configuration(system, parallel), 1


def drawings(lab):
    rows = []
    for name, text, seed in systems():
        trace, _ = lab.trace(text, seed)
        true, found = lab.true_paths(trace), lab.found_paths(trace, "joint")
        drawn = json.loads(lab.run("score", "--format", "json", true, found)).get("drawn")
        if not drawn:
            continue
        ((probability, paths),) = measure.query(
            found, "SELECT total(probability * count), total(count) FROM pattern"
        )
        rows.append(
            {
                "system": name,
                "parallelism": measure.parallelism(found),
                "probability": probability / paths,
                **drawn,
            }
        )
    write_tsv("drawings", rows)
    write_table(
        "drawings",
        ["system", "mean parallelism", "true patterns among the first ten, by paths", "by drawings"]
        + ["counts that agree, by paths", "by drawings"],
        [
            [r["system"], f"{r['parallelism']:.1f}", r["true_found"], r["true"]]
            + [f"{100 * r[c]:.1f}" for c in ("overlap_found", "overlap")]
            for r in rows
            if not r["system"].endswith("seed 2")
        ],
    )


EXPERIMENTS = {"drawings": drawings}
