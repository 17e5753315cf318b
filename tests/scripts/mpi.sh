#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel-mpi: stats and nesting by several processes give the bytes of one, whatever their number, by
# each MPI that is there. TAP. RAVEL_LONG=1: more traces, all numbers of ranks for each; with RAVEL_SHARED, traces of
# real systems, too.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
build=$(dirname "$ravel")
long=${RAVEL_LONG:-} more='' store=store # values of all (results())
[ -z "$long" ] || more=1 store=1
cd "$dir" || exit 99

# ravel itself needs none, whatever was found.
if command -v ldd >/dev/null; then
	! ldd "$ravel" | grep -E 'libmpi|libmpich|libopen-(rte|pal)' >linked
	result $? 'ravel links no MPI' linked
fi
if [ ! -x "$build/ravel-mpi" ]; then
	if [ $tests = 0 ]; then
		skip_all 'no MPI was found when this was built'
	fi
	result 0 'ravel-mpi # SKIP no MPI was found when this was built'
	finish
fi

# Where these tests are run there may be fewer processors than ranks, and no user but root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,vader OMPI_MCA_oob=^ud OMPI_MCA_oob_tcp_if_include=lo HYDRA_IFACE=lo
export OMPI_MCA_orte_abort_print_stack=0 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
# What these libraries do not give back is no finding of ours.
# Libraries of MPI keep memory, and are unloaded before it could be told whose it is.
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"

# use MPICC PROGRAM: its mpirun and the program that is linked with it
use() {
	mpirun=$(dirname "$1")/mpirun$(basename "$1" | sed 's/^mpicc//')
	program=$2
	mpi=$(basename "$1")
}

# ranks N VERB OPTION...: what the user sees, without what mpirun says of it
ranks() {
	local n=$1
	shift
	timeout ${long:+10}60 "$mpirun" -n "$n" "$program" "$@"
}

dump() { # STORE
	"$ravel" query --format tsv "$1" "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name" |
		sed 1d | while read -r table; do
		case $table in
		sqlite_*) ;;
		run) "$ravel" query --format tsv "$1" 'SELECT method, parameters, messages, calls, unmatched_calls, unmatched_returns FROM run' ;;
		*) "$ravel" query --format tsv "$1" "SELECT * FROM \"$table\"" ;;
		esac
	done
}

# results NAME COMMAND...: what COMMAND OPTION... makes, as NAME.text and so on; what costs more if $all, of which
# 'store' is what one run makes beside the text
results() {
	local name=$1
	shift
	rm -f "$name".*
	if [ "$all" = store ]; then
		"$@" --calls "$name.calls" -o "$name.sqlite" >"$name.text" 2>"$name.err"
	else
		"$@" >"$name.text" 2>"$name.err"
	fi
	grep -v '^-\|^mpirun\|^$' "$name.err" | sed 's/^ravel [a-z-]*://' >"$name.says"
	[ "$all" ] || return 0
	if [ "$all" != store ]; then
		"$@" -n 0 --format json --calls "$name.calls" >"$name.json" 2>/dev/null
		"$@" --format tsv -o "$name.sqlite" >"$name.tsv" 2>/dev/null
	fi
	dump "$name.sqlite" >"$name.dump"
	rm -f "$name.sqlite"
}

same() { # NAME: the results are those of one process
	local bad=
	local what all_of=${all:+calls dump}
	[ "$all" != 1 ] || all_of+=' json tsv'
	for what in text says $all_of; do
		cmp -s "one.$what" "two.$what" && { [ -s "one.$what" ] || [ "$what" = says ]; } || bad+=" $what"
	done
	[ -z "$bad" ]
	result $? "$1" "differ:$bad; $(cat two.err)"
}

