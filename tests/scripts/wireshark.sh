#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# wireshark/ravel.lua: each call of a store is shown once, in the packet that it begins in, with what the
# store says of it, and its return in the one that it ends in; sums that Wireshark makes of the fields
# are ravel's. On datagrams and on several calls in one packet; with RAVEL_LONG=1 on the demonstration and on a
# capture that is not part of the project as well. TAP.
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v tshark >/dev/null || skip_all 'tshark is not installed'
command -v python3 >/dev/null || skip_all 'python3 is not installed'
tshark -v 2>/dev/null | grep -qi 'with lua' || skip_all 'tshark has no Lua here'
plugin=$source/wireshark/ravel.lua
cd "$dir" || exit 99
HOME=$dir
export HOME
mkdir data && (cd data && python3 "$source/tests/data/make-captures")

store() { # NAME OPTION...: of NAME.pcap
	name=$1
	shift
	"$ravel" capture -r "$name.pcap" "$@" -w "$name.trace" 2>err && "$ravel" nesting -n 1 -o "$name.sqlite" "$name.trace" >/dev/null 2>>err &&
		"$ravel" export "$name.sqlite" --as wireshark -w "$name.tsv"
}
shark() { # NAME OPTION...
	name=$1
	shift
	tshark -r "$name.pcap" -X lua_script:"$plugin" -X lua_script1:"$name.tsv" "$@" 2>err
}

# One look at a capture: the fields of each packet, and sums over all packets; in two passes, since
# a packet names later ones.
look() { # NAME
	shark "$1" -2 -Y 'ravel.request or ravel.returned' -T fields -E aggregator='|' -e frame.number -e frame.time_epoch -e ravel.request \
		-e ravel.call -e ravel.caller -e ravel.callee -e ravel.own -e ravel.path -e ravel.part_of -e ravel.return_in \
		-e ravel.parent_in -e ravel.returned -e ravel.call_in -z "$statistics" >out
	sed -n 's/^|[^|]*<>[^|]*|//p' out | tr '|' ' ' | awk '{ print $1, $2, $3, $4, $5, $6 }' >found
	grep '^[0-9]' out >shown
}
statistics='io,stat,0,COUNT(ravel.request)ravel.request,SUM(ravel.own)ravel.own,MAX(ravel.own)ravel.own'
statistics="$statistics,COUNT(ravel.returned)ravel.returned,SUM(ravel.candidates)ravel.candidates,SUM(ravel.latency)ravel.latency"

# What look() found, against the store: sums, and of each call what its packets say.
compare() { # NAME
	"$ravel" query --format tsv "$1.sqlite" "SELECT count(*), printf('%.6f', sum(own) / 1e9), printf('%.6f', max(own) / 1e9), count(*),
		sum(candidates), printf('%.6f', sum(coalesce(ret_recv, ret_sent) - coalesce(call_sent, call_recv)) / 1e9)
		FROM call" | tail -1 | tr '\t' ' ' >expected
	[ -s found ] && cmp expected found >/dev/null
	result $? "$1: statistics of Wireshark are those of the store" "$(cat expected found err)"
	"$ravel" export "$1.sqlite" --as tsv -w calls.tsv
	"$ravel" query --format tsv "$1.sqlite" 'SELECT path.id AS request, signature FROM path JOIN pattern ON pattern.id = pattern' >paths.tsv
	python3 - <<'PYTHON' >why 2>&1
def table(path):
    lines = [line.rstrip("\n").split("\t") for line in open(path)]
    return [dict(zip(lines[0], line)) for line in lines[1:]]

def ns(text):
    whole, _, part = text.partition(".")
    return int(whole) * 10**9 + int(part.ljust(9, "0"))

calls = {(c["request"], c["call"]): c for c in table("calls.tsv")}
paths = {p["request"]: p["signature"] for p in table("paths.tsv")}
names = ["request", "call", "caller", "callee", "own", "path", "part_of", "return_in", "parent_in", "returned", "call_in"]
packets = {}
for line in open("shown"):
    frame, time, *cells = line.rstrip("\n").split("\t")
    packets[frame] = dict(zip(names, ([c for c in cell.split("|") if c] for cell in cells)), time=str(ns(time)))
begins = {}
for frame, p in packets.items():
    for request, call, caller, callee, own, path in zip(*(p[name] for name in names[:6])):
        c = calls[request, call]
        assert (request, call) not in begins, (request, call)
        begins[request, call] = frame
        assert (c["caller"], c["callee"], int(c["own"])) == (caller, callee, ns(own)), (c, p)
        assert path == paths[request] and request in p["part_of"], p
        assert p["time"] in (c["call_sent"], c["call_recv"]), (c, p)
        assert c["parent"] == "-" or begins[request, c["parent"]] in p["parent_in"], (c, p)
assert set(begins) == set(calls), (len(begins), len(calls))
left = dict(calls)
for frame, p in packets.items():
    for request, begin in zip(p["returned"], p["call_in"]):
        mine = [k for k in ((request, str(i)) for i in range(1, 100)) if k in left and begins[k] == begin
                and p["time"] in (left[k]["ret_sent"], left[k]["ret_recv"])]
        assert mine and frame in packets[begin]["return_in"], (frame, p)
        del left[mine[0]]
assert not left, left
PYTHON
	result $? "$1: every call is in its packets, with what the store says" why
}

