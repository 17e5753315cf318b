#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The system test of blame: real servers with planted faults, captured live on their
# bridge. Requests that were hit must have their additional time where it was planted, and
# all others the own times that their packets say, to 1 %. TAP. RAVEL names the program, arguments name
# cases, KEEP a folder for what was captured. Takes about two minutes; needs root, or user
# namespaces.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=network.sh
. "$here/network.sh"
ravel=$(realpath "${RAVEL:-$here/../../build/ravel}")
export PYTHONDONTWRITEBYTECODE=1
cases=(lost random delay slow pieces nginx haproxy grpc postgres redis dns pool)

if [ "${1-}" != --inside ]; then
	reason=$(why_no_network | head -n 1)
	if [ "$reason" ]; then
		echo "1..0 # SKIP $reason"
		exit 0
	fi
	RAVEL=$ravel in_namespaces 300 bash "$0" --inside "$@"
	exit
fi
shift
[ $# = 0 ] || cases=("$@")

# --- process 1 of its namespaces --------------------------------------------------

begin_network <<-EOF
	10.88.0.10 client
	10.88.0.20 web
	10.88.0.30 db
	10.88.0.31 db2
	10.88.0.40 lb
	10.88.0.50 postgres
	10.88.0.60 redis
	10.88.0.70 dns
	10.88.0.80 grpc
EOF
ip link set ravel0 address 02:00:00:00:00:01 # otherwise it changes with the ports
ip address add 10.88.0.1/24 dev ravel0       # to see who listens
python=$(command -v /usr/bin/python3 || command -v python3)

serve() { # NODE [POOL]
	start "$1" "$python" "$here/faults.py" serve "$work/nodes" "$@"
	await "$1 listens" listens "$1" 8000
}

load() { # [-c CLIENTS] ROUNDS PATH...
	run client "$python" "$here/faults.py" load "$(address "$target"):8000" "$work/log" "$@"
}

# The cable leads to a bridge of its own from now on, which a bad link joins to ravel0.
bridges=()
bad_link() { # CABLE BRIDGE DELAY-MS SHARE WORD...: see faults.py
	local cable=$1
	shift
	ip link add "$1" type bridge
	bridges+=("$1")
	ip link set "$1" up
	ip link set "$cable" master "$1"
	"$python" "$here/faults.py" link ravel0 "$@" 2>>"$work/link.err" &
	pids+=($!)
	await "the link of $1" ip link show dev "$1b"
}

# What ends leaves connections behind that go on to send, and so keep their namespace and its cable.
end_servers() {
	local pid link
	for pid in "${pids[@]}"; do
		if disown "$pid"; then kill -KILL "$pid"; fi || true # which nothing is said about
	done 2>/dev/null
	for link in "${bridges[@]}" $(ip -o link show type veth | sed -n 's/.*\(cable[0-9]*\).*/\1/p'); do
		ip link del "$link" 2>/dev/null || true # or the kernel was faster
	done
	pids=() bridges=()
}

# Each packet's time, told without ravel.
watch() { # INTERFACE [NODE]
	# shellcheck disable=SC2016 # expanded inside
	capture sh -c 'file=$1; shift; exec "$@" >"$file"' watch "$work/packets${2+.$2}" \
		"$python" "$here/faults.py" watch "$1"
}

listen() {
	watch ravel0
	capture "$ravel" capture -i ravel0 -B 32768 --nodes "$work/nodes" --labels -w "$work/trace"
	[ -z "${KEEP-}" ] || capture tcpdump -Z root -i ravel0 -w "$KEEP/$name.pcap"
}

find_paths() {
	end_captures
	"$ravel" nesting -o "$work/store.sqlite" "$work/trace" >"$work/text" 2>"$work/nesting.err"
	[ -z "${KEEP-}" ] || for kept in trace log packets nodes store.sqlite text; do cp "$work/$kept" "$KEEP/$name.$kept"; done
}

blame() { # ARGUMENT...: of blame.py; its lines are ours
	local line
	while read -r line; do
		case $line in
		'ok '*) result 0 "$name: ${line#*- }" ;;
		'not ok '*) result 1 "$name: ${line#*- }" ;;
		*) echo "$line" ;;
		esac
	done < <("$python" "$here/blame.py" "$work/store.sqlite" "$work/log" "$base" "$@" 2>&1)
}

