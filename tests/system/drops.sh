#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Whether ravel capture keeps up as well as tcpdump does: both on one cable at a time,
# with the same buffer, each writing to a file, while redis-benchmark asks Redis as fast as
# it can, for five seconds each with one request at a time on a connection and with 32.
# ravel may have no more packets dropped by the kernel, but for one in a thousand, which
# is chance. TAP; needs about 1 GB in $TMPDIR.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=network.sh
. "$here/network.sh"
ravel=$(realpath "${RAVEL:-$here/../../build/ravel}")

if [ "${1-}" != --inside ]; then
	reason=$(
		for program in redis-server redis-benchmark tcpdump; do
			command -v "$program" >/dev/null || echo "$program is not installed"
		done
		why_no_network
	)
	if [ "$reason" ]; then
		echo "1..0 # SKIP ${reason%%$'\n'*}"
		exit 0
	fi
	RAVEL=$ravel in_namespaces 120 bash "$0" --inside
	exit
fi

begin_network <<-EOF
	10.87.0.10 client
	10.87.0.20 redis
EOF
start redis redis-server --bind "$(address redis)" --protected-mode no --save '' \
	--appendonly no --loglevel warning --dir "$work"
cable=cable$serial
sleep 0.5

# PROGRAM COUNT-OF-WHAT, as it said at its end
said() { sed -n "s/^\(.*[ ,]\)\{0,1\}\([0-9]*\) packets $2.*/\2/p" "$work/$1.err" | head -n 1; }

tests=0
round() { # PIPELINED
	local pids=() pid packets ravel_drops tcpdump_drops
	env --default-signal=INT "$ravel" capture -i "$cable" -w "$work/trace" 2>"$work/ravel.err" &
	pids+=($!)
	env --default-signal=INT tcpdump -Z root -n -i "$cable" -w "$work/pcap" 2>"$work/tcpdump.err" &
	pids+=($!)
	sleep 1
	run client timeout 5 redis-benchmark -h "$(address redis)" -c 50 -P "$1" -t get -d 100 -l -q \
		>"$work/benchmark" || [ $? = 124 ]
	sleep 0.5
	kill -INT "${pids[@]}"
	for pid in "${pids[@]}"; do wait "$pid"; done
	packets=$(said tcpdump 'received by filter')
	ravel_drops=$(said ravel 'dropped by kernel')
	tcpdump_drops=$(said tcpdump 'dropped by kernel')
	tests=$((tests + 1))
	[ "$ravel_drops" -le $((tcpdump_drops + packets / 1000)) ] || echo -n 'not '
	echo "ok $tests - $1 at a time: of $packets packets ravel lost $ravel_drops, tcpdump $tcpdump_drops"
	echo "# $(sed -n 's/^ravel capture: .*: \([0-9]* calls\).*/\1/p' "$work/ravel.err"), $(stat -c %s "$work/pcap") bytes"
	rm "$work/trace" "$work/pcap"
}
for pipelined in 1 32 1 32; do
	round $pipelined
done
echo "1..$tests"
