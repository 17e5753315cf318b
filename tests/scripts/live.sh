#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel capture while packets come: from a pipe, whose messages must be written when it
# is quiet and not only when it ends, and from two interfaces at once; each ended by a
# signal. TAP. The interfaces are in network namespaces of its own.
set -u
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
ravel=$(realpath "${RAVEL:-./ravel}")
PATH=$PATH:/usr/sbin:/sbin
tests=0

command -v zstd >/dev/null || {
	echo "1..0 # SKIP zstd is not installed"
	exit 0
}

result() { # STATUS NAME
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then echo "ok $tests - $2"; else echo "not ok $tests - $2"; fi
}

await() { # COMMAND...: until it succeeds, 10 seconds at most
	local turn
	for ((turn = 0; turn < 100; turn++)); do
		! "$@" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

has_lines() { # FILE N
	[ "$(grep -vc '^#' "$1")" -ge "$2" ]
}

# The shell starts background jobs deaf to SIGINT, and nohup all of them to SIGHUP.
background=(env '--default-signal=INT,HUP')

# A trace that is whole, of so many calls, in order.
check_trace() { # TRACE CALLS NAME
	"$ravel" stats "$1" 2>"$work/stats.err" | tr -d , >"$work/stats"
	grep -q "^calls *$2 with a return 0 without; 0 returns without a call" "$work/stats" &&
		[ ! -s "$work/stats.err" ] && tail -n 1 "$1" | grep -q '^# judgement: fit for nesting'
	result $? "$3: a whole trace of $2 calls"
}

pipes() {
	local form signal pid
	zstd -q -dc "$source/demo/shop.pcap.zst" >"$work/shop.pcap"
	gzip -c "$work/shop.pcap" >"$work/shop.pcap.gz"
	for form in shop.pcap shop.pcap.gz; do
		for signal in INT TERM HUP; do
			rm -f "$work/pipe" "$work/trace"
			mkfifo "$work/pipe"
			"${background[@]}" "$ravel" capture -r "$work/pipe" --nodes "$source/demo/shop.nodes" \
				-w "$work/trace" 2>"$work/err" &
			pid=$!
			exec 3>"$work/pipe"
			cat "$work/$form" >&3
			# All but the last, whose last message may have more bytes to come.
			await has_lines "$work/trace" 17170
			result $? "$form from a pipe: written while it is open"
			kill -"$signal" "$pid"
			[ "$signal" != HUP ] || kill -HUP "$pid" # a shell and the kernel, both
			wait "$pid"
			result $? "$form from a pipe: ended by SIG$signal"
			exec 3>&-
			check_trace "$work/trace" 8587 "$form from a pipe, SIG$signal"
		done
	done

	rm -f "$work/pipe" "$work/trace"
	mkfifo "$work/pipe"
	"${background[@]}" nohup "$ravel" capture -r "$work/pipe" --nodes "$source/demo/shop.nodes" \
		-w "$work/trace" 2>"$work/err" >/dev/null &
	pid=$!
	exec 3>"$work/pipe"
	kill -HUP "$pid"
	cat "$work/shop.pcap" >&3
	await has_lines "$work/trace" 17170
	kill -INT "$pid"
	wait "$pid"
	result $? "nohup: SIGHUP does not end it"
	exec 3>&-
	check_trace "$work/trace" 8587 "nohup"

	mkfifo "$work/silent"
	exec 3<>"$work/silent"
	"${background[@]}" "$ravel" capture -r "$work/silent" -w "$work/silent.trace" 2>"$work/err" &
	pid=$!
	sleep 0.5
	kill -INT "$pid"
	wait "$pid"
	[ $? = 130 ]
	result $? "a pipe that says nothing: ended by SIGINT"
	exec 3>&-
}

unshare_options=(--net)
[ "$(id -u)" = 0 ] || unshare_options+=(--user --map-root-user)

why_no_interfaces() {
	local program
	for program in ip unshare python3; do
		command -v "$program" >/dev/null || echo "$program is not installed"
	done
	unshare "${unshare_options[@]}" ip link add ravel0 type veth peer name ravel1 2>/dev/null ||
		echo "no network namespaces (neither root with CAP_SYS_ADMIN nor user namespaces)"
}

requests=50 # to each address
client="
import http.client, sys
servers = [http.client.HTTPConnection(a, 8080) for a in sys.argv[1:] or ('10.84.1.1', '10.84.2.1')]
for n in range($requests):
    for server in servers:
        server.request('GET', '/')
        server.getresponse().read()
"
server="
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        self.send_response(204)
        self.end_headers()
    def log_message(self, *arguments):
        pass
http.server.ThreadingHTTPServer(('', 8080), Handler).serve_forever()
"

listens() { # N: so many packet sockets
	[ "$(wc -l </proc/net/packet)" -gt "$1" ]
}

# A trace a second, two of them, written as somebody who might not capture.
rotated() {
	local pid
	mkdir -m 777 "$work/rotated"
	chmod 711 "$work"
	"${background[@]}" "$ravel" capture -i any -f 'tcp port 8080' ${RAVEL_USER:+-Z $RAVEL_USER} -G 1 -W 2 -p -s 2000 \
		-B 4096 -w "$work/rotated/%s" 2>"$work/rotated.err" &
	pid=$!
	await listens 0
	sleep 0.3
	for ((n = 0; n < 30; n++)); do
		kill -0 "$pid" 2>/dev/null || break
		"${other[@]}" python3 -c "$client"
		sleep 0.1
	done
	wait "$pid"
	echo $? >"$work/status.rotated"
}

late() { # TRACE: messages that come after later ones
	grep -v '^#' "$1" | awk '$1 < last { n++ } { last = $1 } END { print n + 0 }'
}

# Every thread's user, groups, capabilities, and whether it can get new ones; and whose a file is.
say_rights() { # PID FILE
	cat "/proc/$1/task"/*/status | awk -v file="$(stat -c %u "$2")" '
		/^Uid:/ { user[$2 " " $3 " " $4] } /^Groups:/ { groups = groups $2 }
		/^Cap(Inh|Prm|Eff|Amb):/ && $2 !~ /^0*$/ { caps = "some" } /^NoNewPrivs:/ { new[$2] }
		END { for (u in user) users = users u ";"; for (n in new) news = news n
			print users, "groups=" groups, "capabilities=" caps, "nnp=" news, "file=" file }'
}

# What a live capture may still do when packets come, and whose its trace is: a line a case.
rights() {
	local pid case
	mkdir "$work/theirs" "$work/ours" "$work/closed"
	mkdir "$work/closed/theirs"
	chown 4242 "$work/theirs" "$work/closed/theirs" 2>/dev/null
	chmod 700 "$work/closed"
	for case in sudo folder nobody root rotate; do
		local before=() options=(-w "$work/ours/$case") file=$work/ours/$case
		case $case in
		sudo) before=(SUDO_UID=4711 SUDO_GID=4712) ;;
		folder) file=$work/theirs/folder options=(-w "$work/theirs/folder") before=(SUDO_UID=0) ;;
		root) options+=(-Z root) ;;
		rotate) file=$work/closed/theirs/1 options=(-w "$work/closed/theirs/%Y" -G 1000000000) ;;
		esac
		: >"$work/err" # what the one before said, says nothing of this
		env "${before[@]}" "${background[@]}" "$ravel" capture -i lo "${options[@]}" 2>"$work/err" &
		pid=$!
		await grep -q listening "$work/err"
		python3 -c 'import socket; socket.create_connection(("127.0.0.1", 8080), 1)'
		python3 -c "$client" 127.0.0.1
		sleep 1
		kill -STOP "$pid"
		[ "$case" != rotate ] || file=$(echo "$work/closed/theirs"/*)
		echo "$case $(say_rights "$pid" "$file")"
		kill -CONT "$pid"
		kill -INT "$pid"
		wait "$pid"
	done >"$work/rights"
	ln -s "$work/ours/root" "$work/theirs/link"
	"${background[@]}" "$ravel" capture -i lo -w "$work/theirs/link" --duration 1s 2>"$work/err"
	echo "link $(stat -c %u "$work/ours/root")" >>"$work/rights"
	"${background[@]}" "$ravel" capture -i lo -w "$work/ours/%s" -G 1 --duration 1s 2>"$work/rights.err"
	echo "closed $?" >>"$work/rights"
}

# tcpdump's options: what comes in to this side only, as it comes. As it comes, the kernel's buffer has
# room for few packets, of which a busy machine loses some, unless it is larger (-B).
direction() {
	local pid
	echo 'tcp port 8080' >"$work/filter"
	"${background[@]}" "$ravel" capture -i tap1 -Q in -y EN10MB --immediate-mode -nUF "$work/filter" -B 65536 \
		-w "$work/direction" 2>"$work/direction.err" &
	pid=$!
	await grep -q listening "$work/direction.err"
	"${other[@]}" python3 -c "$client" 10.84.1.1
	await has_lines "$work/direction" $requests
	kill -INT "$pid"
	wait "$pid"
	"$ravel" capture -i tap1 -y NOSUCH 2>"$work/link-type.err"
	echo $? >"$work/status.link-type"
}

# Stopped while packets come, as a computer does that has too much to do; then one of the
# two goes down and up, and away.
changing() {
	local pid turn
	"${background[@]}" "$ravel" capture -i tap1 -i tap2 -f 'tcp port 8080' -w "$work/changing" \
		2>"$work/changing.err" &
	pid=$!
	await listens 2
	sleep 0.3
	for turn in 1 2 3; do
		"${other[@]}" python3 -c "$client" &
		sleep 0.2
		kill -STOP "$pid"
		wait $!
		sleep 0.5
		kill -CONT "$pid"
	done
	ip link set tap2 down
	await grep -q 'tap2 went down' "$work/changing.err"
	ip link set tap2 up
	await grep -q 'tap2 is up again' "$work/changing.err"
	"${other[@]}" python3 -c "$client"
	kill -STOP "$pid" # so that it has not read all when the interface goes
	"${other[@]}" python3 -c "$client"
	ip link delete tap2
	kill -CONT "$pid"
	await grep -q 'tap2 is gone' "$work/changing.err"
	"${other[@]}" python3 -c "$client" 10.84.1.1
	sleep 0.5
	kill -INT "$pid"
	wait "$pid"
	echo $? >"$work/status.changing"
}

# In the namespace of the server: a cable each to two addresses of one client.
interfaces() {
	local signal pid peer other n
	trap 'kill $(jobs -p)' EXIT
	unshare --net bash -c "touch '$work/ready'; exec sleep 60" &
	peer=$!
	other=(nsenter "--net=/proc/$peer/ns/net")
	await test -e "$work/ready" || return
	ip link set lo up
	for n in 1 2; do
		ip link add tap$n type veth peer name eth$n netns "$peer"
		ip address add 10.84.$n.1/24 dev tap$n
		ip link set tap$n up
		"${other[@]}" ip address add 10.84.$n.2/24 dev eth$n
		"${other[@]}" ip link set eth$n up
	done
	python3 -c "$server" &
	await python3 -c 'import socket; socket.create_connection(("10.84.1.1", 8080), 1)' || return
	for signal in INT TERM HUP; do
		"${background[@]}" "$ravel" capture -i tap1 -i tap2 -f 'tcp port 8080' \
			-w "$work/live.$signal" 2>"$work/err" &
		pid=$!
		await listens 2
		sleep 0.3 # between having the sockets and being ready
		"${other[@]}" python3 -c "$client"
		sleep 0.5 # the last packets reach the capture
		kill -USR1 "$pid"
		await grep -q 'packets captured' "$work/err"
		kill -"$signal" "$pid"
		wait "$pid"
		echo $? >"$work/status.$signal"
		cp "$work/err" "$work/err.$signal"
	done
	rotated
	direction
	changing
	[ "$(id -u)" != 0 ] || rights
}

if [ "${1-}" = --interfaces ]; then
	work=$2
	interfaces
	exit
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-live.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
pipes
"$ravel" capture -D | grep -qE '^[0-9]+\.lo .*loopback$'
result $? "-D: the interfaces"
reason=$(why_no_interfaces | head -n 1)
if [ "$reason" ]; then
	tests=$((tests + 1))
	echo "ok $tests - two interfaces # SKIP $reason"
else
	# Without root there is nobody else in the namespace.
	[ "$(id -u)" != 0 ] || export RAVEL_USER=nobody
	RAVEL=$ravel unshare "${unshare_options[@]}" -- bash "$0" --interfaces "$work"
	for signal in INT TERM HUP; do
		[ "$(cat "$work/status.$signal")" = 0 ]
		result $? "two interfaces: ended by SIG$signal"
		check_trace "$work/live.$signal" $((2 * requests)) "two interfaces, SIG$signal"
		[ "$(grep -c '10\.84\.2\.2.10\.84\.2\.1' "$work/live.$signal")" = $requests ]
		result $? "two interfaces, SIG$signal: the calls on each"
		[ "$(grep -cE '^ravel capture: [0-9]+ packets captured, [0-9]+ packets received by filter, 0 packets dropped by kernel$' \
			"$work/err.$signal")" = 2 ]
		result $? "two interfaces: the counts after SIGUSR1, and after SIG$signal"
		grep -q '^# packets dropped by the kernel: 0$' "$work/live.$signal"
		result $? "two interfaces, SIG$signal: the trace says that nothing was dropped"
	done
	[ "$(grep -c CALL_SENT.10.84.1.2 "$work/direction")" = $requests ] && ! grep -q RET_SENT "$work/direction"
	result $? "-Q in: calls without returns"
	grep -q '^ravel capture: -y NOSUCH: there is no such link type$' "$work/link-type.err" &&
		[ "$(cat "$work/status.link-type")" = 2 ]
	result $? "-y: a link type that there is not"
	[ "$(cat "$work/status.changing")" = 0 ] &&
		[ "$(grep -c '^# interface event: [0-9.]* tap2 \(went down\|is up again\|is gone;.*\)$' "$work/changing")" -ge 3 ]
	result $? "an interface that goes down, up and away: it is said, and the other goes on"
	# Under load the kernel may drop packets: then it is said.
	dropped=$(sed -n 's/^# packets dropped by the kernel: //p' "$work/changing")
	for interface in 1 2; do
		calls=$(grep -c "CALL_SENT.10\.84\.$interface\.2.10\.84\.$interface\.1" "$work/changing")
		sent=$(((7 - interface) * requests))
		[ "$calls" = $sent ] || { [ "$calls" -ge $((sent - requests)) ] && [ "${dropped:-0}" -gt 0 ]; }
		result $? "an interface that is gone: on tap$interface $calls of $sent calls, $dropped packets dropped"
	done
	[ "$(late "$work/changing")" = 0 ]
	result $? "stopped while packets come: the trace is in order"
	traces=("$work/rotated"/*)
	[ "$(cat "$work/status.rotated")" = 0 ] && [ ${#traces[@]} = 2 ]
	result $? "-G 1 -W 2: two traces"
	for trace in "${traces[@]}"; do
		span=$(grep -v '^#' "$trace" | awk -v start="$(basename "$trace")" '
			$1 < start || $1 >= start + 2 { print "outside" } $2 == "CALL_SENT" { calls++ }
			END { if (calls < 10) print "empty" }')
		[ "$span" = '' ] && tail -n 1 "$trace" | grep -q '^# '
		result $? "-G 1: what is in $(basename "$trace") is of its time"
	done
	if [ "${RAVEL_USER-}" ]; then
		nobody=$(id -u nobody)
		none='groups= capabilities= nnp=1'
		while read -r case expected; do
			found=$(sed -n "s/^$case //p" "$work/rights")
			[ "$found" = "$expected" ]
			result $? "rights, $case: $found"
		done <<-END
			sudo 4711 4711 4711; $none file=4711
			folder 4242 4242 4242; $none file=4242
			nobody $nobody $nobody $nobody; $none file=$nobody
			root 0 0 0; groups= capabilities=some nnp=1 file=0
			rotate 4242 4242 4242; $none file=4242
			link 0
			closed 2
		END
		grep -q '^ravel capture: nobody may not write in the folder' "$work/rights.err"
		result $? "-G in a folder of root: it is said what to do"
		[ "$(stat -c %U "${traces[@]}" | sort -u)" = "$RAVEL_USER" ]
		result $? "-Z nobody: whose the traces are"
	fi
fi
echo "1..$tests"
