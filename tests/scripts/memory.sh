#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What ravel nesting takes of memory: no more with --window than without where the trace is shorter
# than a window, of which all that is found is the same; and hardly more for a longer trace, whose
# calls lie in a temporary file. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

peak() # OPTION... TRACE: of memory, KB; 0 where sanitizers take memory of their own
{
	if nm "$ravel" 2>/dev/null | grep -q __asan_init; then
		echo 0
		return
	fi
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$ravel" nesting -j 1 "$@"
}

"$gen_trace" 600000 5 >t.trace
whole=$(peak --method paper t.trace)
window=$(peak --method paper --window 8000h t.trace)
echo "# paper: $whole KB, in a window $window KB"
[ "$window" -le $((whole + whole / 20)) ]
result $? 'paper: a window that holds the trace takes no more memory than the trace'

"$gen_trace" 10000 8 --clients 40 >t.trace
"$ravel" nesting --calls whole.calls -w /dev/null t.trace 2>err &&
	"$ravel" nesting --window 8000h --calls calls -w /dev/null t.trace 2>err &&
	cmp -s calls whole.calls
result $? 'joint: a window that holds the trace changes nothing' err

# Only a disk is worth a file.
if python3 -c 'import os, sys
os.close(os.open(sys.argv[1], os.O_TMPFILE | os.O_RDWR))' "$dir" 2>/dev/null &&
	[ "$(stat -f -c %T "$dir")" != tmpfs ]; then
	export TMPDIR="$dir"
	for messages in 600000 2000000; do
		"$gen_trace" $messages 1 >t.trace
		peak --method paper t.trace >>peaks
	done
	echo "# paper, 600,000 and 2,000,000 messages: $(tr '\n' ' ' <peaks)KB"
	[ "$(tail -n 1 peaks)" -le $(($(head -n 1 peaks) + 8000)) ] # 700,000 calls take 28 MB in memory
	result $? 'paper: three times as long a trace takes hardly more memory'
	rm peaks
	longer=1000000 most=15000
	[ -z "${RAVEL_LONG:-}" ] || longer=2000000 most=50000
	for messages in 600000 $longer; do
		"$gen_trace" "$messages" 1.6 >joint.trace
		peak joint.trace >>peaks
	done
	rm joint.trace
	echo "# joint, 600,000 and $longer messages: $(tr '\n' ' ' <peaks)KB"
	# 700,000 calls more take 29 to 36 MB, 200,000 less than 10. Learning from all calls of a node took 75
	# and 21 MB more.
	[ "$(tail -n 1 peaks)" -le $(($(head -n 1 peaks) + most)) ]
	result $? 'joint: it takes more by what is found of calls, not by what is learned'
	[ -z "$(find "$dir" -mindepth 1 -name 'ravel-*')" ]
	result $? 'and leaves no file'
	"$ravel" nesting --method paper -n 0 -w out t.trace 2>err &&
		TMPDIR=/nowhere "$ravel" nesting --method paper -n 0 -w memory t.trace 2>err &&
		cmp -s out memory
	result $? 'where there can be no file, memory does' err
	if [ "${RAVEL_LONG:-}" ] && [ "$whole" != 0 ]; then
		"$gen_trace" 20000000 1.6 >t.trace
		whole=$(peak --method paper t.trace)
		joint=$(peak t.trace)
		echo "# 20 million messages: paper $whole KB, joint $joint KB"
		[ "$whole" -le 32000 ] && [ "$joint" -le 400000 ]
		result $? 'of 20 million messages paper takes at most 32 MB, joint at most 400'
	fi
fi
finish
