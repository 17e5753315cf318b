#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What each constant of inference/tuning.h is worth: the program is built without it, that is with
a value that takes away what it does, and finds the parents of traces of known truth.

    ablation-inference.py BUILD [--only NAME,...] [--also TRACE=TRUTH ...] > table.tsv

BUILD is the folder where the program was built. The traces are those of tests/gen-trace at a
parallelism of 8 and of 20, two seeds each; and others with their truth: two columns, the id of a
call and its parent's or "-". A line has the right parents in percent for each group of traces, what
that is more than with all constants, and the CPU time as a ratio."""

import argparse
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile

# The value that takes away what a constant does; where there is none, the half or the double.
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
    "WORTH_NAMING": "0.5", "LEAST_TOLD": "0.0", "VALLEY": "1e9",
    "SPLIT_CALLS": "1", "CERTAIN_SHARE": "1000000", "LEAST_GAIN": "0.0", "LEAST_GAIN_EACH": "0.0",
    "MOST_ORDERED": "0", "REACH": "1", "ORDER_PAIRS": "0", "PRIOR_PAIRS": "0", "MOST_MIXED": "0",
    "SURE_TRIGGER": "0.0", "OPEN_PAIR": "0.0", "RULED_OUT": "1e9", "SUPPOSED": "1.0",
    "LEAST_FACTOR": "1e-30", "NO_ORDER": "1e9", "ORDER_ROUNDS": "0", "SUPPOSE_ROUNDS": "0",
    "STAGE_ROUNDS": "1", "ORDER_STAGES": "1", "MAYBE_ORDER": "1e9", "LAST_ORDER": "1e9",
    "MAYBE_FACTOR": "1.0", "ORDER_ODDS": "1.0", "ROOTS_BY_ACCIDENT": "1e9",
    "LEASE_DEALS": "1", "LEASE_BACKOFF": "0.01", "LEASE_GAIN": "0", "LEASE_TIMES": "0",
    "LEASE_SUPPOSE_ROUNDS": "0", "LEASE_TIED": "2.0", "LEASE_LEAST_CHANCE": "1e-30",
}
GENERATED = {"parallelism 8": (8000, 8), "parallelism 20": (5000, 20)}
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TUNING = os.path.join(SOURCE, "inference", "tuning.h")


def constants():
    with open(TUNING, encoding="utf-8") as lines:
        return re.findall(r"^#define (\w+) +(\S.*)$", lines.read(), re.M)


def command(build, target, changed):
    """The command by which make would make the target."""
    said = subprocess.run(["make", "-n", "-C", build, "V=1", "--assume-new=" + changed, target],
                          capture_output=True, text=True, check=True).stdout.replace("\\\n", " ")
    return [line for line in said.splitlines() if f"-o {target}" in line][0].split(";")[-1]


def users(name):
    """The sources that a constant is in, or whose headers it is in."""
    folder = os.path.join(SOURCE, "inference")
    text = {}
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), encoding="utf-8") as lines:
            text[file] = lines.read()
    uses = {f for f, t in text.items() if f != "tuning.h" and re.search(rf"\b{name}\b", t)}
    while True:
        more = {f for f, t in text.items() for h in uses
                if h.endswith(".h") and f'"inference/{h}"' in t}
        if more <= uses:
            return sorted(f[:-2] for f in uses if f.endswith(".c"))
        uses |= more


def build_without(build, name, value, work):
    """The program with another value."""
    os.makedirs(f"{work}/inference", exist_ok=True)
    with open(TUNING, encoding="utf-8") as lines:
        text = re.sub(rf"^(#define {name}) .*$", rf"\1 {value}", lines.read(), flags=re.M)
    with open(f"{work}/inference/tuning.h", "w", encoding="utf-8") as out:
        out.write(text)
    library = f"{work}/libinference.a"
    subprocess.run(["cp", f"{build}/libinference.a", library], check=True)
    members = subprocess.run(["ar", "t", library], capture_output=True, text=True,
                             check=True).stdout.split()
    flags = subprocess.run(["pkg-config", "--cflags", "glib-2.0"], capture_output=True, text=True,
                           check=True).stdout.split()
    for file in users(name):
        made = os.path.join(work, next(m for m in (file + ".o", "libinference_a-" + file + ".o")
                                       if m in members))
        subprocess.run(["gcc", "-std=gnu11", "-O2", "-ffp-contract=off", "-DHAVE_CONFIG_H",
                        "-I", work, "-I", build, "-I", SOURCE, *flags, "-c",
                        f"{SOURCE}/inference/{file}.c", "-o", made], check=True)
        subprocess.run(["ar", "r", library, made], check=True, capture_output=True)
    link = command(os.path.abspath(build), "ravel", "libinference.a")
    program = f"{work}/ravel"
    link = link.replace("-o ravel", "-o " + shlex.quote(program)).replace(
        "libinference.a", shlex.quote(library))
    subprocess.run(["sh", "-c", link], check=True, cwd=build)
    return program


def right_parents(program, trace, truth, work):
    """Right parents and calls, and seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "nesting", "-j", "1", "-w", "/dev/null", "--calls", f"{work}/calls",
                    trace], check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(f"{work}/calls", encoding="utf-8") as lines:
        next(lines)
        found = {}
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            found[fields[4]] = fields[8]
    with open(truth, encoding="utf-8") as lines:
        pairs = [line.split() for line in lines]
    pairs = [p for p in pairs if p[1] != "-"]
    return (sum(found.get(call) == parent for call, parent in pairs), len(pairs),
            after.ru_utime - before.ru_utime)


def measure(program, groups, work):
    shares, seconds = [], 0.0
    for traces in groups.values():
        right = n = 0
        for trace, truth in traces:
            some, all_of, cpu = right_parents(program, trace, truth, work)
            right, n, seconds = right + some, n + all_of, seconds + cpu
        shares.append(100 * right / n)
    return shares, seconds


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build")
    options.add_argument("--only", default="")
    options.add_argument("--also", action="append", default=[], metavar="TRACE=TRUTH")
    options = options.parse_args()
    build = os.path.abspath(options.build)
    only = set(filter(None, options.only.split(",")))
    with tempfile.TemporaryDirectory() as work:
        groups = {}
        for group, (messages, parallelism) in GENERATED.items():
            for seed in (1, 2):
                name = f"{work}/{parallelism}-{seed}"
                with open(name, "wb") as out:
                    subprocess.run([f"{build}/tests/gen-trace", str(messages), str(parallelism),
                                    "--seed", str(seed), "--truth", name + ".truth"],
                                   stdout=out, check=True)
                groups.setdefault(group, []).append((name, name + ".truth"))
        for also in options.also:
            trace, truth = also.split("=")
            groups[os.path.basename(trace)] = [(trace, truth)]
        whole, seconds = measure(f"{build}/ravel", groups, work)
        print("\t".join(["constant", "value", "without", *groups, *["more"] * len(groups), "CPU"]))
        print("\t".join(["all", "", "", *[f"{s:.2f}" for s in whole], *["0.00"] * len(groups), "1.00"]))
        for name, value in constants():
            if name not in WITHOUT or (only and name not in only):
                continue
            shares, cpu = measure(build_without(build, name, WITHOUT[name], work), groups, work)
            print("\t".join([name, value, WITHOUT[name], *[f"{s:.2f}" for s in shares],
                             *[f"{s - w:+.2f}" for s, w in zip(shares, whole)],
                             f"{cpu / seconds:.2f}"]))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
