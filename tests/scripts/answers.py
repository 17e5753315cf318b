#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Hashes every answer of a program, so that a change that should change none can be shown to.

    answers.py BUILD OUT [-j N] [--only REGEX]

BUILD is the folder where the program was built. OUT gets a line for each answer: its hash and
CASE/ANSWER; compare it with the OUT of another build. The cases are the captures and traces of
RAVEL_SHARED (or ../shared beside the sources), the demonstration, the examples, and traces of
gen-trace. The answers are the trace, text, JSON, TSV, --calls, a dump of the store, pages, exports,
and what is asked of stores. Answers with --ids are left out: their keys are random."""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("RAVEL_SHARED", SOURCE.parent / "shared"))
WITHOUT_LABELS = ("j24", "n24", "g8", "p8", "w3", "dj16", "testbed-conc8")
GENERATED = {"gen-1.6": ["60000", "1.6"], "gen-5": ["60000", "5"], "gen-45": ["20000", "45"],
             "gen-5-four": ["20000", "5", "--four", "--skew", "7"]}


def dump(store):
    """Every row of every table."""
    with sqlite3.connect(store) as db:
        db.text_factory = bytes
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        return "\n".join(repr((name, row)) for (name,) in tables
                         for row in db.execute(f'SELECT * FROM "{name.decode()}"')).encode()


class Case:
    """One input, in a folder of its own that is its working directory."""

    def __init__(self, build, name, folder):
        self.ravel, self.name, self.folder, self.hashes = str(build / "ravel"), name, folder, []

    def keep(self, answer, data):
        self.hashes.append((f"{self.name}/{answer}", hashlib.sha256(data).hexdigest()[:20]))

    def run(self, answer, *arguments, files=()):
        """The answer is the status, both outputs, and the files that the command writes."""
        done = subprocess.run([self.ravel, *map(str, arguments)], cwd=self.folder, capture_output=True,
                              stdin=subprocess.DEVNULL, check=False)
        written = b"".join(f.read_bytes() for f in map(self.folder.joinpath, files) if f.is_file())
        self.keep(answer, b"%d\n%b\n%b\n%b" % (done.returncode, done.stdout, done.stderr, written))

    def find_paths(self, convolution):
        self.run("stats", "stats", "trace")
        for method in ("joint", "paper"):
            self.run(method, "nesting", "--method", method, "--calls", "calls", "-o", f"{method}.sqlite", "trace",
                     files=["calls"])
            self.run(f"{method}-json", "nesting", "--method", method, "--format", "json", "trace")
            if (self.folder / f"{method}.sqlite").exists():
                self.keep(f"{method}-store", dump(self.folder / f"{method}.sqlite"))
        if convolution:
            self.run("convolution", "convolution", "-o", "convolution.sqlite", "trace")
            self.run("window", "nesting", "--window", "10s", "--calls", "calls", "trace", files=["calls"])
        if (self.folder / "joint.sqlite").exists() and (self.folder / "paper.sqlite").exists():
            self.ask_stores()

    def ask_stores(self):
        for output in ("text", "tsv", "dot"):
            self.run(f"show-{output}", "show", "--format", output, "joint.sqlite")
        for verb in ("why", "variance", "whatif", "advise"):
            self.run(verb, verb, "joint.sqlite")
            self.run(f"{verb}-json", verb, "--format", "json", "joint.sqlite")
        self.run("report", "report", "joint.sqlite", "-o", "page.html", files=["page.html"])
        for export in ("otlp", "folded", "chrome", "tsv", "wireshark"):
            self.run(f"export-{export}", "export", "joint.sqlite", "--as", export)
        self.run("diff", "diff", "joint.sqlite", "paper.sqlite")
        self.run("diff-json", "diff", "--format", "json", "joint.sqlite", "paper.sqlite")
        self.run("trend", "trend", *["joint.sqlite", "paper.sqlite"] * 3)
        self.run("score", "score", "joint.sqlite", "paper.sqlite")


def captures():
    """Name, file, and options of those whose paths are found."""
    for folder in ("wild", "wild3", "services", "testbed-*", "planted"):
        for file in sorted(SHARED.glob(f"captures/{folder}/**/*.pcap*")):
            if "hosts" in file.parent.name or file.name.startswith(("switch", "dsb", "h2tls")):
                continue
            name = file.parent.name if file.name.startswith(("b.", "bridge.")) else file.name.split(".")[0]
            nodes = file.with_name("nodes.txt")
            options = ["--nodes", nodes] if nodes.exists() else []
            yield name, file, options
            if name in WITHOUT_LABELS:
                yield name + "-n", file, [*options, "--no-labels"]
    yield "demo", SOURCE / "demo/shop.pcap.zst", ["--nodes", SOURCE / "demo/shop.nodes"]


def cases(build):
    """Name, and a function of the case that makes its answers."""
    def captured(file, options):
        def answers(case):
            case.run("trace", "capture", "-r", file, *options, "-w", "trace", files=["trace"])
            case.find_paths(False)
        return answers

    def generated(arguments):
        def answers(case):
            with open(case.folder / "trace", "wb") as out:
                subprocess.run([build / "tests/gen-trace", *arguments], stdout=out, check=True)
            case.find_paths(True)
        return answers

    def configured(file):
        def answers(case):
            case.run("trace", "maketrace", "--seed", "5", "-w", "trace", file, files=["trace"])
            case.find_paths(True)
        return answers

    def unpacked(file):
        def answers(case):
            (case.folder / "trace").symlink_to(file)
            case.find_paths(False)
        return answers

    for name, file, options in captures():
        yield name, captured(file, options)
    for name, arguments in GENERATED.items():
        yield name, generated(arguments)
    for file in sorted(SOURCE.glob("examples/*.conf")):
        yield file.stem, configured(file)
    for file in sorted(SHARED.glob("traces/hotel/*.trace.gz")):
        yield file.name.split(".")[0], unpacked(file)
    for folder in ("corpus", "hostile", "reports", "pairs", "testbed-small/hosts"):
        files = sorted(f for f in SHARED.glob(f"captures/{folder}/**/*") if re.search(r"\.(pcap|pcapng|cap)(\.|$)", f.name))
        yield folder.replace("/", "-"), lambda case, files=files: [
            case.run(f.name, "capture", "-r", f, "-w", "trace", files=["trace"]) for f in files]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    options.add_argument("out")
    options.add_argument("-j", type=int, default=os.cpu_count())
    options.add_argument("--only", default="")
    options = options.parse_args()

    def hashes(named):
        name, answers = named
        with tempfile.TemporaryDirectory() as folder:
            case = Case(options.build, name, pathlib.Path(folder))
            answers(case)
            return case.hashes

    chosen = [c for c in cases(options.build) if re.search(options.only, c[0])]
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        found = sorted(line for lines in pool.map(hashes, chosen) for line in lines)
    with open(options.out, "w", encoding="utf-8") as out:
        out.writelines(f"{digest}  {name}\n" for name, digest in found)


if __name__ == "__main__":
    main()
