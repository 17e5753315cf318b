#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel why: a planted cause is named first, with true parents and with those that are found; a second
# computation says the same; filters find packets. RAVEL_LONG=1: more requests, all causes with both, and a large recording
# where ../shared beside the sources has it. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

check() { # NAME ARGUMENT...: of why.py, which says what is wrong
	python3 "$source/tests/scripts/why.py" "$2" "$ravel" "${@:3}" >said 2>&1 && [ ! -s said ]
	result $? "$1" said
}

requests=1000
[ -z "${RAVEL_LONG:-}" ] || requests=2000
while read -r cause places; do
	python3 "$source/tests/experiments/planted_causes.py" "$cause" --seed 11 --requests $requests --parallelism 2.2 >t.trace
	for parents in --cheat --method=joint; do
		[ $parents = --cheat ] || [ "${RAVEL_LONG:-}" ] || [ "$cause" = stall ] || continue
		"$ravel" nesting $parents -o t.sqlite -w out t.trace 2>err
		if [ "$cause" = none ]; then
			check "no cause, $parents" none t.sqlite
		else
			# shellcheck disable=SC2086 # words
			check "$cause, $parents" planted t.sqlite $places
		fi
	done
done <<'CAUSES'
caller web1|web2/auth
stall web1|web2/auth web1|web2/catalog
miss web1|web2/catalog/postgres
queue web1|web2/catalog
none
CAUSES

tenant() { # NAME REQUESTS PATH
	printf '[tracelet %s]\nparallel=%s\ncount=%s\nthink=uniform(0s,12s)\npath=%s > %s\n' "$1" "$2" "$2" "$1" "$3"
}
contended() { # NAME MESSAGES TENANT...: of the workers of app
	{
		printf '[maketrace]\nseed=92\nmessages=%s\n' "$2"
		printf '%s\n' "${@:3}" '[node app]' servers=2
	} >c
	"$ravel" maketrace -w t.trace c 2>err && "$ravel" nesting -o t.sqlite -w out t.trace 2>err
	check "$1" waiting t.sqlite t.trace app 2
}
contended 'waiting: reports hold the workers' 2496 \
	"$(tenant items 600 'app( 3ms~0.5ms db( 2ms~0.3ms ) 1ms )')" \
	"$(tenant reports 24 'app( 150ms~10ms big( 100ms~10ms ) 20ms )')"
contended 'waiting: three tenants' 2000 \
	"$(tenant small 300 'app( 3ms~0.5ms db( 2ms~0.3ms ) 1ms )')" \
	"$(tenant middle 150 'app( 10ms~2ms db( 20ms~3ms ) 2ms )')" \
	"$(tenant large 50 'app( exp(50ms) db( 20ms~3ms ) 2ms )')"
contended 'waiting: alone' 3200 "$(tenant alone 800 'app( exp(12ms) db( 8ms~1ms ) 1ms )')"
"$ravel" why --waiting t.sqlite >out 2>err
grep -q '^app(db) waits .* ms at app, 100 % of it behind its own kind: more workers' out
result $? 'waiting: a kind alone waits for its own' out

page='client > lb( 0.2ms~0.02ms [web1 web2]( 2ms~0.3ms auth( 1ms~0.2ms ) 1ms~0.2ms db( 3ms~0.5ms ) 1ms~0.2ms ) )'
scenario() { # NAME SEED MESSAGES LINE...
	printf '[maketrace]\nseed=%s\nmessages=%s\nnetwork=0.1ms~0.02ms\n' "$2" "$3" >c
	printf '%s\n' "${@:4}" >>c
	"$ravel" maketrace -w "$1.trace" c 2>err && "$ravel" nesting -o "$1.sqlite" -w out "$1.trace" 2>>err
}
pages() { # REQUESTS SECONDS
	printf '[tracelet page]\nparallel=%s\ncount=%s\nthink=uniform(0s,%ss)\npath=%s\n' "$1" "$1" "$2" "$page"
}
stall=$(printf '[node web2]\nstall=80ms every exp(3s)')
last=79
[ -z "${RAVEL_LONG:-}" ] || last=96
for seed in $(seq 77 $last); do
	scenario paused "$seed" 20000 "$(pages 4000 60)" "$stall"
	printf '[maketrace]\nseed=%s\nmessages=50000\n[tracelet p]\nparallel=30000\ncount=30000\n' "$seed" >c
	printf 'think=uniform(0s,60s)\npath=client > web2( 0.01ms )\n%s\n' "$stall" >>c
	"$ravel" maketrace -w probe.trace c 2>err
	python3 "$source/tests/scripts/why.py" pauses "$ravel" paused.sqlite paused.trace web2 probe.trace
	scenario none "$seed" 20000 "$(pages 4000 60)"
	"$ravel" why none.sqlite >out
	echo 0 0 "$(grep -c 'stood still' out)"
done >counts
awk '{ open += $1; found += $2; wrong += $3 }
	END { print found, "of", open, "found,", wrong, "wrong"
		exit !(open >= 10 * NR / 2 && found >= 0.95 * open && !wrong) }' counts >said
result $? 'pauses with calls to serve are found, and no others' said
"$ravel" why paused.sqlite >out
grep -q '^web2 stood still 1[0-9] times .* of the 2[0-9] requests above p99 were in one (a garbage' out
result $? 'a pause in words' out
"$ravel" why paused.sqlite --format json | python3 -c 'import json, sys
for p in json.load(sys.stdin)["pauses"]:
    for t in p["times"]:
        print(p["nodes"], int(p["everywhere"]), t["from"], t["to"], sep="\t")' >expected
