#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel variance: what it says is what the definitions say, by a second computation from the trace; planted causes come
# first, with their shares; a queue is a factor. RAVEL_LONG=1: with inferred parents, at several degrees of parallelism and
# by other seeds; captured systems, where ../shared beside the sources has them; and the time it takes. TAP.
# shellcheck disable=SC2094,SC2181 # databases are no files that are written; the status may be any
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
export PYTHONDONTWRITEBYTECODE=1
cd "$dir" || exit 99
experiments=$source/tests/experiments

paths() { # TRACE [OPTION...]: s.sqlite of it
	"$ravel" nesting "${@:2}" -o s.sqlite "$1" >/dev/null 2>err
}

agrees() { # TRACE NAME: what is said of its true paths is what the definitions say
	paths "$1" --cheat && "$ravel" variance -n 0 --format json s.sqlite >json 2>err &&
		python3 "$source/tests/scripts/variance-truth.py" "$1" json >out 2>err
	result $? "$2: $(tail -n 1 out)" out
}

plant() { # CAUSE SEED REQUESTS PARALLELISM
	python3 "$experiments/planted_causes.py" "$1" --seed "$2" --requests "$3" --parallelism "$4" >trace
}

# What must be said of each planted cause, of s.sqlite. Shares are those of the system, less what chance does.
# BUSY 0: load is not asked for.
found() { # CAUSE NAME [BUSY]
	"$ravel" variance --format tsv s.sqlite >tsv 2>err && "$ravel" variance s.sqlite >text 2>>err &&
		awk -F '\t' -v cause="$1" -v busy="${3:-1}" -v web='web1|web2 / ' '
			NR == 1 { next }
			{ sum += $5; which += $7 }
			NR == 2 { first = $3; all = $5; same = $6; replica = $15 }
			$3 == web "catalog" { place += $5; if ($4 == "queued") waiting = $5; else load = $12 }
			NR == 3 { second = $3; next_all = $5 }
			$12 > most && !(cause == "queue" && $3 == web "catalog") { most = $12 }
			END {
				if (cause == "caller")
					ok = first == web "auth" && all > 0.88 && same > 0.82 && replica == "web2 / auth"
				if (cause == "stall")
					ok = all + next_all > 0.9 && next_all > 0.4 &&
						((first == web "auth" && second == web "catalog") ||
						(first == web "catalog" && second == web "auth"))
				if (cause == "miss")
					ok = first == web "catalog / postgres" && all > 0.92 && which > 0.88
				if (cause == "queue")
					ok = first == web "catalog" && place > 0.9 && (!busy || load >= 0.4 || waiting >= 0.4) && most < 0.02
				if (cause == "none")
					ok = first == "web1|web2" && replica == "-" && most < 0.05 && which < 0.03
				exit !(ok && sum > 0.99999 && sum < 1.00001)
			}' tsv &&
		case $1 in
		caller) grep -q '^  web1|web2 / auth: web2 / auth has 8[0-9] % of the 8[0-9] % on the same path' text ;;
		stall) grep -Eq '^  web1\|web2 / (auth|catalog) and web1\|web2 / (auth|catalog) vary together \(r 0\.[67][0-9]\): (3[6-9]|4[0-4]) % of' text ;;
		queue)
			[ "${3:-1}" = 0 ] || grep -q -e '^  web1|web2 / catalog: [4-9][0-9] % of the variance of a call goes with how many others' \
				-e '^  web1|web2 / catalog, queued  *[4-9][0-9] %' text
			;;
		none) ! grep -q '^  .*\(vary together\|goes with how\|on the same path\)' text ;;
		esac
	result $? "$2" tsv
}

# By how much the shares with inferred parents are off: half of the sum of what they differ by, in points, the mean over
# requests. true.json has the true ones.
shares_off() {
	python3 - <<'PYTHON'
import json
def shares(name):
    return {
        (e["entry"], e["label"]): (e["requests"], {(r["where"], r["kind"]): r["all"] for r in e["rows"]})
        for e in json.load(open(name))["entries"] if e["rows"]
    }
true, found = shares("true.json"), shares("json")
off = n = 0
for entry, (requests, rows) in true.items():
    got = found.get(entry, (0, {}))[1]
    off += requests * 50 * sum(abs(rows.get(k, 0) - got.get(k, 0)) for k in rows | got)
    n += requests
print(f"{off / n:.2f}")
PYTHON
}