# compare NAME TRACE 'N...' VERB OPTION...
compare() {
	local name=$1 trace=$2 numbers=$3
	shift 3
	[ "$long" ] && numbers='1 2 3 4 8'
	local one=()
	for option; do
		[[ $option = --halo=* ]] || one+=("$option")
	done
	results one "$ravel" "${one[@]}" "$trace"
	for n in $numbers; do
		results two ranks "$n" "$@" "$trace"
		same "$name, $n ranks ($mpi)"
	done
}

# Loss, operations, sizes, messages that nobody answers, facts, many messages at one moment, clients.
make_lossy() {
	"$gen_trace" "$1" 4 --clients 30 | awk '
		NR == 1 { print; print "# observer: tap"; next }
		NR % 997 == 0 || NR % 889 == 0 { next }
		{ $1 = substr($1, 1, 12) "0000000" }
		$2 == "CALL_SENT" { $6 = "label=" (NR % 5 ? "GET%20/" $4 : "PUT") " bytes=" 100 + NR % 7 }
		$2 == "RET_SENT" { $6 = "bytes=" 1000 + NR % 11 }
		{ print }
		NR % 50 == 0 { print $1, "MSG_SENT", "WS1", "log", "-" }
		NR % 500 == 0 { print "# fact " NR ": " $4 }' | tr ' ' '\t'
}

"$gen_trace" ${long:+10}4000 1.6 >few.trace
"$gen_trace" ${long:+10}5000 5 >some.trace
"$gen_trace" ${long:+10}5000 45 >many.trace
make_lossy ${long:+10}6000 >lossy.trace
"$gen_trace" 2000 3 --four --skew 30 | sort -s -k 1,1 >ends.trace
"$gen_trace" 2 1 >call.trace
sed 's/id[0-9]*$/-/' some.trace >ids.trace
gzip -c lossy.trace >lossy.trace.gz
# Two nodes of it have more calls than joint learns from at once.
[ -z "$long" ] || "$gen_trace" 170000 1.3 >large.trace
# A few seconds of it all at one moment: an empty slice, or none.
awk '/^[0-9]/ { if (NR > 100) $1 = "1047680090.000000000" } { print }' OFS='\t' few.trace >moment.trace
awk 'NR == 2000 { kept = $0; next } { print } NR == 2040 { print kept }' some.trace >late.trace
# Whole connections, on which calls follow each other, and how long they took to open.
awk '{ print $0 ($2 == "CALL_SENT" ? "\tconn=" NR % 7 + 1 (NR % 5 ? "" : "\tsyn=2000000") : "") }' \
	some.trace >connections.trace
gzip -c connections.trace >connections.trace.gz
# Calls that last longer than two seconds.
awk -F '\t' '/^[0-9]/ { split($1, at, "."); at[1] = (at[1] - 1047680000) * 20 + int(at[2] / 5e7)
	$1 = sprintf("%d.%09d", 1047680000 + at[1], at[2] * 20 % 1e9) } { print }' OFS='\t' some.trace >slow.trace

# --- the bytes of one process -----------------------------------------------------------
use "$MPICC" "$build/ravel-mpi"
all=1
compare 'parallelism 1.6' few.trace 3 nesting --method paper --halo=1s
all=$store
compare 'loss, operations, one-way messages, clients' lossy.trace 2 nesting --method paper --halo=3s
all=$more
compare 'parallelism 5, other options' some.trace 4 nesting --method paper --halo=2s --no-fold --smooth 1.5 --penalty 1,0.5,0.5 --sibling-order strict
compare 'parallelism 45, a halo that is too short' many.trace 3 nesting --method paper --halo=300ms
compare 'both ends, clocks that are off' ends.trace 3 nesting --method paper --halo=4s
[ -z "$long" ] || compare 'compressed' lossy.trace.gz 2 nesting --method paper --halo=3s
compare 'a part of it, without a node' lossy.trace 2 nesting --method paper --halo=1s --from 1047680090 --to 1047680100 --exclude AUTH
compare 'all at one moment' moment.trace 3 nesting --method paper
compare 'out of order' late.trace 2 nesting --method paper --halo=2s
[ -z "$long" ] || compare 'connections' connections.trace 2 nesting --method paper --halo=2s
compare 'calls of many seconds' slow.trace 3 nesting --method paper
compare 'one call' call.trace 4 nesting --method paper
[ -n "$long" ] || make_lossy 3000 >lossy.trace
all=$store
compare 'joint: loss, operations, clients' lossy.trace 3 nesting
all=$more
[ -z "$long" ] || compare 'joint: nodes in parts' large.trace 3 nesting
[ -z "$long" ] || compare 'joint: nodes in parts, threads' large.trace 3 nesting -j 3
[ -n "$long" ] || "$gen_trace" 3000 45 >many.trace
compare 'joint: parallelism 45, threads' many.trace 2 nesting -j 3
compare 'joint: both ends, clocks that are off' ends.trace 4 nesting
compare 'joint: connections, compressed' connections.trace.gz 2 nesting
[ -z "$long" ] || compare 'joint: one call' call.trace 3 nesting
all='' # stats writes nothing else
[ -z "$long" ] || compare 'stats' some.trace 3 stats
compare 'stats, loss' lossy.trace 4 stats

