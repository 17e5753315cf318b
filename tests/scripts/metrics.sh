#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Metrics of ravel watch: the file, and what is served on loopback and on a Unix socket, are what its
# lines say, in the formats of Prometheus and OpenMetrics. promtool reads them where it is
# installed. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

await() { # COMMAND...: until it succeeds, 30 seconds at most
	local turn
	for ((turn = 0; turn < 300; turn++)); do
		! "$@" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE N
sample() { sed -n "s/^$2 //p" "$1"; }          # FILE NAME: its value

python3 "$source/tests/scripts/make-watch.py" 50 0 60 1795262400 workers=2@0 failed=0.02@0 >all.pcap
"$ravel" watch -r all.pcap --metrics-file metrics.prom >lines 2>err
result $? 'metrics into a file' err
python3 - <<'END' 2>why
import json, re

lines = [json.loads(line) for line in open("lines")]
samples = {}
for line in open("metrics.prom"):
    if not line.startswith("#"):
        name, value = line.rsplit(" ", 1)
        assert name not in samples, name
        samples[name] = float(value)
nodes = lambda node, key: sum(n[key] for line in lines for n in line["nodes"] if n["node"] == node)
for name, value in {
        'requests_total{operation="GET /..."}': sum(line["requests"] for line in lines),
        'windows_total': len(lines),
        'packets_total': sum(line["packets"] for line in lines),
        'calls_total{node="10.0.0.3"}': nodes("10.0.0.3", "calls"),
        'call_errors_total{node="10.0.0.3"}': nodes("10.0.0.3", "errors"),
        'own_seconds_total{node="10.0.0.3"}': nodes("10.0.0.3", "own_ns") / 1e9,
        'queued_seconds_total{node="10.0.0.3"}': nodes("10.0.0.3", "queued_ns") / 1e9,
        'request_p99_seconds{operation="GET /..."}': lines[-1]["p99_ns"] / 1e9,
        'workers{node="10.0.0.3"}': 2,
        'fit': 1}.items():
    assert abs(samples["ravel_" + name] - value) <= 1e-9 * value, (name, samples["ravel_" + name], value)
assert samples['ravel_call_errors_total{node="10.0.0.3"}'] > 30
assert 0.1 < samples['ravel_busy_ratio{node="10.0.0.3"}'] < 0.3
buckets = [value for name, value in samples.items() if re.match("ravel_request_duration_seconds_bucket", name)]
assert buckets == sorted(buckets) and buckets[-1] == 3000 and len(buckets) == 18, buckets
END
result $? 'they are what the lines say' why
if command -v promtool >/dev/null; then
	promtool check metrics <metrics.prom >checked 2>&1
	result $? 'promtool has nothing against them' checked
else
	result 0 'promtool has nothing against them # SKIP it is not installed'
fi
"$ravel" watch -r all.pcap --metrics-file no/metrics.prom >lines 2>err
[ $? = 4 ] && grep -q 'no/metrics.prom' err
result $? 'a file that cannot be written is an error at the start' err

# --- served ---------------------------------------------------------------------------

"$ravel" watch -r /dev/null --metrics 10.0.0.1:9464 >/dev/null 2>err
if grep -q 'built without' err; then
	result 0 'metrics are served # SKIP built without libmicrohttpd'
	finish
fi
wrong=
for address in 10.0.0.1:9464 0.0.0.0:9464 '[::]:9464' localhost localhost:http :9464 unix: \
	"unix:$(printf 'x%.0s' {1..120})"; do
	"$ravel" watch -r /dev/null --metrics "$address" >/dev/null 2>err
	[ $? = 2 ] && grep -q 'expected' err || wrong="$wrong $address"
done
[ -z "$wrong" ]
result $? 'only addresses of this host are served' "$wrong"

cat >get.py <<'END'
import http.client, socket, sys

class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)

where, method, path, accept = sys.argv[1:]
connection = Unix(where[5:]) if where.startswith("unix:") else http.client.HTTPConnection(where)
connection.timeout = 20
connection.request(method, path, headers={"Accept": accept})
answer = connection.getresponse()
print(answer.status, answer.headers["Content-Type"])
sys.stdout.write(answer.read().decode())
END
get() { # METHOD PATH ACCEPT
	python3 get.py "$where" "$@"
}
port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
for where in 127.0.0.1:"$port" "unix:socket"; do
	rm -f pipe
	mkfifo pipe
	[ "$where" != unix:socket ] || python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
	: >lines
	"$ravel" watch -r pipe --metrics "$where" --metrics-file metrics.prom >lines 2>err &
	pid=$!
	exec 3>pipe
	await get GET /metrics '*/*' >before
	cat all.pcap >&3
	await has_lines lines 5
	get GET /metrics 'text/plain' >plain
	get GET /metrics 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5' >open
	[ "$(sample before ravel_windows_total)" = 0 ] && [ "$(sample plain ravel_windows_total)" = 5 ] &&
		[ "$(head -n 1 plain)" = '200 text/plain; version=0.0.4; charset=utf-8' ] &&
		tail -n +2 plain | cmp -s - metrics.prom
	result $? "$where: what is served is what is in the file" "$(head -n 5 before plain)"
	[ "$(head -n 1 open)" = '200 application/openmetrics-text; version=1.0.0; charset=utf-8' ] &&
		[ "$(tail -n 1 open)" = '# EOF' ] && grep -q '^# TYPE ravel_own_seconds counter' open &&
		grep -q '^# UNIT ravel_own_seconds seconds' open &&
		[ "$(grep -v '^#' plain | tail -n +2)" = "$(grep -v '^#' open | tail -n +2)" ]
	result $? "$where: OpenMetrics for those that accept it" "$(head -n 5 open)"
	[ "$(get GET / '*/*' | sed -n 1p)" = '404 text/plain; charset=utf-8' ] &&
		[ "$(get POST /metrics '*/*' | sed -n 1p)" = '405 text/plain; charset=utf-8' ] &&
		[ "$(get HEAD /metrics '*/*' | wc -l)" = 1 ]
	result $? "$where: other paths and methods are refused"
	"$ravel" watch -r /dev/null --metrics "$where" >/dev/null 2>busy
	[ $? = 4 ] && grep -q 'in use' busy
	result $? "$where: an address in use is an error" busy
	exec 3>&-
	wait $pid && [ ! -e socket ]
	result $? "$where: it ends" err
done
finish
