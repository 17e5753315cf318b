#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel nesting --partial and ravel merge-state: slices of a trace, each in a process of its own,
# give the bytes of one process, in every format, in any order of states; or are refused. TAP.
# shellcheck disable=SC2046,SC2012 # names of files without blanks
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

# cut_times TRACE N: the times, but the first, at which N slices of the same length begin
cut_times() {
	awk -v n="$2" '/^[0-9]/ { split($1, t, "."); if (!any++) first = t[1]; last = t[1] }
		END { for (i = 1; i < n; i++) printf "%d.%03d\n", first + int((last - first) * i / n), 37 * i }' "$1"
}

# slices TRACE N: the values of --slice
slices() {
	local from=
	for time in $(cut_times "$1" "$2"); do
		echo "$from/$time"
		from=$time
	done
	echo "$from/"
}

# partial STEP SLICE FILE OPTION... TRACE
partial() {
	local step=$1 slice=$2 file=$3
	shift 3
	"$ravel" nesting --method paper --partial "$step" --slice "$slice" --halo "${halo:-10s}" \
		-w "$file" "$@" 2>>err
}

# both_steps TRACE N OPTION...: d1, d2 ... from l1, l2 ...
both_steps() {
	local trace=$1 n=$2 i=0
	shift 2
	rm -f l[0-9]* d[0-9]* learned err
	for slice in $(slices "$trace" "$n"); do
		partial learn "$slice" l$((i += 1)) "$@" "$trace" || return
	done
	"$ravel" merge-state -w learned $(ls -r l[0-9]*) 2>>err || return
	i=0
	for slice in $(slices "$trace" "$n"); do
		partial decide "$slice" d$((i += 1)) --state learned "$@" "$trace" || return
	done
}

dump() { # STORE: but for the command
	python3 - "$1" <<-'END'
		import sqlite3, sys
		store = sqlite3.connect(sys.argv[1])
		store.text_factory = bytes
		for table, in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
		    table = table.decode()
		    if not table.startswith("sqlite_"):
		        of = "method, parameters, messages, calls, unmatched_calls, unmatched_returns" if table == "run" else "*"
		        rows = store.execute(f'SELECT {of} FROM "{table}"')
		        print(table, *(column[0] for column in rows.description))
		        print(*rows, sep="\n")
	END
}

# results NAME COMMAND...: the five results of it as NAME.text and so on
results() {
	local name=$1
	shift
	"$@" >"$name.text" 2>"$name.err"
	sed -i 's/^ravel [a-z-]*://' "$name.err"
	"$@" -n 0 --format json --calls "$name.calls" >"$name.json" 2>/dev/null
	"$@" --format tsv -o "$name.sqlite" >"$name.tsv" 2>/dev/null
	dump "$name.sqlite" >"$name.dump"
	rm -f "$name.sqlite"
}

# same NAME: the results are those of one process
same() {
	local bad=
	for what in text err json tsv calls dump; do
		cmp -s "one.$what" "two.$what" && { [ -s "one.$what" ] || [ "$what" = err ]; } || bad+=" $what"
	done
	[ -z "$bad" ]
	result $? "$1: the bytes of one process" "differ:$bad; $(cat err)"
}

# compare NAME TRACE N OPTION...
compare() {
	local name="$1, $3 slices ${*:4}" trace=$2 n=$3
	shift 3
	results one "$ravel" nesting --method paper "$@" "$trace"
	both_steps "$trace" "$n" "$@"
	results two "$ravel" merge-state $(ls d[0-9]* 2>/dev/null | shuf --random-source=<(yes))
	same "$name"
}

# --- what works ---------------------------------------------------------------------
# RAVEL_LONG=1: more numbers of slices and options, of longer traces.
counts='1 5' times=1 both=('3 --four --skew 30')
[ -z "${RAVEL_LONG:-}" ] || counts='1 2 5' times=2 both=('3 --four' '3 --four --skew 30')
"$gen_trace" $((times * 3000)) 1.6 >t.trace
for n in $counts; do
	compare 'parallelism 1.6' t.trace "$n"
done
for order in ls 'ls -r' 'shuf -e --random-source=t.trace'; do
	results two "$ravel" merge-state $($order d[0-9]*)
	same "states by $order"
	"$ravel" merge-state -w again $($order l[0-9]*) && cmp -s again learned
	result $? "what was learned, by $order"
done
halo=60s
compare 'more slices than there are seconds' t.trace 40
unset halo
"$gen_trace" $((times * 6000)) 5 --clients 30 >t.trace
compare 'parallelism 5, clients' t.trace 3
compare 'parallelism 5, other options' t.trace 3 --no-fold --smooth 1.5 --penalty 1,0.5,0.5 --sibling-order strict
"$gen_trace" $((times * 6000)) 45 >t.trace
compare 'parallelism 45' t.trace 2
for shape in "${both[@]}"; do
	# shellcheck disable=SC2086 # options
	"$gen_trace" $((times * 4000)) $shape | sort -s -k 1,1 >t.trace
	compare "both ends, $shape" t.trace 3
	compare "both ends, $shape" t.trace 2 --skew-window 5ms --max-call 20s
done

# Loss, operations, messages that nobody answers, facts, stamps of few digits: many at one moment.
"$gen_trace" $((times * 6000)) 4 | awk '
	NR == 1 { print; print "# observer: tap"; next }
	NR % 97 == 0 || NR % 89 == 0 { next }
	{ $1 = substr($1, 1, 12) "0000000" }
	$2 == "CALL_SENT" { $6 = "label=" (NR % 5 ? "GET%20/" $4 : "PUT") }
	{ print }
	NR % 50 == 0 { print $1, "MSG_SENT", "WS1", "log", "-" }' | tr ' ' '\t' >t.trace
