#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The disk fails in the middle: for each verb, each of its first reads of its input, and of its
# writes, comes back with an error. Then it says so in a line, has the exit status for that, and
# leaves no file: an output is whole or not there. strace gives the errors. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

command -v strace >/dev/null || skip_all 'strace is not installed'
# The sanitizers' own system calls would get the errors, and LeakSanitizer cannot be traced.
if grep -q __asan_init "$ravel"; then skip_all 'the program has sanitizers'; fi
strace -o log true 2>/dev/null || skip_all 'a process may not be traced here'

zstd -dq "$source/demo/shop.pcap.zst" -o shop.pcap
"$ravel" capture -r shop.pcap --nodes "$source/demo/shop.nodes" -w shop.trace 2>err
awk 'NR < 3000 || /^#/' shop.trace >trace
"$ravel" nesting -o one.sqlite trace >out 2>err
"$ravel" nesting -o two.sqlite --method paper trace >out 2>err
sed 's/^messages=.*/messages=1000/' "$source/examples/children-parallel.conf" >parallel.conf
mkdir result

# What was read of a capture before its disk failed is kept, and said. The first half of the reads are
# for the stamps.
whole=$(wc -l <shop.trace)
why=
strace -f -q -o log -P "$dir/shop.pcap" -e trace=read,pread64 "$ravel" capture -r shop.pcap -w result/trace 2>err
half=$(($(grep -c '= [0-9]' log) / 2))
for turn in $((half + 9)) $((half + 20)) $((half + half / 2)); do
	strace -f -q -o log -P "$dir/shop.pcap" -e trace=read,pread64 -e inject=read,pread64:error=EIO:when=$turn \
		"$ravel" capture -r shop.pcap -w result/trace >out 2>err
	found=$?
	[ $found = 4 ] && grep -q 'shop.pcap: cannot read: Input/output error' err && grep -q 'holds what was read before' err &&
		"$ravel" stats result/trace >out 2>&1 && [ "$(wc -l <result/trace)" -lt "$whole" ] || why="$why $turn: status $found, $(cat err)"
done
[ ! "$why" ]
result $? 'capture: a read of its input fails' "$why"

# The turns at which a call fails: all of the first, then ever fewer.
turns='1 2 3 4 5 6 8 11 16 23 32 64 128 256'

# fails WHAT STATUS ERROR STRACE-OPTION... -- ARGUMENT...: ravel's arguments, until no call fails
fails()
{
	what=$1 status=$2 error=$3 option=$4 calls=$5
	shift 5
	why=
	failed=0
	for turn in $turns; do
		rm -rf result
		mkdir result
		# shellcheck disable=SC2086 # none, or two words
		strace -f -q -o log $option -e trace="$calls" -e inject="$calls:error=$error:when=$turn" \
			"$ravel" "$@" >out 2>err
		found=$?
		grep -q INJECTED log || break
		failed=$((failed + 1))
		[ $found = "$status" ] || why="$why turn $turn: status $found;"
		tail -n 1 err | grep -q "^ravel $1: .*cannot .*: ." || why="$why turn $turn: $(cat err);"
		[ ! "$(ls result)" ] || why="$why turn $turn: left $(ls result);"
	done
	[ ! "$why" ] && [ $failed -gt 0 ]
	result $? "$what, $failed times" "${why:-no call failed}"
}

reads() # FILE ARGUMENT...
{
	file=$1
	shift
	fails "$1: a read of its input fails" 3 EIO "-P $dir/$file" read,pread64 "$@"
}

writes() # ARGUMENT...
{
	fails "$1: a write fails" 4 ENOSPC '' pwrite64,ftruncate,fsync,rename,renameat2 "$@"
}

reads trace stats trace
reads trace nesting -o result/s.sqlite trace
reads trace convolution -w result/text trace
reads trace merge -w result/trace trace
reads trace skewer --skew client=1ms -w result/trace trace
reads one.sqlite report -o result/x.html one.sqlite
reads one.sqlite export --as otlp -w result/x.json one.sqlite
reads one.sqlite diff -o result/x.html --format html one.sqlite two.sqlite
reads one.sqlite query one.sqlite 'SELECT count(*) FROM call'
reads one.sqlite variance -o result/text one.sqlite
reads one.sqlite whatif -o result/text one.sqlite
reads one.sqlite advise -o result/text one.sqlite
reads parallel.conf maketrace -w result/trace parallel.conf
writes nesting -o result/s.sqlite trace

finish
