#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A flood of what nobody answers takes no more memory than --memory, and is said; the calls of clients
# beside it stay as they are without it. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3'
sanitized=$(nm "$ravel" 2>/dev/null | grep __asan_init)

# calls FILE: time, kind, nodes and id of each message of the clients
calls() {
	awk '$4 == "10.0.0.3" || $3 == "10.0.0.3" { print $1, $2, $3, $4, $5 }' "$1"
}

# peak COMMAND...: its status, and its memory in KB to $dir/peak
peak() {
	python3 -c 'import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)' "$@" >"$dir/peak" 2>"$dir/err"
}

# flood KIND WHAT [FORGOTTEN]
flood() {
	python3 "$source/tests/scripts/make-floods.py" --beside 50 "$1" 60000 "$dir/flood.pcapng"
	peak "$ravel" capture --memory 64M -r "$dir/flood.pcapng" -w "$dir/flood.trace"
	result $? "$2: read" "$dir/err"
	[ -n "$sanitized" ] || [ "$(cat "$dir/peak")" -le 65536 ]
	result $? "$2: $(cat "$dir/peak") KB of memory" "$dir/err"
	grep -q "${3:-half-open connections}.* were forgotten" "$dir/err"
	result $? "$2: what was forgotten is said" "$dir/err"
	calls "$dir/flood.trace" >"$dir/beside"
	diff "$dir/alone" "$dir/beside" >"$dir/diff"
	result $? "$2: the calls of others are exact" "$dir/diff"
}

python3 "$source/tests/scripts/make-floods.py" --beside 50 nothing 60000 "$dir/alone.pcapng"
"$ravel" capture -r "$dir/alone.pcapng" -w "$dir/alone.trace" 2>"$dir/err"
calls "$dir/alone.trace" >"$dir/alone"
[ "$(wc -l <"$dir/alone")" = 480 ]
result $? 'twenty clients make 240 calls' "$dir/err"
flood syns 'SYNs'
flood halves 'halves of requests'
flood addresses 'queries of many addresses'
flood edges 'requests between many nodes'
flood secrets 'keys of many TLS connections' 'keys of TLS connections'
for size in 64 8M 64T 64MB; do
	"$ravel" capture --memory $size -r "$dir/alone.pcapng" -w "$dir/out" 2>"$dir/err"
	[ $? = 2 ] && grep -q 'expected a size' "$dir/err"
	result $? "--memory $size is refused" "$dir/err"
done
finish