# As ravel why --failed says it.
failed() { # PATTERN NAME
	local said status=0
	said=$("$ravel" why --failed "$work/store.sqlite" 2>&1) || true
	grep -q "$1" <<<"$said" || status=1
	result $status "$name: $2"
	[ $status = 0 ] || echo "# ${said//$'\n'/$'\n'# }"
}

why_no_link() { [ -w /dev/net/tun ] || echo 'there is no /dev/net/tun'; }

# --- bytes that are lost or late --------------------------------------------------------

why_no_lost() { why_no_link; }

case_lost() {
	serve db
	bad_link "cable$serial" atdb 0 0 'POST /lost' '\0\0\0\0\xa0\x02' # every other SYN, too
	serve web
	bad_link "cable$serial" atweb 0 0 'X-Lost: reply'
	listen
	load 60 calm
	load 8 plain plain plain lost plain reply
	load 3 plain syn
	find_paths
	blame hit /lost 'web > db (resent)' 190 400 # the timer's ticks are 4 ms
	blame hit /reply 'web > db (resent)' 200 400
	blame hit /syn 'web > db (resent)' 980 1060
	blame calm /plain web db
}

why_no_random() { why_no_link; }

case_random() {
	serve db
	bad_link "cable$serial" atdb 0 0.04
	serve web
	listen
	load -c 4 80 plain
	find_paths
	blame late /plain 150 'web > db (resent)'
}

why_no_delay() { why_no_link; }

# A link is seen from both of its ends: each host captures its own packets.
case_delay() {
	local cable
	serve web
	watch "cable$serial"
	capture "$ravel" capture -i "cable$serial" --host web --nodes "$work/nodes" --labels -w "$work/web.trace"
	serve db
	cable=cable$serial
	watch "$cable" db
	capture "$ravel" capture -i "$cable" --host db --nodes "$work/nodes" --labels -w "$work/db.trace"
	load 60 calm
	bad_link "$cable" atdb 10 0
	load 20 plain
	end_captures
	"$ravel" merge "$work/web.trace" "$work/db.trace" >"$work/trace" 2>"$work/merge.err"
	find_paths
	blame hit /plain 'web > db (round trip)' 20
	blame calm /plain web db
}

why_no_slow() { why_not tc; }

# 100 kB take 0.8 s. What is small passes at once.
case_slow() {
	local limit='tbf rate 1mbit burst 4kb limit 300kb'
	serve db
	serve web
	listen
	load 60 calm
	# shellcheck disable=SC2016 # expanded inside
	start client sh -c "tc qdisc add dev eth0 root $limit"' && exec "$@"' slow \
		"$python" "$here/faults.py" load "$(address web):8000" "$work/log" \
		3 plain plain plain plain plain upload plain plain plain plain plain download
	# shellcheck disable=SC2086 # words
	tc qdisc add dev "cable$serial" root $limit
	wait "${pids[-1]}"
	find_paths
	blame hit /upload 'client > web (receiving)' 750 900
	blame hit /download 'client > web (sending)' 650 900 140 # of which 16 kB lie before the slow link
	blame calm /plain web db
}

why_no_pieces() { :; }

case_pieces() {
	serve db
	serve web
	load 8 pieces # a new connection acknowledges at once
	rm "$work/log"
	listen
	load 60 calm
	load 20 plain plain pieces
	find_paths
	blame hit /pieces 'web > db (delayed ACK)' 38 48
	blame calm /plain web db
}

# --- servers that hang, die and refuse ---------------------------------------------------

why_no_nginx() { why_not nginx; }

