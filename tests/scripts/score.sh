#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel score: the share of right parents against what --calls and gen-trace say, and a truth
# against itself. RAVEL_LONG=1: of longer traces. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

stores() { # TRACE [OPTION...]: true.sqlite and found.sqlite
	"$ravel" nesting --cheat -o true.sqlite "$@" >/dev/null 2>&1 &&
		"$ravel" nesting -o found.sqlite "$@" >/dev/null 2>&1
}

# The same share by another way.
messages=8000
[ -z "${RAVEL_LONG:-}" ] || messages=20000
for shape in '3' '1.6 --four' '5 --repeat 3'; do
	# shellcheck disable=SC2086 # a number and options
	"$gen_trace" $messages $shape --path --truth truth >t.trace
	stores t.trace --calls calls # both write it; the last are those found
	awk -F'\t' 'NR == FNR { parent[$1] = $2; next }
		FNR > 1 && parent[$5] != "-" { n++; right += $9 == parent[$5] }
		END { printf "\"children\": %d, \"right_parents\": %d,\n", n, right }' truth calls >expected
	"$ravel" score --format json true.sqlite found.sqlite 2>err >out && [ ! -s err ] &&
		grep -qFf expected out
	result $? "gen-trace $shape: as many right parents as by --calls: $(cat expected)" out
	"$ravel" score --format tsv true.sqlite true.sqlite | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == "all" { for (name in at) if (name ~ /^f[np]_|error/ && $at[name] + 0) exit
			ok = $at["right_instances"] == $at["true_instances"] && $at["right_parents"] == $at["children"] }
		END { exit !ok }'
	result $? 'and of the truth all is right'
done

"$gen_trace" 2000 1.6 --clients 100 --path >t.trace
stores t.trace
"$ravel" score true.sqlite found.sqlite >out 2>err && [ ! -s err ] && grep -q '^roots  *100.0 % right: 200 of 200' out
result $? 'folded clients: calls are compared by who they were' out
finish
