#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A capture file out of order is sorted, in any format, in bounded memory, and without a file left
# behind; but not where its clock was set back. TAP.
# shellcheck disable=SC2181 # the status may be any
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99
mkdir tmp
export TMPDIR="$dir/tmp"

make() # [OPTION...] ORDER
{
	python3 "$source/tests/scripts/disordered-packets.py" "$@"
}

capture() # [OPTION...] FILE...: messages in out, without facts
{
	"$ravel" capture --host '' "$@" >trace 2>err
	status=$?
	grep -v '^#' trace >out
	return $status
}

same() # NAME: the messages of the file in order, and the one line
{
	cmp out expected && grep -q 'after one with a later stamp, by .* ms at most: sorted by time$' err
	result $? "$1" err
}

make sorted >sorted.pcap
capture sorted.pcap
cp out expected
grep -q ' 2000 calls, 2000 returns, 0 one-way' err && ! grep -q stamp err && ! grep -q '^# packets sorted' trace
result $? 'in order: nothing is said' err

for order in rx-tx tx-rx halves shuffled reversed near once; do
	make $order >$order.pcap
	capture $order.pcap
	same "$order"
done
grep -q '^# packets sorted: one with a later stamp came before them: 1$' trace
result $? 'a fact counts the packets' trace
for format in nano big modified pcapng; do
	for order in rx-tx near; do
		make -f $format $order >$format.pcap
		capture $format.pcap
		same "$format, $order"
	done
done
capture - <rx-tx.pcap
same 'standard input that is a file'
make resolution >resolution.pcap
capture resolution.pcap
! grep -q stamp err && grep -q '^# packets sorted' trace
result $? 'out of order by the resolution of stamps: nothing is said' err
make unstamped >unstamped.pcap
capture unstamped.pcap
cp out unstamped
mkfifo pipe
cat unstamped.pcap >pipe &
capture pipe
cmp out unstamped && ! grep -q 'later stamp' err
result $? 'a pipe: packets without a stamp are not late' err
for order in rx-tx near; do
	cat $order.pcap >pipe &
	capture pipe
	same "a pipe, $order"
done
{
	cat rx-tx.pcap
	sleep 3
} >pipe &
"$ravel" capture --host '' -w paused.trace pipe 2>err &
sleep 2.2
grep -v '^#' paused.trace >out
lines=$(wc -l <out)
[ "$lines" -gt 3900 ] && head -n 3900 expected >wanted && head -n 3900 out | cmp - wanted
result $? 'a pipe that pauses' paused.trace
wait
for tool in gzip zstd xz; do
	$tool -c shuffled.pcap >packed
	capture packed
	same "$tool"
done
capture -f 'tcp port 80' sorted.pcap
cp out expected-80
for order in near shuffled; do
	capture -f 'tcp port 80' $order.pcap
	cmp out expected-80
	result $? "with a filter, $order" err
done
capture -c 1000 sorted.pcap
cp out expected-1000
capture -c 1000 shuffled.pcap
cmp out expected-1000
result $? 'the first packets are those with the earliest stamps' err
python3 - rx-tx.pcap <<'EOF'
import struct, sys
bytes = open(sys.argv[1], "rb").read()
at, parts = 24, [bytes[:24], bytes[:24]]
while at < len(bytes):
    end = at + 16 + struct.unpack("<I", bytes[at + 8:at + 12])[0]
    parts[bytes[at + 16 + 14 + 12:][:4] != b"\x0a\0\0\x01"] += bytes[at:end]
    at = end
for name, part in zip(("client.pcap", "other.pcap"), parts):
    open(name, "wb").write(part)
EOF
capture client.pcap other.pcap
cmp out expected
result $? 'a file for each direction' err

for order in step back; do
	make $order >$order.pcap
	capture $order.pcap
	grep -q ' 2000 calls, 2000 returns, 0 one-way' err &&
		grep -q 'the clock was set back, so they are used in the order of the file$' err
	result $? "$order: a clock that was set back" err
done

head -c -1000 rx-tx.pcap >cut.pcap
capture cut.pcap
[ $? = 4 ] && grep -q ' 2000 calls, 1994 returns' err && grep -q 'sorted by time$' err && grep -q truncated err
result $? 'what stands before the end of a file that is cut' err
[ ! "$(ls tmp)" ]
result $? 'no file is left' "$(ls tmp)"

# More than a buffer holds.
make -n 60000 sorted >sorted.pcap
capture sorted.pcap
cp out expected
make -n 60000 rx-tx >rx-tx.pcap
capture rx-tx.pcap
same 'by parts on disk'
make -n 60000 near >near.pcap
TMPDIR=$dir/none capture near.pcap
same 'out of order by little: without a disk'
cat rx-tx.pcap >pipe &
capture pipe
grep -q ' packets came too late in a pipe to be sorted: read the file itself$' err && ! grep -q 'check that\|one direction' err
result $? 'a pipe of more than the buffer: the cause' err
TMPDIR=$dir/none capture rx-tx.pcap
[ $? = 4 ] && grep -q "$dir/none (TMPDIR): No such file" err
result $? 'no room for parts' err
"$ravel" capture --host '' -w killed.trace rx-tx.pcap 2>err &
sleep 0.3
kill -9 $!
wait $! 2>err
[ ! "$(ls tmp)" ]
result $? 'killed: no file is left' "$(ls tmp)"

finish
