# SPDX-License-Identifier: BSD-2-Clause
"""Runs ravel, and says how right its answer is."""

import os
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

# Every method is a curve in every figure: one that `ravel nesting --method` knows.
METHODS = ["paper", "joint", "oracle"]
# The same of `ravel convolution --method`.
CONVOLUTION_METHODS = ["paper", "auto"]
SEEDS = [1, 2, 3, 4, 5]


def methods(seed):
    """Those that are measured with a seed: the slow ones with the first three only."""
    return METHODS if seed <= 3 else ["paper"]


RAVEL = os.environ.get("RAVEL", "./ravel")


class Laboratory:
    """A folder for the files of a run, and the programs that make them."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ravel-experiments."))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def file(self, name):
        return str(self.folder / name)

    def run(self, *arguments, output=None):
        """Standard output, or what went to standard error where it is a file."""
        with open(output, "wb") if output else open(os.devnull, "wb") as out:
            done = subprocess.run(
                [RAVEL, *map(str, arguments)],
                stdout=out if output else subprocess.PIPE,
                stderr=subprocess.PIPE,
                check=False,
            )
        if done.returncode != 0:
            sys.exit(f"experiments: ravel {' '.join(map(str, arguments))}:\n{done.stderr.decode()}")
        return (done.stderr if output else done.stdout).decode()

    def trace(self, configuration, seed, name="trace"):
        """A trace of the configuration; and the share of messages that its sniffer lost."""
        conf, trace = self.file("conf"), self.file(name)
        pathlib.Path(conf).write_text(configuration)
        said = self.run("maketrace", "--seed", seed, conf, output=trace)
        lost = re.search(r"lost \(([\d.]+) %\)", said)
        return trace, float(lost[1]) / 100 if lost else 0.0

    def skewed(self, trace, skew):
        out = self.file("skewed")
        self.run("skewer", "--skew", skew, trace, output=out)
        # The answer, which nesting would take from there.
        text = pathlib.Path(out).read_text().replace("# skew added:", "# clocks: several\n# added:")
        pathlib.Path(out).write_text(text)
        return out

    def true_paths(self, trace):
        store = self.file("true.sqlite")
        self.run("nesting", "--cheat", "-n", 1, "-o", store, trace)
        return store

    def found_paths(self, trace, method, *options):
        store = self.file("found.sqlite")
        self.run("nesting", "--method", method, *options, "-n", 1, "-o", store, trace)
        return store

    def score(self, true, found, top=1):
        """What `ravel score` says: a dictionary of numbers for each N, and for "all"."""
        text = self.run("score", "--format", "tsv", "--top", top, true, found)
        lines = [line.split("\t") for line in text.splitlines()]
        return {
            line[0]: {k: None if v == "-" else float(v) for k, v in zip(lines[0][1:], line[1:])}
            for line in lines[1:]
        }

    def accuracy(self, true, found):
        """The measures of the figures, as shares, over all patterns."""
        return accuracy_of(self.score(true, found)["all"])


def accuracy_of(score):
    return {
        "fp": score["fp_instances"] / max(score["found_instances"], 1),
        "fn": score["fn_instances"] / max(score["true_instances"], 1),
        "parents": score["right_parents"] / max(score["children"], 1),
        "instances": score["right_instances"] / max(score["true_instances"], 1),
        "latency": score["latency_mean_error_share"],
        "own": score["own_mean_error_share"],
    }


def query(store, sql):
    with sqlite3.connect(store) as db:
        return db.execute(sql).fetchall()


def parallelism(store):
    """Mean number of candidate parents; 1 where nothing had a candidate."""
    return query(store, "SELECT parallelism FROM run")[0][0] or 1.0


def usage(*arguments):
    """MB at most and CPU seconds of ravel, by tests/bench/usage."""
    done = subprocess.run(
        ["tests/bench/usage", RAVEL, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    seconds, kib = done.stdout.split()
    return float(kib) * 1024 / 1e6, float(seconds)


def memory_and_time(trace, method):
    """The same of `ravel nesting`."""
    return usage("nesting", "--method", method, "-n", 1, trace)


def median(values):
    return statistics.median(values) if values else None


def mean(values):
    return statistics.fmean(values)
