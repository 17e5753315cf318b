#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What ravel costs, as ratios against programs that do little else than read the same
# file: CPU time (user and system) of whole processes, the two in turn, and the median
# of five such pairs; and whether memory grows with the length of the input.
#
#     make bench                       in the build directory
#     make bench BENCHFLAGS=--report   the figures alone
#
# A line each: what, figure, bar, met or missed; exit status 1 if any is missed. Needs
# about 2 GB in $TMPDIR and five minutes.
set -eu
shopt -s inherit_errexit
export LC_ALL=C
source=${srcdir:-$(dirname "$0")/../..}
pairs=5
missed=0
report=''
case ${1-} in
--report) report=yes ;;
'') ;;
*)
	echo "usage: bench.sh [--report]" >&2
	exit 2
	;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

usage() { # COMMAND...: "CPU-seconds KiB"
	tests/bench/usage "$@" 2>"$work/err" || {
		echo "bench: failed: $*" >&2
		cat "$work/err" >&2
		exit 1
	}
}

median() { # of a number for each pair on standard input; nothing where some failed
	sort -g | awk -v n="$pairs" '{ a[NR] = $1 } END { if (NR == n) print (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'
}

# in_turn FORMULA COMMAND -- COMMAND: the median of FORMULA, in awk, of a and b, the CPU
# seconds of the first and of the second.
in_turn() {
	local formula=$1 first=() a b turn
	shift
	while [ "$1" != -- ]; do
		first+=("$1")
		shift
	done
	shift
	for ((turn = 0; turn < pairs; turn++)); do
		a=$(usage "${first[@]}")
		b=$(usage "$@")
		awk -v a="${a% *}" -v b="${b% *}" "BEGIN { print $formula }"
	done | median
}

verdict() { # WHAT FIGURE BAR UNIT: the figure may be at most the bar
	local met
	[ "$2" ] || exit 1 # what failed has been said
	met=$(awk -v a="$2" -v b="$3" 'BEGIN { print a <= b ? "met" : "missed" }')
	[ "$met" = met ] || missed=1
	[ -z "$report" ] || met=''
	printf '%-64s %8.3g  bar %4g %-5s  %s\n' "$1" "$2" "$3" "$4" "$met"
}

growth() { # SHORT LONG COMMAND...: memory for the long file over that for the short
	local short=$1 long=$2
	shift 2
	awk -v short="$(usage "$@" "$short" | cut -d' ' -f2)" \
		-v long="$(usage "$@" "$long" | cut -d' ' -f2)" 'BEGIN { print long/short }'
}

messages=2000000
calls=$((messages / 2))
for parallelism in 1.6 5 45; do
	tests/gen-trace $messages $parallelism >"$work/$parallelism.trace"
done
tests/gen-trace $((messages / 10)) 1.6 >"$work/short.trace"
zstd -q -dc "$source/demo/shop.pcap.zst" >"$work/shop.pcap"
for times in 10 100; do
	tests/bench/repeat-packets $times <"$work/shop.pcap" >"$work/$times.pcap"
done
capture=(./ravel capture -r)
nesting=(./ravel nesting --method paper)

trace=$work/1.6.trace
verdict 'ravel stats / md5sum, CPU time' \
	"$(in_turn a/b ./ravel stats "$trace" -- md5sum "$trace")" 0.6 times
while read -r parallelism bar; do
	verdict "ravel nesting, parallelism $parallelism / md5sum, CPU time" \
		"$(in_turn a/b "${nesting[@]}" "$work/$parallelism.trace" -- md5sum "$work/$parallelism.trace")" "$bar" times
	verdict "ravel nesting, parallelism $parallelism, memory a message" \
		"$(usage "${nesting[@]}" "$work/$parallelism.trace" |
			awk -v n=$messages '{ print $2 * 1024 / n }')" 24 bytes
