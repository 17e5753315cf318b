#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Services behind virtual addresses, as Kubernetes has them: a client, two replicas and a database,
# each in a network of its own, and a node between them that translates the addresses of the services to those
# of who answers, and for the database the caller's address too. A call through a virtual address
# is one call, to the replica that served it: by what conntrack prints, or where both sides
# are captured. One request at a time. Needs root, nft and conntrack's table. TAP.
# shellcheck disable=SC2317 # at the end
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
if [ "$(id -u)" != 0 ] || ! unshare -n true 2>/dev/null; then skip_all 'networks of its own need root'; fi
PATH=$PATH:/usr/sbin:/sbin
command -v nft >/dev/null || skip_all 'nft is not installed'
command -v tcpdump >/dev/null || skip_all 'tcpdump is not installed'
if [ "${1-}" != inside ]; then
	unshare -n "$0" inside
	exit
fi
cd "$dir" || exit 99
chmod 755 .
pids=()
finish_all() {
	kill "${pids[@]}" 2>/dev/null
	rm -rf "$dir"
}
trap finish_all EXIT

add_network() { # NUMBER: 10.1.NUMBER.2, with the node at 10.1.NUMBER.1
	unshare -n sleep 100 &
	pids+=($!)
	network[$1]=$!
	ip link add "v$1" type veth peer name eth0 || return
	local turn
	for ((turn = 0; turn < 50; turn++)); do # until it is in its network
		[ "$(readlink "/proc/${network[$1]}/ns/net")" = "$(readlink /proc/self/ns/net)" ] || break
		sleep 0.05
	done
	ip link set eth0 netns "${network[$1]}" && ip addr add "10.1.$1.1/24" dev "v$1" &&
		ip link set "v$1" up && nsenter -n -t "${network[$1]}" sh -c "
		ip addr add 10.1.$1.2/24 dev eth0; ip link set lo up; ip link set eth0 up
		ip route add default via 10.1.$1.1"
}
network=()
ip link set lo up
for n in 1 2 3 4; do add_network $n || skip_all 'no network can be made'; done
echo 1 >/proc/sys/net/ipv4/ip_forward || skip_all 'nothing can be forwarded'
nft -f - 2>err <<-'END' || skip_all "nft: $(head -n 1 err)"
	table ip services {
		chain before {
			type nat hook prerouting priority dstnat;
			ip daddr 10.96.0.10 tcp dport 80 dnat to numgen inc mod 2 map { 0 : 10.1.2.2, 1 : 10.1.3.2 } : 8080
			ip daddr 10.96.0.20 tcp dport 5432 dnat to 10.1.4.2:5432
		}
		chain after {
			type nat hook postrouting priority srcnat;
			ip daddr 10.1.4.2 masquerade
		}
	}
END

cat >service.py <<'END'
# service.py NAME PORT [HOST PORT]: HTTP, a connection a request; asks the other first.
import http.server, sys, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if len(sys.argv) > 3:
            urllib.request.urlopen('http://%s:%s/' % tuple(sys.argv[3:5])).read()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(sys.argv[1].encode())
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(('', int(sys.argv[2])), Handler).serve_forever()
END
nsenter -n -t "${network[4]}" python3 service.py db 5432 & pids+=($!)
nsenter -n -t "${network[2]}" python3 service.py web1 8080 10.96.0.20 5432 & pids+=($!)
nsenter -n -t "${network[3]}" python3 service.py web2 8080 10.96.0.20 5432 & pids+=($!)
for n in 2:8080 3:8080 4:5432; do
	for ((turn = 0; turn < 100; turn++)); do
		nsenter -n -t "${network[${n%:*}]}" ss -Hltn "sport = :${n#*:}" | grep -q . && break
		sleep 0.1
	done
done
cat >nodes <<-'END'
	10.1.1.2 client
	10.1.2.2 web1
	10.1.3.2 web2
	10.1.4.2 db
	10.96.0.10 web
	10.96.0.20 database
END
tcpdump -i any -U -w all.pcap tcp 2>tcpdump.err & dump=$!
pids+=("$dump")
for ((turn = 0; turn < 100; turn++)); do
	! grep -q listening tcpdump.err || break
	sleep 0.1
done
nsenter -n -t "${network[1]}" python3 -c '
import urllib.request
for i in range(100): print(urllib.request.urlopen("http://10.96.0.10/").read().decode())' >served
sleep 1
kill -INT $dump
wait $dump
if command -v conntrack >/dev/null; then
	conntrack -L >table 2>/dev/null
elif [ -r /proc/net/nf_conntrack ]; then
	cat /proc/net/nf_conntrack >table
fi
grep -q 'dst=10.96' table || skip_all 'the kernel shows no table of what it translates'
sort served | uniq -c | awk '{ print $1, "client>" $2 "(db)" }' >want
[ "$(wc -l <served)" = 100 ] && [ "$(wc -l <want)" = 2 ]
result $? 'both replicas have served' want

check() { # NAME OPTION...
	local name=$1
	shift
	"$ravel" capture "$@" --host '' -w trace 2>err && "$ravel" nesting trace >out 2>>err
	awk '$1 ~ /^[0-9]+[?]?$/ && $NF ~ /\(/ { print $2, $NF }' out | sort -k 2 >got
	cmp want got && grep -q '^100 paths of 2 patterns' out && [ "$(grep -c CALL_ trace)" = 200 ] &&
		grep -q 'fit for nesting and' err
	result $? "$name" out
}
check 'both sides captured: one call each, with the replica' -r all.pcap --nodes nodes
check 'and with the table of conntrack, too' -r all.pcap --nodes nodes --nodes table
check 'the side of the virtual addresses, and the table' -r all.pcap --nodes nodes --nodes table \
	-f 'host 10.96.0.10 or host 10.96.0.20'
check 'the side of the replicas, where the database sees the node call' -r all.pcap --nodes nodes \
	--nodes table -f '(tcp port 8080 and host 10.1.1.2) or (host 10.1.4.1)'
"$ravel" capture -r all.pcap --nodes nodes -f 'host 10.96.0.10 or host 10.96.0.20' 2>/dev/null |
	grep -q 'CALL_SENT	client	web	'
result $? 'without the table the virtual address is the node'
finish