case_nginx() {
	local path db
	serve db2
	serve db
	db=${pids[-1]}
	cat >"$work/nginx.conf" <<-EOF
		daemon off;
		master_process off;
		user root root;
		pid $work/nginx.pid;
		error_log $work/nginx.log;
		events { }
		http {
			access_log off;
			$(nginx_paths)
			upstream db {
				server $(address db):8000 max_fails=0;
				server $(address db2):8000 max_fails=0 backup;
				keepalive 8;
			}
			server {
				listen $(address lb):8000;
				location / {
					proxy_pass http://db;
					proxy_http_version 1.1;
					proxy_set_header Connection "";
					proxy_read_timeout 200ms;
					proxy_next_upstream error timeout non_idempotent;
				}
			}
		}
	EOF
	start lb nginx -e stderr -p "$work" -c "$work/nginx.conf"
	await 'nginx listens' listens lb 8000
	target=lb
	listen
	load 60 calm
	kill -STOP "$db"
	load 10 hang
	kill -CONT "$db"
	sleep 0.3
	load 1 calm # opens a connection
	load 30 plain
	for path in die die die late late late; do
		disown "$db"
		load 1 $path
		# shellcheck disable=SC2016 # expanded inside
		await 'db has died' bash -c '! kill -0 "$0"' "$db"
		serve db
		db=${pids[-1]}
	done
	find_paths
	blame hit /hang 'db!|db*' 200 # it answers when it goes on
	blame hit /die 'db!' 50 80 15 # the client is new, and so slow
	blame hit /late 'db!' 50 80 15
	blame calm /plain lb db
	failed '3 of 3 failed requests: lb>db NO_ANSWER (POST /late)' 'what died in the middle of a reply failed the request'
}

why_no_haproxy() { why_not haproxy; }

case_haproxy() {
	local db
	serve db2
	serve db
	db=${pids[-1]}
	cat >"$work/haproxy.cfg" <<-EOF
		global
			nbthread 1
			stats socket $work/haproxy.socket
		defaults
			mode http
			timeout connect 1s
			timeout client 10s
			timeout server 200ms
			retries 3
			option redispatch 1
			retry-on conn-failure empty-response response-timeout 503
			option http-buffer-request
			option http-keep-alive
			http-reuse always
		frontend shop
			bind $(address lb):8000
			default_backend db
		backend db
			server db $(address db):8000
			server db2 $(address db2):8000 backup
	EOF
	start lb haproxy -db -f "$work/haproxy.cfg"
	await 'HAProxy listens' listens lb 8000
	target=lb
	listen
	load 60 calm
	load 10 plain plain refuse
	kill -STOP "$db"
	load 3 hang
	kill -CONT "$db"
	sleep 0.3
	find_paths
	blame hit /hang 'db!' 800
	blame calm /plain lb db
	blame status /refuse lb db 503 20
	failed '3 of 3 failed requests: lb>db NO_ANSWER' 'retries mended all but what hung'
	failed 'db x3, 2 of them 503, .* lost .POST .refuse.: 10 times' 'what was tried again'
}

why_no_grpc() { "$python" -c 'import grpc' 2>/dev/null || echo 'there is no grpc for Python'; }

# The deadline is 200 ms: web gives a call up, or is told that one was exceeded further on.
case_grpc() {
	local grpc
	serve grpc
	grpc=${pids[-1]}
	serve web
	base=/grpc-calm
	listen
	load 3 grpc-connect # from the first header on, which later ones refer to
	load 60 grpc-calm
	load 20 grpc-plain
	load 10 grpc-expire
	kill -STOP "$grpc"
	load 10 grpc-hang
	kill -CONT "$grpc"
	sleep 0.3
	find_paths
	blame hit /grpc-hang 'grpc!' 195 210
	blame hit /grpc-expire grpc 47 90 15 # an error costs web more, too
	blame status /grpc-expire web grpc DEADLINE_EXCEEDED 10
	blame status /grpc-hang web grpc NO_ANSWER 10
	blame calm /grpc-plain web grpc
	failed '10 of 20 failed requests: web>grpc NO_ANSWER (shop.Stock/Get)' 'the server that hung failed the requests'
	failed '10 of 20 failed requests: web>grpc DEADLINE_EXCEEDED (shop.Stock/Get)' 'its own deadline failed the others'
}

