#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel diff: equal runs do not differ, an added delay is found where it is, and bursts
# are no proof of anything. RAVEL_LONG=1: twenty pairs of equal runs instead of one, longer, and inferred parents. TAP.
set -u
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
ravel=${RAVEL:-$PWD/ravel}
# What Graphviz does not give back is no finding of ours.
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-diff.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
n=0
bad=0

result() { # STATUS NAME [FILE]
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		[ $# = 2 ] || head -n 40 "$3" | sed 's/^/# /'
		bad=1
	fi
}

messages=15000
[ -z "${RAVEL_LONG:-}" ] || messages=60000
store() { # FILE CONFIGURATION SEED [OPTION...]
	sed "s/^seed=.*/seed=$3/; s/^messages=.*/messages=$messages/" "$source/examples/$2.conf" >conf
	"$ravel" maketrace -w trace conf 2>/dev/null && "$ravel" nesting -o "$1" "${@:4}" trace >/dev/null 2>&1
}

# Chance may make one pair in twenty differ.
pairs=1
[ -z "${RAVEL_LONG:-}" ] || pairs=20
differ=0
: >differing
for pair in $(seq $pairs); do
	store a.sqlite multi-tier $((100 + pair)) && store b.sqlite multi-tier $((200 + pair)) &&
		"$ravel" diff a.sqlite b.sqlite >out 2>err && grep -q '^No change beyond chance.$' out && [ ! -s err ] &&
		continue
	differ=$((differ + 1))
	cat out err >>differing
done
[ $differ -le $((pairs / 20)) ]
result $? "equal runs: no change beyond chance in $pairs pairs but one in twenty" differing

[ -n "${RAVEL_LONG:-}" ] || messages=45000 # for many patterns with enough of each
methods=paper
[ -z "${RAVEL_LONG:-}" ] || methods='paper joint'
for method in $methods; do
	store a.sqlite multi-tier 1 --method "$method"
	store b.sqlite multi-tier-added-delay 2 --method "$method"
	"$ravel" diff --fail-on 'own-p50>+100ms' --format tsv a.sqlite b.sqlite >out 2>err
	[ $? = 1 ]
	result $? "an added delay, method $method: status 1" err
	awk -F '\t' '$1 == "own" && $2 == "-" && $5 == "p50" && $12 {
			if ($3 == "WS2") ok = $9 - $8 > 190e6 && $9 - $8 < 212e6 && $10 > 180e6
			else if ($11 > 20e6 || $10 < -20e6) other = 1
		}
		END { exit !(ok && !other) }' out
	result $? 'WS2 takes 200 ms longer, and no other node does' out
	awk -F '\t' '$1 == "own" && $2 != "-" && $5 == "p50" && $12 && $10 > 20e6 {
			n++; if ($3 != "WS2") other = 1 }
		END { exit !(n >= 10 && !other) }' out
	result $? 'so it is on every pattern' out
done
"$ravel" diff b.sqlite a.sqlite --fail-on 'own-p50<-100ms' --fail-on 'p50>+10%' >/dev/null 2>err
[ $? = 1 ] && ! grep -qF 'p50>+10%' err && grep -q '^ravel diff: own-p50<-100ms: WS2: ' err
result $? 'the other way it is faster' err
"$ravel" diff a.sqlite a.sqlite --fail-on 'p99>-100%' --fail-on 'share<0%' >/dev/null 2>err
result $? 'a run and itself' err
# Below a line for each path, whose nodes all rows are of, none twice; each quantile is a row.
cat >rows.py <<'PYTHON'
import sys
text, path, seen = open(sys.argv[1]).read(), None, set()
assert "Paths: latency" in text
for line in text.split("Paths: latency")[1].split("\n\n")[0].splitlines()[2:]:
    if not line.startswith(" "):
        path, seen = line, set()
        continue
    way, quantile = line.split()[0], line.split(" p")[1][:2]
    assert (way, line) not in seen, line
    seen.add((way, line))
    shown = [key for key, _ in seen].count(way)
    assert shown <= 2, line
    if way != "latency":
        signature = path.replace("...", "")
        for node in way.replace("...", "").split(">"):
            assert node in signature or "..." in path or "..." in way, (path, line)
PYTHON
"$ravel" diff a.sqlite b.sqlite >out && python3 rows.py out 2>err
result $? 'each row of own time stands below its path, with its place' err
python3 - "$ravel" <<'PYTHON' >out 2>err
import os, pty, subprocess, sys
for columns in (60, 80, 100, 132, 200):
    os.environ["COLUMNS"] = str(columns)
    read, write = pty.openpty()
    with subprocess.Popen([sys.argv[1], "diff", "a.sqlite", "b.sqlite"], stdout=write) as program:
        os.close(write)
        text = b""
        try:
            while more := os.read(read, 65536):
                text += more
        except OSError:
            pass
    for line in text.decode().splitlines():
        assert len(line.rstrip("\r")) <= columns, f"{columns}: {line}"
PYTHON
result $? 'as wide as the terminal' err
"$ravel" diff --format html -o page.html a.sqlite b.sqlite && grep -q '"kind":"diff"' page.html
result $? 'as a page'