done <<'EOF'
1.6 1.0
5 1.8
45 3.5
EOF
# Crowded nodes take a minute: once is enough.
while read -r parallelism bar; do
	used=$(usage ./ravel nesting -j 1 --method joint "$work/$parallelism.trace")
	verdict "ravel nesting --method joint, parallelism $parallelism, CPU time a call" \
		"$(awk -v used="${used% *}" -v n=$calls 'BEGIN { print used * 1e6 / n }')" "$bar" us
	verdict "ravel nesting --method joint, parallelism $parallelism, memory a message" \
		"$(awk -v used="${used#* }" -v n=$messages 'BEGIN { print used * 1024 / n }')" 200 bytes
done <<'EOF'
1.6 3
5 9
45 38
EOF
# siblings WHAT TRACE BAR: where a parent makes many calls to one node; the median of three.
siblings() {
	local pairs=3 calls turn used
	./ravel nesting -j 1 --method joint --calls "$work/calls" "$2" >"$work/out" 2>"$work/err"
	calls=$(($(wc -l <"$work/calls") - 1))
	verdict "ravel nesting --method joint, $1, CPU time a call" \
		"$(for ((turn = 0; turn < pairs; turn++)); do
			used=$(usage ./ravel nesting -j 1 --method joint "$2")
			awk -v used="${used% *}" -v n="$calls" 'BEGIN { print used * 1e6 / n }'
		done | median)" "$3" us
}
./ravel maketrace -w "$work/siblings" "$source/tests/bench/siblings.conf" 2>"$work/err"
siblings '25 siblings, 8 parents at a time' "$work/siblings" 60
while read -r set bar; do
	captured=$source/../shared/captures/$set
	if [ ! -f "$captured/b.pcap.zst" ]; then
		echo "# no capture $set beside the repository: not measured"
		continue
	fi
	zstd -q -dc "$captured/b.pcap.zst" >"$work/set.pcap"
	./ravel capture -r "$work/set.pcap" --nodes "$captured/nodes.txt" --labels -w "$work/set.trace" 2>"$work/err"
	siblings "capture $set" "$work/set.trace" "$bar"
done <<'EOF'
wild/w3 40
services/j24 80
services/n24 150
EOF
tests/gen-trace $((messages * 10)) 1.6 >"$work/long.trace"
verdict 'ravel nesting, CPU time a message, 20 million / 2 million' \
	"$(in_turn a/b/10 "${nesting[@]}" "$work/long.trace" -- "${nesting[@]}" "$trace")" 1.2 times
windows=("${nesting[@]}" --window 60s)
verdict 'ravel nesting --window 60s, memory, 20 million messages / 200 thousand' \
	"$(growth "$work/short.trace" "$work/long.trace" "${windows[@]}")" 1.1 times
verdict 'ravel nesting --window 60s / without, CPU time' \
	"$(in_turn a/b "${windows[@]}" "$trace" -- "${nesting[@]}" "$trace")" 2 times
joint=(./ravel nesting -j 1 --method joint)
verdict 'ravel nesting --method joint --window 60s, memory, 2 million messages / 200 thousand' \
	"$(growth "$work/short.trace" "$trace" "${joint[@]}" --window 60s)" 1.1 times
verdict 'ravel nesting --method joint --window 60s / without, CPU time' \
	"$(in_turn a/b "${joint[@]}" --window 60s "$trace" -- "${joint[@]}" "$trace")" 1.3 times
rm "$work/long.trace"
verdict 'ravel nesting -o, more than without, CPU time a call' \
	"$(in_turn "(a-b)*1e6/$calls" "${nesting[@]}" -o "$work/store.db" "$trace" -- \
		"${nesting[@]}" "$trace")" 3 us
verdict 'ravel nesting -o, size of the store a call' \
	"$(awk -v size="$(stat -c %s "$work/store.db")" "BEGIN { print size/$calls }")" 150 bytes
