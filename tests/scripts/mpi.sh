#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel-mpi: joint inference by several processes gives the bytes of one, whatever their number, by
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
	results one "$ravel" "$@" "$trace"
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

"$gen_trace" ${long:+10}5000 5 >some.trace
"$gen_trace" ${long:+10}5000 45 >many.trace
make_lossy ${long:+10}6000 >lossy.trace
"$gen_trace" 2000 3 --four --skew 30 | sort -s -k 1,1 >ends.trace
"$gen_trace" 2 1 >call.trace
gzip -c lossy.trace >lossy.trace.gz
# Two nodes of it have more calls than joint learns from at once.
[ -z "$long" ] || "$gen_trace" 170000 1.3 >large.trace
awk 'NR == 2000 { kept = $0; next } { print } NR == 2040 { print kept }' some.trace >late.trace
# Whole connections, on which calls follow each other, and how long they took to open.
awk '{ print $0 ($2 == "CALL_SENT" ? "\tconn=" NR % 7 + 1 (NR % 5 ? "" : "\tsyn=2000000") : "") }' \
	some.trace >connections.trace
gzip -c connections.trace >connections.trace.gz
# --- the bytes of one process -----------------------------------------------------------
use "$MPICC" "$build/ravel-mpi"
[ -n "$long" ] || make_lossy 3000 >lossy.trace
all=$store
compare 'loss, operations, clients' lossy.trace 3 nesting
all=$more
[ -z "$long" ] || compare 'nodes in parts' large.trace 3 nesting
[ -z "$long" ] || compare 'nodes in parts, threads' large.trace 3 nesting -j 3
[ -n "$long" ] || "$gen_trace" 3000 45 >many.trace
compare 'parallelism 45, threads' many.trace 2 nesting -j 3
compare 'both ends, clocks that are off' ends.trace 4 nesting
compare 'a part of it, without a node' lossy.trace 2 nesting --from 1047680090 --to 1047680100 --exclude AUTH
compare 'out of order, other options' late.trace 3 nesting --no-fold --sibling-order strict
compare 'connections, compressed' connections.trace.gz 2 nesting
[ -z "$long" ] || compare 'one call' call.trace 3 nesting
# Real systems, with operations and connections.
real() { # FOLDER
	all=1
	local of=$shared/captures/$1
	if ! zstd -dqf "$of/b.pcap.zst" -o real.pcap 2>err ||
		! "$ravel" capture -r real.pcap --nodes "$of/nodes.txt" -w real.trace 2>err; then
		result 0 "$1 # SKIP it cannot be read here"
		return
	fi
	compare "$1" real.trace '' nesting
}
if [ "$long" ] && [ -d "$shared/captures/wild" ]; then
	for system in services/p2 services/j24 services/u8 wild/w1 wild/m1; do
		real $system
	done
fi

# Longer than what is read, sent and held at a time. Nothing but the text is compared.
if [ "$long" ]; then
	all=''
	"$gen_trace" 20000000 1.6 >longest.trace
	compare '20 million messages' longest.trace '' nesting
	rm longest.trace
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
fails 'a bad line' 3 "rank 0: bad.trace:$line: bad timestamp" ranks 3 nesting -w result.text bad.trace
fails 'no such file' 3 'nothing.trace: cannot open' ranks 2 nesting -w result.text nothing.trace
fails 'a full disk' 4 'No space left' ranks 2 nesting -w /dev/full some.trace
fails 'a wrong option' 2 'found "quick"' ranks 2 nesting --method quick -w result.text some.trace
for n in 1 2; do
	fails "the paper's method, $n ranks" 2 'expected ravel nesting --method paper$' ranks $n nesting --method paper -w result.text some.trace
done
fails 'windows' 2 'expected ravel nesting --window$' ranks 2 nesting --window 5s -w result.text some.trace
fails 'stats' 2 'expected ravel stats$' ranks 2 stats some.trace
# One rank alone has no trace.
cat >one-misses.sh <<-'END'
	#!/bin/sh
	missing=$1
	shift
	[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = "$missing" ] && trace=nothing.trace || trace=some.trace
	exec "$@" "$trace"
END
chmod +x one-misses.sh
# shellcheck disable=SC2317 # fails() runs it
one_misses() { # RANK OPTION...
	local rank=$1
	shift
	timeout 60 "$mpirun" -n 2 ./one-misses.sh "$rank" "$program" "$@"
}
fails 'no such file on rank 0' 3 'nothing.trace: cannot open' one_misses 0 nesting -w result.text
fails 'no such file on rank 1' 3 'rank 1: nothing.trace: cannot open' one_misses 1 nesting -w result.text

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
dies 'a rank that is killed while it reads' 'nesting -w result.text never' 0.3
exec 3>&-
# While they find parents they wait for each other. This one takes many times as long.
"$gen_trace" 150000 45 >busy.trace
dies 'a rank that is killed' 'nesting -w result.text busy.trace' 1

# --- the other MPI -------------------------------------------------------------------------
if [ -x "$build/tests/ravel-mpi-other" ]; then
	first=$mpirun
	use "$OTHER_MPICC" "$build/tests/ravel-mpi-other"
	all=1
	compare 'parallelism 5' some.trace 3 nesting
	fails 'a bad line' 3 "rank 0: bad.trace:$line: bad timestamp" ranks 3 nesting -w result.text bad.trace
	mpirun=$first
	fails 'the program of the other MPI' 2 'not by the MPI that it is linked with' ranks 2 nesting some.trace
else
	result 0 'the other MPI # SKIP there is no second one'
fi
finish
