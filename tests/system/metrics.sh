#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A real Prometheus scrapes ravel watch on loopback: each query of the Grafana dashboard returns
# rows, and their figures are those of the stores within 1 %. Packets come as fast as their stamps
# say, for 200 s, with RAVEL_LONG=1 for 10 minutes. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/../..}
RAVEL=${RAVEL:-$srcdir/build/ravel}
GEN_TRACE=$RAVEL
# shellcheck source=tests/scripts/tap.sh
. "$srcdir/tests/scripts/tap.sh"
for program in prometheus promtool python3; do
	command -v $program >/dev/null || skip_all "$program is not installed"
done
"$ravel" watch -r /dev/null --metrics 127.0.0.1:1 2>&1 | grep -q 'built without' &&
	skip_all 'ravel was built without libmicrohttpd'
cd "$dir" || exit 99
seconds=200
[ -z "${RAVEL_LONG-}" ] || seconds=600

python3 - >ports <<'END'
import socket

sockets = [socket.create_server(("127.0.0.1", 0)) for i in range(2)]
print(*(s.getsockname()[1] for s in sockets))
END
read -r port prometheus_port <ports
cat >prometheus.yml <<END
global: { scrape_interval: 1s, evaluation_interval: 1h }
scrape_configs:
  - job_name: ravel
    static_configs: [{ targets: ['127.0.0.1:$port'] }]
END

# Packets at the times of their stamps, and then nothing, until this ends.
cat >pace.py <<'END'
import sys, struct, time

out, data = sys.stdout.buffer, sys.stdin.buffer
out.write(data.read(24))
began = first = None
while header := data.read(16):
    seconds, ns, size, _ = struct.unpack("<IIII", header)
    at = seconds + ns / 1e9
    first, began = first or at, began or time.monotonic()
    if (wait := began + at - first - time.monotonic()) > 0.01:
        out.flush()
        time.sleep(wait)
    out.write(header + data.read(size))
out.flush()
time.sleep(600)
END
pids=()
stop() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
	for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null; done
	pids=()
}
trap 'stop; rm -rf "$dir"' EXIT
mkfifo paced
python3 "$source/tests/scripts/make-watch.py" 50 0 $seconds 1795262400 workers=2@0 failed=0.02@0 |
	timeout 900 python3 pace.py >paced &
pids+=($!)
timeout 900 "$ravel" watch -r - --window 1s --dir stores --metrics 127.0.0.1:"$port" \
	--metrics-file metrics.prom <paced >lines 2>watch.err &
pids+=($!)
timeout 900 prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
	--web.listen-address=127.0.0.1:"$prometheus_port" >prometheus.err 2>&1 &
pids+=($!)
for ((turn = 0; turn < seconds + 30; turn++)); do
	[ "$(wc -l <lines)" -lt $((seconds - 1)) ] || break
	sleep 1
done
sleep 3 # the last scrape

promtool check metrics <metrics.prom >checked 2>&1
result $? 'promtool check metrics' checked
cat >ask.py <<'END'
import glob, json, os, re, sqlite3, sys, urllib.parse, urllib.request

address, board, seconds = sys.argv[1], json.load(open(sys.argv[2])), int(sys.argv[3])
mode = sys.argv[4]


def ask(query, **more):
    url = "http://%s/api/v1/query?%s" % (address, urllib.parse.urlencode({"query": query, **more}))
    answer = json.load(urllib.request.urlopen(url, timeout=30))
    assert answer["status"] == "success", answer
    return {tuple(row["metric"].values()): float(row["value"][1]) for row in answer["data"]["result"]}


