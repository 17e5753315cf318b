#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs every fuzz target over its kept inputs: corpus/TARGET/.
src=${srcdir:-$(dirname "$0")/../..}/tests/fuzz
n=0
bad=0
for target in capture dns dns-stream http http2 learned-names maketrace memcached mysql node-names \
        pcapng postgres redis rpc smtp tls trace; do
        for input in "$src/corpus/$target"/*; do
                n=$((n + 1))
                if tests/fuzz/replay-$target "$input" >/dev/null; then
                        echo "ok $n - $target $(basename "$input")"
                else
                        echo "not ok $n - $target $(basename "$input")"
                        bad=1
                fi
        done
done
echo "1..$n"
exit $bad
