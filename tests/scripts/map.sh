#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The map against what maketrace was told: probabilities within 0.02, abstract paths, calls that follow a miss, nodes
# and contexts that behave in other ways than those beside them. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

# map CONF: the map of its trace is in map.json.
map() {
	"$ravel" maketrace "$1" >trace 2>err && "$ravel" nesting --format map-json -o s.sqlite -w map.json trace 2>>err &&
		"$ravel" show --format map-json s.sqlite | cmp - map.json
}
cat >read_map.py <<EOF
import json

m = json.load(open("map.json", encoding="utf-8"))
edges = {(e["caller"], e["callee"]): e for e in m["edges"]}
nodes = {n["name"]: n for n in m["nodes"]}


def wrong(truth):
    """Edges that are not within 0.02, or are none."""
    return [(k, p, edges.get(k)) for k, p in truth.items() if k not in edges or abs(edges[k]["probability"] - p) > 0.02]
EOF
export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1

map "$source/examples/multi-tier.conf"
result $? 'a store and its trace have one map' err
python3 >found <<EOF
from read_map import *
truth = {("client", w): 0.5 for w in ("WS1", "WS2")}
truth.update({(w, a): p for w in ("WS1", "WS2") for a, p in (("AUTH", 1), ("AP1", 0.5), ("AP2", 0.5))})
truth.update({(a, d): p for d in ("DB1", "DB2") for a, p in (("AUTH", 0.25), ("AP1", 0.4), ("AP2", 0.4))})
alike = [sorted(n for n in nodes if nodes[n]["alike"] == x) for x in ("WS1", "WS2", nodes["AP1"]["alike"], nodes["DB1"]["alike"])]
counts = m["patterns"], m["abstract_paths"], len(edges)
print(wrong(truth), alike, counts)
exit(bool(wrong(truth)) or alike != [["WS1"], ["WS2"], ["AP1", "AP2"], ["DB1", "DB2"]] or counts != (36, 8, 14))
EOF
result $? 'multi-tier: 36 patterns are 8 abstract paths' found

cat >cache.conf <<EOF
[maketrace]
seed=13
messages=16000
[tracelet a]
parallel=1500
count=1500
think=uniform(0s,60s)
path=client > web( 1ms~0.1ms cache( 0.3ms~0.05ms ) { db( 12ms~2ms ) cache( 0.3ms~0.05ms ) }?0.22 1ms~0.1ms )
EOF
map cache.conf
python3 >found <<EOF
from read_map import *
db, cache = edges["web", "db"], edges["web", "cache"]
print(db, cache)
exit(bool(wrong({("web", "db"): 0.22, ("web", "cache"): 1})) or abs(cache["mean"] - 1.22) > 0.02 or db["after"] != "cache" or
     abs(db["given_after"] - 0.22) > 0.02 or abs(int(db["more"]) - 12.3e6) > 0.3e6)
EOF
result $? 'a miss: its probability, what it follows, and what it costs' found

cat >states.conf <<EOF
[maketrace]
seed=5
messages=60000
parallel=4
think=uniform(50ms,100ms)
[tracelet a]
weight=1
path=client > web( 1ms~0.1ms app( 1ms~0.1ms db?0.9( 2ms~0.3ms ) 1ms~0.1ms ) [f1 f2 g1 g2]( 1ms~0.1ms ) )
[tracelet b]
weight=1
path=client > batch( 1ms~0.1ms app( 1ms~0.1ms db?0.1( 2ms~0.3ms ) 1ms~0.1ms ) f1( 1ms~0.1ms ) )
[tracelet c]
weight=1
path=client > lb( a1?0.5( 1ms~0.1ms db?0.9( 2ms~0.3ms ) ) a2?0.5( 1ms~0.1ms db?0.1( 2ms~0.3ms ) ) )
EOF
map states.conf
python3 >found <<EOF
from read_map import *
states = {s["contexts"][0]["caller"]: s["makes"][0]["probability"] for s in m["states"] if s["node"] == "app"}
print(states, nodes)
exit(set(states) != {"web", "batch"} or abs(states["web"] - 0.9) > 0.02 or abs(states["batch"] - 0.1) > 0.02 or
     nodes["app"]["states"] != 2 or nodes["db"]["states"] != 1)
EOF
result $? 'a node that behaves otherwise for another caller has two states' found
python3 >found <<EOF
from read_map import *
alike = {n: nodes[n]["alike"] for n in nodes}
print(alike)
exit(alike["f1"] != alike["f2"] or alike["g1"] != alike["g2"] or alike["f1"] == alike["g1"] or alike["a1"] == alike["a2"])
EOF
result $? 'nodes with one name but other probabilities are not alike' found
finish
