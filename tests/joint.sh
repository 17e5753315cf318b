#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Parents by --method joint on traces of known truth: at every parallelism more of them
# are right than by --method paper, and at the low ones nearly all. TAP.
# shellcheck source=tests/tap.sh
. "${srcdir:-$(dirname "$0")/..}/tests/tap.sh"

# The right parents of the calls that have one, in per cent.
right() # METHOD
{
	"$ravel" nesting --method "$1" -o "$dir/$1.sqlite" -w /dev/null "$dir/trace" &&
		"$ravel" score --format tsv "$dir/true.sqlite" "$dir/$1.sqlite" | awk -F'\t' '
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
			$1 == "all" { print 100 * $at["right_parents"] / $at["children"] }'
}

# parallelism, and how many per cent of the parents are right at least
while read -r parallelism least options; do
	# shellcheck disable=SC2086 # options are words
	"$gen_trace" 20000 "$parallelism" $options --path >"$dir/trace" &&
		"$ravel" nesting --cheat -o "$dir/true.sqlite" -w /dev/null "$dir/trace" &&
		joint=$(right joint) && paper=$(right paper)
	echo "# parallelism $parallelism $options: joint $joint %, paper $paper %"
	awk "BEGIN { exit !($joint >= $least && $joint >= $paper) }"
	result $? "parallelism $parallelism $options: as many right parents as there should be"
done <<END
1   99
1.6 96
1.6 96 --four
1.6 90 --repeat 3
5   80
20  12
END

"$gen_trace" 2000 5 >"$dir/trace"
"$ravel" nesting --method joint --calls "$dir/once" -w /dev/null "$dir/trace" &&
	"$ravel" nesting --method joint --calls "$dir/again" -w /dev/null "$dir/trace" &&
	cmp -s "$dir/once" "$dir/again"
result $? 'the same parents and probabilities each time'
finish
