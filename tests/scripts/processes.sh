#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel capture --processes: callers on one address are named by their processes, in a network of
# the test's own. Needs root, and a kernel that lets it trace connections; else only that this is
# said. RAVEL_LONG=1: more connections. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
if [ "$(id -u)" != 0 ] || ! unshare -n true 2>/dev/null; then skip_all 'a network of its own needs root'; fi
if [ "${1-}" != inside ]; then
	unshare -n "$0" inside
	exit
fi
ip link set lo up || skip_all 'no loopback'
cd "$dir" || exit 99
chmod 755 .
listens() { # PORT
	local turn
	for ((turn = 0; turn < 100; turn++)); do
		! ss -Hltn "sport = :$1" | grep -q . || return 0
		sleep 0.1
	done
	return 1
}

ready() { # until the capture listens, for which there was an empty err
	local turn
	for ((turn = 0; turn < 300; turn++)); do
		! grep -q '^ravel capture: listening' err || return 0
		sleep 0.1
	done
}

begin() { # ARGUMENT...: a capture, which is ready when this returns
	: >err # what the one before said, says nothing of this
	"$ravel" capture -w trace "$@" 2>err &
	capture=$!
	ready
}

end() { # all packets have come: it has been quiet for a while
	sleep 1
	kill -TERM $capture
	wait $capture
}

