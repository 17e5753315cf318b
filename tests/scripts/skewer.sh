#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel skewer on whole traces: there and back, what it estimates of skews that were
# added, removing them, and what it says where it cannot. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
recorded=$shared/captures/testbed-small
cd "$dir" || exit 99

# fails NAME STATUS TEXT ARGUMENT...: one line that holds TEXT, and nothing written.
fails() {
	local name=$1 status=$2 text=$3 got
	shift 3
	"$ravel" skewer "$@" >out 2>err </dev/null
	got=$?
	[ "$got" = "$status" ] && grep -qF -- "$text" err && [ "$(wc -l <err)" = 1 ] && [ ! -s out ]
	result $? "$name" || sed "s/^/# status $got: /" err
}

# The stamps of all messages differ by at most 1 ns.
nearly_same() {
	join -t'|' <(sed -n 's/^\([0-9.]*\)\t\(.*\)/\2|\1/p' "$1" | LC_ALL=C sort) \
		<(sed -n 's/^\([0-9.]*\)\t\(.*\)/\2|\1/p' "$2" | LC_ALL=C sort) |
		awk -F'[|.]' -v n="$(grep -vc '^#' "$1")" '{ d = $3 - $5; k++
			if ($2 != $4 || d > 1 || d < -1) exit 1 } END { exit k != n }'
}

# near FILE NODE OFFSET PPM: the estimate in FILE, to 10 us and 1 ppm, and its bounds hold.
near() {
	awk -F'\t' -v node="$2" -v offset="$3" -v ppm="$4" '
		function off(a, b) { return a > b ? a - b : b - a }
		$1 == node { n++; bad = off($2, offset) > 10e-6 || off($4, ppm) > 1 ||
			off($2, offset) > $3 || off($4, ppm) > $5 }
		END { exit bad || n != 1 }' "$1" || { sed 's/^/# /' "$1"; return 1; }
}

"$gen_trace" 40000 1.6 --four >plain
{
	sed '1a # source: eth0' plain | sed '5000i # interface: changed\tto eth1  '
	printf '# packets: 12\n'
} >facts

# --- there and back -------------------------------------------------------------
for skew in WS2=+30ms WS2=-30ms WS2=+50ppm WS2=-2s+80ppm; do
	"$ravel" skewer --skew $skew facts >there
	"$ravel" skewer --undo there | cmp -s - facts && ! cmp -s there facts
	result $? "$skew and back: the same bytes"
done
"$ravel" skewer --skew WS2=-30ms-50ppm --skew=client=7us facts >there
"$ravel" skewer --undo there >back
nearly_same facts back
result $? 'a slow clock and back: the same up to 1 ns'
sort -c -n -k1,1 <(grep -v '^#' there)
result $? 'what comes out is in time order'
"$ravel" skewer --skew AP1=+1h there | "$ravel" skewer --undo - >twice
cmp -s twice back
result $? 'two skews, one after the other, are undone together'
"$ravel" skewer --skew WS2=+30ms facts | "$ravel" skewer --skew WS2=-30ms - | grep -v '^# skew' |
	cmp -s - facts
result $? 'an offset and the opposite: the same messages'
"$ravel" skewer --skew WS2=+10ms --skew WS2=+20ms+50ppm facts | cmp -s - <("$ravel" skewer --skew WS2=30ms+5e+1ppm facts)
result $? 'the skews of one node add up'
"$ravel" skewer -w there --skew WS2=+30ms - <facts && "$ravel" skewer --skew WS2=+30ms facts | cmp -s - there
result $? 'a pipe and a file give the same'
# Stamps in whole milliseconds: very many are equal.
sed 's/^\([0-9]*\.[0-9][0-9][0-9]\)[0-9]*/\1/' facts | "$ravel" skewer --skew WS2=0s - >ties
"$ravel" skewer --skew AUTH=+30ms ties | "$ravel" skewer --skew DB1=-1ms - >there
"$ravel" skewer --skew AUTH=-30ms --skew DB1=+1ms there | grep -v '^# skew' | cmp -s - <(grep -v '^# skew' ties)
result $? 'equal stamps come back in the same order'
printf '0.5\tCALL_SENT\ta\tb\t1\n0.6\tRET_SENT\tb\ta\t1\n' | "$ravel" skewer --skew a=-2s - >there
printf '# ravel trace 1\n# skew added: a -2.000000000 s +0.000000000 ppm since 0.500000000\n' >expected
printf -- '-1.500000000\tCALL_SENT\ta\tb\t1\n0.600000000\tRET_SENT\tb\ta\t1\n' >>expected
cmp -s there expected
result $? 'before 1970'