# A captured system: its calls as packets showed them.
shop() { # SYSTEM LABELS(True or False) POINTS
	RAVEL_SHARED=$shared PYTHONPATH=$experiments python3 -c "import real_systems
real_systems.written_with_truth(real_systems.shop('$1', $2), 'trace')" 2>err
	agrees trace "$1, operations $2"
	mv json true.json
	paths trace && "$ravel" variance -n 0 --format json s.sqlite >json 2>err
	off=$(shares_off)
	awk "BEGIN { exit !($off <= $3) }"
	result $? "$1, operations $2: shares with inferred parents are off by $off points, $3 allowed"
}

for cause in caller stall miss queue none; do
	plant $cause 5 1000 2.2 && paths trace --cheat
	found $cause "planted: $cause"
done
agrees trace 'a planted system'
for seed in 1 6; do
	python3 "$experiments/busy_servers.py" $seed 12 1000 >trace
	agrees trace "busy servers $seed"
done
sed '/CALL_SENT/s/$/ label=x/' trace >labels.trace
agrees labels.trace 'with operations'

# A worker that serves one message at a time, which lie in the queue: of the latency it is no part, of the completion
# time the queue is most.
python3 - >trace <<'PYTHON'
import random
chance, lines, time, free = random.Random(3), [], 0, 0
def line(at, text):
    lines.append((at, text))
for i in range(1000):
    time += round(chance.expovariate(1 / 10e6))
    enters, leaves = time + 1_000_000 + round(chance.expovariate(1 / 1e6)), 0
    line(time, f"CALL_SENT client web a{i}")
    line(enters, f"CALL_SENT web rabbit b{i} link=m{i}")
    line(enters + 500_000, f"RET_SENT rabbit web b{i}")
    line(enters + 800_000, f"RET_SENT web client a{i}")
    served = max(free, enters + 600_000)
    free = served + round(chance.expovariate(1 / 6e6)) + 1_000_000
    line(served, f"CALL_SENT rabbit worker c{i} link=m{i}")
    line(served + 200_000, f"CALL_SENT worker db d{i}")
    line(free - 100_000, f"RET_SENT db worker d{i}")
    line(free, f"RET_SENT worker rabbit c{i}")
print("# ravel trace 1")
for at, text in sorted(lines):
    print(f"{1795262483 + at // 10**9}.{at % 10**9:09} {text}")
PYTHON
paths trace
"$ravel" variance --format tsv s.sqlite >tsv && awk -F '\t' '
	NR == 2 { first = $3 " " $4; all = $5 } /~>/ { bad = 1 } { sum += $5 }
	END { exit bad || first != "web own" || all < 0.99 || sum < 0.99999 || sum > 1.00001 }' tsv
result $? 'what goes on is no part of the latency' tsv
"$ravel" variance --completion --format tsv s.sqlite >tsv && awk -F '\t' '
	NR == 2 { first = $3 " " $4; all = $5 } { sum += $5 }
	END { exit first != "rabbit ~> worker queued" || all < 0.6 || sum < 0.99999 || sum > 1.00001 }' tsv
result $? 'of the completion time the queue is most of the variance' tsv
# The same, from the table: completion less all that is own time and network.
python3 - tsv <<'PYTHON' 2>err
import sqlite3, sys
rows = sqlite3.connect("s.sqlite").execute(
    "SELECT completion, (SELECT sum(queued) FROM call WHERE call.path = path.id) FROM path WHERE completion > 0")
whole, queued = zip(*rows)
def covariance(x, y):
    return len(x) * sum(a * b for a, b in zip(x, y)) - sum(x) * sum(y)
share = covariance(queued, whole) / covariance(whole, whole)
said = float(open("tsv").read().splitlines()[1].split("\t")[4])
assert abs(share - said) < 1e-5, (share, said)
PYTHON
result $? 'by as much as the store says' err

