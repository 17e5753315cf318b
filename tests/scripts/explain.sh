#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What ravel nesting --explain says of evidence: who did not hold a call's connection is named as
# left out, what weighs has a column, and explaining changes no parent, whatever the threads. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"

# Requests that overlap, each of which has a connection of its own, that it opens, or one of a pool
# while it lasts; three calls each.
trace() # opened | pooled
{
	awk -v kind="$1" 'function at(time, what, from, to, id, fields) {
			printf "%.6f\t%s\t%s\t%s\t%s\t%s\n", 1000 + time, what, from, to, id, fields
		}
		BEGIN {
			srand(3)
			print "# ravel trace 1\n# clocks: one\n# ids: connection.sequence"
			for (i = 0; i < 300; i++) {
				start = 0.008 * i + 0.003 * rand()
				for (k = 0; free[k] > start; k++)
					;
				name = kind == "opened" ? "o" i : "p" k
				time = start + 0.002 + 0.004 * rand()
				for (c = 0; c < 3; c++) {
					at(time, "CALL_SENT", "web", "db", name "." ++n[name],
						kind == "opened" && !c ? "syn=100000" : "bytes=80")
					time += 0.001 + 0.002 * rand()
					at(time, "RET_SENT", "db", "web", name "." n[name], "bytes=80")
					time += 0.003 + 0.006 * rand()
				}
				at(start, "CALL_SENT", "client", "web", "c" i ".1", "bytes=80")
				at(time, "RET_SENT", "web", "client", "c" i ".1", "bytes=80")
				free[k] = time
			}
		}' | LC_ALL=C sort -s -k 1,1 >"$dir/trace"
}

# The cells of a column of the table, one a line.
column() # HEADING
{
	awk -v heading=" $1 " '/^ .* candidate$/ { end = index($0, heading) + length(heading) - 2; next }
		/^$/ && end { exit }
		end { cell = substr($0, 1, end); sub(/.* /, "", cell); print cell }' "$dir/explained"
}

trace opened
"$ravel" nesting --calls "$dir/calls" -w /dev/null "$dir/trace"
"$ravel" nesting --explain o150.2 --calls "$dir/calls2" -w "$dir/explained" "$dir/trace"
column connection | grep -qx out && [ "$(column connection | head -n 1)" = 0.0 ] &&
	tr '\n' ' ' <"$dir/explained" | grep -q 'out: the candidate was left out'
result $? 'who does not hold the connection is left out'
cmp -s "$dir/calls" "$dir/calls2"
result $? 'the same parents as without an explanation'

trace pooled
"$ravel" nesting -j 1 --calls "$dir/calls" -w /dev/null "$dir/trace"
"$ravel" nesting -j 1 --explain 'web>db' --calls "$dir/calls2" -w "$dir/explained" "$dir/trace" 2>/dev/null
cmp -s "$dir/calls" "$dir/calls2"
result $? 'likewise of a pool'

# In the long form a node is decided in parts.
messages=20000
[ -z "${RAVEL_LONG:-}" ] || messages=400000
"$gen_trace" $messages 5 >"$dir/trace"
"$ravel" nesting -j 1 --explain 'AUTH>DB1' -w "$dir/explained" "$dir/trace" 2>/dev/null
"$ravel" nesting -j 4 --explain 'AUTH>DB1' -w "$dir/explained4" "$dir/trace" 2>/dev/null
grep -q delays "$dir/explained" && cmp -s "$dir/explained" "$dir/explained4"
result $? 'the same whatever the threads'
finish
