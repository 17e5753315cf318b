# SPDX-License-Identifier: BSD-2-Clause
"""Systems of known truth on which the constants of inference act, for ablation-inference.py.

Captured ones are not part of the project: they are used where RAVEL_SHARED, or ../shared beside the
sources, has them. A name is that of a capture, and what was done with it: "n", without operations;
"ids", with identifiers; "dealt", its operations dealt anew among the calls of each edge; "lifo", its
connections given to its calls by pools that are last in, first out. Generated ones are made from
seeds that no constant was chosen on."""

import collections
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import sqlite3
import subprocess
import sys

import busy_servers
import configuration as conf
import measure
import path_probability
import random_configuration
import real_systems
import server_configuration

CAPTURES = real_systems.SHARED / "captures"
TRUTH_IDS = r"@?r\d+(\.\d+)*@?"  # the ids in requests that say the truth
BINS = 10

# right of n; the calibration error; seconds of CPU; hashes of the answers; the queues said, as nodes
Result = collections.namedtuple("Result", "right n error cpu answers queues")


def ravel(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout


def calibration_error(said):
    bins = collections.defaultdict(list)
    for probability, right in said:
        bins[min(int(BINS * probability), BINS - 1)].append(probability - right)
    return sum(abs(sum(b)) for b in bins.values()) / max(len(said), 1)


# --- traces ---------------------------------------------------------------------------------------


def lines_of(trace):
    """Comments, and the others as (ns, fields)."""
    lines = pathlib.Path(trace).read_text(encoding="utf-8").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    fields = [line.split() for line in lines if not line.startswith("#")]
    return comments, [(real_systems.nanoseconds(f[0]), f) for f in fields]


def write_lines(trace, comments, lines):
    text = [f"{ns // 10**9}.{ns % 10**9:09} {' '.join(f[1:])}" for ns, f in
            sorted(lines, key=lambda line: line[0])]
    pathlib.Path(trace).write_text("\n".join(comments + text) + "\n", encoding="utf-8")


def change_stamps(trace, change):
    comments, lines = lines_of(trace)
    write_lines(trace, comments, [(change(ns), f) for ns, f in lines])


def jitter(trace, seed):
    r = random.Random(seed)
    change_stamps(trace, lambda ns: ns + r.randrange(200))


def deal_operations(trace):
    """Anew among the calls of each edge."""
    comments, lines = lines_of(trace)
    r = random.Random(1)
    at = collections.defaultdict(list)
    for _, f in lines:
        for i, word in enumerate(f):
            if word.startswith("label="):
                at[f[1], f[2], f[3]].append((f, i))
    for places in at.values():
        words = [f[i] for f, i in places]
        r.shuffle(words)
        for (f, i), word in zip(places, words):
            f[i] = word
    write_lines(trace, comments, lines)


def deal_connections(trace):
    """By a pool of each edge, last in, first out. By the new id of a call, its old one."""
    comments, lines = lines_of(trace)
    free, n, old, new = collections.defaultdict(list), collections.Counter(), {}, {}
    for _, f in lines:
        calling = f[1].startswith("CALL")
        edge = (f[2], f[3]) if calling else (f[3], f[2])
        if calling and (*edge, f[4]) not in new:
            if not free[edge]:
                n[edge] += 1
                free[edge].append(n[edge])
            connection = free[edge].pop()
            n[edge, connection] += 1
            new[*edge, f[4]] = f"{connection:x}.{n[edge, connection]:x}", connection
            old[*edge, new[*edge, f[4]][0]] = f[4]
        elif not calling and (*edge, f[4]) in new:
            free[edge].append(new[*edge, f[4]][1])
        f[4] = new.get((*edge, f[4]), (f[4],))[0]
        f[:] = [word for word in f if not word.startswith("syn=")]
    write_lines(trace, comments, lines)
    return old


# --- what is right --------------------------------------------------------------------------------


class Trace:
    """One whose parents are found."""

    def __init__(self, trace, options=()):
        self.trace, self.options = trace, options

    def measure(self, program, work, options=()):
        calls, store = f"{work}/found.calls", f"{work}/found.sqlite"
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        ravel(program, "nesting", "-j", 1, "-n", 1, *self.options, *options, "--calls", calls, "-o", store, self.trace)
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        with open(calls, "rb") as file:
            answer = hashlib.md5(file.read()).hexdigest()
        with sqlite3.connect(store) as db:
            queues = db.execute("SELECT DISTINCT written FROM pattern_node JOIN node"
                                " ON node.id = node WHERE workers").fetchall()
        return Result(*self.judge(program, calls, store), cpu, [answer], [node for node, in queues])

    def judge(self, program, calls, store):
        true, found = self.truth(program), parents_of(calls)
        said = [(found[k][1], found[k][0] == p) for k, p in true.items() if k in found]
        return sum(right for _, right in said), len(true), calibration_error(said)

    def truth(self, program):
        """By cheating, the parents of calls that have one."""
        if not hasattr(self, "true"):
            calls = self.trace + ".true"
            ravel(program, "nesting", "--cheat", "-n", 1, "--calls", calls, "-w", "/dev/null", self.trace)
            self.true = {k: p for k, (p, _) in parents_of(calls).items() if p[0] != "-"}
        return self.true


def parents_of(calls):
    """By the key of a call, its parent's and the probability."""
    found = {}
    with open(calls, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            f = line.rstrip("\n").split("\t")
            found[tuple(f[2:5])] = tuple(f[6:9]), float(f[11])
    return found


class Told(Trace):
    """One whose truth lies beside it: two columns, the id of a call and its parent's or "-"."""

    def judge(self, program, calls, store):
        with open(self.trace + ".truth", encoding="utf-8") as lines:
            true = dict(line.split() for line in lines)
        found = {k[2]: (p[2], probability) for k, (p, probability) in parents_of(calls).items()}
        said = [(found[k][1], found[k][0] == p) for k, p in true.items() if p != "-" and k in found]
        return (sum(right for _, right in said), sum(p != "-" for p in true.values()),
                calibration_error(said))


class Captured(Trace):
    """One that is judged by the score that lies beside it."""

    def __init__(self, trace, folder, old=None):
        super().__init__(trace)
        self.folder, self.old = folder, old

    def judge(self, program, calls, store):
        if self.old:
            lines = [line.split("\t") for line in pathlib.Path(calls).read_text().splitlines()]
            for f in lines:
                f[4] = self.old.get(tuple(f[2:5]), f[4])
                f[8] = self.old.get(tuple(f[6:9]), f[8])
            pathlib.Path(calls).write_text("\n".join("\t".join(f) for f in lines) + "\n")
        said = subprocess.run([sys.executable, real_systems.SHARED / "tools/wild_score.py",
                               self.folder, calls, "--json"], stdout=subprocess.PIPE, check=True)
        score = json.loads(said.stdout)["all"]
        return score["right"], score["truth_children"], score["ece"] or 0.0


class Paths(Captured):
    """One whose paths are judged: whether they are right as often as is said."""

    def judge(self, program, calls, store):
        right, n, _ = super().judge(program, calls, store)
        ravel(program, "nesting", "--method", "joint", "--no-fold", "-n", 1, "-o", store, self.trace)
        found, _ = path_probability.score("/".join(self.folder.parts[-2:]), store)
        return right, n, found["error"]


class Drawn(Trace):
    """One whose patterns are counted by drawings: the share of counts that agrees with the true
    ones, instead of parents."""

    def judge(self, program, calls, store):
        true = self.trace + ".sqlite"
        if not os.path.exists(true):
            ravel(program, "nesting", "--cheat", "-n", 1, "-o", true, self.trace)
        score = json.loads(ravel(program, "score", "--format", "json", true, store))
        drawn = score.get("drawn") or {}
        return 100 * drawn.get("overlap", 0.0), 100, 0.0


# --- systems --------------------------------------------------------------------------------------


def captured(program, name, folder, jittered):
    capture, *changed = name.split()
    where = next(CAPTURES.glob(f"*/{capture}"), None)
    if where is None:
        return []
    trace, old = f"{folder}/{name.replace(' ', '-')}", None
    options = ["--no-labels"] if "n" in changed else []
    options += ["--ids", "--ids-ignore=" + TRUTH_IDS] if "ids" in changed else []
    ravel(program, "capture", "-r", where / "b.pcap.zst", "--nodes", where / "nodes.txt", *options, "-w", trace)
    if "dealt" in changed:
        deal_operations(trace)
    if "lifo" in changed:
        old = deal_connections(trace)
    if jittered:
        jitter(trace, jittered)
    return [(Paths if "paths" in changed else Captured)(trace, where, old)]


def random_systems(parallel):
    for seed in range(1101, 1107):
        yield conf.replaced(random_configuration.configuration(seed, parallel), "messages", 10000), 1


def workers():
    for number, load in ((2, 110), (4, 80), (4, 110), (8, 80), (16, 80)):
        for seed in (41, 42):
            yield server_configuration.configuration(seed, number, load, 1500), seed


def loops(load, requests):
    for seed in (41, 42, 43, 44):
        yield server_configuration.configuration(seed, 1, load, requests, loop=True), seed


def drawn():
    text = conf.replaced(conf.load("multi-tier"), "messages", 20000)
    for parallel in (400, 560):
        yield conf.replaced(text, "parallel", parallel), 11


CONFIGURED = {
    "workers": workers,
    "loops": lambda: loops(70, 1200),
    "loops, 95": lambda: loops(95, 800),
    "random, 20": lambda: random_systems(20),
    "random, 50": lambda: random_systems(50),
    "coarse": lambda: random_systems(20),
    "windows": lambda: random_systems(20),
    "drawn": drawn,
}
TOLD = {"long": ((100000, 8), (40000, 20)),
        "long, windows": ((100000, 8),)}


def generated(program, name, folder, build, jittered):
    made = []

    def file():
        return f"{folder}/{re.sub('[ ,]+', '-', name)}.{len(made)}"

    def done(trace, kind=Trace, options=()):
        if jittered:
            jitter(trace, jittered)
        if name == "coarse":
            change_stamps(trace, lambda ns: ns // 10**6 * 10**6)
        if "windows" in name:
            _, lines = lines_of(trace)
            tenth = f"{(lines[-1][0] - lines[0][0]) // 10**7}ms"
            options = ("--window", tenth, "--max-call", tenth)
        made.append(kind(trace, options))

    for text, seed in CONFIGURED.get(name, lambda: ())():
        pathlib.Path(file() + ".conf").write_text(text)
        ravel(program, "maketrace", "--seed", seed, "-w", file(), file() + ".conf")
        done(file(), Drawn if name == "drawn" else Trace)
    for messages, parallel in TOLD.get(name, ()):
        with open(file(), "wb") as out:
            subprocess.run([f"{build}/tests/gen-trace", str(messages), str(parallel), "--seed", "11",
                            "--truth", file() + ".truth"], stdout=out, check=True)
        done(file(), Told)
    for seed in range(801, 807) if name == "busy" else ():
        pathlib.Path(file()).write_text(busy_servers.trace(seed, 32, 1000))
        done(file())
    return made


def system(program, name, folder, build, jittered=0):
    """Its traces; none where the captures are not there."""
    if name in CONFIGURED or name in TOLD or name == "busy":
        return generated(program, name, folder, build, jittered)
    return captured(program, name, folder, jittered)


def queues_said(name, nodes):
    """How many are queues of workers, and how many are not."""
    right = sum(node in ("web", "work", "app") for node in nodes if "loops" not in name)
    return right, len(nodes) - right


def measured(program, traces, work, options=()):
    """The result for all of them: sums, the mean of the errors, and every answer."""
    results = [trace.measure(program, work, options) for trace in traces]
    return Result(
        sum(r.right for r in results),
        sum(r.n for r in results),
        measure.mean([r.error for r in results]),
        sum(r.cpu for r in results),
        [answer for r in results for answer in r.answers],
        [queue for r in results for queue in r.queues],
    )
