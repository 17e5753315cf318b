#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What ravel nesting takes of memory: no more with --window than without where the trace is shorter
# than a window, of which all that is found is the same. TAP.
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

"$gen_trace" 20000 8 --clients 40 >t.trace
"$ravel" nesting --calls whole.calls -w /dev/null t.trace 2>err &&
	"$ravel" nesting --window 8000h --calls calls -w /dev/null t.trace 2>err &&
	cmp -s calls whole.calls
result $? 'joint: a window that holds the trace changes nothing' err
finish
