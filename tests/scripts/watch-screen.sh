#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel watch --screen in a terminal of tmux: its sizes, 200 nodes, every key of its help, colours, and
# the terminal as it was before after each way to end. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v tmux >/dev/null || skip_all 'tmux is not installed'
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99
export LC_ALL=C.UTF-8
unset TMUX NO_COLOR
t() { tmux -S "$dir/tmux" -f /dev/null "$@"; }
trap 't kill-server 2>/dev/null; rm -rf "$dir"' EXIT
t new-session -d -x 80 -y 24 'PS1="$ " exec sh' 2>err || skip_all "tmux does not run: $(cat err)"

setsid -w "$ravel" watch --screen -r x >out 2>err
status=$?
if grep -q 'built without ncurses' err; then
	skip_all 'built without ncurses'
fi
[ $status = 2 ] && grep -q -e '--screen: expected a terminal' err
result $? 'without a terminal it says so' "$status $(cat err)"

# A client asks front, which asks one of 200 nodes: 200 requests a second, of five operations. Every
# request to node007 fails. The name of node000 has an escape sequence.
trace() { # FROM TO: seconds
	python3 - "$@" <<'END'
import sys
lines = []
for i in range(int(sys.argv[1]) * 200, int(sys.argv[2]) * 200):
    node, time = i % 200, 1795262400000000000 + i * 5000000
    name = "node%03d" % node if node else "%1B[31mnode000"
    end, failed = time + 2500000 + node * 1000, " st=500" if node == 7 else ""
    lines += [(time, "CALL_SENT client front a%d label=GET%%20/%d" % (i, node % 5)),
              (time + 1000000, "CALL_SENT front %s b%d label=read" % (name, i)),
              (end - 1000000, "RET_SENT %s front b%d%s" % (name, i, failed)),
              (end, "RET_SENT front client a%d%s" % (i, failed))]
print("# ravel trace 1")
for time, words in sorted(lines):
    print("%d.%09d %s" % (time // 10**9, time % 10**9, words))
END
}
screen() { t capture-pane -p "$@"; }
shows() { screen | grep -q -e "$1"; } # PATTERN
await() {                             # COMMAND...: until it succeeds, 10 seconds at most
	local turn
	for ((turn = 0; turn < 100; turn++)); do
		! "$@" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}
key() { t send-keys "$@"; }
run() { # COMMAND: typed into the shell
	key -R
	t clear-history
	key -l "$1"
	key Enter
}
does() { # PATTERN NAME KEY...: the keys make the screen show it
	local pattern=$1 name=$2
	shift 2
	key "$@"
	await shows "$pattern"
	result $? "$name" "$(screen)"
}

mkdir drop
trace 0 25 >drop/a-1.trace
run "'$ravel' watch --screen --traces drop --wait 1s"
await shows '^ravel watch  12:00:10  200 requests/s  p50 2.61 ms  p99 2.69 ms'
result $? 'a window: its rate and latency' "$(screen)"
shows '10 failed' && shows '^OPERATION  *req/s  *p50  *p99  *time errors  MOST OWN TIME' &&
	shows '^GET /2  *40.0  2.61 ms  2.69 ms  *20 %  *3 %  *77 % front' &&
	[ "$(screen | wc -l)" = 24 ] && [ "$(screen | wc -L)" -le 80 ]
result $? '80x24: operations with rates, latency, errors' "$(screen)"
shows '^Slowest requests' && shows '^GET /4  *12:00:1[0-9]  2.70 ms'
result $? 'and the slowest requests' "$(screen)"

# --- every key of the help --------------------------------------------------------------

does '^?  *help' '? shows the help' '?'
screen >help
does '^OPERATION' '? goes back' '?'
does '^NODE ' 'Tab shows nodes' Tab
does '^REQUEST' 'Tab shows requests' Tab
does '^OPERATION' 'Tab begins again' Tab
does '^REQUEST' '3 shows requests' 3
does '^OPERATION' '1 shows operations' 1
does '^1-.* of 201 by own' '2 shows nodes' 2
does '^[2-9]-.*of 201' 'j goes down' j j j j j j j j j j j j j
does '^1-.*of 201' 'k goes up' k k k k k k k k k k k k k
does '^[2-9]-.*of 201' 'Down goes down' Down Down Down Down Down Down Down Down Down Down Down Down Down
does '^1-.*of 201' 'Up goes up' Up Up Up Up Up Up Up Up Up Up Up Up Up
does '^1[0-9]-.*of 201' 'PgDn goes down a page' PageDown PageDown
does '^1-.*of 201' 'PgUp goes up a page' PageUp PageUp
does '\-201 of 201' 'End goes to the last row' End
shows '^\\x1b\[31mnode000'
result $? 'a name with an escape sequence is escaped' "$(screen)"
does '^1-.*of 201' 'Home goes to the first row' Home
does '\-201 of 201' 'G goes to the last row' G
does '^1-.*of 201' 'g goes to the first row' g
does 'by queued' 's sorts by the next column' s
does 'by own' 'S sorts by the last column' S
does 'by own, reversed' 'r reverses the order' r
does 'by own$' 'r again' r
does '10 of 10 by own  /node17_' '/ filters as one types' / n o d e 1 7
does '10 of 10 by own  /node17$' 'Enter keeps the filter' Enter
does '^1-.* by latency  /node179$' 'Enter on a node shows its requests' Enter
does '^  node179 read .* 679 us  *679 us .*|  *==*  *|' 'Enter on a request shows its path' Enter
does '^REQUEST' 'Esc goes back' Escape
does 'by latency$' 'Esc forgets the filter' Escape
does 'FROZEN (0 windows since)' 'Space freezes' Space
trace 25 45 >a-2 && mv a-2 drop/a-2.trace
await shows 'FROZEN (2 windows since)' && shows '12:00:10  200 req'
result $? 'windows come behind a frozen screen' "$(screen)"
does '12:00:30  200 req' 'Space goes on' Space
trace 0 1 >a-3 && mv a-3 drop/a-3.trace
await shows 'messages late\|m: all messages'
does 'a-3.trace: came too late: 800 messages' 'm shows messages' m
does '^REQUEST' 'm goes back' m
missing=
while read -r word; do
	grep -qE "^does .* '$word|^does .* $word( |\$)" "$source/tests/scripts/watch-screen.sh" ||
		[ "$word" = q ] || missing+=" $word"
done < <(sed -n '/^1 2 3/,/^q /p' help | cut -c1-13 | tr -s ' ' '\n' | grep .)
[ "$(grep -c '^q  *quit' help)" = 1 ] && [ -z "$missing" ]
result $? 'all keys of the help are in this test' "not:$missing"

# --- sizes ---------------------------------------------------------------------------------

t resize-window -x 40 -y 20
key 2
await shows '^NODE  *p99  *own errors$'
result $? '40x20: the screen follows, with fewer columns' "$(screen)"
[ "$(screen | wc -l)" = 20 ] && [ "$(screen | wc -L)" -le 40 ] && shows '^12:00:30  200/s  p99 2.69 ms$'
result $? 'and nothing is wider' "$(screen)"
t resize-window -x 120 -y 50
await shows '^NODE  *calls/s .* busy errors$' && shows '^1-3[0-9] of 201'
result $? '120x50: more rows' "$(screen)"
t resize-window -x 80 -y 24

# --- the end ------------------------------------------------------------------------------

as_before() { # STATUS: the shell has its terminal back
	await shows '^\$ *$' || return 1
	key -l "echo status \$?; stty -a | tr ';' '\n' | grep -cE '(^| )(icanon|echo)( |\$)'"
	key Enter
	await shows "^status $1\$" && await shows '^[12]$' &&
		[ "$(t display-message -p '#{alternate_on} #{cursor_flag}')" = '0 1' ]
}
key q
as_before 0 && shows 'a-3.trace: came too late: 800 messages'
result $? 'q ends with status 0, the terminal as before, and its messages are there' "$(screen)"
pane=$(t display-message -p '#{pane_pid}')
for signal in TERM INT SEGV ABRT QUIT; do
	run "'$ravel' watch --screen --traces drop --wait 1s"
	await shows '^OPERATION'
	status=0
	if [ $signal = INT ]; then
		key C-c
	else
		kill -$signal "$(pgrep -P "$pane" -f 'watch --screen')"
		case $signal in TERM) ;; *) status='[1-9][0-9]*' ;; esac # a sanitizer has its own
	fi
	as_before $status
	result $? "SIG$signal: the terminal is as before" "$(screen)"
