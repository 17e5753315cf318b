#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel trend: what changes from store to store is found with its size, and nothing else is.
# RAVEL_LONG=1: with inferred parents, a share that changes and a hundred sets without a change as well, and 500 stores
# in 5 s of CPU. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

# True parents, which are soon found: it is all the same to trend who found them.
parents=(--cheat)
[ -z "${RAVEL_LONG:-}" ] || parents=()

stores() { # CASE SEED MESSAGES [OPTION...]: in a folder of that name
	mkdir -p "$1"
	(cd "$1" && python3 "$source/tests/scripts/trend-stores.py" "$ravel" "$source/examples/multi-tier.conf" \
		"$2" "$1" 12 "${@:3}")
}

found() { # FOLDER: kind, found, at, subject and change of what does not follow, sorted
	"$ravel" trend --format tsv "$1" >"$dir/tsv" 2>err || return
	awk -F '\t' 'NR > 1 && $2 != "-" && !$11 { print $1, $2, $8, $14, $4 }' "$dir/tsv" | sort
}

stores none 7 24000 "${parents[@]}"
found none >out && [ ! -s out ] && [ "$(wc -l <tsv)" -gt 40 ]
result $? 'no change: nothing' out
"$ravel" trend none >out && grep -qx 'No change beyond chance.' out
result $? 'and says so' out

# The own time of an application server is 20 of 21 ms that is seen: +0.38 %.
stores creep 7 24000 "${parents[@]}"
found creep >out
awk '$1 != "own" || $2 != "creep" || $4 !~ /^AP[12]$/ || $5 < 0.0028 || $5 > 0.0048 { bad = 1 } END { exit bad || NR != 2 }' out
result $? 'two nodes that creep 0.4 % a store' out
stores step 7 24000 "${parents[@]}"
found step >out
awk '$1 != "own" || $2 != "step" || $3 != 7 || $4 != "AUTH" || $5 < 0.022 || $5 > 0.036 { bad = 1 } END { exit bad || NR != 1 }' out
result $? 'a node that takes 3 % longer from store 7 on' out
stores new 7 24000 --cheat
found new >out
awk '$1 != "pattern" || $2 != "new" || $3 != 8 || $4 ~ /AUTH/ { bad = 1 } END { exit bad || NR < 4 }' out
result $? 'a path that is new in store 8' out
stores rate 7 24000 --cheat
found rate >out
awk '$1 != "rate" || $2 != "step" || $3 != 7 { bad = 1 } $4 == "client>WS1" { fell = $5 < -0.25 } END { exit bad || NR != 2 || !fell }' out
result $? 'an entry that is asked half as often, and the other more' out
stores odd 7 12000 --cheat
found odd >out
awk '$1 != "own" || $2 != "odd" || $3 != 5 || $4 !~ /^AP[12]$/ || $5 < 0.8 { bad = 1 } END { exit bad || NR != 2 }' out
result $? 'one odd store' out

# Patterns that end are those that begin, the other way.
mkdir gone && for i in $(seq 12); do cp "new/s$i.sqlite" "gone/s$((13 - i)).sqlite"; done
found gone >out
awk '$1 != "pattern" || $2 != "gone" || $3 != 6 { bad = 1 } END { exit bad || NR < 4 }' out
result $? 'the same stores the other way: gone' out
"$ravel" trend new/s?.sqlite new/s1?.sqlite >a && "$ravel" trend new >b && cmp a b
result $? 'a folder has its stores in the order of numbers'
"$ravel" trend --format json new >out && python3 - <<'PYTHON' 2>err
import json
d = json.load(open("out"))
assert len(d["points"]) == 12 and not d["timed"]
assert {s["kind"] for s in d["series"]} == {"own", "latency", "rate", "share"}
assert all(len(s["values"]) == 12 for s in d["series"])
assert all(p["found"] == "new" and p["at"] == 8 for p in d["patterns"])
PYTHON
result $? 'JSON has all values' err
"$ravel" trend -o page.html creep && grep -q '"kind":"trend"' page.html && ! grep -q 'https\?://[^w]' page.html
result $? 'a page'

condition() { # STATUS FOLDER CONDITION
	"$ravel" trend --fail-on "$3" "$2" >/dev/null 2>err
	[ $? = "$1" ]
	result $? "$2, $3: status $1" err
}
condition 1 creep 'own>3%'
condition 0 creep 'own>6%'
condition 1 creep 'own>+0.2%/store'
condition 0 creep 'own<-0.2%/store'
condition 0 creep 'latency<0%'
condition 2 creep 'own>3%/week'
condition 1 step 'own>2%/store'
condition 1 rate 'rate<-20%'
condition 1 new new
condition 0 new gone
condition 1 gone gone
condition 0 odd 'own>3%'

# Stores that do not compare, and too few.
mkdir mixed && cp none/s[1-9].sqlite mixed && "$ravel" maketrace -w trace "$source/examples/multi-tier.conf" --messages 4000 2>err &&
	"$ravel" nesting --method paper --no-requests -o mixed/s0.sqlite trace >/dev/null 2>err