"$ravel" why paused.sqlite --format tsv | awk 'pauses { print } /^nodes\teverywhere\tfrom\tto$/ { pauses = 1 }' >out
[ -s out ] && cmp expected out
result $? 'pauses as a table'

scenario all 5 24000 "$(pages 4000 20)"
python3 - all.trace >tap.trace <<'PYTHON'
import sys

last = 0
for line in open(sys.argv[1]):
    if line[0] != "#":
        stamp, rest = line.split("\t", 1)
        time = int(stamp.replace(".", ""))
        if time % (2 * 10**9) < 8 * 10**7 and time > 10**9:
            time += 8 * 10**7 - time % (2 * 10**9)
        last = max(time, last + 2000)
        line = f"{last // 10**9}.{last % 10**9:09}\t{rest}"
    sys.stdout.write(line)
PYTHON
"$ravel" nesting -o tap.sqlite -w out tap.trace 2>err
"$ravel" why tap.sqlite >out
grep -q '^All nodes stood still [4-7] times .* 8[0-4]\.. ms in the mean, every [23]\.[0-9]* s' out && ! grep '^[a-z].* stood still' out
result $? 'a pause of the capture is none of the nodes' out

scenario closed 6 40000 '[tracelet page]' parallel=8 count=20000 'think=uniform(0ms,4ms)' \
	'path=client > web2( 3ms~0.3ms )' "$stall"
"$ravel" why closed.sqlite >out
grep -q '^web2 stood still [1-9][0-9]* times .* (a garbage' out && ! grep '^All nodes stood still' out
result $? 'nor is a pause of a node whose clients all wait for it one of the capture' out

scenario often 3 48000 '[tracelet page]' parallel=8 count=23000 'think=uniform(3ms,5ms)' \
	'path=client > web2( 3ms~0.3ms )' '[tracelet slow]' parallel=2 count=1000 'think=exp(30ms)' \
	'path=client > web2( exp(12ms) )' '[node web2]' 'stall=20ms every exp(300ms)'
"$ravel" why often.sqlite >out
grep -q '^web2 stood still \(3[5-9]\|[4-6][0-9]\) times .* 2[0-2]\.. ms in the mean' out
result $? 'pauses that are frequent and short' out

scenario slow 7 20000 '[tracelet page]' 'parallel=4000' 'count=4000' 'think=uniform(0s,60s)' \
	'path=client > web( 1ms db( 6ms~1ms ) 1ms )' '[tracelet slow]' 'parallel=30' 'count=30' 'think=uniform(0s,60s)' \
	'path=client > web( 1ms db( 150ms~20ms ) 1ms )' '[node db]' servers=1 holds=work
"$ravel" why slow.sqlite >out
grep -q 'requests. What the slowest' out && ! grep -q 'stood still' out
result $? 'slow calls of an only worker are no pauses' out

zstd -q -d -c "$source/demo/shop.pcap.zst" >shop.pcap
"$ravel" capture -r shop.pcap --nodes "$source/demo/shop.nodes" -w shop.trace 2>err
"$ravel" nesting -o shop.sqlite -w out shop.trace
check 'a second computation' again shop.sqlite
check 'cut copies the packets of requests, and no others' cut shop.sqlite shop.pcap
"$ravel" cut shop.sqlite --slowest 3 -r shop.pcap -w three.pcapng 2>err
"$ravel" cut shop.sqlite -r shop.pcap --query 'SELECT id FROM request ORDER BY latency DESC LIMIT 3' >again.pcapng 2>>err
cmp three.pcapng again.pcapng >>err && [ "$(grep -c ' packets of 3 requests$' err)" = 2 ]
result $? 'the slowest by number and by SQL' err
"$ravel" cut shop.sqlite 1000 -r shop.pcap -w 1000.pcapng 2>err
"$ravel" cut shop.sqlite 1 -r 1000.pcapng -w other.pcapng 2>err
[ $? = 1 ] && grep -q 'expected the capture that the store is made of' err
result $? 'packets of another capture are none' err
if command -v tshark >/dev/null; then
	check 'filters find the packets of all calls' packets shop.sqlite shop.pcap
fi
if command -v tcpdump >/dev/null; then
	filter=$("$ravel" why shop.sqlite 668 --packets | sed -n 's/^tcpdump: //p')
	[ "$(tcpdump -nr shop.pcap "$filter" 2>err | wc -l)" -gt 10 ]
	result $? "tcpdump takes the other" err
fi
"$ravel" nesting -o none.sqlite -w out "$source/tests/data/shop.trace"
"$ravel" why none.sqlite 1 --packets >out 2>err
[ $? = 3 ] && grep -q 'no packets can be named' err
result $? 'ids of others name no packets' err

recording=$shared/captures/testbed-conc8
if [ "${RAVEL_LONG:-}" ] && [ -f "$recording/bridge.pcap.zst" ]; then
	"$ravel" capture -r "$recording/bridge.pcap.zst" --nodes "$recording/nodes.txt" -w conc8.trace 2>err
	"$ravel" nesting -o conc8.sqlite -w out conc8.trace
	(ulimit -t 1 && "$ravel" why conc8.sqlite) >out 2>err &&
		grep -q 'at 2026-11-21T10:19:25.71.*14.8 s after the first' out && grep -q 'No place has half of it' out
	result $? 'a recording: the burst, and that everything swells' out
fi
finish