"${nesting[@]}" -o "$work/short.db" "$work/short.trace" >"$work/out"
if command -v sqlite3 >/dev/null; then
	for as in tsv otlp chrome; do
		verdict "ravel export --as $as / sqlite3 'SELECT * FROM call', CPU time" \
			"$(in_turn a/b ./ravel export --as $as "$work/store.db" -- sqlite3 "$work/store.db" \
				'SELECT * FROM call')" 1.5 times
	done
	verdict "ravel query, p50, p90, p99 / sqlite3 'SELECT * FROM path'" \
		"$(in_turn a/b ./ravel query "$work/store.db" 'SELECT p50(latency), p90(latency), p99(latency) FROM path' -- \
			sqlite3 "$work/store.db" 'SELECT * FROM path')" 1.5 times
else
	echo '# sqlite3 is not installed: nothing compared with it'
fi
verdict 'ravel export, memory, 200 thousand requests / 20 thousand' \
	"$(growth "$work/short.db" "$work/store.db" ./ravel export --as otlp)" 1.1 times
verdict 'ravel capture -r / a loop of pcap_next_ex(), CPU time' \
	"$(in_turn a/b "${capture[@]}" "$work/100.pcap" -- tests/bench/read-packets "$work/100.pcap")" 5 times
verdict 'ravel capture -r, memory, 2.2 million packets / 220 thousand' \
	"$(growth "$work/10.pcap" "$work/100.pcap" "${capture[@]}")" 1.1 times
