#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs every fuzz target over its kept inputs: corpus/TARGET/.
src=${srcdir:-$(dirname "$0")/../..}/tests/fuzz
n=0
bad=0
# Make says which there are.
for program in $FUZZ_TESTS; do
        target=${program#*/fuzz-}
        n=$((n + 1))
        if $program "$src/corpus/$target"/* >/dev/null; then
                echo "ok $n - $target"
        else
                echo "not ok $n - $target"
                for input in "$src/corpus/$target"/*; do
                        $program "$input" >/dev/null 2>&1 || echo "# $input"
                done
                bad=1
        fi
done
echo "1..$n"
exit $bad
