#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Stores of every version are read as the one of today; those of strangers cost what they
# weigh; and every filter on every column of every view is answered at once. TAP.
set -u
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
ravel=$(realpath "${RAVEL:-./ravel}")
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
command -v python3 >/dev/null || {
	echo "1..0 # SKIP python3 is not installed"
	exit 0
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-stores.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
n=0
bad=0

result() { # STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		head -n 20 said | sed 's/^/# /'
		bad=1
	fi
}

# Runs a command, at most 60 s of processor and 1 GB of memory, which sanitizers do not bear.
bounded() {
	(
		ulimit -t 60
		nm "$ravel" 2>/dev/null | grep -q __asan_init || ulimit -v 1000000
		exec "$@"
	)
}

sql() { # STORE: does to it what standard input says
	python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())' "$1"
}

# --- versions: of each, what is read is what the one of today has ----------------------
"$source/tests/data/make-store" "$ravel" >today.sql 2>said && sql today.sqlite <today.sql 2>>said
result $? "a store of today"
verbs=('export --as otlp' 'export --as folded' 'export --as chrome' 'export --as tsv' 'variance --format json')
views=(request request_node slowest_request pattern_hour pattern_callee repeated_call)

outputs() { # STORE: all that is compared, a file each
	local verb view
	for verb in "${verbs[@]}"; do
		# shellcheck disable=SC2086 # words
		"$ravel" $verb "$1.sqlite" >"$1.$verb" 2>>said || return
	done
	for view in "${views[@]}"; do
		"$ravel" query "$1.sqlite" "SELECT * FROM $view" >"$1.$view" 2>>said || return
	done
}

# Causes came with version 6; lines of TSV end with them.
known() { # NAME OF VERSION, FILE
	if [ "${1%%-*}" -lt 6 ]; then
		sed -E 's/,"round_trip_us":[0-9.]*//; s/(\t[0-9]+){9}$//' "$2"
	else
		cat "$2"
	fi
}

