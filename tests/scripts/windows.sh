#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel nesting --window: that where a window ends changes no path, that each path is in the
# report of the window that it began in, that a report is written as soon as it is complete,
# and that a call without a return holds nothing up. RAVEL_LONG=1: of more shapes, and longer. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

nesting() { # OPTION... TRACE
	"$ravel" nesting --method paper -n 0 --format tsv --calls calls "$@" >out 2>err
}

# A window that holds the whole trace changes nothing.
shapes=('20 --clients 40' '5 --four --skew 30') messages=5000
[ -z "${RAVEL_LONG:-}" ] || shapes+=('1.6' '5 --repeat 3' '3 --four') messages=20000
for shape in "${shapes[@]}"; do
	for options in '' '--skew-window 5ms --smooth 1.5'; do
		# shellcheck disable=SC2086 # options
		{
			"$gen_trace" 20000 $shape | sort -s -k 1,1 >t.trace
			nesting $options t.trace
			mv calls whole.calls
			cut -f 1-18 out >whole # windows say nothing of rare patterns
			nesting $options --window 8000h t.trace
		}
		cut -f 2- out | cmp -s - whole && cmp -s calls whole.calls
		result $? "one window, $shape $options: the paths of the whole trace" err
	done
done

# Where a window ends makes no difference but for what was learned by then: where there is
# nothing to learn, none. Many of these paths lie in two windows.
for shape in 1 '1 --four --skew 30'; do
	# shellcheck disable=SC2086 # options
	"$gen_trace" $messages $shape | sort -s -k 1,1 >t.trace
	nesting t.trace
	mv calls whole.calls
	for window in 60s 1s 100ms 7ms; do
		nesting --window $window t.trace
		cmp -s calls whole.calls
		result $? "parallelism $shape, windows of $window: the calls of the whole trace" err
	done
done

# Every path is in one report, that of the window that its root began in.
"$gen_trace" 20000 5 >t.trace
nesting --window 10s t.trace
awk -F'\t' '
	NR == FNR { if (FNR > 1) found[$1 / 1e9] += $4; next }
	FNR > 1 && $6 == "-" && $10 != "-" { expected[int($1 / 10) * 10]++ }
	END {
		for (w in expected) {
			bad += found[w] != expected[w]
			windows++
		}
		for (w in found)
			bad += !(w in expected)
		exit bad || windows < 3
	}' out calls
result $? 'each path is in the report of the window that it began in' err
[ "$(grep -c '^window' out)" = 1 ] && [ "$(head -1 out | cut -f 1-2)" = "window	rank" ]
result $? 'tsv: one line of names, and a column for the window' out

nesting t.trace
mv calls whole.calls
nesting --window 10s t.trace
[ "$(tail -n +2 calls | wc -l)" = "$(tail -n +2 whole.calls | wc -l)" ] &&
	[ "$(cut -f 1-5 calls | sort)" = "$(cut -f 1-5 whole.calls | sort)" ]
result $? 'each call is in --calls once' err

# Three calls a second, and in the 40th to the 50th others that are rare in the whole.
awk 'BEGIN {
	for (i = 0; i < 300; i++) {
		t = 1000000 + i / 3
		c = i >= 120 && i < 150 ? "D" : "C"
		printf "%.6f CALL_SENT A B x%d\n%.6f CALL_SENT B %s y%d\n", t, i, t + 0.01, c, i
		printf "%.6f RET_SENT %s B y%d\n%.6f RET_SENT B A x%d\n", t + 0.02, c, i, t + 0.03, i
	}
}' >phase.trace
"$ravel" nesting --method paper --window 10s -n 1 --format tsv phase.trace | cut -f 1,4,18 |
	tr '\t' ' ' >out
cat >expected <<'EOF'
window count signature
EOF
for i in 0 1 2 3 4 5 6 7 8 9; do
	echo "10000${i}0000000000 30 A>B($([ $i = 4 ] && echo D || echo C))"
done >>expected
cmp -s expected out
result $? 'what is frequent for ten seconds is first in their report' out

# The report of a window is there before the trace is over.
reports_come phase.trace 10 1000021.5 --method paper

# A call that never returns, in the first window, and one that lasts for 7 s.
{
	echo '1000003.5 CALL_SENT A B lost'
	echo '1000008.5 CALL_SENT A B long'
	echo '1000015.5 RET_SENT B A long'
	cat phase.trace
} | sort -s -n -k 1,1 >lost.trace
"$ravel" nesting --method paper --window 10s --format tsv --calls calls lost.trace >out 2>err
grep -q 'nesting: 1 of 602 calls are left out: they have no return' err &&
	[ "$(awk -F'\t' '$1 == "1000000000000000" { n += $4 } END { print n }' out)" = 31 ] &&
	[ "$(grep -c 'long' calls)" = 1 ]
result $? 'a call that never returns is left out, a long one is in the window that it began in' err
"$ravel" nesting --method paper --window 10s --max-call 5s --format tsv lost.trace >out 2>err
grep -q '2 of 602 calls are left out' err && grep -q '1 returns are left out' err
result $? '--max-call leaves out the long one as well' err

# The other formats, and the database.
[ "$("$ravel" nesting --method paper --window 10s --format json phase.trace |
	grep -c '^ *"first": "10000[0-9]0000000000"')" = 10 ]
