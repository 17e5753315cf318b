#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Nesting against another program that follows Figure 4, on traces of a real system:
# the parents of at least 99.9 % of calls are the same (it adds up 1/N in floating
# point, which breaks some ties the other way), and so are the path patterns with
# their counts, but for the four that a call with another parent can change. Neither is part of the project: both are used where RAVEL_SHARED, or
# ../shared beside the sources, has them. TAP.
src=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
shared=${RAVEL_SHARED:-$src/../shared}
other=$shared/tools/nesting_ref.py
ravel=${RAVEL:-./ravel}

set -- "$shared"/traces/hotel/*_sync*.trace.gz
if [ ! -e "$1" ] || [ ! -e "$other" ]; then
	echo '1..0 # SKIP no ../shared/traces/hotel beside the sources'
	exit 0
fi
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-hotel.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT

n=0
bad=0
result() # NAME FIGURES AWK-CONDITION
{
	n=$((n + 1))
	if echo "$2" | awk "{ exit !($3) }"; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		bad=1
	fi
	echo "# $2"
}

# shellcheck disable=SC2016 # the conditions are for awk
for trace; do
	name=$(basename "$trace" .trace.gz)
	python3 "$other" "$trace" "$dir/other" >"$dir/log" 2>&1 &&
		"$ravel" nesting --method paper --no-fold --calls "$dir/calls" --format json -n 0 \
			-w "$dir/json" "$trace" 2>"$dir/err" &&
		figures=$(python3 "$src/tests/compare-calls.py" "$dir/calls" "$dir/other.parents" \
			"$dir/other.paths" "$dir/json") || figures=failed
	# calls, those that agree, patterns, those that agree, patterns that only ravel found
	result "$name: parents" "$figures" 'NF == 5 && $1 > 0 && $2 >= 0.999 * $1'
	result "$name: path patterns" "$figures" \
		'NF == 5 && $3 > 0 && $3 - $4 + $5 <= 4 * ($1 - $2)'
done
echo "1..$n"
exit $bad