compare 'loss, operations, one-way messages, coarse stamps' t.trace 4
awk 'NR < 3 || NR > 800' t.trace | head -n -150 >cut.trace
compare 'cut at both ends' cut.trace 3
"$gen_trace" 2 1 >t.trace
compare 'one call' t.trace 1

# --- what is refused -------------------------------------------------------------------
refused() { # STATUS NAME PATTERN
	[ "$1" = "${4:-3}" ] && grep -q "$3" err
	result $? "$2" err
}
# So many calls at a time that a wrong parent at the beginning makes others wrong for seconds.
"$gen_trace" 60000 45 >t.trace
halo=1s
both_steps t.trace 3
"$ravel" merge-state -w out.text d1 d2 d3 2>err
refused $? 'other parents where slices meet' 'parents of calls that are open'
[ ! -e out.text ]
result $? 'and there is no answer'
unset halo
"$gen_trace" 12000 5 >t.trace
mapfile -t times < <(cut_times t.trace 3)
halo=10ms
both_steps t.trace 3
refused $? 'calls that are longer than the halo' 'longer --halo'
unset halo
both_steps t.trace 3
"$ravel" merge-state d1 d3 >out 2>err
refused $? 'a slice is missing, decided' 'one of each of 3 slices'
"$ravel" merge-state l1 l3 >out 2>err
refused $? 'a slice is missing, learned' 'a slice begins at'
"$ravel" merge-state l1 l2 >out 2>err
refused $? 'the last slice is missing' 'until the end'
"$ravel" merge-state l1 d1 >out 2>err
refused $? 'what was learned with what was decided' 'd1: .*expected what was learned'
"$ravel" nesting --method paper --partial decide --state l1 --slice "/${times[0]}" -w d t.trace 2>err
refused $? 'a state of one slice' 'expected what ravel merge-state made' 2
[ ! -e d ]
result $? 'and no file is left'
"$ravel" nesting --method paper --partial decide --state learned --smooth 1 --slice "/${times[0]}" -w d t.trace 2>err
refused $? 'other options' 'other options than those' 2
"$ravel" nesting --method paper --partial decide --state learned --slice "/${times[1]}" -w d t.trace 2>err
refused $? 'another slice' 'nothing was learned of a slice'
"$gen_trace" 12000 5 --seed 9 >other.trace
"$ravel" nesting --method paper --partial decide --state learned --slice "/${times[0]}" -w d other.trace 2>err
refused $? 'another trace' 'not the calls that were learned from'
"$ravel" nesting --method paper --partial learn --slice "${times[1]}/" -w o3 other.trace 2>err
"$ravel" merge-state l1 l2 o3 >out 2>err
refused $? 'slices of two traces' 'of another trace'
printf 'ravel state\5\0' | cat - <(tail -c +14 l1) >new
"$ravel" merge-state new >out 2>err
refused $? 'a state of another version' 'new: byte 13: expected a state of version 4, not of 5'
head -c 3000 l1 >short
"$ravel" merge-state short >out 2>err
refused $? 'half a state' 'short: byte [0-9]*: expected'
"$ravel" merge-state t.trace >out 2>err
refused $? 'no state' 't.trace: byte 0: expected ravel state'
sed 's/id[0-9]*$/-/' t.trace >ids.trace
both_steps ids.trace 2
refused $? 'calls without ids' 'ids that tell calls apart'
awk '{ print $0 ($2 == "CALL_SENT" ? "\tlink=" NR : "") }' t.trace >links.trace
both_steps links.trace 2
refused $? 'links' 'link='
# A call without a return, and much later another with its id.
awk -v late="${times[1]}" '$5 == "id100" && $2 == "RET_SENT" { next }
	$1 > late && !any++ { print $1 "\tCALL_SENT\t" from "\t" to "\tid100"; again = 1 }
	$5 == "id100" { from = $3; to = $4 }
	{ print }
	again && $1 > late + 1 && !ended++ { print $1 "\tRET_SENT\t" to "\t" from "\tid100" }' t.trace >lost.trace
halo=2s
both_steps lost.trace 3
refused $? 'an id that comes again after a loss' 'id of an earlier one'
unset halo
awk '$5 == "id100" && $2 == "RET_SENT" { kept = $0; next } { print; last = $1 }
	END { $0 = kept; print last "\t" $2 "\t" $3 "\t" $4 "\t" $5 }' t.trace >long.trace
halo=2s
both_steps long.trace 3
refused $? 'a call that lasts from the first slice to the last' 'may answer a call of'
unset halo
for option in '--window 10s' '--calls c' '-o s.sqlite' '--format json' '--explain x' '--cheat' '--from 1'; do
	# shellcheck disable=SC2086 # an option
	"$ravel" nesting --method paper --partial learn $option t.trace >out 2>err
	refused $? "--partial with $option" 'expected' 2
done
"$ravel" nesting --partial learn t.trace >out 2>err
refused $? '--partial with joint' 'expected --method paper' 2
"$ravel" nesting --method paper --slice 1/2 t.trace >out 2>err
refused $? '--slice alone' 'expected --partial' 2
"$ravel" merge-state --calls c l1 >out 2>err
refused $? '--calls of what was learned' 'for what was decided' 2
both_steps t.trace 3
"$ravel" merge-state -w /dev/full l1 l2 l3 2>err
refused $? 'a full disk' 'No space left' 4
finish