queries = [target["expr"].replace("$job", ".+") for panel in board["panels"] for target in panel["targets"]]
if mode == "rows":
    for query in queries:
        rows = ask(query.replace("$__rate_interval", "%ds" % (seconds - 20)))
        assert rows and all(value == value for value in rows.values()), (query, rows)
    last = max(map(os.path.getmtime, glob.glob("stores/windows/2*.sqlite")))
    rate, = ask("sum(rate(ravel_requests_total[%ds]))" % (seconds - 20), time=last + 0.5).values()
    assert abs(rate / 50 - 1) < 0.01, rate
    print("# %d queries, %d series, %.2f requests a second of 50" %
          (len(queries), sum(ask('count({__name__=~"ravel.*"})').values()), rate))
    sys.exit()

# The same queries without rate(): what came since the beginning, which is in the stores.
sums, latest = {}, {}
stores = sorted(glob.glob("stores/windows/2*.sqlite"))
assert len(stores) >= seconds - 1, len(stores)
for store in stores:
    db = sqlite3.connect(store)
    for name, sql in {
            "requests": "SELECT '', sum(count) FROM pattern GROUP BY 1",
            "requests_failed": "SELECT '', sum(failed) FROM pattern GROUP BY 1",
            "calls": "SELECT name, count(*) FROM call JOIN node ON node.id = callee GROUP BY 1",
            "call_errors": "SELECT name, count(outcome) FROM call JOIN node ON node.id = callee GROUP BY 1",
            "own_seconds": "SELECT name, sum(own) / 1e9 FROM call JOIN node ON node.id = callee GROUP BY 1",
            "queued_seconds": "SELECT name, total(own_queued) / 1e9 FROM call JOIN node ON node.id = callee GROUP BY 1",
            "network_seconds": "SELECT name, sum(network) / 1e9 FROM call JOIN node ON node.id = callee GROUP BY 1",
            "workers": "SELECT name, max(workers) FROM worker JOIN node ON node.id = worker.node GROUP BY 1",
    }.items():
        for key, value in db.execute(sql):
            key = (key,) if key else ()
            sums.setdefault(name, {}).setdefault(key, 0)
            sums[name][key] = value if name == "workers" else sums[name][key] + value
    latencies = sorted(row[0] / 1e9 for row in db.execute("SELECT latency FROM path"))
latest["p50"], latest["p99"] = (latencies[-(-len(latencies) * share // 100) - 1] for share in (50, 99))

compared = 0


def compare(query, found, expected):
    global compared
    compared += 1
    assert found.keys() == expected.keys(), (query, found, expected)
    for key, value in expected.items():
        assert abs(found[key] - value) <= 0.01 * abs(value), (query, key, found[key], value)


for query in queries:
    bare = re.sub(r"rate\((ravel_\w+\{[^}]*\})\[[^]]*\]\)", r"\1", query)
    names = re.findall(r"ravel_(\w+?)(?:_total)?\{", query)
    if "rate(" in query and all(name in sums for name in names):
        over = sums[names[1]] if len(names) > 1 else None
        expected = {key: value / over[key] if over else value for key, value in sums[names[0]].items()}
        if "by (operation)" in query:
            expected = {("GET /...",): value for value in expected.values()}
        compare(query, ask(bare), expected)
    elif names == ["workers"]:
        compare(query, ask(query), sums["workers"])
    elif names[0].startswith("request_p"):
        compare(query, ask(query), {("GET /...",): latest[names[0].split("_")[1]]})
buckets = ask('ravel_request_duration_seconds_bucket{le="+Inf"}')
compare("buckets", {(): sum(buckets.values())}, sums["requests"])
print("# %d figures compared, of %d requests in %d stores" % (compared, sums["requests"][()], len(stores)))
END
board=$source/grafana/ravel-watch.json
python3 ask.py 127.0.0.1:"$prometheus_port" "$board" $seconds rows >said 2>&1
result $? 'each query of the dashboard returns rows' "$(cat said; tail -n 5 prometheus.err watch.err)" && cat said
python3 ask.py 127.0.0.1:"$prometheus_port" "$board" $seconds figures >said 2>&1
result $? 'their figures are those of the stores within 1 %' said && cat said
stop
finish