rm "$work"/*.pcap

# Two million packets of mixed traffic, in which every call is found. tshark takes minutes
# for them: it gets a twentieth, and its time is taken twenty times.
mixed=2000000
part=20
tests/bench/mixed-packets $mixed >"$work/mixed.pcap" 2>"$work/calls"
calls=$(cat "$work/calls")
"${capture[@]}" "$work/mixed.pcap" -w /dev/null 2>&1 | grep -q ": $calls calls, $calls returns, 0 one-way" || {
	echo "bench: ravel capture did not find the $calls calls of mixed-packets" >&2
	exit 1
}
verdict 'ravel capture -r, mixed traffic / a loop of pcap_next_ex(), CPU time' \
	"$(in_turn a/b "${capture[@]}" "$work/mixed.pcap" -- tests/bench/read-packets "$work/mixed.pcap")" 5 times
if command -v tshark >/dev/null; then
	tests/bench/mixed-packets $((mixed / part)) >"$work/part.pcap" 2>"$work/err"
	fields=()
	for field in frame.time_epoch ip.src ip.dst tcp.stream http.request.method http.request.uri \
		http.response.code http2.streamid http2.headers.path http2.headers.status pgsql.type \
		pgsql.query resp.array.length resp.string; do
		fields+=(-e "$field")
	done
	verdict 'ravel capture -r, mixed traffic / tshark -T fields, CPU time' \
		"$(in_turn "a/(b*$part)" "${capture[@]}" "$work/mixed.pcap" -- \
			tshark -n -r "$work/part.pcap" -T fields "${fields[@]}")" 0.04 times
else
	echo '# tshark is not installed: nothing compared with it'
fi
peak() { # PACKETS: memory, MB, for so many that are never on disk
	usage "${capture[@]}" - < <(tests/bench/mixed-packets "$1" 2>"$work/calls") | awk '{ print $2/1024 }'
}
memory=$(peak $mixed)
verdict 'ravel capture -r, memory, 2 million packets of mixed traffic' "$memory" 100 MB
verdict 'ravel capture -r, memory, 4 million packets / 2 million' \
	"$(awk -v long="$(peak $((2 * mixed)))" -v short="$memory" 'BEGIN { print long/short }')" 1.1 times
rm "$work"/*.pcap

make=(./ravel maketrace -w "$work/made" "$source/examples/multi-tier.conf" --messages)
verdict 'ravel maketrace / md5sum of what it makes, CPU time' \
	"$(in_turn a/b "${make[@]}" 5000000 -- md5sum "$work/made")" 3 times
verdict 'ravel stats, memory, 2 million messages / 200 thousand' \
	"$(growth "$work/short.trace" "$trace" ./ravel stats)" 1.1 times
verdict 'ravel maketrace, memory, 5 million messages / 500 thousand' \
	"$(growth 500000 5000000 "${make[@]}")" 1.1 times

# --- convolution
tests/bench/bench-correlation >"$work/correlation"
verdict 'correlation by pairs, a pair of occupied quanta' \
	"$(awk -F'\t' 'NR > 1 && $5 > 5e6 { ns = $6 / $5; if (ns > most) most = ns } END { print most }' \
		"$work/correlation")" 3 ns
verdict 'correlation, auto / the better of pairs and fft, the worst of 45' \
	"$(awk -F'\t' 'NR > 1 { best = $6 < $7 ? $6 : $7; if (best > 5e4 && $8 / best > most) most = $8 / best }
		END { print most }' "$work/correlation")" 1.5 times
verdict 'correlation, auto / whole transforms, 200 thousand messages' \
	"$(tests/bench/bench-correlation whole)" 0.02 times
convolution=(./ravel convolution)
./ravel maketrace -w "$work/tiers" "$source/examples/multi-tier.conf" --messages $messages 2>"$work/err"
./ravel maketrace -w "$work/short-tiers" "$source/examples/multi-tier.conf" --messages $((messages / 10)) 2>"$work/err"
verdict 'ravel convolution / ravel stats, 2 million messages, CPU time' \
	"$(in_turn a/b "${convolution[@]}" "$work/tiers" -- ./ravel stats "$work/tiers")" 12 times
verdict 'ravel convolution, quantum of 1 us / of 10 ms, CPU time' \
	"$(in_turn a/b "${convolution[@]}" --max-delay 500ms --quantum 1us "$work/short-tiers" -- \
		"${convolution[@]}" --max-delay 500ms --quantum 10ms "$work/short-tiers")" 6 times
# A duration of n seconds is 1e9 quanta of n nanoseconds.
seconds=$(awk '!/^#/ { if (!first) first = $1; last = $1 } END { printf "%d", last - first }' "$work/short-tiers")
verdict 'ravel convolution, memory, a trace of 1e9 quanta' \
	"$(usage "${convolution[@]}" --quantum "${seconds}ns" --max-delay 200ms "$work/short-tiers" |
		awk '{ print $2 / 1024 }')" 200 MB
python3 "$source/tests/experiments/mail_configuration.py" 1 300 >"$work/mail.conf"
./ravel maketrace -w "$work/mail" "$work/mail.conf" 2>"$work/err"
verdict 'ravel convolution, 77 thousand mails over 300 relays in 5e6 s, CPU' \
	"$(usage "${convolution[@]}" --quantum 5s "$work/mail" | cut -d' ' -f1)" 10 s

# --- threads
elapsed() { # COMMAND...: seconds by the clock
	local began=$EPOCHREALTIME
	usage "$@" >"$work/used"
	awk -v began="$began" -v ended="$EPOCHREALTIME" 'BEGIN { print ended - began }'
}
if [ "$(nproc)" -gt 1 ]; then
	tests/gen-trace 40000 45 >"$work/crowded.trace"
	joint=(./ravel nesting --method joint)
	verdict 'ravel nesting --method joint, -j 2 / -j 1, by the clock' \
		"$(for ((turn = 0; turn < pairs; turn++)); do
			awk -v a="$(elapsed "${joint[@]}" -j 2 "$work/crowded.trace")" \
				-v b="$(elapsed "${joint[@]}" -j 1 "$work/crowded.trace")" 'BEGIN { print a/b }'
		done | median)" 0.6 times
else
	echo '# one processor: threads are not measured'
fi
[ -n "$report" ] || exit $missed
