#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Things that only longer traces show: calls to one node that are of two kinds, told apart by how
# long they last; and calls that windows have done with, which are dropped with their ids and
# labels and change nothing of what is found. RAVEL_LONG=1: a trace four times as long. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

# Orders look up the price in 1 ms, ask the bank, and write to the database for 80 ms; searches read
# it for 80 ms first, then 1 ms. Up to SPREAD ms apart, several are at the shop at once.
shop() # REQUESTS SPREAD
{
	awk -v n="$1" -v spread="$2" 'BEGIN {
		srand(5)
		for (i = 0; i < n; i++) {
			start += spread * rand() * 2
			order = rand() < 0.5
			t = start + 2 + rand()
			if (order) {
				t = call("db", t, 1 + rand() / 5, i, 1) + 3 + rand()
				t = call("bank", t, 20 + rand(), i, 2) + 3 + rand()
				t = call("db", t, 80 + 5 * rand(), i, 3) + 3 + rand()
			} else {
				t = call("db", t, 80 + 5 * rand(), i, 1) + 9 + rand()
				t = call("db", t, 1 + rand() / 5, i, 2) + 3 + rand()
			}
			put(start, "CALL_SENT", "client", "shop", i, "path=" i)
			put(t, "RET_SENT", "shop", "client", i, "path=" i)
		}
	}
	function call(to, t, lasts, i, k) {
		put(t, "CALL_SENT", "shop", to, i "." k, "path=" i "." k)
		put(t + lasts, "RET_SENT", to, "shop", i "." k, "path=" i "." k)
		return t + lasts
	}
	function put(t, op, from, to, id, path) {
		printf "%.9f\t%s\t%s\t%s\t%s\t%s\n", 1e9 + t / 1000, op, from, to, id, path
	}' | sort -s -k 1,1
}

right() # OPTION...: the right parents, in per cent
{
	"$ravel" nesting -o found.sqlite -w /dev/null "$@" 2>err &&
		"$ravel" score --format tsv true.sqlite found.sqlite | awk -F'\t' '
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
			$1 == "all" { print 100 * $at["right_parents"] / $at["children"] }'
}

shop 3000 25 >shop.trace
"$ravel" nesting --cheat -o true.sqlite -w /dev/null shop.trace 2>err
joint=$(right shop.trace)
paper=$(right --method paper shop.trace)
awk -v j="${joint:-0}" -v p="${paper:-100}" 'BEGIN { exit !(j >= 97 && j >= p + 10) }'
result $? 'calls of two durations' "joint $joint %, paper $paper %"

# Calm: every parent is sure, so windows must find the same.
messages=50000
[ -z "${RAVEL_LONG:-}" ] || messages=200000
"$gen_trace" $messages 1 --path | awk '/CALL/ { $0 = $0 "\tlabel=l" NR % 7 } { print }' >calm.trace
for method in joint paper; do
	"$ravel" nesting --method $method --calls whole -w /dev/null calm.trace 2>err
	"$ravel" nesting --method $method --window 60s --calls parts -w /dev/null calm.trace 2>err
	cut -f 1-9 whole | sort >whole.sorted
	cut -f 1-9 parts | sort >parts.sorted
	[ "$(wc -l <whole.sorted)" -gt $((messages * 9 / 20)) ] && cmp whole.sorted parts.sorted
	result $? "--method $method: calls, ids and parents through windows" \
		"$(diff whole.sorted parts.sorted | head -5)"
done
finish
