#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What callers wait for connections, and what retransmissions hold up, is the network's, in every format, and all
# adds up: requests of known times, of which each second one opens a connection to db for its call. Without the
# parts of the time before it (tcp=, tls=, login=), that is the handshake of TCP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

# web: 10 ms of its own, of them 4 until it asks for a connection, then 20 until it is there, then 30 in db, of
# which the call was held up for 5 and the return for 7.
python3 - >all.trace <<'PYTHON'
def say(at, op, sender, receiver, name, attributes=""):
    print("%d.%09d\t%s\t%s\t%s\t%s%s" % (1000 + at // 10**9, at % 10**9, op, sender, receiver, name, attributes and "\t" + attributes))

ms = 1_000_000
print("# ids: connection.sequence")
for n in range(200):
    t, new = n * 100 * ms, n % 2
    wait = 20 * ms * new
    say(t, "CALL_SENT", "client", "web", "1.%x" % n)
    say(t + 4 * ms + wait, "CALL_SENT", "web", "db", "2.%x" % n, "stall=5000000" + " syn=20000000" * new)
    say(t + 34 * ms + wait, "RET_SENT", "db", "web", "2.%x" % n, "stall=7000000")
    say(t + 40 * ms + wait, "RET_SENT", "web", "client", "1.%x" % n)
PYTHON
"$ravel" nesting -o all.sqlite all.trace >text 2>err &&
	for format in json tsv dot; do "$ravel" show all.sqlite --format "$format" >"all.$format" 2>>err || exit 1; done &&
	"$ravel" nesting --format json all.trace >direct.json 2>>err
result $? 'paths of calls for which connections are opened' err

python3 - <<'PYTHON' 2>err
import json, sqlite3

db = sqlite3.connect("all.sqlite")
ms = 1_000_000
rows = db.execute("SELECT callee, own, network, connecting FROM call ORDER BY id").fetchall()
web, other = rows[0][0], [r for r in rows if r[0] != rows[0][0]]
assert {r[1:] for r in rows if r[0] == web} == {(10 * ms, 0, None)}, rows[:4]
assert {r[1:] for r in other} == {(18 * ms, 12 * ms, None), (18 * ms, 32 * ms, 20 * ms)}, rows[:4]
for latency, total in db.execute("SELECT latency, (SELECT sum(own + network) FROM call WHERE path = path.id) FROM path"):
    assert latency == total
for name in "direct.json", "all.json":
    (pattern,) = json.load(open(name))["patterns"]
    root, node = pattern["nodes"]
    assert "connecting" not in root
    assert int(node["connecting"]["total"]) == 100 * 20 * ms and int(node["network"]["total"]) == 100 * 20 * ms + 200 * 12 * ms
    assert sum(int(n["own"]["total"]) + int(n["network"]["total"]) for n in pattern["nodes"]) == int(pattern["total"])
header, line = (line.rstrip("\n").split("\t") for line in open("all.tsv"))
assert dict(zip(header, line))["connecting"] == str(10 * ms), (header, line)
PYTHON
result $? 'connecting and what is held up are the network'"'"'s, in the store, JSON and TSV' err

grep -Eq '^ +db .* 18\.0 ms' text && grep -Eq 'web > db \(resent\) +12\.0 ms' text &&
	grep -Eq 'web > db \(TCP handshake\) +10\.0 ms' text &&
	grep -q 'connecting 10.0 ms' all.dot
result $? 'and in the text and the graph' text

"$ravel" why all.sqlite --slowest 1 >why.out 2>err && grep -Eq 'web > db \(TCP handshake\) +20\.0 ms' why.out &&
	"$ravel" variance all.sqlite --format tsv >variance.tsv 2>>err &&
	awk -F '\t' 'NR > 1 { sum += $5 } NR == 2 { first = $3 " " $4 " " ($5 > 0.999) }
		END { exit first != "web > db (TCP handshake) way 1" || sum < 0.99999 || sum > 1.00001 }' variance.tsv
result $? 'why and variance name the connection' why.out

"$ravel" report all.sqlite -o all.html 2>err && grep -q '"connecting":10000000' all.html
result $? 'the page has it' err
# A caller that sends its SYN again decided on its call before it waited.
python3 - >lost.trace <<'PYTHON'
import random

r, t, lines = random.Random(1), 0, []

def say(at, op, sender, receiver, name, attributes):
    lines.append((at, "%d.%09d\t%s\t%s\t%s\t%s\t%s" % (1000 + at // 10**9, at % 10**9, op, sender, receiver, name, attributes)))

def some(ms):
    return int(ms * r.lognormvariate(0, 0.1) * 1_000_000)

for n in range(600):
    t += int(r.expovariate(1) * 6_000_000)
    lost = 1_000_000_000 * (n % 12 == 5)
    start = t + some(5) + lost
    end = start + some(4)
    say(t, "CALL_SENT", "client", "web", "1.%x" % n, "path=%d" % n)
    say(start, "CALL_SENT", "web", "db", "2.%x" % n, "path=%d.1" % n + (" syn=%d resent=%d" % (lost + 300000, lost)) * (lost > 0))
    say(end, "RET_SENT", "db", "web", "2.%x" % n, "path=%d.1" % n)
    say(end + some(3), "RET_SENT", "web", "client", "1.%x" % n, "path=%d" % n)
print("\n".join(line for _, line in sorted(lines)))
PYTHON
"$ravel" nesting --calls found.calls -w /dev/null lost.trace 2>err &&
	"$ravel" nesting --cheat --calls true.calls -w /dev/null lost.trace 2>>err &&
	awk -F'\t' 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["caller"] != "web" { next }
		FNR == NR { parent[$at["id"]] = $at["parent_id"]; next }
		{ right += parent[$at["id"]] == $at["parent_id"]; n++ }
		END { print 100 * right / n; exit right < 0.95 * n }' true.calls found.calls >right
result $? "parents of calls that waited for a SYN sent again: $(cat right) % of all are right" err

finish
