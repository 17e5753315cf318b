#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where most paths are probably wrong, patterns are counted by drawings: closer to the truth than the paths found, in
# every format, the page and from the store alike; elsewhere there are none. RAVEL_LONG=1: on more of them. TAP.
# shellcheck disable=SC2094,SC2181 # databases are no files that are written; the status may be any
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99
messages=12000
[ -z "${RAVEL_LONG:-}" ] || messages=20000

sed "s/^messages=.*/messages=$messages/; s/^parallel=.*/parallel=760/" "$source/examples/multi-tier.conf" >conf &&
	"$ravel" maketrace conf >trace 2>err &&
	"$ravel" nesting -o s.sqlite -n 0 --format json trace >json 2>>err &&
	"$ravel" nesting --cheat -n 0 --format json -o true.sqlite trace >true.json 2>>err &&
	"$ravel" show -n 0 --format json s.sqlite >show.json 2>>err &&
	"$ravel" show -n 0 --format tsv s.sqlite >tsv 2>>err &&
	"$ravel" report -o s.html s.sqlite >out 2>>err &&
	"$ravel" show s.sqlite >text 2>>err && "$ravel" show --sort count -n 10 --format json s.sqlite >ten.json 2>>err
result $? 'paths of the multi-tier system, 760 requests at a time' err
python3 - <<'PYTHON' 2>err
import json, sqlite3

found = json.load(open("json"))["patterns"]
true = {p["signature"]: p["count"] for p in json.load(open("true.json"))["patterns"]}
n = sum(true.values())


def overlap(counts):
    return sum(min(counts.get(s, 0), true[s]) for s in true) / n


drawn = {p["signature"]: p["drawn"] for p in found}
assert sum(p["count"] for p in found) == n and 0.9 * n < sum(drawn.values()) <= n
by_instances = overlap({p["signature"]: p["count"] for p in found})
assert overlap(drawn) > max(0.35, 2 * by_instances), (overlap(drawn), by_instances)
first = json.load(open("ten.json"))["patterns"]
assert [p["drawn"] for p in first] == sorted(drawn.values(), reverse=True)[:10]
assert sum(p["signature"] in true for p in first) >= 8
near = [abs(p["drawn"] - true.get(p["signature"], 0)) <= 2 * p["drawn_error"] for p in first]
assert sum(near) >= 8, near
assert json.load(open("show.json"))["patterns"] == found
rows = [line.rstrip("\n").split("\t") for line in open("tsv")]
at = rows[0].index("drawn")
assert [float(row[at]) for row in rows[1:]] == [p["drawn"] for p in found]
stored = sqlite3.connect("s.sqlite").execute("SELECT signature, round(drawn, 2) FROM pattern")
assert dict(stored) == {s: round(c, 2) for s, c in drawn.items()}
text = open("text").read()
assert "are by drawings" in " ".join(text.split()) and "found" in text and "+-" in text
PYTHON
result $? 'patterns by drawings are nearer to the truth, in all formats' err
python3 - <<'PYTHON' 2>err
import json, re, sqlite3

page = json.loads(re.search('id="data">(.*?)</script>', open("s.html").read(), re.S)[1])
assert page["trustInCounts"] in " ".join(open("text").read().split()), page["trustInCounts"]
assert page["trustInProbabilities"].startswith("How far these probabilities can be trusted is not known: too few systems")
assert "probability of 0." in page["trustInCounts"] and "believe these" in page["trustInCounts"]
stored = {
    h: row
    for h, *row in sqlite3.connect("s.sqlite").execute("SELECT hash, round(drawn, 2), round(drawn_error, 1), count, mean FROM pattern")
}
assert [[row[0], *(round(x, 2 - i) for i, x in enumerate(drawn)), row[2]] for row, drawn in zip(page["rows"], page["drawn"])] == [
    [row[0], *stored[row[0]][:3]] for row in page["rows"]
]
order = [d[0] * row[3 + 1] for row, d in zip(page["rows"], page["drawn"])]
assert all(a >= b - 1e-3 * a for a, b in zip(order, order[1:])) and len(page["drawn"]) == len(stored)
PYTHON
result $? 'the page has them, ranks by them, and says in the same words which to believe' err
"$ravel" score true.sqlite s.sqlite >score 2>>err &&
	"$ravel" score --format json true.sqlite s.sqlite >score.json 2>>err &&
	python3 - <<'PYTHON' 2>>err
