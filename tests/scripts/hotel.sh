#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Nesting against another program that follows Figure 4, on traces of a real system:
# the parents of at least 99.9 % of calls are the same (it adds up 1/N in floating
# point, which breaks some ties the other way), and so are the path patterns with
# their counts, but for the four that a call with another parent can change. Neither is part of the project: both are used where RAVEL_SHARED, or
# ../shared beside the sources, has them; each second trace, with RAVEL_LONG=1 all. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
other=$shared/tools/nesting_ref.py

set -- "$shared"/traces/hotel/*_sync*.trace.gz
if [ ! -e "$1" ] || [ ! -e "$other" ]; then
	skip_all 'no ../shared/traces/hotel beside the sources'
fi
command -v python3 >/dev/null || skip_all 'python3 is not installed'

holds() # NAME FIGURES AWK-CONDITION
{
	echo "$2" | awk "{ exit !($3) }"
	result $? "$1"
	echo "# $2"
}

# shellcheck disable=SC2016 # the conditions are for awk
of=0
for trace; do
	of=$((of + 1))
	[ "${RAVEL_LONG:-}" ] || [ $((of % 2)) = 0 ] || continue
	name=$(basename "$trace" .trace.gz)
	python3 "$other" "$trace" "$dir/other" >"$dir/log" 2>&1 &&
		"$ravel" nesting --method paper --no-fold --calls "$dir/calls" --format json -n 0 \
			-w "$dir/json" "$trace" 2>"$dir/err" &&
		figures=$(python3 "$source/tests/scripts/compare-calls.py" "$dir/calls" "$dir/other.parents" \
			"$dir/other.paths" "$dir/json") || figures=failed
	# calls, those that agree, patterns, those that agree, patterns that only ravel found
	# shellcheck disable=SC2016 # fields of awk
	holds "$name: parents" "$figures" 'NF == 5 && $1 > 0 && $2 >= 0.999 * $1'
	# shellcheck disable=SC2016
	holds "$name: path patterns" "$figures" \
		'NF == 5 && $3 > 0 && $3 - $4 + $5 <= 4 * ($1 - $2)'
done
finish
