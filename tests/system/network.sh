# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# For scripts that run servers in network namespaces on one bridge: to be sourced by bash.
#
# All of it lives in a private network and process namespace: it cannot meet anything else
# on the machine, nor another run of itself, and the kernel ends every process and removes
# every interface when the script ends, in whatever way. Not root, it uses a user
# namespace where the system allows one.

PATH=$PATH:/usr/sbin:/sbin
unshare_options=(--net --ipc --pid --fork --kill-child)
[ "$(id -u)" = 0 ] || unshare_options+=(--user --map-root-user)

why_no_network() { # a line each; nothing if it can be had
	local program
	for program in ip unshare setpriv; do
		command -v "$program" >/dev/null || echo "$program is not installed"
	done
	unshare "${unshare_options[@]}" true 2>/dev/null ||
		echo "network namespaces cannot be made (neither root with CAP_SYS_ADMIN nor user namespaces)"
	unshare "${unshare_options[@]}" ip link add ravel0 type bridge 2>/dev/null ||
		echo "no bridge can be made (CAP_NET_ADMIN, and the kernel's bridge module)"
}

# --- the outer half -----------------------------------------------------------------

# Runs the command in namespaces of its own, as process 1 of them, for so many seconds at
# most; WORK is a folder that is there as long. Returns its status. Sets traps.
in_namespaces() { # SECONDS COMMAND...
	local limit=$1 status=0
	shift
	work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-testbed.XXXXXX")
	# Who dies takes the next one along: this shell, timeout, unshare, process 1.
	local with_parent=(setpriv --pdeathsig KILL)
	namespaces=''
	# shellcheck disable=SC2317 # it is reached, by the trap
	clean_up() {
		if [ -n "$namespaces" ]; then
			kill -KILL "$namespaces"
			wait "$namespaces" || true
		fi 2>/dev/null
		for _ in 1 2 3 4 5; do # the kernel may need a moment for all of them
			! rm -rf "$work" 2>/dev/null || break
			sleep 0.2
		done
	}
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	# Programs that look themselves up in /proc find themselves, where it can be had.
	! unshare "${unshare_options[@]}" --mount-proc true 2>/dev/null || unshare_options+=(--mount-proc)
	WORK=$work "${with_parent[@]}" timeout -s KILL "$limit" "${with_parent[@]}" \
		unshare "${unshare_options[@]}" -- "$@" &
	namespaces=$!
	wait "$namespaces" || status=$? # waiting, unlike running it, can be interrupted
	namespaces=''
	[ "$status" = 0 ] || {
		echo "${0##*/}: failed ($status); the end of its logs:" >&2
		find "$work" -name '*.err' -size +0 -exec tail -v -n 5 {} + >&2 || true
	}
	return "$status"
}

# --- the inner half: process 1 of its namespace -------------------------------------

# shellcheck disable=SC2016 # expanded where it is evaluated
quiet_ipv6='for f in all default; do
	echo 1 >"/proc/sys/net/ipv6/conf/$f/disable_ipv6" || true
done 2>/dev/null'
pids=()

# The bridge is ravel0. Nodes are those of standard input, "ADDRESS NAME" a line; they
# come to $work/nodes.
begin_network() {
	trap 'exit 143' INT TERM
	work=${WORK:?}
	chmod 711 "$work" # servers that run as other users pass through
	cat >"$work/nodes"
	eval "$quiet_ipv6" # no neighbour discovery among the measured packets
	ip link set lo up
	ip link add ravel0 type bridge
	ip link set ravel0 up
}

address() { awk -v name="$1" '$2 == name { print $1 }' "$work/nodes"; }

