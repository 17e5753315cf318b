#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A trace out of order is read in order: by a buffer, in memory or by parts on disk, in memory
# that does not grow with it, and without a file left behind. TAP.
# shellcheck disable=SC2181 # the status may be any
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99
mkdir tmp

"$gen_trace" 1000000 2 >trace
"$ravel" stats trace >expected
awk 'NR % 1000 == 7 { held = $0; next } { print } NR % 1000 == 57 { print held; held = "" }
	END { if (held) print held }' trace >near
LC_ALL=C sort -k5 trace >far
head -n 20000 far >small

TMPDIR=$dir/tmp "$ravel" stats near >out 2>err
[ $? = 0 ] && cmp out expected && grep -q 'messages come late, by .* at most; put in order as' err
result $? 'out of order by little: through a buffer' err
"$ravel" stats - <near >out 2>err
[ $? = 0 ] && cmp out expected && [ ! -s err ]
result $? 'and so a pipe' err
"$ravel" stats small >out 2>err
[ $? = 0 ] && grep -q 'put in order as it is read' err
result $? 'in any order, but short' err
TMPDIR=$dir/tmp "$ravel" stats far >out 2>err
[ $? = 0 ] && cmp out expected && grep -q "time goes backwards: sorted in [2-9] parts in $dir/tmp" err
result $? 'in any order: by parts on disk' err
[ ! "$(ls tmp)" ]
result $? 'which are gone' "$(ls tmp)"
TMPDIR=$dir/none "$ravel" stats far >out 2>err
[ $? = 4 ] && grep -q "$dir/none (TMPDIR): No such file" err
result $? 'no room for them' err
"$ravel" skewer --skew WS2=0ms far 2>err | grep -v '^#' >out
grep -v '^#' trace >plain
cmp out plain
result $? 'every text comes through' err

# Sanitizers reserve address space without end.
if nm "$ravel" 2>/dev/null | grep -q __asan_init; then
	tests=$((tests + 1))
	echo "ok $tests - bounded memory # SKIP sanitizers take memory of their own"
else
	sed -n '/^#/!{p;s/^10/11/p;}' far >larger
	(
		# shellcheck disable=SC3045 # dash and bash have it
		ulimit -v 200000
		TMPDIR=$dir/tmp "$ravel" stats larger >out 2>err
	)
	result $? 'bounded memory' err
fi
finish