double() { # FILE COPY: with every packet twice
	python3 - "$@" <<'PYTHON'
import struct
import sys
data = open(sys.argv[1], "rb").read()
at, out = 24, data[:24]
while at < len(data):
    s, f, n, m = struct.unpack("<IIII", data[at:at + 16])
    out += data[at:at + 16 + n] + struct.pack("<IIII", s, f + 1, n, m) + data[at + 16:at + 16 + n]
    at += 16 + n
open(sys.argv[2], "wb").write(out)
PYTHON
}

# Datagrams, and calls that are runs of bytes.
for name in http doubts; do
	cp data/"$name.pcap" . && store "$name" && [ "$(wc -l <"$name.tsv")" -gt 1 ] && look "$name" && compare "$name"
done

printf 'a\tb\n' >bad.tsv
ln -s http.pcap bad.pcap
shark bad -Y ravel.request >out
grep -q 'bad.tsv: found no column request, expected what ravel export --as wireshark writes' err && [ ! -s out ]
result $? 'a file that is something else is named' err
{ head -1 http.tsv; printf '1\t1\n'; } >bad.tsv
shark bad -Y ravel.request >out
grep -q 'bad.tsv: line 2 has 2 columns' err && [ ! -s out ]
result $? 'and a line that is cut' err
rm bad.tsv
shark bad -Y ravel.request >out
grep -q 'bad.tsv: No such file' err && [ ! -s out ]
result $? 'and one that is not there' err

[ "${RAVEL_LONG-}" ] || finish

zstd -dqc "$source/demo/shop.pcap.zst" >shop.pcap && store shop --nodes "$source/demo/shop.nodes"
result $? 'the demonstration' err
look shop
compare shop
begins=$(awk -F '\t' '$3 != ""' shown | wc -l)
shark shop -Y 'ravel.part_of == 17' -T fields -e frame.number | wc -l >n
calls=$(awk '$1 == 17' shop.tsv | wc -l)
[ "$(cat n)" -ge $((2 * calls)) ] && shark shop -Y 'ravel.own > 0.02 and ravel.callee == "catalog"' | grep -q .
result $? 'display filters' n

# Where clocks were moved, the times of the store are no packet's.
"$ravel" skewer --skew lb=+300ms shop.trace >moved.trace 2>err && "$ravel" nesting -n 1 -o moved.sqlite moved.trace >/dev/null 2>&1 &&
	"$ravel" export moved.sqlite --as wireshark -w moved.tsv && ln -s shop.pcap moved.pcap
shark moved -Y ravel.request -T fields -e ravel.call -E occurrence=a | tr ',' '\n' | wc -l >n
[ "$(cat n)" = "$(($(wc -l <moved.tsv) - 1))" ] && [ "$(cat n)" -gt 8000 ]
result $? 'calls whose times were moved are known by their sequence numbers' "$(cat n; wc -l moved.tsv)"

# A packet that is there twice is no second call.
double shop.pcap double.pcap
cp shop.tsv double.tsv
shark double -Y ravel.request | wc -l >n
[ "$(cat n)" = "$begins" ]
result $? 'copies of packets are no calls' n

if [ -d "$shared/captures/testbed-conc8" ]; then
	zstd -dqc "$shared/captures/testbed-conc8/bridge.pcap.zst" >conc8.pcap && store conc8 --nodes "$shared/captures/testbed-conc8/nodes.txt"
	look conc8
	compare conc8
fi
finish