result $? 'json: a document for each window'
for trace in phase lost; do
	"$ravel" nesting --method paper -o whole.sqlite --max-call 10s $trace.trace >/dev/null 2>&1
	"$ravel" nesting --method paper --window 10s -o windows.sqlite $trace.trace >/dev/null 2>&1
	for table in 'hash, count, total, p99, signature FROM pattern ORDER BY hash' \
		'messages, calls, unmatched_calls, unmatched_returns, first, last FROM run' \
		'id, path, parent, place, caller, callee, call_sent, ret_sent, own FROM call ORDER BY id' 'name, sha256, facts FROM capture'; do
		diff <("$ravel" query whole.sqlite "SELECT $table") \
			<("$ravel" query windows.sqlite "SELECT $table")
	done >out
	[ ! -s out ]
	result $? "-o: the database has the paths of all windows ($trace)" out
done

# What is known of a call goes with it when calls before it are forgotten, the first after 32,768:
# links, operations, ids, connections, bytes, what the network did. Copies of a trace, 2 s apart,
# with ids and links of their own, and with a call that takes 9 s, so that some is always open.
awk -F'\t' -v OFS='\t' -v copies=800 '
	/^#/ { print; next }
	{ line[n++] = $0; split($1, t, "."); start = n == 1 ? t[1] : start }
	function add(after, tenth, operation, from, to, id, attributes) {
		line[n++] = start + after "." tenth "00000000" OFS operation OFS from OFS to OFS id OFS attributes
	}
	END {
		add(0, 5, "CALL_SENT", "sender", "box", "l.0", "label=put link=l")
		add(0, 6, "RET_SENT", "box", "sender", "l.0", "")
		add(1, 4, "CALL_SENT", "box", "reader", "m.0", "label=take link=l")
		add(10, 5, "RET_SENT", "reader", "box", "m.0", "")
		for (c = 0; c < copies; c++)
			for (i = 0; i < n; i++) {
				split(line[i], f)
				gsub(/link=/, "&" c "-", f[6])
				known = f[2] ~ /^RET/ ? "bytes=" c + 1 " stall=" 1000 + i : \
					f[2] ~ /^CALL/ ? "bytes=" i + 1 " syn=" c + 1 : ""
				split(f[1], t, ".")
				print sprintf("%d.%s", t[1] + 2 * c, t[2]), f[2], f[3], f[4], c "-" f[5], f[6] " " known
			}
	}' "$source/tests/data/queues.trace" | sort -s -k 1,1 >copies.trace
known='SELECT call.call_sent, call.caller, call.callee, parent.call_sent, parent.caller, parent.callee,
	call.call_recv, call.ret_sent, call.ret_recv, call.last, call.own, call.network, call.probability,
	call.trace_id, label.name, call.continues, call.queued, call.call_bytes, call.ret_bytes,
	call.connect, call.connecting
	FROM call LEFT JOIN call AS parent ON parent.id = call.parent LEFT JOIN label ON label.id = call.label
	ORDER BY call.call_sent, call.caller, call.callee'
for method in paper joint; do
	for how in '' '--window=10s'; do
		# shellcheck disable=SC2086 # none, or an option
		"$ravel" nesting --method $method $how -n 1 -w out -o "known$how.sqlite" copies.trace 2>err
		"$ravel" query --format tsv "known$how.sqlite" "$known" >"known$how" 2>>err
	done
	[ "$(wc -l <known)" -gt 42400 ] && cmp -s known known--window=10s
	result $? "--method $method: all that is known of 42,400 calls, by windows as at once" err
done

"$ravel" nesting --window 10s --format svg phase.trace >out 2>err
[ $? = 2 ] && grep -q -- '--window with --format svg' err
result $? 'svg: refused' err
for window in 0s -1s 10 x; do
	"$ravel" nesting --method paper "--window=$window" phase.trace >out 2>err
	[ $? = 2 ] && [ "$(wc -l <err)" = 1 ]
	result $? "--window $window: refused" err
done
: >empty.trace
"$ravel" nesting --method paper --window 10s empty.trace >out 2>err
[ $? = 1 ] && [ ! -s out ] && grep -q 'no messages' err
result $? 'an empty trace: no report' err

# Ctrl-C, or the end of the terminal, ends whoever writes the trace, and then all that came is
# reported; the second Ctrl-C ends both.
for signals in INT HUP 'INT INT'; do
	env --default-signal=INT "$ravel" nesting --method paper --window 10s --format tsv - <pipe >out 2>err &
	exec 3>pipe
	head -n 2000 phase.trace >&3
	for ((turn = 0; turn < 100; turn++)); do # until it has reported, and so reads
		[ ! -s out ] || break
		sleep 0.1
	done
	for signal in $signals; do
		kill -"$signal" $!
		sleep 0.3
	done
	exec 3>&-
	wait $!
	status+=($?)
	[ "$signals" = 'INT INT' ] || mv out "ended.$signals"
done
head -n 2000 phase.trace | "$ravel" nesting --method paper --window 10s --format tsv - >out 2>err
[ "${status[*]}" = '0 0 130' ] && cmp -s out ended.INT && cmp -s out ended.HUP
result $? 'an interrupt leaves the end of the trace to its writer' err

# Late messages of a pipe are taken as they come.
awk 'NR % 50 == 0 { held = $0; next } { print } held { print held; held = "" }' phase.trace >late.trace
"$ravel" nesting --method paper --window 10s --format tsv late.trace >out 2>err
[ "$(awk -F'\t' 'NR > 1 { n += $4 } END { print n }' out)" -ge 290 ] && grep -q 'late' err
result $? 'late messages do no harm' err
finish
