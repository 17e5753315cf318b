#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel nesting --window by --method joint and oracle: that windows cost no right parents, that a
# system which changes is followed, that where the trace comes from and on how many threads makes
# no difference, and that a report is written as its window closes. tests/scripts/windows.sh has what
# does not depend on the method. RAVEL_LONG=1: at five shapes of traces instead of one, and three windows. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

# The right parents of the calls that have one, in per cent; what is reported is in the file found.
right() # OPTION... TRACE
{
	"$ravel" nesting -o found.sqlite -w found -n 0 --format tsv --no-fold "$@" 2>err &&
		"$ravel" score --format tsv true.sqlite found.sqlite | awk -F'\t' '
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
			$1 == "all" { print 100 * $at["right_parents"] / $at["children"] }'
}

no_worse() # POINTS METHOD TRACE WINDOW...: than without windows, by so much
{
	local points=$1 method=$2 trace=$3 whole found all='' bad=0
	shift 3
	whole=$(right --method "$method" "$trace")
	for window; do
		found=$(right --method "$method" --window "$window" "$trace")
		all="$all, windows of $window $found %"
		awk -v a="${found:-0}" -v b="${whole:-100}" -v points="$points" \
			'BEGIN { exit !(a >= b - points) }' || bad=1
	done
	echo "# $method: whole $whole %$all"
	return $bad
}

# A request is ten seconds to a minute of them, and a window a few dozens of requests at least.
shapes=('2 --repeat 3') windows=(30s) messages=12000
labelled=12000
[ -z "${RAVEL_LONG:-}" ] || shapes=(1 2 8 '2 --four' '2 --repeat 3') windows=(8000h 300s 30s) messages=60000 labelled=90000
for shape in "${shapes[@]}"; do
	# shellcheck disable=SC2086 # options
	"$gen_trace" "$messages" $shape --path | sort -s -k 1,1 >t.trace
	"$ravel" nesting --cheat -o true.sqlite -w /dev/null t.trace 2>err
	no_worse 0.5 joint t.trace "${windows[@]}"
	result $? "parallelism $shape: windows cost no right parents" err
done
no_worse 0.5 oracle t.trace "${windows[@]}"
result $? 'nor do they by --method oracle' err

# Two systems, one after the other: at WS2 a request takes 200 ms more from then on.
for i in 1 2; do
	conf=$source/examples/multi-tier$([ $i = 1 ] || echo -added-delay).conf
	"$ravel" maketrace --seed $i --messages $((messages / 2)) "$conf" 2>err | grep -v '^#' |
		awk -F'\t' -v OFS='\t' -v by=$((i * 1000)) '{
			split($1, t, ".")
			$1 = t[1] + by "." t[2]
			sub(/path=/, "path=" by / 1000 "0000000", $6)
			print
		}'
done >change.trace
"$ravel" nesting --cheat -o true.sqlite -w /dev/null change.trace 2>err
no_worse 0.5 joint change.trace 10s
result $? 'a system that changes is followed' err
awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ late = $1 >= 2000e9; all[late] += $at["count"]; if ($at["count"] > 5) mean[late] += $at["total"] }
		END { exit !(mean[1] / all[1] > mean[0] / all[0] + 50e6) }' found
result $? 'and seen to be slower' err

# What is learned while there is nothing to choose from serves when there is: an hour with one request
# at a time, then a rush.
"$gen_trace" $((messages * 2 / 3)) 1 --path | sort -s -k 1,1 >rush.trace
"$gen_trace" $((messages / 3)) 5 --path | grep -v '^#' | sort -s -k 1,1 | awk -F'\t' -v OFS='\t' '{
	split($1, t, ".")
	$1 = t[1] + 100000 "." t[2]
	$5 = "rush" $5
	sub(/path=/, "path=900000", $6)
	print
}' >>rush.trace
"$ravel" nesting --cheat -o true.sqlite -w /dev/null rush.trace 2>err
no_worse 0.5 joint rush.trace 60s
result $? 'a rush after a calm' err

# The same bytes from a file and from a pipe, on one thread and on several.
"$ravel" nesting -j 1 --window 10s --format json --calls file.calls change.trace >file.json 2>err
"$ravel" nesting -j 3 --window 10s --format json --calls pipe.calls - <change.trace >pipe.json 2>>err
cmp file.json pipe.json && cmp file.calls pipe.calls
result $? 'a pipe, and more threads: the same bytes as a file' err
[ "$(tail -n +2 file.calls | wc -l)" = "$(grep -c CALL_SENT change.trace)" ] &&
	[ "$(cut -f 1-5 file.calls | sort -u | wc -l)" = "$(wc -l <file.calls)" ]
result $? 'each call is in --calls once' err

# Labels that are rare, new ones all the time, and more new services later on than there is room
# for: these are to be learned from less.
"$gen_trace" $labelled 2 --path | sort -s -k 1,1 | awk -F'\t' -v OFS='\t' -v half="$((labelled / 2))" '
	$2 == "CALL_SENT" {
		label = "\tlabel=" (NR % 3 ? "common" : "rare" NR)
		late[$5] = NR > half
	}
	late[$5] {
		to = "DB" 10 + substr($5, 3) % 8
		sub(/^DB2$/, to, $3)
		sub(/^DB2$/, to, $4)
	}
	{ print $0 ($2 == "CALL_SENT" ? label : "") }' >t.trace
"$ravel" nesting --cheat -o true.sqlite -w /dev/null t.trace 2>err
no_worse 1 joint t.trace 100s
result $? 'new labels and services do no harm' err

# Three requests a second; the report of a window is there before the trace is over.
awk 'BEGIN {
	for (i = 0; i < 150; i++) {
		t = 1000000 + i / 3
		printf "%.6f CALL_SENT A B x%d\n%.6f CALL_SENT B C y%d\n", t, i, t + 0.01, i
		printf "%.6f RET_SENT C B y%d\n%.6f RET_SENT B A x%d\n", t + 0.02, i, t + 0.03, i
	}
}' >phase.trace
reports_come phase.trace 5 1000021.8

# Windows shorter than a request, most of them empty.
"$ravel" nesting --calls whole.calls -w /dev/null phase.trace 2>err
"$ravel" nesting --calls calls --window 5ms -w /dev/null phase.trace 2>err
cmp calls whole.calls
result $? 'windows shorter than a request: the calls of the whole trace' err

"$ravel" nesting --method oracle --window 10s phase.trace >out 2>err
[ $? = 3 ] && grep -q 'no call has the attribute path=' err
result $? 'oracle: a trace without true positions is refused' err
for options in '--cheat' '--format svg' '--explain x1'; do
	# shellcheck disable=SC2086 # options
	"$ravel" nesting --window 10s $options phase.trace >out 2>err
	[ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q "window" err
	result $? "--window $options: refused" err
done
finish