await() { # WHAT COMMAND...
	local what=$1 turn
	shift
	for ((turn = 0; turn < 600; turn++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.05
	done
	echo "${0##*/}: waited too long: $what" >&2
	exit 1
}

# Starts a command in a network namespace of its own, with a cable to the bridge.
# The cable is made in there, and its other end handed out to us, process 1. The
# hardware address goes with the node, whose next cable may then replace this one.
serial=0
start() { # NODE COMMAND...
	local node=$1 address
	address=$(address "$node")
	shift
	serial=$((serial + 1))
	# shellcheck disable=SC2016 # expanded inside
	unshare --net -- bash -c 'set -eu
		eval "$1"
		ip link set lo up
		ip link add eth0 address "$2" type veth peer name "$3" netns 1
		ip address add "$4/24" dev eth0
		ip link set eth0 up
		until ip link show dev eth0 | grep -q LOWER_UP; do sleep 0.01; done
		shift 4
		exec "$@"' start "$quiet_ipv6" "02:00:00:00:00:${address##*.}" "cable$serial" "$address" \
		"$@" >>"$work/$node.err" 2>&1 &
	pids+=($!)
	await "the cable of $node" ip link show dev "cable$serial"
	ip link set "cable$serial" master ravel0
	ip link set "cable$serial" up # last: who waits for a carrier may then speak
}

run() { # NODE COMMAND...: until it ends; its status is ours
	start "$@"
	wait "${pids[-1]}"
	unset 'pids[-1]'
}

captures=()
capture() { # COMMAND...: returns when it listens
	local before
	before=$(wc -l </proc/net/packet)
	# A background job of a script would be born deaf to SIGINT.
	env --default-signal=INT "$@" 2>"$work/capture.err" &
	captures+=($!)
	# shellcheck disable=SC2016 # expanded inside
	await "$1 listens" bash -c '[ $(wc -l </proc/net/packet) -gt $1 ] || ! kill -0 $2' listens "$before" $!
	sleep 0.3 # between having the socket and being ready
}

end_captures() {
	local pid
	sleep 0.5 # the last packets reach them
	for pid in "${captures[@]}"; do
		kill -INT "$pid" 2>/dev/null || true # it may have ended, badly
		wait "$pid" || { echo "${0##*/}: a capture ended with status $?" >&2; exit 1; }
	done
	captures=()
}

# --- of tests, in there --------------------------------------------------------------

listens() { # NODE PORT
	(: <"/dev/tcp/$(address "$1")/$2") 2>/dev/null
}

why_not() { # PROGRAM...
	local program
	for program; do
		command -v "$program" >/dev/null || echo "$program is not installed"
	done
}

tests=0
result() { # STATUS NAME
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then echo "ok $tests - $2"; else echo "not ok $tests - $2"; fi
}

# --- servers of several tests ---------------------------------------------------------

nginx_paths() { # for its configuration: all that it writes is in $work
	local kind
	echo "client_body_temp_path $work/nginx-body;"
	for kind in proxy fastcgi uwsgi scgi; do
		echo "${kind}_temp_path $work/nginx-$kind;"
	done
}

find_postgres() { # the newest installed
	local found
	found=$(find /usr/lib/postgresql/*/bin -name initdb 2>/dev/null | sort -V | tail -n 1)
	echo "${found%/initdb}"
}

why_no_postgres() { [ -n "$(find_postgres)" ] || echo "PostgreSQL's server is not installed"; }

# At the node postgres, for the user shop; it is fast rather than safe.
start_postgres() { # SETTING...
	local database=$work/database postgres user group unprivileged setting settings=()
	postgres=$(find_postgres)
	mkdir "$database"
	if grep -q 4294967295 /proc/self/uid_map; then
		user=$(id -u postgres 2>/dev/null || id -u nobody)
		group=$(id -g postgres 2>/dev/null || id -g nobody)
		chown "$user:$group" "$database"
		unprivileged=(setpriv "--reuid=$user" "--regid=$group" --clear-groups)
	else # only one user is mapped: give it another name
		unprivileged=(unshare --user "--map-user=$(id -u nobody)" "--map-group=$(id -g nobody)")
	fi
	(
		cd "$database" || exit
		"${unprivileged[@]}" "$postgres/initdb" --no-sync --auth=trust --username=shop \
			--locale=C --encoding=UTF8 -D "$database"
	) >"$work/initdb.err" 2>&1
	rm "$work/initdb.err"
	for setting in "listen_addresses=$(address postgres)" unix_socket_directories= fsync=off \
		synchronous_commit=off full_page_writes=off shared_buffers=16MB log_min_messages=fatal \
		dynamic_shared_memory_type=mmap "$@"; do
		settings+=(-c "$setting")
	done
	echo 'host all all samenet trust' >>"$database/pg_hba.conf"
	start postgres "${unprivileged[@]}" "$postgres/postgres" -D "$database" "${settings[@]}"
}