# --- estimating -----------------------------------------------------------------
"$ravel" skewer --skew WS2=+30ms+50ppm --skew AP1=-30ms-50ppm plain >skewed
"$ravel" skewer --estimate skewed >table
near table WS2 0.03 50 && near table AP1 -0.03 -50 && near table client 0 0
result $? 'estimates are right to 10 us and 1 ppm'
[ "$(awk -F'\t' 'NF != 5' table | wc -l)/$(wc -l <table)" = 0/9 ] &&
	[ "$(head -1 table)" = "node	offset	bound	ppm	bound" ]
result $? 'a line for each node, five columns'
"$ravel" skewer --estimate --reference WS2 skewed >table
near table WS2 0 0 && near table client -0.03 -50 && near table AP1 -0.06 -100
result $? 'relative to a reference'
"$ravel" skewer --deskew skewed >removed
"$ravel" skewer --estimate removed >table
near table WS2 0 0 && near table AP1 0 0
result $? 'after --deskew nothing is left'
"$ravel" skewer --undo removed >back
nearly_same plain back
result $? 'and --undo after --deskew takes out both'

# One trace for each host, put one after the other.
for node in client WS1 WS2 AUTH AP1 AP2 DB1 DB2; do
	awk -v node=$node '/^#/ || ($2 ~ /SENT/ ? $3 : $4) == node' skewed | sed 's/^# skew.*/# packets: 1/'
done >all
"$ravel" skewer --estimate all >table 2>err
near table WS2 0.03 50 && grep -q 'time goes backwards: ' err
result $? 'estimates from a trace out of order'
"$ravel" skewer --deskew -w removed all 2>err
[ "$(wc -l <err)" = 1 ] && "$ravel" skewer --estimate removed >table && near table WS2 0 0 &&
	sort -c -n -k1,1 <(grep -v '^#' removed) && [ "$(grep -c '^# packets: 1' removed)" = 16 ]
result $? 'and removes what there is'
"$ravel" nesting --method paper --format tsv -n 0 plain | awk '{ print $1, $2 }' >true
"$ravel" skewer --skew WS2=+30ms all 2>err | "$ravel" nesting --method paper --format tsv -n 0 - | awk '{ print $1, $2 }' | cmp -s - true
result $? 'paths are the same whatever the clocks, with stamps of both ends'