: >said
outputs today
result $? "what is read of it"
for version in "$source"/tests/data/stores/*.sql; do
	name=$(basename "$version" .sql)
	: >said
	sql "$name.sqlite" <"$version"
	outputs "$name"
	ok=$?
	for output in "${verbs[@]:1}" "${views[@]}"; do # the first names the method
		cmp <(known "$name" "$name.$output") <(known "$name" "today.$output") >>said || ok=1
	done
	# What only later versions have, they have.
	for view in hop before request_excess node_hour; do
		"$ravel" query "$name.sqlite" "SELECT * FROM $view" >out 2>>said || ok=1
	done
	{ "$ravel" diff "$name.sqlite" today.sqlite | grep -q '^No change beyond chance' &&
		"$ravel" score today.sqlite "$name.sqlite" >/dev/null &&
		"$ravel" report -o page.html "$name.sqlite" && grep -q '"signature"\|"rows"' page.html &&
		"$ravel" query "$name.sqlite" 'SELECT parallelism FROM run, trust, vertex' >/dev/null; } 2>>said || ok=1
	result $ok "a store of version $name"
done

# --- strangers --------------------------------------------------------------------
refused() { # NAME STORE TEXT VERB...: with status 3 and one line, soon
	local name=$1 store=$2 text=$3
	bounded "$ravel" "${@:4}" "$store" >out 2>said
	[ $? = 3 ] && [ "$(wc -l <said)" = 1 ] && grep -q "$text" said
	result $? "$name"
}

sql view.sqlite <today.sql
sql view.sqlite <<'SQL'
CREATE TABLE p AS SELECT * FROM pattern;
DROP TABLE pattern;
CREATE VIEW pattern AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT p.* FROM p, n;
SQL
for verb in 'report -o page.html' 'export --as tsv' "diff today.sqlite" "score today.sqlite"; do
	# shellcheck disable=SC2086 # words
	refused "a view without end: ${verb%% *}" view.sqlite 'pattern is not the table' $verb
done

# One chain of 10,000 calls. RAVEL_LONG=1: 20,000, which takes four times as long.
deep=10000
[ -z "${RAVEL_LONG:-}" ] || deep=20000
python3 - $deep >chain.trace <<'PYTHON'
import sys
n = int(sys.argv[1])
for i in range(n):
    print(f"1.{i:09}", "CALL_SENT", f"n{i}", f"n{i + 1}", f"c{i}")
for i in reversed(range(n)):
    print(f"2.{n - i:09}", "RET_SENT", f"n{i + 1}", f"n{i}", f"c{i}")
PYTHON
"$ravel" nesting --method paper -o chain.sqlite -w /dev/null chain.trace 2>said
result $? "a chain of $deep calls"
refused "a chain as a flame graph" chain.sqlite 'one within the other' export --as folded
for verb in 'export --as otlp' 'export --as chrome' 'report -o page.html' "diff chain.sqlite"; do
	# shellcheck disable=SC2086 # words
	bounded "$ravel" $verb chain.sqlite >out 2>said
	result $? "a chain: ${verb%% *}"
done

# Paths that all have the same calls would be read for each.
sql overlap.sqlite <today.sql
sql overlap.sqlite <<'SQL'
UPDATE path SET first_call = 1, calls = 4;
SQL
refused "paths that share calls" overlap.sqlite 'is corrupt' export --as otlp

# --- filters ------------------------------------------------------------------
# 8,000 requests of five calls; quadratic, one question takes 3 s. One question of each view; RAVEL_LONG=1: 20,000, 20 s,
# all filters, and those by a part of what is there as well.
requests=8000 most=1 tests=equal all='request request_node slowest_request pattern_hour'
all+=' pattern_callee repeated_call hop before request_excess node_hour path call'
[ -z "${RAVEL_LONG:-}" ] || requests=20000 most=10 tests='equal like'
fill() { # STORE REQUESTS
	python3 - "$1" "$2" <<'PYTHON'
import sqlite3, sys
requests = int(sys.argv[2])
store = sqlite3.connect(sys.argv[1])
store.executescript(open("today.sql").read())
columns = {t: len(store.execute(f"PRAGMA table_info({t})").fetchall()) for t in ("path", "call")}
store.executescript("DELETE FROM path; DELETE FROM call;")
path = lambda i: (i, 1, i * 1000, i % 997, 5 * i - 4, 5, 1.0)
call = lambda i: (i, (i + 4) // 5, None if i % 5 == 1 else i - 1, 0, i % 3 + 1, (i + 1) % 3 + 1, i * 1000, i * 1000,
                  i * 1000 + 5, i * 1000 + 9, i % 7, 0, 1.0, 1, f"x{i}")
def fill(table, row, n):
    rows = (row(i) + (None,) * (columns[table] - len(row(i))) for i in range(1, n + 1))
    store.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * columns[table])})", rows)
fill("path", path, requests)
fill("call", call, 5 * requests)
store.execute("UPDATE call SET last = (id + 4) / 5 * 5")
store.commit()
PYTHON
}
# All of them of 2,000 requests, by what the database does: 60 steps a call at most where none is quadratic, else
# thousands.
fill some.sqlite 2000
python3 - some.sqlite "$all" >said <<'PYTHON' && [ ! -s said ]
import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
for view in sys.argv[2].split():
    for column, *_ in store.execute(f"SELECT * FROM {view} LIMIT 0").description:
        left = iter(range(2000))
        store.set_progress_handler(lambda: next(left, None) is None, 1000)
        question = f'SELECT count(*) FROM {view} WHERE "{column}" = (SELECT "{column}" FROM {view} LIMIT 1)'
        try:
            store.execute(question).fetchall()
        except sqlite3.OperationalError as error:
            print(question, error)
PYTHON
result $? "every filter on every column of every view, by the steps it takes"
fill many.sqlite $requests
slow=0
: >said
for view in $all; do
	columns=$("$ravel" query --format tsv many.sqlite "SELECT * FROM $view LIMIT 0")
	[ "${RAVEL_LONG:-}" ] || columns=${columns##*$'\t'}
	for column in $columns; do
		for filter in $tests; do
			[ "$filter" = like ] && filter="LIKE '%a%'" || filter="= (SELECT \"$column\" FROM $view LIMIT 1)"
			question="SELECT count(*) FROM $view WHERE \"$column\" $filter"
			(ulimit -t $most && "$ravel" query many.sqlite "$question") >out 2>>said || {
				echo "$question" >>said
				slow=1
			}
		done
	done
done
result $slow "filters on columns of every view, by the time they take"
ok=0
while read -r question; do
	(ulimit -t $most && "$ravel" query many.sqlite "$question") >out 2>>said || {
		echo "$question" >>said
		ok=1
	}
done <<'SQL'
SELECT count(*) FROM path JOIN call ON call.id BETWEEN path.first_call AND path.first_call + path.calls - 1 JOIN node ON node.id = call.callee WHERE node.name = 'lb'
SELECT count(*) FROM path JOIN call ON call.id BETWEEN path.first_call AND path.first_call + path.calls - 1 WHERE call.own = 3
SELECT count(*) FROM call LEFT JOIN call AS child ON child.parent = call.id WHERE child.id IS NULL
SELECT count(*) FROM path JOIN call ON call.path = path.id WHERE path.latency > 900
SELECT json_extract(value, '$.node'), count(*) FROM request, json_each(nodes) GROUP BY 1
SQL
result $ok "joins of paths, calls and nodes"

# The same question of a file's own views, as other programs ask it.
bounded python3 -c 'import sqlite3
store = sqlite3.connect("many.sqlite")
print(store.execute("SELECT count(*) FROM request_node WHERE node = (SELECT written FROM node LIMIT 1)").fetchone(),
      store.execute("SELECT count(*) FROM request_node WHERE own = 3").fetchone())' >out 2>said
result $? "the views in the file"

echo "1..$n"
exit $bad
