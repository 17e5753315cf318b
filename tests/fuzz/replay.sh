#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs every fuzz target over its kept inputs: corpus/TARGET/.
src=${srcdir:-$(dirname "$0")/../..}/tests/fuzz
n=0
bad=0
for target in amqp capture convolution dns dns-stream draw fastcgi header-labels http http2 jaeger json ldap learned-names \
        mail maketrace memcached merge mqtt mysql nats node-files node-names otlp paths pcapng postgres processes redis rpc skewer smtp state store tcp tls tls-keys \
        trace trend-condition tshark websocket zipkin zookeeper; do
        n=$((n + 1))
        if tests/fuzz/replay-$target "$src/corpus/$target"/* >/dev/null; then
                echo "ok $n - $target"
        else
                echo "not ok $n - $target"
                for input in "$src/corpus/$target"/*; do
                        tests/fuzz/replay-$target "$input" >/dev/null 2>&1 || echo "# $input"
                done
                bad=1
        fi
done
echo "1..$n"
exit $bad