# What stores count hour by hour, they count with requests and without: an hour that two ranks have a part of, and another.
awk '/^[0-9]/ { split($1, at, "."); $1 = at[1] + 3600 "." at[2]; print }' OFS='\t' some.trace | cat some.trace - >hours.trace
for option in '' --no-requests; do
	# shellcheck disable=SC2086
	"$ravel" nesting --method paper $option -o one.sqlite hours.trace >one.text 2>one.err
	# shellcheck disable=SC2086
	ranks 3 nesting --method paper $option -o two.sqlite hours.trace >two.text 2>two.err
	for name in one two; do
		dump "$name.sqlite" >"$name.dump"
	done
	[ "$("$ravel" query --format tsv one.sqlite 'SELECT count(DISTINCT hour) FROM hour' | tail -n 1)" = 2 ] &&
		diff one.dump two.dump >differ
	result $? "stores of two hours ${option:-with requests}, 3 ranks ($mpi)" differ
done

# Real systems: both methods, with operations and connections.
real() { # FOLDER
	all=1
	local of=$shared/captures/$1
	if ! zstd -dqf "$of/b.pcap.zst" -o real.pcap 2>err ||
		! "$ravel" capture -r real.pcap --nodes "$of/nodes.txt" -w real.trace 2>err; then
		result 0 "$1 # SKIP it cannot be read here"
		return
	fi
	compare "$1, paper" real.trace '' nesting --method paper
	compare "$1, joint" real.trace '' nesting
}
if [ "$long" ] && [ -d "$shared/captures/wild" ]; then
	for system in services/p2 services/j24 services/u8 wild/w1 wild/m1; do
		real $system
	done
fi

# Longer than what is read, sent and held at a time. Nothing but the text is compared.
if [ "$long" ]; then
	all=''
	"$gen_trace" 20000000 5 >longest.trace
	compare '20 million messages' longest.trace '' nesting --method paper
	"$gen_trace" 20000000 1.6 >longest.trace
	compare 'joint: 20 million messages' longest.trace '' nesting
	rm longest.trace
fi

# What only one process can know is done by rank 0, which says so.
says_alone() { # NAME TRACE OPTION...
	local name=$1 trace=$2
	shift 2
	"$ravel" nesting "$@" "$trace" >one.text 2>/dev/null
	ranks 2 nesting "$@" "$trace" >two.text 2>two.err
	cmp -s one.text two.text && [ -s two.text ] && grep -q 'done by rank 0 alone' two.err
	result $? "$name: rank 0 alone, the bytes of one process" two.err
}
says_alone 'no ids' ids.trace --method paper
[ -z "$long" ] || says_alone 'windows' some.trace --method paper --window 5s
"$ravel" nesting --learn few.model few.trace >out 2>&1
says_alone 'a model that was given' few.trace --model few.model
if [ "$long" ]; then
	"$gen_trace" 6000 1.6 --path >true.trace
	says_alone 'the oracle' true.trace --cheat
