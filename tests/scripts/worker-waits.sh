#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# How long calls wait for a worker, against the generator, which knows when each was taken: web begins
# every request with 1 ms of work, and then calls db.
# shellcheck disable=SC2094 # databases are no files that are written
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

configure() { # workers
	cat <<-EOF
		[maketrace]
		seed=5
		network=0.05ms~0.01ms
		stamps=both

		[tracelet page]
		parallel=1500
		count=1500
		think=uniform(0ms,3500ms)
		path=client > web( 1ms db( lognormal(3ms,0.5) ) lognormal(2ms,0.6) )

		[tracelet two]
		parallel=500
		count=500
		think=uniform(0ms,3500ms)
		path=client > web( 1ms db( lognormal(2ms,0.5) ) 1ms~0.2ms db( exp(2ms) ) exp(1ms) )
	EOF
	test "$1" = 0 || printf '\n[node web]\nservers=%s\n' "$1"
}

configure 4 >four.conf
configure 0 >none.conf
"$ravel" maketrace four.conf >four.trace 2>err && "$ravel" maketrace none.conf >none.trace 2>>err &&
	"$ravel" nesting -o four.sqlite four.trace >text 2>>err &&
	"$ravel" nesting -o none.sqlite none.trace >text.none 2>>err
result $? 'paths of a node with workers and of one without' err

python3 - <<'PYTHON' 2>err
import sqlite3

entered, taken = {}, {}
for line in open("four.trace"):
    if line.startswith("#"):
        continue
    stamp, op, sender, receiver, name, *attributes = line.split()
    at = int(stamp.replace(".", ""))
    path = dict(a.split("=", 1) for a in attributes)["path"]
    if op == "CALL_RECV" and receiver == "web":
        entered[name] = at, path
    if op == "CALL_SENT" and sender == "web" and path.endswith(".1"):
        taken[path[:-2]] = at - 1_000_000
waits = {name: max(taken[path] - at, 0) for name, (at, path) in entered.items()}
db = sqlite3.connect("four.sqlite")
found = dict(db.execute("SELECT trace_id, wait FROM call JOIN node ON node.id = callee WHERE name = 'web'"))
assert len(found) > 1900 and sum(1 for w in waits.values() if w > 1_000_000) > 500, len(found)
wrong = sum(1 for name, wait in found.items() if abs(wait - waits[name]) > 1000)
assert wrong <= len(found) / 100, (wrong, len(found))
assert set(db.execute("SELECT workers FROM pattern_node JOIN node ON node.id = node WHERE name = 'web'")) == {(4,)}
assert not db.execute("SELECT 1 FROM call JOIN node ON node.id = callee WHERE name = 'db' AND wait IS NOT NULL").fetchall()
assert not db.execute("SELECT 1 FROM call WHERE own_queued < 0 OR own_queued > own OR own_queued > wait").fetchall()
# Nothing is called before the start: all of the wait that is in the path's own time is web's.
rows = db.execute("SELECT wait, own_queued FROM call WHERE wait IS NOT NULL").fetchall()
assert sum(1 for wait, queued in rows if wait != queued) <= len(rows) / 50
(none,) = sqlite3.connect("none.sqlite").execute("SELECT count(wait) + count(own_queued) FROM call").fetchone()
assert none == 0, none
PYTHON
result $? 'each call waited as long as the generator says' err

grep -q 'queued  serving' text && grep -q '^web: 4 workers, ' text && ! grep -q 'queued' text.none
result $? 'the text says it, and nothing where there is no queue' text

"$ravel" nesting --format json -n 0 four.trace >json 2>err && "$ravel" nesting --format tsv -n 0 four.trace >tsv 2>>err &&
	"$ravel" show --format json -n 0 four.sqlite >shown 2>>err && "$ravel" show --format tsv -n 0 four.sqlite >shown.tsv 2>>err &&
	python3 - <<'PYTHON' 2>>err
import json

found, shown = json.load(open("json")), json.load(open("shown"))
assert found["patterns"] == shown["patterns"]
assert open("tsv").read() == open("shown.tsv").read()
waited = 0
for pattern in found["patterns"]:
    for node in pattern["nodes"]:
        assert ("own_queued" in node) == (node["name"] == "web")
        if "own_queued" in node:
            waited += int(node["own_queued"]["total"])
            assert int(node["own"]["total"]) == int(node["own_queued"]["total"]) + int(node["serving"]["total"])
assert waited > 2000 * 10**6
rows = [line.rstrip("\n").split("\t") for line in open("tsv")]
at = rows[0].index("own_queued")
assert rows[0][at + 1] == "slowest_queued", rows[0]
said = sum(int(row[2]) * int(row[at]) for row in rows[1:])
assert abs(said - waited) <= sum(int(row[2]) for row in rows[1:]), (said, waited)
PYTHON
result $? 'queued and serving add up to own time, in every format' err

"$ravel" variance --format tsv four.sqlite >tsv 2>err && awk -F '\t' '
	NR == 2 { first = $3 " " $4 } { sum += $5 }
	END { exit first != "web queued" || sum < 0.99999 || sum > 1.00001 }' tsv
result $? 'variance has the queue as a factor of its own' tsv
"$ravel" why --format tsv four.sqlite 700 >tsv 2>err
grep -q 'web (queue)' tsv
result $? 'and why as a place' tsv

finish
