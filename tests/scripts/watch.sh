#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel watch: requests of the generator are the paths of all stores, also after it was killed and
# started again, with a full disk, from a ring that grows and from traces of several hosts, one of
# them late; the numbers that it says are those that lack. RAVEL_LONG=1: 24 hours, with memory. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

make() { # RATE FROM TO [START]: packets
	timeout 120 python3 "$source/tests/scripts/make-watch.py" "$@"
}
paths() { # STORE...: how many requests they have by their patterns
	local store sum=0
	for store; do
		sum=$((sum + $("$ravel" query --format tsv "$store" 'SELECT sum(count) FROM pattern' | sed 1d)))
	done
	echo $sum
}
stored() { # FOLDER: in all its stores
	local files=("$1"/*.sqlite "$1"/windows/*.sqlite)
	for i in "${!files[@]}"; do [ -e "${files[i]}" ] || unset "files[i]"; done
	paths "${files[@]}"
}
member() { # NAME FILE: the sum of a member of all lines
	sed -nE "s/.*\"$1\": ([0-9]+).*/\\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}
await() { # COMMAND...: until it succeeds, 30 seconds at most
	local turn
	for ((turn = 0; turn < 300; turn++)); do
		! "$@" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE N
says() { grep -q "$1" "$2"; }                  # WORDS FILE

# --- windows and stores -------------------------------------------------------------

make 50 0 300 >all.pcap
"$ravel" watch -r all.pcap --dir whole >out 2>err
[ $? = 0 ] && [ "$(wc -l <out)" = 30 ] && [ "$(member requests out)" = 15000 ] && [ "$(stored whole)" = 15000 ]
result $? '30 windows of 500 requests: lines and stores have all of them' err
[ "$(ls whole/*.sqlite)" = whole/20261121-120000.sqlite ] && [ -z "$(ls whole/windows)" ]
result $? 'the windows of an hour become its store' "$(find whole)"
python3 -c '
import json, sys
lines = [json.loads(line) for line in open("out")]
assert all(line["fit"] and line["in_time"] and line["store"] for line in lines), lines[0]
assert [line["window"] for line in lines] == list(range(1, 31))
assert all(a["to"] == b["from"] for a, b in zip(lines, lines[1:]))
assert all(10e6 < line["p50_ns"] < 20e6 for line in lines)
assert lines[0]["nodes"][0]["node"] == "10.0.0.2"' 2>why
result $? 'each line is JSON, and they follow each other' why

# The store of the hour is exactly that of the whole trace, but for its parameters.
"$ravel" capture -r all.pcap -w all.trace 2>err
"$ravel" nesting --window 10s -o all.sqlite all.trace >/dev/null 2>&1
dump() { # STORE: all that does not name the run
	for table in pattern path call call_cause trust worker hour label node; do
		"$ravel" query --format tsv "$1" "SELECT * FROM $table"
	done
	"$ravel" query --format tsv "$1" "SELECT * FROM pattern_node"
	"$ravel" query --format tsv "$1" "SELECT method, messages, calls, cut_paths FROM run"
}
dump all.sqlite >expected
dump whole/20261121-120000.sqlite >found
cmp -s expected found
result $? 'the store of the hour is that of ravel nesting --window' "$(diff expected found | head -20)"

# --- killed, and ended ---------------------------------------------------------------

# Starts a watch of a pipe that stays open: descriptor 3 writes into it.
begin() { # FOLDER OPTION...
	rm -f pipe
	mkfifo pipe
	: >out
	"$ravel" watch -r pipe --dir "$@" >out 2>err &
	pid=$!
	exec 3>pipe
}
closed() { # N: whether the line of this number of windows has come, and all messages
	has_lines out "$1"
}
said=0
lines=0
for part in 0 1; do # each of 95 s, in which the tenth window is open
	begin killed
	make 50 $((part * 100)) $((part * 100 + 95)) >&3
	await closed 9 && sleep 1
	kill -9 $pid
	exec 3>&-
	wait $pid 2>/dev/null
	lines=$((lines + $(member requests out)))
	said=$((said + $(member cut_before out)))
done
begin killed
make 50 200 300 >&3
exec 3>&-
wait $pid
result $? 'after being killed twice it goes on' err
lines=$((lines + $(member requests out)))
said=$((said + $(member cut_before out)))
[ "$(stored killed)" = $lines ] && [ "$said" -gt 0 ] && [ $((lines + said)) = 14500 ]
result $? 'requests are the paths in stores and those that were open, as it says' \
	"stored $(stored killed), lines $lines, said $said, of 14500"
grep -q 'the last watch was killed: [0-9]* requests were open' err
result $? 'and says it on standard error' err
[ -z "$(find killed -name '*.sqlite.*')" ]
result $? 'nothing half written is left' "$(find killed)"

begin ended
make 50 0 95 >&3
await closed 9 && sleep 1
kill -TERM $pid
wait $pid && [ "$(member requests out)" = 4750 ]
result $? 'SIGTERM closes the last window, and the status is 0' err
exec 3>&-
before=$(member requests out)
begin ended
make 50 95 300 >&3
exec 3>&-
wait $pid
[ $((before + $(member requests out))) = 15000 ] && [ "$(member cut_before out)" = 0 ] &&
	[ "$(stored ended)" = 15000 ]
result $? 'and the next one goes on with nothing lost or twice' "$(stored ended) stored"
"$ravel" watch -r all.pcap --dir ended >out 2>err
[ $? = 0 ] && [ ! -s out ] && [ "$(stored ended)" = 15000 ]
result $? 'no window is closed twice' out
[ -z "$(find ended -name '*.sqlite.*')" ]
result $? 'and no store is left of those that were' "$(find ended)"

# --- a ring that is written meanwhile ------------------------------------------------------

# The packets of all.pcap in files as tcpdump -C writes them, one after another.
python3 - <<'END'
import struct
data = open("all.pcap", "rb").read()
at, parts = 24, [[]]
while at < len(data):
    size = 16 + struct.unpack_from("<I", data, at + 8)[0]
    parts[-1].append(data[at:at + size])
    at += size
    if len(parts[-1]) == 15000:
        parts.append([])
for i, part in enumerate(p for p in parts if p):
    open("part%d" % i, "wb").write(data[:24] + b"".join(part))
END
cp part0 ring0
: >out
"$ravel" watch -r 'ring*' --follow --dir ring >out 2>err &
pid=$!
await has_lines out 5
head -c 1000003 part1 >ring1 # within a packet
await has_lines out 10
tail -c +1000004 part1 >>ring1
cp part2 ring2
await has_lines out 20
kill -9 $pid
wait $pid 2>/dev/null
mv out out.killed
: >out
"$ravel" watch -r 'ring*' --follow --dir ring >out 2>err &
pid=$!
sleep 1
cat part3 >ring0 # the oldest is overwritten
await has_lines out $((29 - $(wc -l <out.killed)))
kill -TERM $pid
wait $pid && [ "$(stored ring)" = 15000 ]
result $? 'a ring is followed as it is written, killed once: no request is lost or twice' \
	"$(stored ring) stored; $(cat err)"

# --- traces of hosts, one of them late ---------------------------------------------------------

mkdir drop
"$ravel" capture -r all.pcap -w all.trace 2>err
awk '/^#/ || $1 < 1795262500' all.trace >web-1 # of two hosts, for two stretches of time
awk '/^#/ || $1 < 1795262500 && $0 ~ /10.0.0.3/' all.trace >db-1
awk '/^#/ || $1 >= 1795262500' all.trace >web-2
awk '/^#/ || $1 >= 1795262450 && $0 ~ /10.0.0.3/' all.trace >db-2 # its first 50 s come late
cp web-1 drop/web-1.trace
cp db-1 drop/db-1.trace
: >out
"$ravel" watch --traces drop --wait 1s --dir dropped >out 2>err &
pid=$!
await has_lines out 9
gzip -c web-2 >drop/web-2.trace.gz
gzip -c db-2 >.db-2 && mv .db-2 drop/db-2.trace.gz
await has_lines out 29
kill -TERM $pid
wait $pid
[ "$(member requests out)" = 15000 ] && [ "$(stored dropped)" = 15000 ]
result $? 'traces of two hosts are merged: each request once' "$(stored dropped) stored; $(cat err)"
[ "$(member late out)" = $(awk '!/^#/ && $1 < 1795262500' db-2 | wc -l) ] &&
	grep -q "db-2.trace.gz: came too late: $(member late out) messages" err
result $? 'messages that came too late are said' "$(member late out); $(cat err)"

# --- a disk that is full for a while ---------------------------------------------------------

full() {
	mount -t tmpfs -o size=8m none disk || return 9
	begin disk --store-every 1min
	dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null
	size=$(($(stat -c %s all.pcap) / 3 + 1))
	head -c $size all.pcap >&3
	await has_lines out 9
	rm disk/filler
	await has_lines out 9
	tail -c +$((size + 1)) all.pcap >&3
	exec 3>&-
	wait $pid
	[ $? = 0 ] && [ "$(member requests out)" = 15000 ] || return 1
	[ -z "$(find disk -name '*.sqlite.*')" ] || return 2
	unstored=$(sed -nE 's/.*windows with ([0-9]+) requests are in no.*/\1/p' err | awk '{ n += $1 } END { print n + 0 }')
	[ "$unstored" -gt 0 ] && [ $(($(stored disk) + unstored)) = 15000 ]
}
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir disk
	export -f full begin await has_lines member stored paths
	export ravel
	unshare -m bash -c full
	result $? 'a full disk is said; what is stored and what is said to lack are all requests' err
else
	result 0 'a full disk # SKIP needs root'
fi

# --- age and size -----------------------------------------------------------------------------

cp all.pcap more.pcap
"$ravel" watch -r more.pcap --dir small --store-every 1min --keep-size 1M --whole 1min >out 2>err
size=$(cat small/*.sqlite | wc -c)
[ "$size" -le 1048576 ] && [ "$(ls small/*.sqlite | wc -l)" -ge 1 ]
result $? '--keep-size bounds the stores' "$size bytes"
"$ravel" watch -r more.pcap --dir aged --store-every 1min --keep 2min --whole 1min >out 2>err
[ "$(ls aged/*.sqlite | head -1)" = aged/20261121-120300.sqlite ]
result $? '--keep deletes by the age of the traffic' "$(ls aged)"
"$ravel" watch -r more.pcap --dir thin --store-every 1min --whole 1min >out 2>err
[ "$(stored thin)" = 15000 ] && [ "$("$ravel" query --format tsv thin/20261121-120000.sqlite \
	'SELECT count(*) FROM path' | sed 1d)" = 1000 ]
result $? 'old stores keep all counts, and their 1,000 slowest requests' "$(stored thin)"

# --- questions to each window ----------------------------------------------------------

question='SELECT node, count(*) AS n, sum(own) AS own FROM hop GROUP BY node'
begin asked --store-every 1min
await test -d asked/windows
"$ravel" query --follow --format json asked "$question" >answers 2>asked.err 3>&- &
asking=$!
for minute in 1 2 3 4 5; do # slower than the windows are joined
	size=$(($(stat -c %s all.pcap) / 5 + 1))
	tail -c +$((size * (minute - 1) + 1)) all.pcap | head -c $size >&3
	await has_lines answers $((minute * 12 - 4))
done
exec 3>&-
sleep 1
kill -TERM $asking
wait $asking
result $? 'ravel query --follow ends with 0 on SIGTERM' asked.err
"$ravel" query --format json all.sqlite "$question" >whole.answer
python3 -c '
import collections, json
sums = collections.defaultdict(lambda: [0, 0])
for line in map(json.loads, open("answers")):
    sums[line["node"]][0] += line["n"]
    sums[line["node"]][1] += int(line["own"])
whole = {line["node"]: [line["n"], int(line["own"])] for line in map(json.loads, open("whole.answer"))}
assert sums == whole, (sums, whole)' 2>why
result $? 'the sums over windows are those of the whole' why
[ "$(ls asked/*.sqlite | wc -l)" = 5 ] && [ "$(stored asked)" = 15000 ]
result $? 'a store a minute: five of them' "$(find asked)"
finish
