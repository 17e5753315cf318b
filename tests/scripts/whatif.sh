#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel whatif against maketrace run again with the change: mean within 5 %, p99 within 10 %, nodes in the true order
# of what they bring (whatif-truth.py). Its output at saturation. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

seeds=11,12
[ -z "${RAVEL_LONG:-}" ] || seeds=11,12,13,14,15,16,17,18,19,20
python3 "$source/tests/scripts/whatif-truth.py" "$ravel" $seeds >found 2>err
result $? 'foretold as the truth is' found
if [ -n "${RAVEL_LONG:-}" ]; then
	python3 "$source/tests/scripts/whatif-truth.py" --other "$ravel" 21,22,23,24,25,26,27,28,29,30 >found 2>err
	result $? 'measurements of other requests are within the intervals' found
fi

cat >full.conf <<-EOF
	[maketrace]
	seed=4
	messages=1000000
	[tracelet page]
	parallel=1500
	count=1500
	think=uniform(0s,20s)
	path=client > web( 1ms db( exp(20ms) ) 1ms )
	[node db]
	servers=4
EOF
"$ravel" maketrace full.conf >trace 2>err && "$ravel" nesting -o s.sqlite trace >out 2>>err
"$ravel" whatif s.sqlite 'workers(db)=1' >out 2>>err && grep -q '^db would be full: requests would come faster' out &&
	! grep -q '^  mean' out
result $? 'no figures beyond saturation' out
"$ravel" whatif s.sqlite 'workers(db)=2' >out 2>>err && grep -q '^  mean' out
result $? 'figures below it' out
"$ravel" whatif --format json s.sqlite 'hedge(db@p95)' >out 2>>err &&
	python3 -c 'import json; e = json.load(open("out"))["entries"][0]; exit(not int(e["p99"]["then"]) < int(e["p99"]["now"]))'
result $? 'a hedge shortens the tail' out
finish
