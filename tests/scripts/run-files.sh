#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# No output replaces an input, and no two outputs are one file, by whichever names; what a
# signal ends leaves nothing behind. TAP.
# shellcheck disable=SC2094 # that is what is tested
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

cp "$source/tests/data/shop.trace" trace
cp "$source/demo/shop.nodes" nodes
cp "$source/demo/shop.pcap.zst" packets
cp "$source/examples/figure-10.conf" conf 2>/dev/null || cp "$source"/examples/multi-tier.conf conf
"$ravel" nesting -o store.sqlite trace >out
cp store.sqlite other.sqlite
mkdir folder
for file in trace nodes packets conf store.sqlite; do
	ln -s "$PWD/$file" "folder/link-$file"
	ln "$file" "folder/hard-$file"
done
sha256sum trace nodes packets conf store.sqlite other.sqlite >sums

# refused NAME COMMAND...: status 2, one line that says why, and every input as it was
refused() {
	name=$1
	shift
	"$@" >out 2>err </dev/null
	status=$?
	[ $status = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'that is the same file as ' err &&
		sha256sum --quiet -c sums >>err 2>&1 && [ ! -e new ]
	result $? "$name" err
}

for file in trace ./trace folder/../trace folder/link-trace folder/hard-trace; do
	refused "nesting -w $file" "$ravel" nesting -w "$file" trace
	refused "merge -w $file" "$ravel" merge -w "$file" trace
done
for verb in nesting convolution; do
	refused "$verb -w" "$ravel" $verb -w trace trace
	refused "$verb --format svg -w" "$ravel" $verb --format svg -w trace trace
done
refused 'nesting --calls' "$ravel" nesting --calls=trace trace
refused 'nesting --window -w' "$ravel" nesting --window 1s -w trace trace
refused 'nesting --window --calls' "$ravel" nesting --window 1s --calls trace trace
refused 'nesting --explain -w' "$ravel" nesting --explain x -w trace trace
refused 'convolution --correlation -w' "$ravel" convolution --correlation 'a>b,b>c' -w trace trace
refused 'merge, the second' "$ravel" merge -w trace folder/link-nodes trace
refused 'skewer --skew' "$ravel" skewer --skew web1=1ms -w trace trace
refused 'skewer --estimate' "$ravel" skewer --estimate -w trace trace
refused 'skewer --deskew' "$ravel" skewer --deskew -w trace trace
refused 'report -o' "$ravel" report store.sqlite -o store.sqlite
refused 'report -o, its trace' "$ravel" report trace -o trace
refused 'report -o, its packets' "$ravel" report trace packets -o folder/link-packets
refused 'report -o, its names' "$ravel" report packets --nodes nodes -o nodes
refused 'report -o, a link' "$ravel" report folder/link-store.sqlite -o store.sqlite
refused 'export -w' "$ravel" export --as tsv store.sqlite -w store.sqlite
refused 'diff -o, the first' "$ravel" diff -o store.sqlite store.sqlite other.sqlite
refused 'diff -o, the second' "$ravel" diff -o other.sqlite store.sqlite other.sqlite
refused 'maketrace -w' "$ravel" maketrace -w conf conf
refused 'capture -w, what is read' "$ravel" capture -r packets -w packets
refused 'capture -w, the names' "$ravel" capture -r packets --nodes nodes -w nodes
refused 'capture -w, a link' "$ravel" capture -r packets --nodes nodes -w folder/link-nodes
# A name with the time in it is known when the trace begins.
year=$("$ravel" capture -r packets 2>err | sed -nE '/^#/!{s/\..*//p;q;}')
name=trace-$(date -d "@$year" +%Y)
cp nodes "$name"
! "$ravel" capture -r packets --nodes "$name" -G 100000000 -w 'trace-%Y' >out 2>err && cmp nodes "$name" && grep -q 'which is read' err
result $? 'capture -G, a name that the time makes' err

ln -s new folder/link-new
refused 'two outputs: -w and --calls' "$ravel" nesting -w new --calls new trace
refused 'two outputs: -w and -o' "$ravel" nesting -w new.db -o new.db trace
refused 'two outputs: -w and -o of convolution' "$ravel" convolution -w ./new.db -o new.db trace
refused 'two outputs by a link to what is not there' "$ravel" nesting -w folder/new \
	--calls folder/link-new trace
ln -s folder linked
refused 'two outputs by a link to the folder' "$ravel" nesting -w folder/new --calls linked/new trace

# appended COMMAND...: with standard output at the end of an input
appended() {
	name="standard output is what $2 reads"
	"$@" >>trace 2>err
	[ $? = 2 ] && sha256sum --quiet -c sums >>err 2>&1
	result $? "$name" err
}
appended "$ravel" nesting trace
appended "$ravel" stats trace
appended "$ravel" merge trace
"$ravel" query store.sqlite 'SELECT 1' >>store.sqlite 2>err
[ $? = 2 ] && sha256sum --quiet -c sums >>err 2>&1
result $? 'standard output is what query reads' err
"$ravel" nesting -w trace - <trace >out 2>err
[ $? = 2 ] && sha256sum --quiet -c sums >>err 2>&1
result $? 'standard input is what is written' err

# What may be.
"$ravel" nesting -w /dev/null --calls /dev/null trace 2>err
result $? 'a device may be two outputs' err
"$ravel" nesting --calls - trace >out 2>err
result $? 'standard output may have two results' err
"$ravel" merge trace trace -w out 2>err
result $? 'one file may be read twice' err
"$ravel" merge trace -w out 2>err && "$ravel" merge trace -w out 2>err
result $? 'an earlier result is replaced' err

# -o is the store, which other programs call the output.
for name in out.txt out trace nodes folder; do
	"$ravel" nesting -o $name trace >out 2>err
	[ $? = 2 ] && grep -q -- '-w FILE is for the text' err && sha256sum --quiet -c sums
	result $? "-o $name is no name of a store" err
done
cp store.sqlite result
"$ravel" nesting -n 1 -o result trace >out 2>err
result $? '-o of a store by another name' err
if command -v python3 >/dev/null; then
	python3 -c 'import sqlite3; sqlite3.connect("mine.db").execute("CREATE TABLE t (x)")'
	cp mine.db mine
	"$ravel" nesting -o mine.db trace >out 2>err
	[ $? = 2 ] && cmp mine mine.db && grep -q 'a database of another program' err
	result $? '-o of a database of another program' err
fi

# Temporary files: where a signal comes while one is written.
mkfifo pipe
mkdir written
for number in HUP INT QUIT TERM; do # a shell's background ignores two of them
	(
		# shellcheck disable=SC3045 # dash and bash have it
		ulimit -c 0
		exec env --default-signal=INT,QUIT,HUP "$ravel" merge -w written/trace pipe 2>err
	) &
	pid=$!
	exec 3>pipe
	seq 200000 | awk '{ print $1 + 1000, "CALL_SENT a b", $1 }' >&3
	turn=0
	while [ $turn -lt 50 ] && ! ls written/trace.* >/dev/null 2>&1; do
		sleep 0.1
		turn=$((turn + 1))
	done
	there=$(find written -name 'trace.*' | wc -l)
	kill -$number $pid
	exec 3>&-
	wait $pid 2>/dev/null
	status=$?
	left=$(find written -type f)
	[ "$there" = 1 ] && [ $status -gt 128 ] && [ ! "$left" ]
	result $? "SIG$number leaves nothing" "status $status, there were $there, left: $left"
	rm -rf written/*
done
finish