# 2000 paths of 10 ms, those of FROM to TO of 50 ms; one of EVERY goes by web2
run() { # FILE FROM TO EVERY
	awk -v from="$2" -v to="$3" -v every="$4" 'BEGIN {
		for (i = 0; i < 2000; i++) {
			t = 1000 + i; web = i % every ? "web1" : "web2"
			end = t + (i >= from && i < to ? 0.05 : 0.01)
			printf "%d.0\tCALL_SENT\tclient\t%s\t%d\n%.3f\tRET_SENT\t%s\tclient\t%d\n", t, web, i, end, web, i
		}
	}' >trace
	"$ravel" nesting -o "$1" trace >/dev/null
}
run a.sqlite 300 1200 2
run b.sqlite 500 1600 2
"$ravel" diff --fail-on 'p50>+10%' a.sqlite b.sqlite >out 2>err
[ $? = 5 ] && grep -q '^No change beyond chance.$' out && grep -q 'all paths: too few to tell: needs [0-9]* requests' err
result $? 'one burst in each run: no change beyond chance, and too few independent paths: status 5' out
run a.sqlite 0 0 4
run b.sqlite 0 2000 2
"$ravel" diff a.sqlite b.sqlite >out
grep -q '^client>web2  *500  *1,000  *+25 pp' out && grep -qx 'client>web1' out &&
	grep -q '^  latency .* p50 .* +40.0 ms  *+400 %' out
result $? 'all of it slower, and spread otherwise' out
run b.sqlite 0 0 5000
"$ravel" diff a.sqlite b.sqlite >out
grep -q '^client>web2  *500  *1  *-25 pp' out
result $? 'a pattern that is nearly gone' out
sed -i 's/web2/web3/' trace
"$ravel" nesting -o b.sqlite trace >/dev/null
"$ravel" diff a.sqlite b.sqlite >out
grep -q '^client>web2  *500  *0  *gone' out && ! grep -q web3 out && grep -q 'of which 1 is in A only and 1 in B only' out
result $? 'one that is gone, and one that is new by chance' out

# A tail of one operation in ten of its calls, five times as long: the median and the interval of p99 do not show it.
cat >tail.py <<'PYTHON'
import random, sys
sys.path.insert(0, sys.argv[1])
import diff_power
diff_power.LAWS["narrow"] = lambda rng: rng.lognormvariate(0, 0.3)
for side, share in (("a", 0), ("b", 0.1)):
    with open(side, "w") as file:
        file.write(diff_power.trace(random.Random(side), "narrow", 250, 0, share, 5))
PYTHON
PYTHONDONTWRITEBYTECODE=1 python3 tail.py "$source/tests/experiments"
for side in a b; do
	"$ravel" nesting -o $side.sqlite $side >/dev/null && "$ravel" nesting --no-requests -o $side-small.sqlite $side >/dev/null
done
"$ravel" diff --fail-on 'own-p99>+50%' a.sqlite b.sqlite >out 2>err
[ $? = 1 ] && grep -q '^ravel diff: own-p99>+50%: db SELECT: ' err && grep -q '^db SELECT .* p99 ' out && ! grep -q '^auth' out
result $? 'a tail of one operation: found' out
"$ravel" diff --format tsv a.sqlite b.sqlite |
	awk -F '\t' '$1 == "own" && $2 == "-" && $14 == "SELECT" && $5 == "tail" { ok = $12 && $8 < 0.03 && $9 > 0.05 && $15 > 5e6 }
		END { exit !ok }'
result $? 'as the share of calls above a limit'
"$ravel" diff --fail-on 'p99>+50%' a-small.sqlite b-small.sqlite >out 2>err
[ $? = 5 ] && grep -q 'taken for bursts of 4' out && grep -q '^The p99 of all paths needs 14[0-9][0-9] paths in each run.$' out
result $? 'without single paths: too few to tell' out

# A tenth of these calls is sent again, 40 ms later: time of the edge, and of no node.
cat >resent.py <<'PYTHON'
import sys
late, resent, calls = 0, None, 0
for line in sys.stdin:
    fields = line.rstrip("\n").split("\t")
    if len(fields) > 4:
        if fields[4] == resent:
            late, resent = late + 40_000_000, None
            fields.append("resent=40000000")
        if "label=SELECT" in fields:
            calls += 1
            resent = fields[4] if calls % 10 == 5 else resent
        seconds, ns = fields[0].split(".")
        fields[0] = "%d.%09d" % divmod(int(seconds + ns) + late, 10**9)
    print(*fields, sep="\t")
PYTHON
python3 resent.py <a >b
"$ravel" nesting -o b.sqlite b >/dev/null
"$ravel" diff a.sqlite b.sqlite >out
grep -q '^web>db (resent) .* p99  *0 ns  *[34][90].[90] ms ' out && ! grep -q '^db' out
result $? 'bytes sent again: of the edge, and of no node' out
"$ravel" diff --format tsv a.sqlite b.sqlite | awk -F '\t' '$1 == "cause" && $12 && $5 == "tail" {
		ok = $3 == "web>db" && $14 == "resent" && $8 == 0 && $9 > 0.03 && $9 < 0.05; n++ } END { exit !(ok && n == 1) }'
result $? 'as the share of calls'
sed 's/\tresent=[0-9]*//' b >plain
"$ravel" nesting -o plain.sqlite plain >/dev/null
"$ravel" diff plain.sqlite b.sqlite | grep -q '^db SELECT .* p99  *4[0-9]\.[0-9] ms '
result $? 'without the word of it: of the node'

echo "1..$n"
exit $bad
