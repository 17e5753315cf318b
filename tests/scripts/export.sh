#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel export: each format against what the store holds, and, where they are installed,
# by the programs it is for. TAP.
#
# With RAVEL_LONG=1 one trace is longer, OTLP is checked against the protocol's own definitions, and trace
# events are loaded in speedscope in a browser. Both come from npm, into a directory
# that is removed at the end.
set -u
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
ravel=$(realpath "${RAVEL:-./ravel}")
gen_trace=$(realpath tests/gen-trace)
n=0
bad=0

command -v python3 >/dev/null || {
	echo "1..0 # SKIP python3 is not installed"
	exit 0
}
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-export.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

result() { # STATUS NAME: shows the file said where it is not 0
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' said | head -20
		bad=1
	fi
}

skip() { # NAME REASON
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

check() { # STORE
	echo "# $1"
	python3 "$source/tests/scripts/check-export.py" "$ravel" "$1" "$n" >said || bad=1
	cat said
	n=$((n + $(grep -c '^ok\|^not ok' said)))
	grep -q '^not ok' said && bad=1
}

# One at a time; many at once, with both ends and clocks that disagree; names.
"$ravel" capture -r "$source/demo/shop.pcap.zst" --nodes "$source/demo/shop.nodes" -w shop.trace 2>said &&
	"$ravel" nesting -o shop.sqlite shop.trace >said 2>&1
result $? 'a store of the demonstration'
messages=2000
[ -z "${RAVEL_LONG:-}" ] || messages=8000
"$gen_trace" $messages 4 --four --skew 1 --repeat 3 --clients 40 >many.trace &&
	"$ravel" nesting --skew-window 5ms -o many.sqlite many.trace >said 2>&1
result $? 'a store of a crowded trace'
"$ravel" nesting -o names.sqlite "$source/tests/data/names.trace" >said 2>&1
result $? 'a store of strange names'
"$ravel" nesting -o queues.sqlite "$source/tests/data/queues.trace" >said 2>&1
result $? 'a store of messages and deliveries'
for store in shop many names queues; do
	check $store.sqlite
done

# --- OTLP: attributes by what is asked, of a store that asks all kinds of things
python3 - <<'PYTHON' >kinds.trace
time, number = 1000, 0
def call(caller, callee, label, *below):
    """Lines of a call with those below it, one after the other."""
    global time, number
    number += 1
    mine, attributes = number, f"\tlabel={label.replace(' ', '%20')}" if label else ""
    time += 1
    print(f"{time}\tCALL_SENT\t{caller}\t{callee}\ti{mine}{attributes}")
    for other in below:
        call(callee, *other)
    time += 1
    print(f"{time}\tRET_SENT\t{callee}\t{caller}\ti{mine}" + ("\tst=503" if callee == "[::1]:80" else ""))
for _ in range(3):
    call("client", "web", "POST /cart", ("cart:8080", "shop.Cart/Add", ("db", "SELECT items"), ("db", "SET"),
        ("db", "COMMIT"), ("db", "SELECT ...")), ("redis", "SET"), ("redis", "HGETALL"), ("[::1]:80", "GET /x{id}"),
        ("nfs", "RPC 100003.3.1"), ("memcached", "get"), ("ldap", "search"), ("other", "frobnicate it"), ("nameless", None),
        ("rabbit", "publish orders", ("worker", "deliver orders")), ("mosquitto", "publish a/b", ("light", "publish a/b")),
        ("kafka", "Produce orders", ("worker", "deliver orders")), ("somewhere", "publish ..."))
PYTHON
"$ravel" nesting -o kinds.sqlite kinds.trace >said 2>&1
check kinds.sqlite
"$ravel" export kinds.sqlite --as otlp | python3 -c '
import json, sys
spans = []
for resource in json.loads(sys.stdin.readline())["resourceSpans"]:
    service = resource["resource"]["attributes"][0]["value"]["stringValue"]
    assert resource["scopeSpans"][0]["schemaUrl"].startswith("https://opentelemetry.io/schemas/1.")
    for span in resource["scopeSpans"][0]["spans"]:
        attributes = {a["key"]: list(a["value"].values())[0] for a in span["attributes"]}
        rest = {k: v for k, v in attributes.items() if not k.startswith("ravel.") and k not in ("peer.service", "client.address")}
        other = attributes.get("peer.service") or attributes["client.address"]
        print(service, other, span["name"], span["kind"], *(f"{k}={v}" for k, v in sorted(rest.items())), sep="|")
' | sort >said
cat >expected <<'LINES'
[::1]:80|web|GET /x{id}|2|error.type=503|http.request.method=GET|http.response.status_code=503|url.path=/x{id}|url.scheme=http
cart:8080|db|COMMIT|3|db.operation.name=COMMIT|db.query.summary=COMMIT|db.system.name=other_sql|server.address=db
cart:8080|db|SELECT ...|3|db.operation.name=SELECT|db.query.summary=SELECT ...|db.system.name=other_sql|server.address=db
cart:8080|db|SELECT items|3|db.collection.name=items|db.operation.name=SELECT|db.query.summary=SELECT items|db.system.name=other_sql|server.address=db
cart:8080|db|SET|3|db.operation.name=SET|db.query.summary=SET|db.system.name=other_sql|server.address=db
cart:8080|web|shop.Cart/Add|2|rpc.method=shop.Cart/Add|rpc.system.name=grpc
db|cart:8080|COMMIT|2
db|cart:8080|SELECT ...|2
db|cart:8080|SELECT items|2
db|cart:8080|SET|2
kafka|web|Produce orders|2
kafka|worker|deliver orders|3|server.address=worker
ldap|web|search|2
light|mosquitto|publish a/b|5|messaging.destination.name=a/b|messaging.operation.name=publish|messaging.operation.type=process|messaging.system=mqtt
memcached|web|get|2
mosquitto|light|publish a/b|3|server.address=light
mosquitto|web|publish a/b|2
nameless|web|web > nameless|2
nfs|web|RPC 100003.3.1|2|onc_rpc.procedure.number=1|onc_rpc.program.name=100003|onc_rpc.version=3|rpc.method=100003.3.1|rpc.system.name=onc_rpc
other|web|frobnicate it|2
rabbit|web|publish orders|2
rabbit|worker|deliver orders|3|server.address=worker
redis|web|HGETALL|2
redis|web|SET|2
somewhere|web|publish ...|2
web|[::1]:80|GET /x{id}|3|error.type=503|http.request.method=GET|http.response.status_code=503|server.address=::1|server.port=80|url.full=http://[::1]:80/x{id}
web|cart:8080|shop.Cart/Add|3|rpc.method=shop.Cart/Add|rpc.system.name=grpc|server.address=cart|server.port=8080
web|client|POST /cart|2|http.request.method=POST|url.path=/cart|url.scheme=http
web|kafka|Produce orders|3|messaging.destination.name=orders|messaging.operation.name=Produce|messaging.operation.type=send|messaging.system=kafka|server.address=kafka
web|ldap|search|3|server.address=ldap
web|memcached|get|3|db.operation.name=get|db.system.name=memcached|server.address=memcached
web|mosquitto|publish a/b|3|messaging.destination.name=a/b|messaging.operation.name=publish|messaging.operation.type=send|messaging.system=mqtt|server.address=mosquitto
web|nameless|web > nameless|3|server.address=nameless
web|nfs|RPC 100003.3.1|3|onc_rpc.procedure.number=1|onc_rpc.program.name=100003|onc_rpc.version=3|rpc.method=100003.3.1|rpc.system.name=onc_rpc|server.address=nfs
web|other|frobnicate it|3|server.address=other
web|rabbit|publish orders|3|messaging.destination.name=orders|messaging.operation.name=publish|messaging.operation.type=send|messaging.system=rabbitmq|server.address=rabbit
web|redis|HGETALL|3|db.operation.name=HGETALL|db.system.name=redis|server.address=redis
web|redis|SET|3|db.operation.name=SET|db.system.name=redis|server.address=redis
web|somewhere|publish ...|3|messaging.operation.name=publish|messaging.operation.type=send|messaging.system=unknown|server.address=somewhere
worker|kafka|deliver orders|5|messaging.destination.name=orders|messaging.operation.name=deliver|messaging.operation.type=process|messaging.system=kafka
worker|rabbit|deliver orders|5|messaging.destination.name=orders|messaging.operation.name=deliver|messaging.operation.type=process|messaging.system=rabbitmq
LINES
LC_ALL=C sort said >found
LC_ALL=C sort expected | diff - found >said
result $? 'otlp: attributes of HTTP, RPC, databases and brokers'

# --- the added delay: WS2 takes 200 ms more, and no frame but its own says so
for run in multi-tier multi-tier-added-delay; do
	"$ravel" maketrace --messages 30000 "$source/examples/$run.conf" 2>said |
		"$ravel" nesting --method paper -o $run.sqlite --no-requests - >/dev/null 2>>said
	"$ravel" export $run.sqlite --as folded >$run.folded
	requests=$("$ravel" query --format tsv $run.sqlite 'SELECT sum(count) FROM pattern' | tail -1)
	sed "s/\$/ $requests/" $run.folded
done >both.folded
# Of each node, own time for a request, in ms; half of all requests go to WS2.
awk '{ n = split($1, stack, ";"); own[NR > runs, stack[n]] += $2 / $3 / 1000; nodes[stack[n]] }
	END { for (node in nodes) print node, own[1, node] - own[0, node] }' \
	runs="$(wc -l <multi-tier.folded)" both.folded >said
awk '$1 == "WS2" { found = $2 > 97 && $2 < 106; next } $2 > 3 || $2 < -3 { others = 1 }
	END { exit !found || others }' said
result $? 'folded: of two runs WS2 alone differs, by 200 ms for each request that takes it'

# --- flame graphs
flamegraph=$(command -v flamegraph.pl || echo /usr/share/perl5/Devel/NYTProf/flamegraph.pl)
if [ -e "$flamegraph" ]; then
	"$ravel" export shop.sqlite --as folded >shop.folded
	perl "$flamegraph" --countname us shop.folded >shop.svg 2>said
	result $? 'flamegraph.pl takes the folded stacks'
	[ ! -s said ]
	result $? 'flamegraph.pl has nothing to say of them'
	# Its widest leaf is catalog under web2.
	grep -o '<title>catalog ([0-9,]* us[^<]*' shop.svg >said
	catalog=$(sort -t'(' -k2 -rn said | head -1 | sed 's/.*(\([0-9,]*\) us.*/\1/; s/,//g')
	expected=$(awk '/;web2;catalog/ { sum += $2 } END { print sum }' shop.folded)
	[ "$catalog" = "$expected" ]
	result $? 'the frame of catalog below web2 is as wide as what is in it'
else
	skip 'flamegraph.pl takes the folded stacks' 'flamegraph.pl is not installed (libdevel-nytprof-perl)'
fi

# --- by the programs that read it
long='OTLP against the definitions of OpenTelemetry'
browser='speedscope loads the trace events'
fetch() { # PACKAGE@VERSION...
	npm install --silent --no-fund --no-audit --ignore-scripts --prefix npm "$@" >said 2>&1
}
if [ -z "${RAVEL_LONG:-}" ]; then
	skip "$long" 'RAVEL_LONG is not set'
	skip "$browser" 'RAVEL_LONG is not set'
elif ! command -v npm >/dev/null; then
	skip "$long" 'npm is not installed'
	skip "$browser" 'npm is not installed'
else
	if fetch @opentelemetry/otlp-transformer@0.203.0; then
		for store in shop many names kinds; do
			"$ravel" export $store.sqlite --as otlp >$store.jsonl
			NODE_PATH=npm/node_modules node "$source/tests/scripts/check-otlp.js" $store.jsonl >said 2>&1
			result $? "$long: $store"
		done
		if fetch @opentelemetry/semantic-conventions@1.45.0; then
			grep -oh '"key":"[a-z._]*"' kinds.jsonl shop.jsonl | cut -d'"' -f4 | sort -u | grep -v '^ravel' |
				while IFS= read -r key; do
					grep -rqF "\"$key\"" npm/node_modules/@opentelemetry/semantic-conventions/dist || echo "$key"
				done >said
			[ ! -s said ]
			result $? "$long: names of attributes"
		else
			skip "$long: names of attributes" 'their package cannot be fetched'
		fi
		# The check can fail: a key that is not the protocol's, and a wrong type.
		sed 's/"kind"/"kinds"/' names.jsonl >wrong.jsonl
		! NODE_PATH=npm/node_modules node "$source/tests/scripts/check-otlp.js" wrong.jsonl >said 2>&1
		result $? "$long: an unknown key is an error"
		sed 's/"startTimeUnixNano":"/&x/' names.jsonl >wrong.jsonl
		! NODE_PATH=npm/node_modules node "$source/tests/scripts/check-otlp.js" wrong.jsonl >said 2>&1
		result $? "$long: a wrong value is an error"
	else
		skip "$long" 'its package cannot be fetched'
	fi
	if ! PYTHONPATH=$source/tests/browser python3 -Bc 'import chromium, sys; sys.exit(not chromium.program())'; then
		skip "$browser" 'chromium is not installed'
	elif fetch speedscope@1.25.0; then
		for store in shop many names; do
			"$ravel" export $store.sqlite --as chrome -w $store.json
			timeout 120 python3 -B "$source/tests/browser/speedscope.py" \
				npm/node_modules/speedscope/dist/release/index.html "$PWD/$store.json" >said 2>&1
			result $? "$browser: $store"
		done
	else
		skip "$browser" 'its package cannot be fetched'
	fi
fi
echo "1..$n"
exit $bad
