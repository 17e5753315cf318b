#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Rare patterns that are probably errors of inference: they are, are one row of text, and are marked in every
# other format; where nothing is mistaken there are none. TAP.
# shellcheck disable=SC2094,SC2181 # databases are no files that are written; the status may be any
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

"$gen_trace" 6000 12 --path >trace && "$ravel" nesting -o s.sqlite --format json -n 0 trace >json 2>err &&
	"$ravel" nesting --cheat --format json -n 0 trace >true.json 2>>err &&
	"$ravel" show --format json -n 0 s.sqlite >show.json 2>>err &&
	"$ravel" show --format tsv -n 0 s.sqlite >tsv 2>>err &&
	"$ravel" show -n 20 s.sqlite >text 2>>err && "$ravel" show -n 0 s.sqlite >all 2>>err
result $? 'paths of a crowded system, some of them wrong' err
python3 - <<'PYTHON' 2>err
import json, re, sqlite3

found, true = json.load(open("json"))["patterns"], {p["signature"] for p in json.load(open("true.json"))["patterns"]}
marked = [p for p in found if p.get("misassigned")]
assert len(marked) >= 20, len(marked)
assert all(p["count"] <= 5 and p["probability"] < 0.5 for p in marked)
assert sum(p["signature"] in true for p in marked) <= len(marked) / 20
assert json.load(open("show.json"))["patterns"] == found
signatures = {p["signature"] for p in marked}
rows = [line.rstrip("\n").split("\t") for line in open("tsv")]
assert rows[0][-1] == "misassigned"
assert {row[rows[0].index("signature")] for row in rows[1:] if row[-1] == "1"} == signatures
stored = sqlite3.connect("s.sqlite").execute("SELECT signature FROM pattern WHERE misassigned")
assert {row[0] for row in stored} == signatures
text, every = open("text").read(), open("all").read()
(row,) = re.findall(r"(\d+) patterns of 5 paths or fewer, (\d+) paths, probably misassigned", text)
assert (int(row[0]), int(row[1])) == (len(marked), sum(p["count"] for p in marked)), row
assert "misassigned" not in every and every.count("client>") >= len(found)
ranks = [int(line.split()[0]) for line in text.split("path\n", 1)[1].split("\n\n")[0].splitlines() if re.match(r" *\d+ +\d", line)]
assert ranks == [p["rank"] for p in found if not p.get("misassigned")][:20], ranks
PYTHON
result $? 'most of the rare improbable patterns are false, and every format says which they are' err
"$gen_trace" 6000 1 >trace && "$ravel" nesting trace >text 2>err && ! grep -q misassigned text &&
	"$ravel" nesting --format tsv trace 2>err | head -n 1 >tsv && ! grep -q misassigned tsv
result $? 'none where there is nothing to mistake' text

finish