# A transaction that is ended long after the reply: until then it is web's own time, but none of the latency.
python3 - >trace <<'PYTHON'
import random
chance, lines = random.Random(4), []
def line(at, text):
    lines.append((at, text))
for i in range(300):
    time = i * 200_000_000
    begun, replied = time + 2_000_000, time + round(chance.uniform(6e6, 9e6))
    ends = replied + round(chance.uniform(1e6, 90e6))
    line(time, f"CALL_SENT client web a{i} conn={i + 1}")
    line(begun, f"CALL_SENT web db b{i} conn=999")
    line(begun + 1_000_000, f"RET_SENT db web b{i} conn=999 txn=1")
    line(replied, f"RET_SENT web client a{i} conn={i + 1}")
    line(ends, f"CALL_SENT web db c{i} conn=999")
    line(ends + 1_000_000, f"RET_SENT db web c{i} conn=999")
print("# ravel trace 1")
for at, text in sorted(lines):
    print(f"{1795262483 + at // 10**9}.{at % 10**9:09} {text}")
PYTHON
paths trace && "$ravel" variance --format tsv s.sqlite >tsv && "$ravel" variance --completion --format tsv s.sqlite >completion &&
	awk -F '\t' 'FNR == 1 { next } $3 == "web" && $5 > 0.999 { web++ } $4 == "network" && $5 * $5 > 1e-9 { bad = 1 }
		FILENAME == "tsv" && $3 == "web" { mean = $9 } $3 == "~> db" { goes_on++ }
		END { exit bad || web != 2 || goes_on != 1 || mean < 0.8 || mean > 0.9 }' tsv completion
result $? 'nor is time after the reply' tsv

# Latencies of which all are the same, and that differ by a nanosecond near the limit.
awk 'BEGIN { for (i = 0; i < 200; i++) printf "%d.0 CALL_SENT client web %d\n%d.5 RET_SENT web client %d\n", i, i, i, i }' >trace
paths trace && "$ravel" variance s.sqlite >out && grep -q '^client>web: 200 requests, and all take the same time, 500 ms\.$' out
result $? 'no variance' out
awk 'BEGIN { for (i = 0; i < 200; i++) printf "%d.0 CALL_SENT client web %d\n%d.00000000%d RET_SENT web client %d\n",
	i * 200000, i, i * 200000 + 140000, i % 2, i }' >trace
paths trace && "$ravel" variance --format json s.sqlite >out && grep -q '"deviation": 0.5,' out && grep -q '"all": 1,' out
result $? 'a nanosecond of 39 hours is not lost' out
sed 's/0\.000000000 CALL/0 CALL/; s/^\([0-9]*\)40000\./\190000./' trace >long.trace
paths long.trace && "$ravel" variance s.sqlite >out 2>err && grep -q '200 requests left out that take 39 hours or more' err
result $? 'what is too long for exact sums is left out, and that is said' err

if [ -n "${RAVEL_LONG:-}" ]; then
	for cause in caller stall miss queue none; do
		for parallelism in 1.2 2.2 3.4; do
			for seed in 11 12; do
				busy=1
				[ $parallelism != 1.2 ] || busy=0 # the calls' own service is most of it then
				plant $cause $seed 10000 $parallelism && paths trace --cheat
				found $cause "planted: $cause, true parents, parallelism $parallelism, seed $seed" $busy
				paths trace
				found $cause "planted: $cause, inferred parents, parallelism $parallelism, seed $seed" $busy
			done
		done
	done
	if [ -d "$shared/captures/testbed-conc8" ]; then
		for system in testbed-conc8:1.5 testbed-conc32:8; do
			for labels in True False; do
				shop "${system%:*}" $labels "${system#*:}"
			done
		done
	fi
	# A million calls.
	plant queue 7 143000 2.2 && paths trace --cheat
	seconds=$( { TIMEFORMAT=%U; time "$ravel" variance s.sqlite >out; } 2>&1 )
	awk "BEGIN { exit !($seconds <= 3) }"
	result $? "a million calls in 3 s of CPU: $seconds s"
fi
finish