done

# --- beside it ---------------------------------------------------------------------------

run "'$ravel' watch --screen --traces drop --wait 1s >lines"
has_lines() { [ "$(grep -c '^{"format": "ravel-watch"' lines)" -ge 3 ]; }
await shows '^OPERATION' && await has_lines
result $? 'lines go into a file meanwhile' lines
bad() { screen -e | grep -q "$(printf '\033')\[[0-9;]*31m"; }
await bad
result $? 'what is bad is red' "$(screen -e)"
key q
as_before 0
for plain in NO_COLOR=1 TERM=vt100; do
	run "$plain '$ravel' watch --screen --traces drop --wait 1s"
	await shows '^OPERATION' && shows '10 failed' && ! bad
	result $? "no colour with $plain" "$(screen -e)"
	key q
	as_before 0
done
python3 "$source/tests/scripts/make-watch.py" 50 0 30 >all.pcap
run "'$ravel' watch --screen -r all.pcap --dir stores"
await shows 'the input has ended' && shows '^GET /'
result $? 'at the end of the input it stays' "$(screen)"
key q
as_before 0
result $? 'until a key ends it' "$(screen)"
[ "$(for store in stores/*.sqlite; do "$ravel" query --format tsv "$store" 'SELECT count(*) FROM path'; done | sed 1d)" = 1500 ]
result $? 'and the stores have all requests' "$(find stores)"
run "TERM=dumb '$ravel' watch --screen -r all.pcap"
await shows '^\$ *$'
screen >dumb
grep -q -e '--screen: TERM=dumb is no terminal with a screen' dumb
result $? 'TERM=dumb is refused' dumb
run "'$ravel' watch --screen --traces drop --wait 1s"
await shows '^OPERATION'
pid=$(pgrep -P "$pane" -f 'watch --screen')
t kill-server
gone() { ! kill -0 "$pid"; }
await gone
result $? 'when the terminal is gone, the watch ends' "$(ps -o pid,stat,args -p "$pid")"
finish
