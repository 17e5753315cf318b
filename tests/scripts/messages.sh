#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What a user meets on the first day: each mistake and each capture that will not do is
# answered in plain words, by one line, that says what to do. TAP.
set -u
source=${srcdir:-$(dirname "$0")/../..}
ravel=${RAVEL:-$PWD/ravel}
case $source in /*) ;; *) source=$PWD/$source ;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-messages.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
n=0
bad=0

# expect NAME STATUS TEXT COMMAND...: stderr is one line that holds TEXT.
expect() {
	local name=$1 status=$2 text=$3 got
	shift 3
	"$@" >out 2>err </dev/null
	got=$?
	n=$((n + 1))
	if [ "$got" = "$status" ] && grep -qF -- "$text" err && [ "$(wc -l <err)" = 1 ]; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed "s/^/# status $got: /" err
		bad=1
	fi
}

# says NAME TEXT FILE
says() {
	n=$((n + 1))
	if grep -qE -- "$2" "$3"; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' "$3"
		bad=1
	fi
}

cp "$source/demo/shop.pcap.zst" shop.pcap.zst
printf '1.0 CALL_SENT a b 1\n2.0 RET_SENT b a 1\n' >good.trace
printf '1.0 CALL_SENT a b 1\n2.0 CALL_SENT a b 2\n' >calls.trace
printf '1.0 RET_SENT b a 1\n2.0 RET_SENT b a 2\n' >returns.trace
printf '1.0 CALL_SENT a b 1\n2.0 RET_SENT b a 2\n' >unmatched.trace
printf '1.0 MSG_SENT a b -\n2.0 MSG_SENT b a -\n' >one-way.trace
printf '# ravel trace 1\n' >empty.trace
printf '10.0.0.5 db\n10.0.0.300 web\n' >bad.nodes
printf 'db 10.0.0.5\n' >hosts.nodes
printf '10.0.0.5\n' >nameless.nodes

expect 'a verb that is nearly one' 2 'there is no verb "captur": did you mean "capture"?' "$ravel" captur
expect 'letters exchanged' 2 'did you mean "nesting"?' "$ravel" nestnig
expect 'the start of a verb' 2 'did you mean "stats"?' "$ravel" st
expect 'a verb like none' 2 'ravel --help lists them' "$ravel" frobnicate
"$ravel" >out 2>usage
says 'no verb: the verbs are listed' '^  capture ' usage
expect 'an unknown option' 2 'ravel nesting --help lists the options' "$ravel" nesting -r good.trace
expect 'no trace' 2 'expected a file, or - for standard input' "$ravel" nesting
expect 'two traces' 2 '2 traces named: expected one' "$ravel" stats good.trace good.trace
expect 'nothing to capture' 2 'name a file with -r FILE or an interface with -i IF' "$ravel" capture
expect 'no such trace' 3 'no.trace: cannot open: No such file' "$ravel" nesting no.trace

expect 'nesting of a capture' 3 'make one with ravel capture -r shop.pcap.zst' "$ravel" nesting shop.pcap.zst
expect 'stats of a capture' 3 'this is a packet capture, expected a trace' "$ravel" stats shop.pcap.zst
"$ravel" capture -r shop.pcap.zst -c 50 -w 50.trace 2>/dev/null
expect 'capture of a trace' 3 'this is a trace, expected a packet capture' "$ravel" capture -r 50.trace
expect 'capture of the start of a trace' 3 'this is a trace' "$ravel" capture -r calls.trace
expect 'capture of something else' 3 'not a packet capture (pcap or pcapng)' "$ravel" capture -r bad.nodes

expect 'a name file with a wrong address' 3 'bad.nodes:2: "10.0.0.300" is not an address' \
	"$ravel" capture -r shop.pcap.zst --nodes bad.nodes
expect 'a name file with the name first' 3 'expected lines such as "10.0.0.5 db"' \
	"$ravel" capture -r shop.pcap.zst --nodes hosts.nodes
expect 'a name file without a name' 3 'nameless.nodes:1: "10.0.0.5" has no name after it' \
	"$ravel" capture -r shop.pcap.zst --nodes nameless.nodes

printf '10.0.0.1 one\n10.0.0.2 two\n' >other.nodes
"$ravel" capture -r shop.pcap.zst --nodes other.nodes -w /dev/null 2>err
says 'names of nodes that are not there' '--nodes other.nodes: it names no address that was seen$' err
{
	cat "$source/demo/shop.nodes"
	echo '10.83.0.20 proxy'
} >two.nodes
"$ravel" capture -r shop.pcap.zst --nodes two.nodes -w /dev/null 2>err
says 'an address with two names' '--nodes two.nodes: 10.83.0.20 is lb and proxy: the first counts$' err
echo '10.83.0.31 web7 # and one more' >>two.nodes
"$ravel" capture -r shop.pcap.zst --nodes two.nodes -w /dev/null 2>err
says 'two of them' 'is lb and proxy, and 1 more lines are such: the first counts$' err
cat "$source/demo/shop.nodes" "$source/demo/shop.nodes" >same.nodes
"$ravel" capture -r shop.pcap.zst --nodes same.nodes -w /dev/null 2>err
grep -c -- '--nodes' err >count
says 'the same name twice is none' '^0$' count
expect 'no number of patterns' 2 'found "-n -5", expected a number of patterns; 0 is all' "$ravel" nesting -n -5 good.trace
expect 'and attached' 2 'found "-n -5"' "$ravel" convolution -n-5 good.trace
expect 'a node to leave out that is not there' 0 'no message is from or to a node "c" (--exclude)' \
	"$ravel" stats --exclude c good.trace
expect 'all nodes left out' 0 '--exclude leaves no messages' \
	"$ravel" stats --exclude a good.trace
printf '1.0 CALL_SENT web1 db 1\n2.0 RET_SENT db web1 1\n' >web.trace
expect 'a node to leave out that is nearly there' 0 '"wbe1" (--exclude): did you mean "web1"?' \
	"$ravel" stats --exclude wbe1 web.trace
expect 'times after the trace' 0 \
	'it spans 1970-01-01T00:00:01.000000000Z to 1970-01-01T00:00:02.000000000Z' \
	"$ravel" nesting --from 2026-01-01 good.trace
expect 'times before it' 0 'no messages in the time of --from and --to' "$ravel" stats --to 0.5 good.trace

"$ravel" nesting -o my.sqlite good.trace >out
expect 'nesting of a store' 3 'this is a store, expected a trace: ravel report, query, export, variance, diff, trend and score read it' \
	"$ravel" nesting my.sqlite
expect 'merge of a store' 3 'this is a store, expected a trace' "$ravel" merge good.trace my.sqlite
expect 'capture of a store' 3 'this is a store, expected a packet capture' "$ravel" capture -r my.sqlite
for verb in query export diff score variance whatif advise; do
	case $verb in
	query) more=('SELECT 1') ;;
	export) more=(--as tsv) ;;
	diff | score) more=(my.sqlite) ;;
	*) more=() ;;
	esac
	expect "$verb of a trace" 3 'this is a trace, expected a store: make one with ravel nesting -o FILE.sqlite good.trace' \
		"$ravel" $verb good.trace "${more[@]}"
	expect "$verb of a capture" 3 'make a trace of it with ravel capture -r shop.pcap.zst -w FILE, and a store of that' \
		"$ravel" $verb shop.pcap.zst "${more[@]}"
done
gzip -c good.trace >good.trace.gz
expect 'variance of a compressed trace' 3 'this is a trace, expected a store' "$ravel" variance good.trace.gz
expect 'report of nothing' 2 'no file named: expected a capture of packets, a trace, or a store' "$ravel" report
expect 'report of another file' 3 'expected an SQLite database made with -o, or a capture of packets, or a trace' \
	"$ravel" report "$source/demo/shop.nodes"
expect 'report of a store and a trace' 2 'this is a store, expected captures or traces where several are named' \
	"$ravel" report good.trace my.sqlite
expect 'report of a file that is not there, and a trace' 2 'this is none, expected captures or traces' \
	"$ravel" report good.trace nosuch
printf '\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0' >header.pcap
: >nothing
expect 'an option that is nearly one' 2 'Unknown option --node: did you mean --nodes?' \
	"$ravel" capture --node bad.nodes -r header.pcap
expect 'an option with its value that is nearly one' 2 'did you mean --method?' \
	"$ravel" nesting --metod=paper good.trace
expect 'an option like none' 2 'Unknown option --frobnicate (ravel why --help lists the options)' \
	"$ravel" why --frobnicate my.sqlite
expect 'a duration without its unit' 2 '"2" has no unit: did you mean 2s or 2ms?' \
	"$ravel" capture -i lo --duration 2
expect 'a duration that is none' 2 '"soon" is not a duration: expected a number with a unit' \
	"$ravel" capture -i lo --duration soon
expect 'a capture without a packet' 1 'header.pcap: no packet in it' "$ravel" capture -r header.pcap
expect 'a filter that no packet passes' 1 'shop.pcap.zst: no packet passes the filter' \
	"$ravel" capture -r shop.pcap.zst -f 'port 1'
expect 'an empty file as a capture' 3 'nothing: empty, expected a packet capture' "$ravel" capture -r nothing
expect 'an empty file as a trace' 1 'nothing: no messages in it' "$ravel" nesting nothing
expect 'an empty file as a store' 3 'nothing: not a store' "$ravel" why nothing
"$ravel" report -o none.html header.pcap 2>err
echo "$?, $(find . -name none.html | wc -l) pages" >count
says 'no page of nothing' '^1, 0 pages$' count
expect 'an output in a folder that is not there' 4 'no/x.html: cannot create it: No such file or directory' \
	"$ravel" report shop.pcap.zst -o no/x.html
expect 'an output that is a folder' 4 'cannot create it: Is a directory' "$ravel" nesting good.trace -w "$dir"
expect 'a store where no folder is' 4 'no/x.sqlite: cannot create it' "$ravel" nesting good.trace -o no/x.sqlite
expect 'a trace where no folder is' 4 'no/x.trace: cannot create it' "$ravel" capture -r shop.pcap.zst -w no/x.trace
expect 'a column that is not there' 2 'no such column: nodes; call has id, path, parent,' \
	"$ravel" query my.sqlite 'SELECT nodes FROM call'
expect 'a table that is not there' 2 'no such table: calls; there are ' "$ravel" query my.sqlite 'SELECT * FROM calls'
expect 'no SQL' 2 'arguments: 1, expected two: a store, and a question in SQL' "$ravel" query my.sqlite
expect 'SQL that writes' 2 'expected a SELECT' "$ravel" query my.sqlite 'DELETE FROM call'
expect 'one store for diff' 2 'stores named: 1, expected two' "$ravel" diff my.sqlite
"$ravel" diff my.sqlite ./my.sqlite >out 2>err
says 'a store compared with itself' 'my.sqlite and ./my.sqlite are one store, compared with itself' err
expect 'a store on standard input' 3 'standard input: expected a capture of packets or a trace' "$ravel" report -
expect 'a format that there is not' 2 'found "xml", expected --format ' "$ravel" query --format xml my.sqlite 'SELECT 1'
expect 'a method that there is not' 2 'found "best", expected --method ' "$ravel" nesting --method best good.trace
expect 'an unknown kind of export' 2 'expected --as ' "$ravel" export --as zipkin my.sqlite
cat shop.pcap.zst | "$ravel" report - -o piped.html 2>err
cat good.trace | "$ravel" report - -o piped-trace.html 2>>err
grep -c 'standard input: ravel report' piped.html piped-trace.html >count
says 'packets and a trace through a pipe' 'piped.html:1' count
says 'and a trace' 'piped-trace.html:1' count
# shellcheck disable=SC2046 # words
expect 'report of too many files' 2 '33 files, expected at most 32' "$ravel" report $(yes good.trace | head -33)
expect 'options of packets for a trace' 2 '--labels: expected a capture of packets with it' "$ravel" report --labels good.trace
expect 'options of nesting for a store' 2 '--method: expected a capture of packets or a trace with it' \
	"$ravel" report --method paper my.sqlite
expect 'a method that is none' 2 'expected --method joint, paper or oracle' "$ravel" report --method x good.trace

expect 'a trace without messages' 1 'empty.trace: no messages in it' "$ravel" nesting empty.trace
expect 'and its stats' 1 'empty.trace: no messages in it' "$ravel" stats empty.trace
expect 'calls only' 0 'none of 2 calls has a return: capture where both directions pass' "$ravel" nesting calls.trace
expect 'returns only' 0 'none of 2 returns has a call: capture where both directions pass' "$ravel" nesting returns.trace
expect 'nothing that matches' 0 "a return must have its call's id" "$ravel" nesting unmatched.trace
expect 'one-way messages only' 0 'only 2 one-way messages: nesting needs calls and returns' "$ravel" nesting one-way.trace
"$ravel" stats one-way.trace >out
says 'stats count them by edge' '^a > b +1$' out
"$ravel" stats good.trace >out
says 'stats have the latency of an edge' '^a > b +1 +[0-9.]+ +1\.00 s +1\.00 s' out

# What was captured and will not do is said after the line that counts.
live() { # NAME TEXT FILTER [NODES]
	"$ravel" capture -r loop.pcap ${4:+--nodes "$4"} -f "$3" -w /dev/null 2>err
	grep -v '^ravel capture: \(not \)\?fit for' err | sed 1d >line
	says "$1" "$2" line
	n=$((n + 1))
	if [ "$(wc -l <line)" = 1 ]; then
		echo "ok $n - and nothing else"
	else
		echo "not ok $n - and nothing else"
		sed 's/^/# /' line
		bad=1
	fi
}
python3 - <<'EOF' 2>/dev/null || : >loop.pcap
import struct
def packet(source, destination, ports, seq, ack, flags, payload):
    tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 65535, 0, 0) + payload
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0, source, destination)
    return ip + tcp
def connection(client, server):
    out, back = (client, server, (40000, 8080)), (server, client, (8080, 40000))
    yield packet(*out, 100, 0, 2, b"")
    yield packet(*back, 500, 101, 18, b"")
    yield packet(*out, 101, 501, 24, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    yield packet(*back, 501, 128, 24, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
def write(name, packets):
    with open(name, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for i, p in enumerate(packets):
            file.write(struct.pack("<IIII", 1000, i, len(p), len(p)) + p)
loop, one, two = b"\x7f\0\0\1", b"\x0a\0\0\1", b"\x0a\0\0\2"
write("loop.pcap", [*connection(loop, loop), *connection(one, two)])
EOF
if [ -s loop.pcap ]; then
	printf '127.0.0.1:8080 web\n' >ports.nodes
	live 'everything on 127.0.0.1' 'everything talks to itself on one address: name the services by port with --nodes' 'net 127'
	live 'the way there only' 'only one direction of every connection was seen' 'net 10 and dst port 8080'
	live 'the way back only' 'only one direction of every connection was seen' 'net 10 and src port 8080'
	live 'no call' 'no call was found: check the interface, the filter' 'net 10 and tcp[tcpflags] & tcp-syn != 0'
fi

expect 'no such interface' 3 'there is no interface "nosuch0"; there are: ' "$ravel" capture -i nosuch0
says 'those that there are' 'there are: .*\blo\b' err
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 .
	cp "$ravel" program
	expect 'no permission to capture' 3 "CAP_NET_RAW, not root; give it once with: sudo setcap cap_net_raw=ep $dir/program" \
		setpriv --reuid=65534 --regid=65534 --clear-groups ./program capture -i lo -w /dev/null
fi
echo "1..$n"
exit $bad
