#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The system test of protocols: MariaDB, memcached, HTTP/2 in cleartext through a proxy,
# and TLS, each under a load whose requests are known in number, captured live on their
# bridge. Every one of them must be in the trace, with its return, and nothing else. TAP.
# RAVEL names the program. Takes about 15 seconds; needs root, or user namespaces.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=network.sh
. "$here/network.sh"
ravel=$(realpath "${RAVEL:-$here/../../build/ravel}")

if [ "${1-}" != --inside ]; then
	reason=$(why_no_network | head -n 1)
	if [ "$reason" ]; then
		echo "1..0 # SKIP $reason"
		exit 0
	fi
	RAVEL=$ravel in_namespaces 120 bash "$0" --inside
	exit
fi

# --- process 1 of its namespaces --------------------------------------------------

begin_network <<-EOF
	10.86.0.10 client
	10.86.0.20 mariadb
	10.86.0.30 memcached
	10.86.0.40 proxy
	10.86.0.50 backend
	10.86.0.60 nginx
	10.86.0.60:8442 TLSv1.2
	10.86.0.60:8443 TLSv1.3
EOF
ip address add 10.86.0.1/24 dev ravel0 # to see who listens
mkdir "$work/pages"
seq 4000 >"$work/pages/page" # 19 KB, more than a record of TLS or a frame of HTTP/2 has

check() { # OPERATION FROM TO COUNT [LABEL]: so many are in the trace
	local found
	found=$(awk -F '\t' -v op="$1" -v from="$2" -v to="$3" -v label="${5:+label=$5}" '
		$2 == op && $3 == from && $4 == to && (label == "" || $6 ~ ("(^| )" label "( |$)")) { n++ }
		END { print n + 0 }' "$work/trace")
	result $((found != $4)) "$4 times $1 $2>$3${5:+, $5}"
	[ "$found" = "$4" ] || echo "# found $found times"
}

check_calls() { # FROM TO COUNT: with their returns
	check CALL_SENT "$1" "$2" "$3"
	check RET_SENT "$2" "$1" "$3"
}

# --- MariaDB: statements by several clients at a time -------------------------------

why_no_mariadb() { why_not mariadb mariadbd mariadb-install-db; }

mariadb_clients=4

serve_mariadb() {
	local data=$work/mariadb n
	mariadb-install-db --no-defaults --user=root "--datadir=$data" --skip-test-db \
		--auth-root-authentication-method=normal >"$work/mariadb-install.err" 2>&1
	rm "$work/mariadb-install.err"
	cat >"$work/mariadb.sql" <<-EOF
		CREATE DATABASE shop;
		CREATE USER shop IDENTIFIED BY 'shop';
		GRANT ALL ON shop.* TO shop;
		CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(80));
	EOF
	start mariadb mariadbd --no-defaults --user=root "--datadir=$data" "--socket=$data/socket" \
		"--pid-file=$data/pid" "--bind-address=$(address mariadb)" --skip-name-resolve \
		--innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=16M "--init-file=$work/mariadb.sql"
	await 'MariaDB listens' listens mariadb 3306
	for ((n = 0; n < 100; n++)); do
		echo "INSERT INTO items (name) VALUES ('item $n');"
		echo "SELECT name FROM items WHERE id = $n;"
		echo "SELECT * FROM items ORDER BY name;"
	done >"$work/statements"
}

load_mariadb() {
	# shellcheck disable=SC2016 # expanded inside
	run client sh -c 'for n in $(seq "$1"); do
			mariadb --no-defaults -h "$2" -u shop -pshop shop <"$3" >/dev/null &
			clients="$clients $!"
		done
		for client in $clients; do wait "$client" || exit; done' \
		load $mariadb_clients "$(address mariadb)" "$work/statements"
}

check_mariadb() {
	check CALL_SENT client mariadb $((mariadb_clients * 100)) INSERT%20items
	check CALL_SENT client mariadb $((mariadb_clients * 200)) SELECT%20items
	check_calls client mariadb $((mariadb_clients * 300)) # logins are none
}

# --- memcached: text and binary, with commands that nobody answers ------------------

why_no_memcached() { why_not memcached python3; }

memcached_load='
import socket, struct, sys

def connect():
    connection = socket.create_connection((sys.argv[1], 11211))
    return connection, connection.makefile("rb")

def binary(op, key, extras=b"", value=b""):
    return struct.pack(">BBHBBHIIQ", 0x80, op, len(key), len(extras), 0, 0,
                       len(extras) + len(key) + len(value), 0, 0) + extras + key + value

def answer(file):
    header = file.read(24)
    file.read(struct.unpack(">I", header[8:12])[0])
    return header[1]