fi

# --- what goes wrong ----------------------------------------------------------------------
# fails NAME STATUS PATTERN COMMAND...: with one line of ours, and no file
fails() {
	local name=$1 status=$2 pattern=$3
	shift 3
	rm -f result.text
	"$@" >out 2>err
	[ $? = "$status" ] && [ "$(grep -c '^ravel' err)" = 1 ] && grep -q "^ravel.*$pattern" err &&
		[ ! -s out ] && ! find . -name '*result.text*' | grep -q .
	result $? "$name ($mpi)" err
}
line=$(awk 'NR == 3000 { $1 = "x" } { print }' OFS='\t' some.trace | tee bad.trace | grep -n '^x' | cut -d: -f1)
fails 'a bad line' 3 "rank [0-2]: bad.trace:$line: bad timestamp" ranks 3 nesting --method paper --halo=1s -w result.text bad.trace
fails 'no such file' 3 'rank 0: nothing.trace: cannot open' ranks 2 nesting --method paper -w result.text nothing.trace
fails 'joint: a bad line' 3 "rank 0: bad.trace:$line: bad timestamp" ranks 3 nesting -w result.text bad.trace
fails 'joint: a full disk' 4 'No space left' ranks 2 nesting -w /dev/full some.trace
fails 'a wrong option' 2 'found "quick"' ranks 2 nesting --method quick -w result.text some.trace
fails 'one step' 2 'are for one process' ranks 2 nesting --method paper --partial learn -w result.text some.trace
fails 'a full disk' 4 'No space left' ranks 2 nesting --method paper -w /dev/full some.trace
fails 'another verb' 2 'expected stats or nesting' ranks 2 merge some.trace

# The processes of a run with these arguments, which are ours.
victims() {
	local of
	for of in $(pgrep -f "$program $1"); do
		[ "$(readlink "/proc/$of/exe")" = "$(realpath "$program")" ] && echo "$of"
	done
}

# dies NAME ARGUMENTS WAIT: runs three ranks, of which the last is killed after a while
dies() {
	local name=$1 arguments=$2 victim='' job begun
	# shellcheck disable=SC2086
	ranks 3 $arguments >out 2>err &
	job=$!
	for _ in $(seq 100); do
		victim=$(victims "$arguments" | tail -n 1)
		[ "$victim" ] && break
		sleep 0.1
	done
	sleep "$3"
	begun=$(date +%s)
	[ "$victim" ] && kill -KILL "$victim" && ! wait $job &&
		[ $(($(date +%s) - begun)) -le 10 ] && [ ! -e result.text ] && [ -z "$(victims "$arguments")" ]
	result $? "$name: all has ended within 10 s" err
}

# A rank that is killed ends all. It reads a pipe, so that it is there for as long.
mkfifo never
exec 3<>never
dies 'a rank that is killed' 'nesting --method paper -w result.text never' 0.3
exec 3>&-
# In joint they wait for each other. This one takes many times as long.
"$gen_trace" 150000 45 >busy.trace
dies 'joint: a rank that is killed' 'nesting -w result.text busy.trace' 1

# --- the other MPI -------------------------------------------------------------------------
if [ -x "$build/tests/ravel-mpi-other" ]; then
	first=$mpirun
	use "$OTHER_MPICC" "$build/tests/ravel-mpi-other"
	all=1
	compare 'parallelism 5' some.trace 3 nesting --method paper --halo=2s
	all=''
	compare 'stats' lossy.trace 2 stats
	fails 'a bad line' 3 "rank [0-2]: bad.trace:$line: bad timestamp" ranks 3 nesting --method paper --halo=1s -w result.text bad.trace
	mpirun=$first
	fails 'the program of the other MPI' 2 'not by the MPI that it is linked with' ranks 2 stats some.trace
else
	result 0 'the other MPI # SKIP there is no second one'
fi
finish
