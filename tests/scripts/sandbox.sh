#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What strangers wrote is parsed in a sandbox, by each verb, and the answers are those without it:
# compressed, out of order, by threads, drawn, through links, and into other folders. TAP.
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/scripts/tap.sh"
ravel=$(realpath "${RAVEL:-./ravel}")
shop=$source/demo/shop.pcap.zst

if nm -D "$ravel" 2>/dev/null | grep -q __asan_init; then
	echo "1..0 # SKIP built with sanitizers"
	exit 0
fi
filters=0
! ldd "$ravel" | grep -q libseccomp || filters=2

# Of a process that waits for the rest of its input. STATE: "new rights, filter of system calls"
state() { # PID STATE
	local turn found
	for ((turn = 0; turn < 100; turn++)); do
		found=$(awk '/^(NoNewPrivs|Seccomp):/ { printf "%s ", $2 }' "/proc/$1/status")
		[ "$found" != "$2 " ] || return 0
		sleep 0.05
	done
	echo "# $found"
	return 1
}

waiting() { # STATE HEAD VERB...: with the first lines of HEAD on a pipe
	local expected=$1 head=$2 pid
	shift 2
	rm -f "$dir/pipe"
	mkfifo "$dir/pipe"
	"$ravel" "$@" "$dir/pipe" >"$dir/out" 2>"$dir/err" &
	pid=$!
	exec 3>"$dir/pipe"
	head -c 3000 "$head" >&3
	state "$pid" "$expected"
	result $? "$*: in the sandbox while it reads: $expected" "$dir/err"
	exec 3>&-
	wait "$pid"
}

cd "$dir" || exit 99
zstd -q -dc "$shop" >shop.pcap
"$ravel" capture --no-sandbox -r shop.pcap --nodes "$source/demo/shop.nodes" -w shop.trace 2>err
for verb in stats nesting convolution merge; do
	waiting "1 $filters" shop.trace $verb
done
waiting "1 $filters" shop.pcap capture -r
waiting "1 $filters" shop.trace import
waiting "0 0" shop.trace stats --no-sandbox

"$ravel" nesting --no-sandbox -o shop.sqlite -w text shop.trace 2>err
"$ravel" query shop.sqlite 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n' \
	>out 2>err &
state $! "1 $filters"
result $? "query: in the sandbox while it answers"
kill $!
wait $!

# The same bytes with and without it.
same() { # NAME VERB OPTIONS...: writes to standard output
	local name=$1
	shift
	"$ravel" "$@" >in 2>in.err
	echo "$?" >>in.err
	"$ravel" "$1" --no-sandbox "${@:2}" >without 2>without.err
	echo "$?" >>without.err
	cmp -s in without && cmp -s in.err without.err && [ -s in ]
	result $? "$name: the same" in.err
}
gzip -c shop.pcap >shop.pcap.gz
(grep '^#' shop.trace | head -n 5; grep -v '^#' shop.trace | sort -r) >reversed.trace
same "gzip" capture -r shop.pcap.gz
same "zstd" capture -r "$shop"
"$ravel" capture -r - --nodes "$source/demo/shop.nodes" <shop.pcap 2>err | grep -v '^#' >in
grep -v '^#' shop.trace | cmp -s - in
result $? "standard input: the same" err
same "sorted on disk" stats reversed.trace
same "threads" nesting -j 4 shop.trace
same "drawn" nesting --format svg shop.trace
same "drawn of a store" show --format dot shop.sqlite
same "a page" report -o - --nodes "$source/demo/shop.nodes" shop.pcap
same "a page of a store" report -o - shop.sqlite
same "causes" why shop.sqlite

# Outputs that are links, in other folders, or no files.
mkdir elsewhere temporary
ln -s elsewhere/linked.trace dangling
: >elsewhere/there.trace
ln -s elsewhere/there.trace link
for path in dangling link elsewhere/new.trace; do
	"$ravel" capture -r shop.pcap --nodes "$source/demo/shop.nodes" -w $path 2>err && cmp -s $path shop.trace
	result $? "-w $path" err
done
"$ravel" capture -r shop.pcap -w /dev/null 2>err
result $? "-w /dev/null" err
"$ravel" capture -r shop.pcap -C 1 -w elsewhere/part 2>err && [ -s elsewhere/part ] &&
	TMPDIR=$dir/temporary "$ravel" report -o elsewhere/page.html elsewhere/part 2>err && [ -s elsewhere/page.html ]
result $? "-C and TMPDIR" err
finish