case_postgres() {
	start_postgres autovacuum=off log_min_messages=error log_line_prefix='%e ' statement_timeout=100
	await 'PostgreSQL listens' listens postgres 5432
	serve web
	base=/sql-good
	load 1 sql-make
	listen
	load 60 sql-good
	load 10 sql-good sql-slow sql-good sql-twice
	find_paths
	blame hit /sql-slow postgres 100
	blame status /sql-slow web postgres 57014 "$(grep -c '^57014 ERROR' "$work/postgres.err")"
	blame status /sql-twice web postgres 23505 "$(grep -c '^23505 ERROR' "$work/postgres.err")"
	blame calm /sql-twice web
	failed '10 of 20 failed requests: web>postgres 57014' 'the statement that took too long failed the request'
}

why_no_redis() { why_not redis-server redis-cli; }

start_redis() { # OPTION...
	start redis redis-server --bind "$(address redis)" --protected-mode no --save '' \
		--appendonly no --loglevel warning --dir "$work" --enable-debug-command yes "$@"
}

case_redis() {
	local run_redis=(redis-cli -h "$(address redis)")
	start_redis
	await 'Redis listens' listens redis 6379
	"${run_redis[@]}" debug populate 3000 >/dev/null
	"${run_redis[@]}" save >/dev/null
	kill "${pids[-1]}"
	wait "${pids[-1]}" || true
	serve web
	base=/redis-get
	listen
	start_redis --maxmemory 1kb --key-load-delay 1000 --loading-process-events-interval-bytes 1024
	await 'Redis listens' listens redis 6379
	load 20 redis-loading
	await 'Redis is ready' bash -c '"$@" ping | grep PONG' ping "${run_redis[@]}"
	load 60 redis-get
	load 10 redis-get redis-set
	find_paths
	blame status /redis-loading web redis LOADING 20
	blame status /redis-set web redis OOM 10
	blame calm /redis-set web
	failed '20 of [0-9]* failed requests: web>redis LOADING' 'LOADING failed the requests'
	failed '10 of [0-9]* failed requests: web>redis OOM' 'OOM failed the requests'
}

# --- names and pools ------------------------------------------------------------------------

why_no_dns() { why_not dnsmasq; why_no_link; }

case_dns() {
	start dns dnsmasq --no-daemon --conf-file=/dev/null --no-resolv --no-hosts --user= \
		"--listen-address=$(address dns)" --bind-interfaces --address=/test/10.88.0.99 --pid-file=
	bad_link "cable$serial" atdns 0 0 '\x03hit'
	serve web
	base=/dns-calm
	sleep 0.3
	listen
	load 60 dns-calm
	load 6 dns-calm dns-plain dns-calm dns-hit
	find_paths
	blame hit /dns-hit 'web > dns (resent)' 500
	blame calm /dns-plain web dns
}

why_no_pool() { :; }

# Six at a time share two connections to db, which takes 20 ms.
case_pool() {
	serve db
	serve web 2
	base=/hold
	listen
	load 60 hold
	load -c 6 20 hold-six
	find_paths
	blame hit /hold-six web 3 60 # the first ones find a connection
	blame calm /hold-six db
}

# --- all of them ------------------------------------------------------------------------------

for name in "${cases[@]}"; do
	reason=$("why_no_$name" | head -n 1)
	if [ "$reason" ]; then
		result 0 "$name # SKIP $reason"
		continue
	fi
	base=/calm target=web
	rm -f "$work/log" "$work"/packets*
	"case_$name"
	end_servers
done
echo "1..$tests"