"$ravel" trend mixed >out && grep -q '^9 stores' out && grep -q 'Left out, as their patterns do not compare: mixed/s0.sqlite (found by method paper' out
result $? 'another method: left out' out
"$ravel" trend mixed/s[0-5].sqlite >out 2>err
[ $? = 3 ] && grep -q 'stores that can be compared: 5, expected 6 or more. Left out' err
result $? 'which may leave too few' err
"$ravel" trend none/s[1-5].sqlite >out 2>err
[ $? = 2 ] && grep -q 'stores named: 5, expected 6 or more' err
result $? 'five stores' err
sed '/CALL_SENT.client/s/$/ label=GET/' trace >labels.trace
mkdir labels && cp none/s[1-9].sqlite labels && "$ravel" nesting "${parents[@]}" --no-requests -o labels/s10.sqlite labels.trace >/dev/null 2>err
"$ravel" trend labels >out && grep -q '^10 stores' out && grep -q '^Without operations: labels/s1.sqlite' out
result $? 'operations in one only: none are compared' out
: >empty && "$ravel" nesting -o mixed/empty.sqlite empty >/dev/null 2>&1
"$ravel" trend mixed >out && grep -q '^Left out, as nothing is in them: mixed/empty.sqlite' out
result $? 'an empty store' out

# A store every three hours (RAVEL_LONG=1: an hour): web takes 10 ms, at noon 14, and 0.05 % more each hour with CREEP; db
# 5 ms. Three days (RAVEL_LONG=1: four).
hours=72 days=3 every=3
[ -z "${RAVEL_LONG:-}" ] || hours=96 days=4 every=1
hourly() { # FOLDER CREEP
	mkdir "$1" && awk -v folder="$1" -v hours=$hours -v every=$every -v creep="$2" 'BEGIN {
		for (hour = 0; hour < hours; hour += every) {
			srand(1000 + hour)
			file = folder "/" hour ".trace"
			for (i = 0; i < 120; i++) {
				t = 1700006400 + 3600 * hour + 30 * i
				web = (0.010 + 0.004 * sin(3.14159265 * (hour % 24) / 24)) * (1 + creep * hour) * (0.9 + 0.2 * rand())
				db = 0.005 * (0.9 + 0.2 * rand())
				printf "%.9f CALL_SENT client web %d\n%.9f CALL_SENT web db %d\n%.9f RET_SENT db web %d\n%.9f RET_SENT web client %d\n",
					t, i, t + web / 2, i, t + web / 2 + db, i, t + web + db, i >file
			}
			close(file)
		}
	}'
	for ((h = 0; h < hours; h += every)); do
		"$ravel" nesting --no-requests -o "$1/$h.sqlite" "$1/$h.trace" >/dev/null 2>&1
		rm "$1/$h.trace"
	done
}
hourly days 0 && hourly creeping 0.0005
"$ravel" trend days >out && grep -q '^No change' out && grep -q 'Each is compared with those of the same hour' out &&
	grep -q "^$((hours / every)) stores, 2023-11-15 00:00 to 2023-11-$((14 + days)) $((24 - every)):59" out
result $? "$days days that are slower by day: no change" out
mkdir two && for ((h = 0; h < 48; h += every)); do cp days/$h.sqlite two; done
if [ $days != 3 ]; then
	mkdir three && cp days/[0-9].sqlite days/[1-6][0-9].sqlite days/7[01].sqlite three
	"$ravel" trend three >out && grep -q '^No change' out && grep -q 'Each is compared with those of the same hour' out
	result $? 'three days' out
fi
"$ravel" trend two >out && grep -q 'With less than three days the course of a day is not told' out
result $? 'two do not tell, which is said' out
found creeping >out
awk -v every=$every '$1 != "own" || $2 != "creep" || $4 != "web" || $5 < 0.0004 * every || $5 > 0.0006 * every { bad = 1 } END { exit bad || NR != 1 }' out
result $? 'and 0.05 % slower each hour' out
condition 1 creeping 'own>6%/week'
condition 0 creeping 'own>12%/week'
[ -z "${RAVEL_LONG:-}" ] || condition 1 creeping 'own>1%/day'
condition 1 creeping 'latency>0.6%/day'
mapfile -t shuffled < <(printf '%s\n' creeping/*.sqlite | shuf --random-source=days/0.sqlite)
"$ravel" trend creeping >plain && "$ravel" trend "${shuffled[@]}" >a && cmp a plain
result $? 'their times order them, however they are named'
"$ravel" trend --by day days >out 2>err
[ $? = 3 ] && grep -q 'days that can be compared: '"$days"', expected 6 or more' err
result $? 'by day: too few' err
"$ravel" trend --by hour creeping >a && diff <(grep creeps a | cut -c 1-40) <(grep creeps plain | cut -c 1-40) >err
result $? 'by hour: the same' err

if [ -n "${RAVEL_LONG:-}" ]; then
	stores mix 7 24000
	found mix >out
	awk '$1 != "share" || $2 != "step" || $3 != 7 { bad = 1 } END { exit bad || NR < 4 }' out
	result $? 'fewer questions to a database: shares, and no own time' out
	alarms=0
	for seed in $(seq 1001 1100); do
		stores none "$seed" 6000
		found none >out
		[ ! -s out ] || alarms=$((alarms + 1))
	done
	[ $alarms -le 3 ]
	result $? "of 100 sets without a change in at most 3 something is found: $alarms"
	stores none 7 24000 "${parents[@]}"
	mkdir many && for i in $(seq 500); do cp "none/s$((i % 12 + 1)).sqlite" "many/$i.sqlite"; done
	seconds=$( { TIMEFORMAT=%U; time "$ravel" trend many >out; } 2>&1 )
	awk "BEGIN { exit !($seconds <= 5) }"
	result $? "500 stores in 5 s of CPU: $seconds s"
fi
finish