import json

true = {p["signature"]: p["count"] for p in json.load(open("true.json"))["patterns"]}
found = {p["signature"]: p for p in json.load(open("json"))["patterns"]}
n = sum(true.values())
score = json.load(open("score.json"))["drawn"]
for key, of, first in (("", "drawn", "true"), ("_found", "count", "true_found")):
    overlap = sum(min(found[s][of], true[s]) for s in true if s in found) / n
    assert abs(score["overlap" + key] - overlap) < 1e-3, (score, overlap)
    ten = sorted(found, key=lambda s: (-found[s][of], s))[:10]
    assert score[first] == sum(s in true for s in ten), (score, ten)
text = " ".join(open("score").read().split())
assert f"By drawings: of the first 10 patterns {score['true']} true, by the paths found {score['true_found']};" in text
PYTHON
result $? 'score says how right they are, beside the paths found' err
sed -i 's/^parallel=.*/parallel=10/' conf
"$ravel" maketrace conf >trace 2>err && "$ravel" nesting --format json -o calm.sqlite trace >json 2>>err &&
	"$ravel" show calm.sqlite >text 2>>err && ! grep -q drawn json && ! grep -q drawings text &&
	"$ravel" report -o calm.html calm.sqlite >out 2>>err && ! grep -q 'trustInCounts":' calm.html &&
	measured=$(sed -n 's/^{ 1, 3, 0, \([0-9]*\), \([0-9]*\), 0\.\(..\)\(.\).*/In \1 runs of systems of known truth (\2 captured) .* \3\.[0-9] %/p' "$source/write/trust-measured.h") &&
	grep -q "trustInProbabilities\":\"$measured" calm.html &&
	python3 -c 'import sqlite3
assert not sqlite3.connect("calm.sqlite").execute("SELECT 1 FROM pattern WHERE drawn IS NOT NULL").fetchall()' 2>>err
result $? 'none where few requests are under way' err

# The same system under more load has other patterns by the paths found, of which most are wrong.
"$ravel" diff calm.sqlite s.sqlite >text 2>err && "$ravel" diff --format json calm.sqlite s.sqlite >json 2>>err &&
	"$ravel" diff --format html -o diff.html calm.sqlite s.sqlite 2>>err &&
	python3 - <<'PYTHON' 2>>err
import json, re

text = " ".join(open("text").read().split())
page = json.loads(re.search('id="data">(.*?)</script>', open("diff.html").read(), re.S)[1])
assert "Most paths of B are probably wrong" in text and page["trustInCounts"] in text
shares = [c for c in json.load(open("json"))["changes"] if c["kind"] == "share"]
assert not any(c["beyond"] for c in shares), [c for c in shares if c["beyond"]]
assert all(c["drawn"][0] is None and c["drawn"][1][1] >= 0 for c in shares)
assert all(len(p["drawn"]) == 4 for p in page["patterns"])
PYTHON
result $? 'diff: by drawings the shares of patterns do not change beyond their error' err
mkdir many
for seed in 1 2 3 4 5 6; do
	sed "s/^seed=.*/seed=$seed/; s/^messages=.*/messages=$((messages / 5))/; s/^parallel=.*/parallel=$((seed < 4 ? 40 : 500))/" conf >one
	if ! "$ravel" maketrace one >trace 2>err || ! "$ravel" nesting -j 1 -n 0 --format json -o many/$seed.sqlite trace >json 2>>err; then
		break
	fi
	[ $seed != 4 ] || { cp json one.json && "$ravel" nesting -j 3 -n 0 --format json trace >threads.json 2>>err; }
done
grep -q drawn one.json && cmp one.json threads.json
result $? 'the same bytes whatever the threads' err
"$ravel" trend many >text 2>>err && "$ravel" trend --format tsv many >tsv 2>>err &&
	tr '\n' ' ' <text | grep -q 'Most paths are probably wrong in: many/4.sqlite, many/5.sqlite, many/6.sqlite' &&
	! grep -qE '^(new|gone) ' text && ! awk -F '\t' '$1 == "share" && $2 != "-"' tsv | grep .
result $? 'trend: nor do they there, and no pattern is new or gone' text

finish
