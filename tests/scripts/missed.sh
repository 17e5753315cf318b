#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Calls that get no answer, or a late one, are in the path of their request, marked, and blamed for the
# time until their caller went on. RAVEL_LONG=1: all variations. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99
printf '10.0.0.1 client\n10.0.1.1 db\n10.0.1.2 db2\n' >nodes

variation() { # SHARE KIND PROTOCOL OPTION...: at least this share of requests must be right
	python3 "$source/tests/scripts/missed.py" make t.pcap truth "${@:2}" &&
		"$ravel" capture -r t.pcap --nodes nodes -w t.trace 2>err &&
		"$ravel" nesting -o t.sqlite -w out t.trace 2>>err &&
		python3 "$source/tests/scripts/missed.py" check t.sqlite truth "$1" >said && [ ! -s said ]
	result $? "${*:2}" said
}

variation 1 reset http
"$ravel" why t.sqlite >said && grep -q '^  db! has most of it' said
result $? 'why has the mark' said
"$ravel" variance t.sqlite >said && grep -q '^  db! ' said
result $? 'variance has the mark' said
"$ravel" export --as tsv t.sqlite | awk -F '\t' '$17 == "no answer" { n[$6]++ } END { exit !(n["db"] == 20 && length(n) == 1) }'
result $? 'the export for tables has the marks'
variation 1 closed-error redis depth=1
variation 1 silent postgres wait=40
variation 1 hedge http wait=10
variation 0.9 late http wait=20 at_a_time=4
if [ "${RAVEL_LONG:-}" ]; then
	while read -r share variation; do
		for kind in reset closed silent reset-error closed-error silent-error hedge late; do
			# shellcheck disable=SC2086 # words
			variation "$share" $kind $variation
		done
	done <<-'VARIATIONS'
		1 http seed=2 wait=250 rate=5
		1 redis seed=3 wait=50 requests=400
		1 postgres seed=4 rate=20 requests=400
		1 http seed=5 depth=2
		1 redis seed=6 depth=3 wait=30
		0.95 postgres seed=7 at_a_time=2
		0.95 http seed=8 at_a_time=2 depth=1 wait=60
		0.9 redis seed=9 at_a_time=4 requests=400
		0.9 postgres seed=10 at_a_time=4 depth=1 rate=20 requests=600
		0.8 http seed=11 at_a_time=8 rate=20 requests=600
	VARIATIONS
fi
finish