# Real clocks: captures of ten hosts, of which two were set wrong by what OFFSETS says.
# The recording is not part of the project.
if [ -f "$recorded/hosts-skew/OFFSETS" ]; then
	for capture in "$recorded"/hosts/*.pcap.zst; do
		host=$(basename "$capture" .pcap.zst)
		set -- "$recorded/hosts-skew/$host".pcap*
		[ ! -f "$1" ] || capture=$1
		"$ravel" capture -r "$capture" --nodes "$recorded/nodes.txt" --host "$host" \
			--proto 5432=generic --proto 6379=generic 2>err
	done >hosts
	"$ravel" skewer --estimate --reference web1 hosts >table 2>err
	for offset in $(cat "$recorded/hosts-skew/OFFSETS") client=0; do
		near table "${offset%=*}" "${offset#*=}" 0
		result $? "a real clock that is off by $offset"
	done
fi

# --- where it cannot ------------------------------------------------------------
grep -v RECV plain >sent
{ cat plain; sed -n 's/WS2/web/g; s/DB1/one/g; s/CALL/MSG/p' plain | grep -E 'web|one'; } >one-way
{ cat plain; sed 's/\t\([A-Zc][A-Za-z0-9]*\)\t\([A-Zc][A-Za-z0-9]*\)\tid/\tX\1\tX\2\tid/' plain | head -5000; } >groups
fails 'stamps of one side only' 3 'no message was seen at both ends: expected _SENT and _RECV' --estimate sent
fails 'and nothing to remove' 3 'no message was seen at both ends' --deskew sent
sed 's/\tid[0-9]*$/\t-/' plain >no-ids
fails 'no ids' 3 'with its id' --estimate no-ids
grep -v RET plain >calls
fails 'calls only' 3 'no two nodes have messages both ways' --estimate calls
"$ravel" skewer --estimate groups >table 2>err
grep -q '^XWS1	unknown	unknown	unknown	unknown$' table && grep -q 'tied to each other only: XAP1\|tied to each other only: X' err &&
	near table WS2 0 0
result $? 'two groups: the smaller is unknown, and why is said'
"$ravel" skewer --estimate one-way >table 2>err
grep -q '^web	unknown' table && grep -q 'went one way only: .*web' err && near table WS2 0 0
result $? 'messages one way only: unknown, and why is said'

fails 'nothing to do' 2 'expected --skew, --undo, --estimate or --deskew' plain
fails 'two things to do' 2 'expected one of them' --undo --estimate plain
fails 'a reference without estimate' 2 'expected with --estimate or --deskew' --undo --reference WS1 plain
fails 'an unknown node' 2 'plain: there is no node "WS3": did you mean "WS1"?' --skew WS3=+1ms plain
fails 'an unknown reference' 2 'there is no node "Ws2": did you mean "WS2"?' --estimate --reference Ws2 plain
fails 'no node' 2 'expected NODE=SKEW' --skew +30ms plain
fails 'no skew' 2 'expected NODE=SKEW' --skew WS2= plain
fails 'no unit' 2 'has no unit: did you mean 30s or 30ms?' --skew WS2=30 plain
fails 'two signs' 2 'such as +30ms or -50ppm' --skew WS2=+-30ms plain
fails 'too much' 2 'at most 100000ppm' --skew WS2=1e6ppm plain
fails 'too much in sum' 2 '146 years' --skew WS2=1000000h+1000000h plain
fails 'past the end of time' 2 'moves the stamp 1047680085.192098489 out of the years' --skew client=1000000h \
	<(printf '1047680085.192098489 CALL_SENT client WS1 1\n')
fails 'nothing to undo' 3 'plain: nothing to undo' --undo plain
sed '1a # skew added: WS2 50 ppm' plain >broken
fails 'a broken fact' 3 'broken: "skew added: WS2 50 ppm" is not a skew' --undo broken
"$ravel" skewer --skew WS2=1s plain >there
{ seq -f '# fact: %.0f' 10000; cat there; } >facts10000
fails 'more facts than can be seen' 3 'some may be of skews that are not seen' --undo facts10000
{ "$ravel" skewer --skew WS2=1s plain; sed 's/^1/2/' there; } >two
fails 'a skew of a later part only' 3 'undo before traces are put together' --undo two
fails 'no such trace' 3 'no.trace: cannot open' --skew a=1s no.trace
{ cat plain; echo 'x y'; } >bad
fails 'a broken line' 3 'bad:40002: bad timestamp' --skew WS2=1s bad
"$ravel" skewer --deskew - <plain >out 2>err
[ $? = 2 ] && grep -q 'reads a trace twice: expected a file' err
result $? 'removing from a pipe'
"$ravel" skewer --skew nosuch=1s -w nothing - <plain 2>err
[ $? = 2 ] && [ ! -e nothing ] && grep -q 'there is no node "nosuch"' err
result $? 'an unknown node and a pipe: no file'
"$ravel" skewer --skew b=1s <(printf '1.0 CALL_SENT a b 1\n') 2>err >out && grep -q 'no stamp is by the clock of "b"' err && grep -q '^1.0.*CALL_SENT' out
result $? 'a node that has seen nothing'
"$ravel" skewer --skew WS2=1s plain >/dev/full 2>err
[ $? = 4 ]
result $? 'a full disk is noticed'
finish
