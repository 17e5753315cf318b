#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A trace whose clocks are put right has the delays of the trace without skew, in every output: to
# the last byte where a fact says the skew, and within the error of the offset where it is estimated.
# Calls with unique ids are paired whatever their stamps say. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

messages=4000
[ -z "${RAVEL_LONG:-}" ] || messages=20000
"$ravel" maketrace -w even "$source/examples/multi-tier.conf" --messages $messages 2>err
# In the order of nodes and ties that the skewer leaves.
"$ravel" skewer --skew client=0s even | grep -v '^# skew' >right.trace

# All outputs of a trace: NAME.*
outputs() { # NAME OPTION...
	local name=$1 as
	shift
	"$ravel" nesting "$@" -w "$name.text" --calls "$name.calls" -o "$name.sqlite" "$name.trace" 2>"$name.err"
	for as in json tsv dot; do
		"$ravel" nesting "$@" --format $as -w "$name.$as" "$name.trace" 2>err
	done
	for as in otlp folded chrome tsv wireshark; do
		"$ravel" export "$name.sqlite" --as $as | sed 's/"traceId":"[0-9a-f]*"//g' >"$name.export-$as"
	done
	for as in why variance; do
		"$ravel" $as "$name.sqlite" >"$name.$as" 2>err
	done
	sed -i '/[Cc]locks put right/d; /"clocks": \[/d; /"put_right"/d; s/\]*,*$//' "$name.text" "$name.json"
}

said() { # the number of lines that say it
	grep -c 'clocks put right' skewed.err
}

# --- known skew: the same bytes
for skews in '--skew WS2=+20ms' '--skew WS2=-400ms+50ppm --skew AP1=+30ms-20ppm --skew DB2=7ms'; do
	# shellcheck disable=SC2086 # options
	"$ravel" skewer $skews right.trace >skewed.trace
	for how in '' '--method paper' '--window 5s' '--method paper --window 5s' '--cheat'; do
		# shellcheck disable=SC2086
		for name in right skewed; do outputs $name $how; done
		differ=
		for file in right.*; do
			case $file in *.trace | *.sqlite | *.err) continue ;; esac
			# The order of nodes with equal shares is that of the trace.
			cmp -s <(sort "$file") <(sort "skewed.${file#right.}") || differ="$differ $file"
		done
		[ -z "$differ" ] && [ "$(said)" = 1 ]
		result $? "$skews is known: nesting $how, all outputs the same, said once" "$differ"
	done
done

# --- estimated: the same to some ms
own() { # STORE: the mean own time of each node, us
	"$ravel" query --format tsv "$1" 'SELECT name, CAST(AVG(own) / 1000 AS INTEGER) FROM call JOIN node ON node.id = callee GROUP BY 1' |
		sed 1d
}

# within NAME US: the mean own times of all nodes differ by at most so much
within() {
	join -t "$(printf '\t')" <(own right.sqlite | sort) <(own skewed.sqlite | sort) >owns
	awk -F'\t' -v most="$1" '{ by = $2 - $3; if (by < 0) by = -by; if (by > most) bad = 1; n++ }
		END { exit bad || n != 7 }' owns
}

# An offset is in the middle where the shortest delays before and after the calls of a node are the
# same: 10 and 5 ms at WS, 15 and 5 at AP, but 5 and 2 at AUTH. A database has no calls of its own, so
# of its offset only half of the serving time of 10 ms is known.
for case in '1000 --skew WS2=+20ms' '2000 --skew WS2=+40ms --skew AP1=-30ms' '6000 --skew AUTH=-40ms+20ppm' \
	'5000 --skew DB2=-15ms --skew WS1=+30ms'; do
	most=${case%% *} skews=${case#* }
	# shellcheck disable=SC2086
	"$ravel" skewer $skews right.trace | sed '0,/^# skew.*/s//# clocks: several/; /^# skew/d' >skewed.trace
	for how in '' '--window 10s' '--method paper'; do
		# shellcheck disable=SC2086
		for name in right skewed; do
			"$ravel" nesting $how -o $name.sqlite -w text $name.trace 2>$name.err
		done
		within "$most" && [ "$(said)" = 1 ]
		result $? "$skews is estimated: nesting $how, own times within $most us" owns
	done
	"$ravel" nesting --cheat -o skewed.sqlite -w text skewed.trace 2>err
	"$ravel" nesting --cheat -o right.sqlite -w text right.trace 2>>err
	"$ravel" score right.sqlite skewed.sqlite 2>>err | grep -q '^instances  100.0 % right'
	result $? "$skews: --cheat and score lose no call" err
	[ "$("$ravel" stats skewed.trace | grep '^calls')" = "$("$ravel" stats right.trace | grep '^calls')" ]
	result $? "$skews: stats loses no call"
done

"$ravel" skewer --skew WS2=+1h right.trace | sed 's/^# skew.*/# clocks: several/' >skewed.trace
[ "$("$ravel" stats skewed.trace | grep '^calls')" = "$("$ravel" stats right.trace | grep '^calls')" ]
result $? 'an hour: stats loses no call'

finish
