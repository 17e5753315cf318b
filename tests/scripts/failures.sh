#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The calls by which requests failed, against what was planted (failures.py). TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
program=$source/tests/scripts/failures.py
columns='start, node, outcome'

for kind in depth1 depth2 depth3 retried swallowed late all; do
	python3 "$program" make $kind "$dir/trace" "$dir/truth" &&
		./ravel nesting -o "$dir/$kind.sqlite" -w "$dir/text" "$dir/trace" 2>"$dir/err" &&
		./ravel query --format tsv "$dir/$kind.sqlite" \
			"SELECT $columns FROM failed_request ORDER BY start" >"$dir/found" 2>>"$dir/err" &&
		python3 "$program" check "$dir/truth" "$dir/found" >"$dir/out" 2>&1
	result $? "$kind: the planted culprit in each failed request" "$(cat "$dir/out" "$dir/err")"
done
./ravel why --failed "$dir/depth3.sqlite" >"$dir/out" 2>&1
grep -q '[0-9]* of 100 failed requests: web1>auth>redis ' "$dir/out"
result $? "why --failed names the way to the culprit" "$(cat "$dir/out")"
./ravel why --failed "$dir/retried.sqlite" >"$dir/out" 2>&1
grep -q 'redis x3, 2 of them [A-Z]*, .* lost (GET): ' "$dir/out" &&
	grep -q 'redis x2, 2 of them [A-Z]*, .* in vain' "$dir/out"
result $? "why --failed names retries, in vain or not" "$(cat "$dir/out")"
./ravel why --failed --format json "$dir/all.sqlite" >"$dir/out" 2>&1 &&
	python3 -c 'import json, sys
w = json.load(sys.stdin)
sys.exit(w["requests"] != 300 or sum(f["count"] for f in w["failures"]) != w["failed"])' \
		<"$dir/out" 2>"$dir/err"
result $? "JSON counts each failed request once" "$(cat "$dir/out" "$dir/err")"
finish
