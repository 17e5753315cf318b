#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""printable.py RAVEL TRACE: checks of tests/scripts/printable.sh, in its directory. TAP."""

import json
import re
import sqlite3
import subprocess
import sys
import unicodedata
import urllib.parse
import xml.dom.minidom

ravel, hostile = sys.argv[1:]
n = bad = 0
NAMES = ["=cmd|' /C calc'!A0", "+1", "-2", "@SUM(1)", "\x1b[31mred\x1b]0;pwn\x07", "\u202egnp.exe", "\u2066x\u2069",
         "\ufffe", "\ufdd0", "\U0001ffff", "\ufeffbom", "a\u200bb", "line\u2028sep", "\x9b31m", "soft\u00adhyphen",
         "\U000e0041tag", "caf\u00e9 \u0645\u200c\u0645", "back\\slash", "q\"uote", "semi;colon", "a\tb\nc"]
BAD = {"Cc", "Cf", "Zl", "Zp", "Cs"}
KEPT = {"\u200c", "\u200d"}


def result(name, problem=None):
    global n, bad
    n += 1
    print(f"{'not ' if problem else ''}ok {n} - {name}")
    if problem:
        bad = 1
        print("#", str(problem).replace("\n", "\n# "))


def unprintable(text):
    return [f"U+{ord(c):04X} after {text[max(0, i - 30):i]!r}" for i, c in enumerate(text)
            if c not in KEPT and c not in "\n\t" and (unicodedata.category(c) in BAD or 0xfdd0 <= ord(c) <= 0xfdef
                                                      or ord(c) & 0xfffe == 0xfffe)]


def formulas(text):
    return [cell for line in text.splitlines() for cell in line.split("\t")
            if re.match(r"[=+@-]", cell) and cell != "-" and not re.fullmatch(r"[-+]?[0-9.e+]+", cell)]


def run(*arguments, name=None, tsv=False, status=0):
    done = subprocess.run([ravel, *arguments], capture_output=True)
    found = [f"status {done.returncode}: {done.stderr}"] if done.returncode != status else []
    for output in (done.stdout, done.stderr):
        try:
            text = output.decode()
        except UnicodeDecodeError as error:
            found.append(error)
            continue
        found += unprintable(text) + (formulas(text) if tsv else [])
    result(name or " ".join(a if len(a) < 60 else "..." for a in arguments[:4]),
           "\n".join(map(str, found[:10])) if found else None)
    return done.stdout.decode(errors="replace")


def quote(name):
    return urllib.parse.quote(name, safe="=+@-\u202e\u2066\u2069\ufffe\ufdd0\U0001ffff\ufeff\u200b\u00ad\U000e0041\u200c")


# One request through all of them, and one to each, with ids as bad.
with open(hostile, encoding="utf-8") as file:
    lines = file.read().splitlines()
lines[1:1] = ["# host: \x1b[31mESC \u202e =cmd <script>alert(3)</script>", "# source: \x1b]0;pwn\x07\x9b", "# x: \ufffe"]
t = 2000.0
for i, name in enumerate(NAMES):
    caller = NAMES[i - 1] if i % 3 else "client"
    raw_id = f"={i}" if i % 2 else f"@\u202e{i}"
    lines += [f"{t:.6f}\tCALL_SENT\t{quote(caller)}\t{quote(name)}\t{raw_id}",
              f"{t + 0.5:.6f}\tRET_SENT\t{quote(name)}\t{quote(caller)}\t{raw_id}"]
    t += 1
with open("t.trace", "w", encoding="utf-8") as file:
    file.write("\n".join(lines) + "\n")

run("stats", "t.trace")
for form in ("text", "dot", "svg", "json", "tsv"):
    text = run("nesting", "--format", form, "-n", "0", "t.trace", tsv=form == "tsv")
    if form == "svg":
        try:
            xml.dom.minidom.parseString(text.encode())
            problem = None
        except Exception as error:  # pylint: disable=broad-except
            problem = error
        result("the picture is XML", problem)
    if form == "json":
        names = {node for pattern in json.loads(text)["patterns"] for node in re.findall(r".*", json.dumps(pattern))}
        result("names in JSON are what they are", next((x for x in NAMES if not any(
            json.dumps(x, ensure_ascii=True)[1:-1] in y for y in names)), None))
for form in ("text", "dot", "svg", "json", "tsv"):
    run("convolution", "--format", form, "--quantum", "10ms", "--max-delay", "1s", "t.trace", tsv=form == "tsv")
run("nesting", "-o", "t.sqlite", "-w", "/dev/null", "--calls", "calls.tsv", "t.trace")
with open("calls.tsv", encoding="utf-8") as file:
    text = file.read()
result("--calls", "\n".join(unprintable(text) + formulas(text)))

# As a store of before had them: in signatures, too, and worse.
store = sqlite3.connect("old.sqlite")
sqlite3.connect("t.sqlite").backup(store)
for signature, number in store.execute("SELECT signature, id FROM pattern").fetchall():
    store.execute("UPDATE pattern SET signature = ? WHERE id = ?",
                  (re.sub(r"%(?:[89A-F]\d|[89A-F][A-F]|1B)(?:%[89AB][0-9A-F])*",
                          lambda m: urllib.parse.unquote(m[0]), signature) + ("\x1b[2J" if number == 1 else ""), number))
store.execute("UPDATE run SET method = 'x\x1b[2J\u202e', version = '=1\x1b', parameters = parameters || char(27, 8238)")
store.commit()
for file in ("t.sqlite", "old.sqlite"):
    for form in ("otlp", "folded", "chrome", "tsv"):
        run("export", "--as", form, file, tsv=form == "tsv")
    page = run("report", "-o", "-", file)
    json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    for form in ("text", "tsv", "json", "html"):
        run("diff", "--format", form, file, "t.sqlite", tsv=form == "tsv")
    for form in ("text", "tsv", "json"):
        run("score", "--format", form, "t.sqlite", file, tsv=form == "tsv")
        run("query", "--format", form, file, "SELECT capture.*, node.name, node.written FROM node, capture", tsv=form == "tsv",
            status=2 if form == "json" else 0)
        run("query", "--format", form, file, "SELECT name, '=1' AS \"=\x1b\u202e\" FROM node", tsv=form == "tsv")
        run("query", "--format", form, file, "SELECT signature FROM pattern", tsv=form == "tsv")

# What went wrong is said in one line of text.
for arguments in (("nesting", "--exclude", "\u202e\x1bx", "t.trace"), ("stats", "no\x1b\u202esuch"),
                  ("query", "t.sqlite", "SELECT \u202e\x1b FROM x"), ("report", "\u202e.sqlite")):
    done = subprocess.run([ravel, *arguments], capture_output=True, text=True)
    result(f"a message: {arguments[0]}", unprintable(done.stderr) or done.stderr.count("\n") > 1)
print(f"1..{n}")
sys.exit(bad)
