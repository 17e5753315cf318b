#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The traces that benchmarks are made of: whether ravel nesting measures the mean
# parallelism that gen-trace was asked for, and counts what it wrote. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
messages=100000

for parallelism in 1 1.6 5 45; do
	for stamps in '' --four; do
		# shellcheck disable=SC2086 # no option, or one
		found=$("$gen_trace" $messages $parallelism $stamps |
			"$ravel" nesting --method paper --format json -n 1 - |
			sed -n 's/^ *"parallelism": \([0-9.]*\).*/\1/p')
		awk -v a=$parallelism -v b="${found:-0}" 'BEGIN { exit !(b > 0.95 * a && b < 1.05 * a) }'
		result $? "parallelism $parallelism $stamps: ravel nesting finds ${found:-none}"
	done
done

written=$("$gen_trace" $messages 1.6 --clients 100 | "$ravel" stats - |
	sed -n 's/^calls *\([0-9,]*\) with a return, 0 without; 0 returns without a call/\1/p' |
	tr -d ,)
[ "${written:-0}" = $((messages / 2)) ]
result $? "all $((messages / 2)) calls have their return"
"$gen_trace" $messages 1.6 >/dev/full 2>/dev/null
[ $? = 4 ]
result $? "a full disk is noticed"
"$gen_trace" $messages 0.5 >/dev/null
[ $? = 2 ]
result $? "parallelism 0.5: refused"
finish