skip() { # NAME REASON
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

begin -i lo --processes
end
traced=yes
if grep -q 'the kernel does not say who opens connections' err; then
	traced=
	echo "# $(grep -o 'kernel does not say.*' err)"
fi

# --- three services of Node, each call a connection of its own ------------------
three_services() {
	local pids=()
	node "$source/tests/scripts/processes.js" db 18203 & pids+=($!)
	node "$source/tests/scripts/processes.js" web 18202 18203 & pids+=($!)
	listens 18203
	listens 18202
	begin -i lo --processes --processes-to lines
	# It begins to listen after the capture began.
	node "$source/tests/scripts/processes.js" lb 18201 18202 & pids+=($!)
	listens 18201
	node "$source/tests/scripts/processes.js" user 0 18201
	end
	kill "${pids[@]}"
	"$ravel" nesting --calls calls trace >out 2>>err
	grep -q '^ *1  *200 .* user>lb(web(db))$' out && grep -q '^200 paths of 1 pattern' out &&
		grep -q 'fit for nesting' err
	result $? '200 of 200 requests have their path' out
	# Which connection caused which: "parent's port, port" by the services and by ravel.
	cat ./*.truth | sort >true
	awk -F '\t' 'NR > 1 { split($5, own, "."); split($9, of, "."); print of[1], own[1] }' calls |
		while read -r of own; do
			[ "$of" = - ] || of=$((16#$of))
			echo "$of $((16#$own))"
		done | sort >found
	[ "$(wc -l <true)" = 600 ] && comm -13 true found >wrong && ! [ -s wrong ]
	result $? 'and each call its parent' wrong
	[ "$(grep -c '^127.0.0.1:[0-9]*>127.0.0.1:1820[123] [a-z]* from [0-9.]*$' lines)" = 600 ] &&
		grep -q '^127.0.0.1:18201 lb from' lines && grep -q '^# process: db 127.0.0.1:18203' trace
	result $? 'its lines for --nodes name 600 connections, and the trace the services' lines
}

many_connections() {
	local n=8000 with without spent
	[ -z "${RAVEL_LONG:-}" ] || n=16000
	cat >many.py <<-'END'
		import socket, sys, threading
		s = socket.socket()
		# A second turn comes while the first's connections wait for their last packets.
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(('127.0.0.1', int(sys.argv[2])))
		s.listen(512)
		def serve():
		    while True:
		        c, _ = s.accept()
		        c.recv(10)
		        c.sendall(b'y' * 10)
		        c.close()
		threading.Thread(target=serve, daemon=True).start()
		for i in range(int(sys.argv[1])):
		    c = socket.create_connection(('127.0.0.1', int(sys.argv[2])))
		    c.sendall(b'x' * 10)
		    c.recv(20)
		    c.close()
	END
	# A machine that is busy with other things may lose some, and says so: not three times. The kernel
	# tells of the whole machine's connections: others may open some, beside.
	local turn opened
	for turn in 1 2 3; do
		for option in '' --processes; do
			# CPU time of the capture, in ticks of its process, of which it has stopped the rest.
			: >err
			"$ravel" capture -i lo -B 65536 -f 'tcp port 18300 or 18301' $option -w trace 2>err &
			capture=$!
			ready
			python3 many.py $n $((18300 + ${#option} / 11))
			sleep 1
			spent=$(awk '{ print $14 + $15 }' /proc/$capture/stat)
			kill -TERM $capture
			wait $capture
			[ "$option" ] && with=$spent || without=$spent
		done
		[ "$(grep -c "CALL_SENT" trace)" = $n ] &&
			[ "$(grep -o "is known by its process: .*" trace)" = "is known by its process: $n" ] &&
			opened=$(sed -n 's/^# processes: \([0-9]*\) connections opened, 0 of .*/\1/p' trace) &&
			[ "${opened:-0}" -ge $n ] && break
		{ echo "turn $turn: $(grep -c CALL_SENT trace) calls"; grep process trace; } >>err
		cat err >>turns
		false
	done
	result $? "of $n short connections none is lost" turns
	spent=$(((with - without) * 1000000 / $(getconf CLK_TCK) / n))
	echo "# $spent us of CPU each"
	[ $spent -le 15 ]
	result $? 'which take 15 us of CPU each, or less'
}

# --- one name in two cgroups, in two networks ------------------------------------
server='import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("", 18400)); s.listen(9)
while True:
    c, _ = s.accept(); c.recv(9); c.sendall(b"yes"); c.close()'
client='import socket, sys, time
if len(sys.argv) > 2: open(sys.argv[2] + "/cgroup.procs", "w").write("0")
for i in range(5):
    c = socket.create_connection((sys.argv[1], 18400)); c.sendall(b"x"); c.recv(9); c.close()
time.sleep(0.5)'

callers() {
	awk '$2 == "CALL_SENT" { print $3 }' trace | sort | uniq -c | sort -k 2 | awk '{ print $1, $2 }'
}

two_cgroups() {
	local root pid path
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	path=$root/ravel-test-$$
	if ! [ "$root" ] || ! mkdir "$path" "$path/one.service" "$path/two.service" 2>/dev/null; then
		skip 'one name in two cgroups' 'no cgroup can be made'
		return
	fi
	python3 -c "$server" &
	pid=$!
	listens 18400
	for how in unit cgroup; do
		begin -i lo -f 'tcp port 18400' --processes=$how
		python3 -c "$client" 127.0.0.1 "$path/one.service"
		python3 -c "$client" 127.0.0.1 "$path/two.service"
		end
		callers >found
		if [ $how = unit ]; then
			printf '5 one\n5 two\n'
		else
			printf '5 %s\n' "ravel-test-$$/one.service" "ravel-test-$$/two.service"
		fi | cmp - found
		result $? "one name in two cgroups, by $how" found
	done
	kill $pid
	rmdir "$path/one.service" "$path/two.service" "$path"
}

two_networks() {
	local pids=() n pid
	ip link add br0 type bridge && ip addr add 10.9.0.1/24 dev br0 && ip link set br0 up || return
	for n in 2 3; do
		unshare -n sleep 60 & pids+=($!)
		ip link add "v$n" type veth peer name eth0
		sleep 0.3
		ip link set eth0 netns "${pids[-1]}" && ip link set "v$n" master br0 up
		nsenter -n -t "${pids[-1]}" sh -c "ip addr add 10.9.0.$n/24 dev eth0; ip link set eth0 up; ip link set lo up"
	done
	python3 -c "$server" & pids+=($!)
	listens 18400
	begin -i br0 -f 'tcp port 18400' --processes
	for pid in "${pids[@]:0:2}"; do
		nsenter -n -t "$pid" python3 -c "$client" 10.9.0.1
	done
	# The loopback's addresses of another network are none of ours.
	nsenter -n -t "${pids[0]}" python3 -c "$server" & pids+=($!)
	sleep 1
	nsenter -n -t "${pids[0]}" python3 -c "$client" 127.0.0.1
	end
	kill "${pids[@]}"
	callers >found
	# Who listens has a number, which is its port, or there is only the name.
	[ "$(wc -l <found)" = 2 ] && [ "$(grep -c '^5 python3' found)" = 2 ] &&
		[ "$(grep -o 'is known by its process: .*' trace)" = '' ]
	result $? 'one name in two networks' found
}

# --- without rights ----------------------------------------------------------------
without_rights() {
	local run=(setpriv --reuid=65534 --regid=65534 --clear-groups env PATH=/usr/bin:/bin) pid
	mkdir -m 777 other
	"${run[@]}" python3 -c "$server" &
	pid=$!
	listens 18400
	: >err
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+net_raw --ambient-caps=+net_raw "$ravel" capture -i lo -f 'tcp port 18400' \
		--processes -w other/trace 2>err &
	capture=$!
	ready
	# Connections that last.
	"${run[@]}" python3 -c 'import socket, time
for i in range(3):
    c = socket.create_connection(("127.0.0.1", 18400)); time.sleep(1.5); c.sendall(b"x"); c.recv(9); c.close()'
	end
	kill $pid
	cp other/trace trace
	[ "$(grep -c 'the kernel does not say who opens connections (.*CAP_PERFMON and tracefs): polling /proc' err)" = 1 ]
	result $? 'without rights one line says what is missed' err
	[ "$(callers | sed 's/-[0-9]*$//')" = '3 python3' ] && grep -q '^# processes: by looking at /proc' trace
	result $? 'and connections that last are named by /proc' err
}

if [ "$traced" ]; then
	if command -v node >/dev/null; then
		three_services
	else
		skip 'three services' 'node is not installed'
	fi
	many_connections
	two_cgroups
	two_networks
fi
if setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+net_raw --ambient-caps=+net_raw \
	test -x "$ravel" 2>/dev/null; then
	without_rights
else
	skip 'without rights' 'no setpriv, or others may not run this program'
fi
finish