connection, file = connect()
for n in range(100):
    connection.sendall(b"set item%d 0 0 2000\r\n%s\r\n" % (n, b"x" * 2000))
    assert file.readline() == b"STORED\r\n"
    connection.sendall(b"set quiet%d 0 0 5 noreply\r\n12345\r\n" % n)
for n in range(300):
    connection.sendall(b"get item%d other%d quiet%d\r\n" % (n, n, n))
    while file.readline() != b"END\r\n":
        pass

connection, file = connect()
for n in range(100):
    connection.sendall(binary(0x01, b"b%d" % n, bytes(8), b"y" * 3000))     # Set
    answer(file)
    connection.sendall(binary(0x11, b"q%d" % n, bytes(8), b"z"))            # SetQ
    connection.sendall(binary(0x09, b"b%d" % n) + binary(0x09, b"missing")  # GetQ
                       + binary(0x0a, b""))                                 # NoOp ends them
    while answer(file) != 0x0a:
        pass
'

serve_memcached() {
	start memcached memcached -u root -U 0 -l "$(address memcached)" -m 16
	await 'memcached listens' listens memcached 11211
}

load_memcached() {
	run client python3 -c "$memcached_load" "$(address memcached)"
}

check_memcached() {
	check CALL_SENT client memcached 200 set
	check CALL_SENT client memcached 400 get
	check_calls client memcached 600
	check MSG_SENT client memcached 200
}

# --- HTTP/2 through a proxy ---------------------------------------------------------

why_no_http2() { why_not nghttpx nghttpd h2load; }

requests() { # COUNT H2LOAD-ARGUMENT...: all of them succeed
	# shellcheck disable=SC2016 # expanded inside
	run client sh -c 'exec h2load "$@" >"$0"' "$work/h2load" -n "$@"
	grep -q "^requests: $1 total, .* $1 succeeded" "$work/h2load"
}

serve_http2() {
	start backend nghttpd --no-tls -d "$work/pages" -a "$(address backend)" 8080
	await 'nghttpd listens' listens backend 8080
	start proxy nghttpx --conf=/dev/null --log-level=ERROR --single-process \
		"--frontend=$(address proxy),8080;no-tls" \
		"--backend=$(address backend),8080;;proto=h2;no-tls"
	await 'nghttpx listens' listens proxy 8080
}

load_http2() {
	requests 1000 -c 4 -m 10 "http://$(address proxy):8080/page"
}

check_http2() {
	check_calls client proxy 1000
	check_calls proxy backend 1000
}

# --- TLS ----------------------------------------------------------------------------

why_no_tls() { why_not nginx openssl h2load; }

serve_tls() {
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=shop -days 2 \
		-keyout "$work/key" -out "$work/certificate" 2>"$work/openssl.err"
	rm "$work/openssl.err"
	cat >"$work/nginx.conf" <<-EOF
		daemon off;
		master_process off;
		user root root;
		pid $work/nginx.pid;
		error_log stderr;
		events { }
		http {
			access_log off;
			$(nginx_paths)
			ssl_certificate $work/certificate;
			ssl_certificate_key $work/key;
			root $work/pages;
			server {
				listen $(address nginx):8442 ssl;
				ssl_protocols TLSv1.2;
			}
			server {
				listen $(address nginx):8443 ssl;
				ssl_protocols TLSv1.3;
			}
		}
	EOF
	start nginx nginx -e stderr -p "$work" -c "$work/nginx.conf"
	await 'nginx listens' listens nginx 8443
}

load_tls() {
	requests 400 --h1 -c 4 "https://$(address nginx):8442/page"
	requests 400 --h1 -c 4 "https://$(address nginx):8443/page"
}

check_tls() {
	check_calls client TLSv1.2 400
	check_calls client TLSv1.3 400
}

# --- all of them ----------------------------------------------------------------------

listen() { # 20 MB come in a moment, and all of them matter here
	capture "$ravel" capture -i ravel0 -B 32768 --nodes "$work/nodes" --labels -w "$work/trace"
}

parts=()
for part in mariadb memcached http2 tls; do
	reason=$("why_no_$part" | head -n 1)
	if [ "$reason" ]; then
		result 0 "$part # SKIP $reason"
	else
		parts+=("$part")
		"serve_$part"
	fi
done

if [[ " ${parts[*]-} " = *' http2 '* ]]; then # one at a time: which call caused which is plain
	listen
	requests 200 -c 1 -m 1 "http://$(address proxy):8080/page"
	end_captures
	"$ravel" nesting --format tsv "$work/trace" >"$work/paths" 2>/dev/null
	status=0
	[ "$(cut -f 3,17 "$work/paths")" = $'count\tsignature\n200\tclient>proxy(backend)' ] || status=1
	result "$status" '200 paths client>proxy(backend), and no others'
fi
listen
for part in "${parts[@]}"; do "load_$part"; done
end_captures
for part in "${parts[@]}"; do "check_$part"; done
echo "1..$tests"
