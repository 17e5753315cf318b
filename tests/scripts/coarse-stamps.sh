#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel nesting where stamps are whole milliseconds: what has the same stamp as the call that caused it
# may have come after it, and parents are found about as well as by full stamps. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

# A server that asks two others within the millisecond, one after the other; 1,500 requests, about two at a
# time. DIGITS of a second are kept; requests and replies of one moment come in no order of theirs.
trace() { # DIGITS SEED
	awk -v digits="$1" -v seed="$2" 'BEGIN {
		srand(seed)
		for (i = 0; i < 1500; i++) {
			t += -0.004 * log(1 - rand())
			a = t + 0.0002 + 0.0004 * rand(); b = a + 0.0003 + 0.0006 * rand()
			c = b + 0.0002 + 0.0004 * rand(); d = c + 0.002 + 0.004 * rand()
			say(t, "CALL_SENT client web", i); say(a, "CALL_SENT web auth", "a" i); say(b, "RET_SENT auth web", "a" i)
			say(c, "CALL_SENT web db", "b" i); say(d, "RET_SENT db web", "b" i)
			say(d + 0.0002 + 0.0003 * rand(), "RET_SENT web client", i)
		}
	}
	function say(at, what, id) {
		at = sprintf("%.9f", 1000 + at)
		print substr(at, 1, 5 + digits) substr("000000000", digits + 1) " " what " " id " path=" \
			(id ~ /^a/ ? substr(id, 2) ".1" : id ~ /^b/ ? substr(id, 2) ".2" : id)
	}' | LC_ALL=C sort
}

right() { # DIGITS: per cent of parents
	trace "$1" 5 >t.trace
	"$ravel" nesting --cheat -o true.sqlite -w /dev/null t.trace 2>err &&
		"$ravel" nesting -o found.sqlite -w /dev/null t.trace 2>>err &&
		"$ravel" score --format tsv true.sqlite found.sqlite | awk -F'\t' '
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$1 == "all" { printf "%.1f", 100 * $at["right_parents"] / $at["children"] }'
	rm -f true.sqlite found.sqlite
}

full=$(right 9)
coarse=$(right 3)
echo "# right parents: full stamps $full %, of 1 ms $coarse %"
awk "BEGIN { exit !($full > 90 && $coarse >= $full - 6) }"
result $? 'stamps of 1 ms: nearly the parents of full stamps' err
finish
