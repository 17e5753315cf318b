#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""report.py RAVEL HOSTILE: checks of tests/scripts/report.sh, in its directory. TAP."""

import base64
import hashlib
import html.parser
import json
import os
import re
import sqlite3
import subprocess
import sys

ravel, hostile = sys.argv[1:]
n = bad = 0


def result(name, problem=None):
    global n, bad
    n += 1
    print(f"{'not ' if problem else ''}ok {n} - {name}")
    if problem:
        bad = 1
        print("#", str(problem).replace("\n", "\n# "))


class Page(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the text of scripts and styles."""

    def __init__(self, path):
        super().__init__()
        self.elements, self.texts, self.inside = [], [], None
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.feed(self.text)
        self.data = json.loads(self.texts[[t for t, _ in self.texts].index("data")][1])

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside = dict(attributes).get("id", tag) if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        if self.inside:
            self.texts.append((self.inside, text))


def counts(text):
    """How many values a distribution of a page holds."""
    tokens = text.split(":")[2].split(",") if text else []
    return sum(int(t, 36) for t in tokens if t[0] != "-")


def differences(pairs):
    return "\n".join(f"{what}: found {found}, expected {expected}" for what, found, expected in pairs if found != expected)


page = Page("report.html")
data = page.data

with open("status", encoding="utf-8") as file:
    result("statuses of packets, of a trace, and by signals", differences([("status", file.read().split(), ["0", "0", "129", "130", "143", "131"])]))
with open("left", encoding="utf-8") as file:
    result("nothing stays of what is made on the way", file.read() + "".join(name for name in os.listdir(".") if name.startswith("ended")))


def without_names(path, *names):
    """The data, but for what the input is called."""
    found = {key: value for key, value in Page(path).data.items() if key not in ("store", "madeOf")}
    called = [c.pop("name") for c in found["captures"]]
    result(f"{path}: what it is made of", differences([("name", [os.path.basename(n) for n in called], list(names))]))
    return found


stepwise = without_names("report.html", "shop.trace")
result("packets to page in one command: the same page", without_names("once.html", "shop.pcap.zst") != stepwise)
result("and of a trace", without_names("traced.html", "shop.trace") != stepwise)
store = sqlite3.connect("shop.sqlite")

with open("report.html", "rb") as one, open("again.html", "rb") as two:
    result("the same page on standard output", one.read() != two.read())
policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
for kind in ("script", "style"):
    text = "".join(t for inside, t in page.texts if inside == kind)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    result(f"the policy allows the {kind} by its hash, and no other",
           policy.count(f"{kind}-src") != 1 or f"{kind}-src 'sha256-{digest}'" not in policy)
result("and nothing else", "default-src 'none'" not in policy)
result("nothing is loaded", [e for e in page.elements if {"src", "href", "style", "onload"} & set(e[1])])

rows = store.execute("SELECT hash, count, total, mean, deviation, p50, p90, p99, min, max FROM pattern "
                     "ORDER BY total DESC, signature").fetchall()
result("a row for each pattern, best first", differences(
    [("rows", [(r[0], *r[2:11]) for r in data["rows"]], rows)]))
result("each row's distribution has all its paths", differences(
    (r[0], counts(r[14]), r[2]) for r in data["rows"]))
run = dict(zip(("messages", "calls", "unmatchedCalls", "cutPaths", "first", "last"), store.execute(
    "SELECT messages, calls, unmatched_calls, cut_paths, cast(first AS TEXT), cast(last AS TEXT) FROM run").fetchone()))
result("the run", differences((k, data[k], v) for k, v in run.items()))
result("the blame: own times add up", differences(
    [("sum", round(sum(b[0] for b in data["blame"]) / 1e6), round(data["total"] / 1e6))]))

problems = []
for row, detail in zip(data["rows"], data["details"]):
    pattern = store.execute("SELECT id FROM pattern WHERE hash = ?", (row[0],)).fetchone()[0]
    stored = store.execute("SELECT coalesce(parent, -1), call_delay_mean, latency_mean, own_mean, network_mean "
                           "FROM pattern_node WHERE pattern = ? ORDER BY place", (pattern,)).fetchall()
    problems += [(row[0], [(p[0], p[1], p[2], p[5], p[6]) for p in detail["places"]], stored)]
    places = sorted(p for v in detail["vertices"] for p in v[2])
    problems += [(f"{row[0]} places", places, list(range(len(stored))))]
    for v in detail["vertices"]:
        problems += [(f"{row[0]} calls", counts(v[3][8]), row[2] * len(v[2]))]
    for kind, order in enumerate(("latency", None, None, "latency DESC")):
        sample = detail["samples"][detail["sample"][kind]]
        if order:
            problems += [(f"{row[0]} {order}", sample["latency"], store.execute(
                f"SELECT latency FROM path WHERE pattern = ? ORDER BY {order} LIMIT 1", (pattern,)).fetchone()[0])]
        # Own times and the network's add up to the latency.
        problems += [(f"{row[0]} own", sum(c[7] + c[8] for c in sample["calls"]), sample["latency"])]
        problems += [(f"{row[0]} calls", [(c[0], c[3]) for c in sample["calls"]], store.execute(
            "SELECT place, coalesce(call_sent, call_recv) - ? FROM call WHERE path = ? ORDER BY id",
            (int(sample["start"]), sample["path"])).fetchall())]
    problems += [(f"{row[0]} over time", sum(b[1] for b in detail["buckets"]), row[2])]
    problems += [(f"{row[0]} peak", float(f"{max(b[3] for b in detail['buckets']):.4g}"), float(f"{row[10]:.4g}"))]
    problems += [(f"{row[0]} boxes", len(detail["boxes"]), len(detail["vertices"]) + 1)]
result("all patterns in full are as the store has them", differences(problems))

# Names that would be markup, and five calls that are one vertex.
subprocess.run([ravel, "nesting", "-o", "hostile.sqlite", hostile], check=True, capture_output=True)
subprocess.run([ravel, "report", "-o", "hostile.html", "hostile.sqlite"], check=True)
page = Page("hostile.html")
names = [row[0] for row in sqlite3.connect("hostile.sqlite").execute("SELECT written FROM node ORDER BY id")]
result("hostile names are in the data as they are", differences([("names", page.data["nodes"], names)]))
result("and nowhere else", [e for e in page.elements if e[0] in ("img", "svg", "b")] or page.text.count("</script>") != 2)
repeated = [v for v in page.data["details"][0]["vertices"] if names[v[1]] == "db"]
result("repeated calls are one vertex", differences([("places", [len(v[2]) for v in repeated], [5])]))
result("with the delays of all", differences([("calls", [counts(v[3][8]) for v in repeated], [20])]))

def summary_of(path):
    text = subprocess.run([ravel, "report", "--format", "json", path], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text), len(text)


summary, size = summary_of("shop.sqlite")
slowest = store.execute("SELECT id, latency FROM request ORDER BY latency DESC, id LIMIT 5").fetchall()
edges = dict(((a, b), n) for a, b, n in store.execute("SELECT caller, node, count(*) FROM hop GROUP BY 1, 2"))
result("a summary: requests, patterns, edges and the slowest as the store has them", differences([
    ("requests", summary["requests"], store.execute("SELECT count(*) FROM request").fetchone()[0]),
    ("slowest", [(r["request"], r["latency"]) for r in summary["slowest"]], slowest),
    ("edges", {(e["caller"], e["callee"]): e["calls"] for e in summary["edges"]}, edges if len(edges) <= 12 else "?"),
    ("patterns", [(p["id"], p["requests"], p["p99"]) for p in summary["patterns"]],
     store.execute("SELECT hash, count, p99 FROM pattern ORDER BY total DESC, signature LIMIT 12").fetchall())]))
with open("long.trace", "w") as file:
    for i in range(4000):
        long = ["n%d%s" % (i % 40 + k, "x" * 500) for k in range(4)]
        file.write("".join(f"{i * 10 + k}.0 CALL_SENT {long[k]} {long[k + 1]} {i}.{k}\n" for k in range(3)))
        file.write("".join(f"{i * 10 + 9 - k}.0 RET_SENT {long[k + 1]} {long[k]} {i}.{k}\n" for k in (2, 1, 0)))
long, long_size = summary_of("long.trace")
result("a summary has at most 20,000 bytes, whatever the names", max(size, long_size) > 20000 or not long["edges"])

for what, sql in (("no path", "DELETE FROM path; DELETE FROM call"),
                  ("no pattern", "DELETE FROM pattern; DELETE FROM pattern_node")):
    copy = sqlite3.connect("copy.sqlite")
    store.backup(copy)
    copy.executescript("PRAGMA foreign_keys = OFF;" + sql)
    if what == "no pattern":
        copy.executescript("DELETE FROM path; DELETE FROM call")
    copy.close()
    done = subprocess.run([ravel, "report", "-o", "copy.html", "copy.sqlite"], capture_output=True, text=True)
    result(f"a store with {what} is reported all the same", done.stderr or done.returncode or not Page("copy.html").data)
# The graph of convolution.
with open("events.trace", "w", encoding="utf-8") as file:
    for i in range(400):
        start = i + i * 7919 % 1000 / 2000
        file.write(f"{start:.4f}\tMSG_SENT\ta\tb\t-\n{start + (0.3 if i % 4 else 0.1):.4f}\tMSG_SENT\tb\tc\t-\n")
subprocess.run([ravel, "convolution", "--quantum", "20ms", "--max-delay", "2s", "-o", "events.sqlite", "events.trace"], check=True, capture_output=True)
subprocess.run([ravel, "report", "-o", "events.html", "events.sqlite"], check=True)
events = sqlite3.connect("events.sqlite")
rows = [list(r) for r in events.execute("SELECT node - 1, coalesce(parent, 0) - 1, count FROM vertex ORDER BY id")]
graphs = Page("events.html").data["graphs"]
result("convolution's graph", differences([("vertices", [v[:3] for v in graphs[0]["vertices"]], rows),
    ("delays", sorted(d for v in graphs[0]["vertices"] for d in v[4]),
     sorted([list(r) for r in events.execute("SELECT delay, count FROM vertex_delay")]))]) or (len(rows) < 3 and rows))
for sql, message in (("UPDATE vertex SET parent = 3 WHERE id = 2", "row 2 of vertex: wrong parent"),
                     ("UPDATE vertex SET node = 9 WHERE id = 1", "row 1 of vertex: wrong node"),
                     ("UPDATE vertex_delay SET vertex = 9", "row 1 of vertex_delay: wrong vertex"),
                     ("DROP TABLE vertex_delay", "no such table: vertex_delay")):
    copy = sqlite3.connect("copy.sqlite")
    events.backup(copy)
    copy.executescript(sql)
    copy.close()
    done = subprocess.run([ravel, "report", "-o", "no.html", "copy.sqlite"], capture_output=True, text=True)
    result(f"{sql}: an error", None if done.returncode == 3 and message in done.stderr else done.stderr)

copy = sqlite3.connect("copy.sqlite")
store.backup(copy)
copy.execute("DELETE FROM pattern_node WHERE pattern = 14")
copy.commit()
done = subprocess.run([ravel, "report", "-o", "no.html", "copy.sqlite"], capture_output=True, text=True)
result("a pattern without nodes is an error", done.returncode != 3 or not re.search("pattern without a row of pattern_node", done.stderr))
print(f"1..{n}")
sys.exit(bad)
