#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel maketrace as a user meets it: every example, what the other verbs find in its
# traces, its options, and what it does when something is wrong. TAP.
# shellcheck disable=SC2016 # the dollars are awk's
set -u
source=${srcdir:-$(dirname "$0")/../..}
ravel=${RAVEL:-$PWD/ravel}
case $source in /*) ;; *) source=$PWD/$source ;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-maketrace.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
n=0
bad=0

# check NAME COMMAND...: the command succeeds
check() {
	local name=$1
	shift
	n=$((n + 1))
	if "$@" >check.out 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' check.out
		bad=1
	fi
}

# expect NAME STATUS TEXT COMMAND...: stderr is one line that holds TEXT
expect() {
	local name=$1 status=$2 text=$3 got
	shift 3
	"$@" >out 2>err </dev/null
	got=$?
	check "$name" test "$got" = "$status" -a "$(grep -cF -- "$text" err)" = 1 -a "$(wc -l <err)" = 1
}

messages() { # of a trace
	grep -v '^#' "$1"
}

# --- the examples ---
for config in "$source"/examples/*.conf; do
	name=$(basename "$config" .conf)
	expect "$name is made" 0 ' messages of ' "$ravel" maketrace -w "$name.trace" "$config"
	check "$name: the times are in order" sort -C -s -n -k1,1 <(messages "$name.trace")
	check "$name: stats reads as many messages" test "$(messages "$name.trace" | wc -l)" = \
		"$("$ravel" stats "$name.trace" | sed -n 's/^messages *\([0-9,]*\).*/\1/p' | tr -d ,)"
done

# patterns TRACE: what nesting finds, count and signature, in the order of counts
patterns() {
	"$ravel" nesting -n 0 --sort count --format tsv "$1" 2>/dev/null >paths.tsv
	head -1 paths.tsv | tr '\t' '\n' | grep -nx -e count -e signature | cut -d: -f1 | paste -sd, >columns
	tail -n +2 paths.tsv | cut -f"$(cat columns)"
}

# One request at a time leaves nothing to guess.
one_at_a_time() {
	sed 's/^parallel=.*/parallel=1/' "$source/examples/$1.conf" >one.conf
	"$ravel" maketrace --messages "$2" -w one.trace one.conf 2>/dev/null
}
one_at_a_time children-d-cc 10000
patterns one.trace >found
check 'nesting finds the patterns of children-d-cc' diff <(cut -f2 found | sort -u) - <<-'END'
	A>B(C,C)
	A>B(D)
END
requests=$(sed -n 's/^# requests: //p' one.trace)
check 'and every request' test "$(awk '{ n += $1 } END { print n }' found)" = "$requests"
one_at_a_time multi-tier-added-delay 20000
"$ravel" nesting -n 0 --format tsv one.trace 2>/dev/null >paths.tsv
check 'nesting sees the 200 ms that WS2 adds' awk -F '\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["signature"] ~ /^client>WS1/ { n1 += $at["count"]; t1 += $at["count"] * $at["mean"] }
	$at["signature"] ~ /^client>WS2/ { n2 += $at["count"]; t2 += $at["count"] * $at["mean"] }
	END {
		added = (t2 / n2 - t1 / n1) / 1e6
		print added " ms"
		exit !(added > 195 && added < 205)
	}' paths.tsv
check 'publish-subscribe has one-way messages alone' test -z \
	"$(messages publish-subscribe.trace | grep -v 'MSG_SENT')"
check 'interleaving: the second request is answered first, each time' awk -F '\t' '
	$2 == "RET_SENT" && $3 == "B" && $4 != "A" (2 - n++ % 2) { wrong++ }
	END { exit wrong || n != 2000 }' interleaving.trace

# --- options ---
small=$source/examples/children-d-cc.conf
"$ravel" maketrace --messages 1000 "$small" >a 2>/dev/null
"$ravel" maketrace --messages 1000 - <"$small" >b 2>/dev/null
check 'standard input and output; the same seed, the same bytes' cmp a b
"$ravel" maketrace --messages 1000 --seed 2 "$small" >b 2>/dev/null
check 'another seed, another trace' test "$(messages a | head -1)" != "$(messages b | head -1)"
check 'the seed stands in the trace' grep -qx '# seed: 2' b
sed -n 's/^# configuration: //p' a >again.conf
"$ravel" maketrace --messages 1000 again.conf >b 2>/dev/null
check 'the configuration in the trace makes the trace again' cmp a b
"$ravel" maketrace --messages 1000 --stamps both "$small" >b 2>/dev/null
check 'both stamps' test "$(messages b | grep -c _RECV)" = "$(messages b | grep -c _SENT)"
"$ravel" maketrace --duration 1500ms "$small" >b 2>/dev/null
check 'no call of a root after the duration' awk -F '\t' '
	$2 == "CALL_SENT" && $3 == "A" && $1 >= 1.5 { exit 1 }' b
printf '[sniffer]\nrate=100/s\nqueue=8\n' | cat "$small" - >sniffed.conf
expect 'the sniffer loses messages, and says how many' 0 'more that the sniffer lost' \
	"$ravel" maketrace --messages 10000 -w sniffed.trace sniffed.conf
lost=$(sed -n 's/^# messages lost by the sniffer: //p' sniffed.trace)
check 'and so does the trace' test "$lost" -gt 100 -a \
	"$(($(messages sniffed.trace | wc -l) + lost))" -ge 10000

# --- what is wrong ---
expect 'no configuration' 2 '0 configurations named' "$ravel" maketrace
expect 'two of them' 2 '2 configurations named' "$ravel" maketrace a b
expect 'an option that is none' 2 '--sed' "$ravel" maketrace --sed 1 "$small"
expect 'a seed that is no number' 2 '--seed x: expected an integer' \
	"$ravel" maketrace --seed x "$small"
expect 'stamps that are none' 2 'expected --stamps sent or both' "$ravel" maketrace --stamps recv "$small"
expect 'a duration without its unit' 2 '"5" has no unit: did you mean 5s or 5ms?' "$ravel" maketrace --duration 5 "$small"
expect 'no end' 2 'nothing says when to end' \
	"$ravel" maketrace <(printf '[tracelet a]\npath=a > b\n')
expect 'a file that is not there' 3 'absent.conf' "$ravel" maketrace absent.conf
printf '[maketrace]\nmessages=10\n[tracelet a]\npath=a > b( 5 ms )\n' >wrong.conf
expect 'an error in a path' 3 'wrong.conf:4:13: found "5", expected a time with its unit' \
	"$ravel" maketrace wrong.conf
expect 'a full disk' 4 'No space left' "$ravel" maketrace -w /dev/full "$small"
mkdir empty
"$ravel" maketrace --messages 1000000000000 -w empty/big.trace "$small" 2>/dev/null &
maker=$!
for _ in $(seq 100); do
	[ -n "$(find empty -size +100k)" ] && break
	sleep 0.1
done
check 'the result is not there before it is whole' test ! -e empty/big.trace
kill -INT $maker
wait $maker
check 'interrupted: status 130' test $? = 130
check 'and nothing is left' rmdir empty
echo "1..$n"
exit $bad
