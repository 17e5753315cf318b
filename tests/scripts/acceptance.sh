#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Captures a recorded system whose every call is known, and compares. The
# recording is not part of the project: RAVEL_SHARED says where it is, or it lies
# beside the source folder; without it the test is skipped.
# RAVEL_LONG=1: more and longer recordings.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
from=$shared/captures/testbed-small
score=$shared/tools/acceptance.py
if [ ! -f "$from/bridge.pcap.zst" ] || [ ! -f "$score" ]; then
        skip_all "no recorded system in $shared"
fi


# truth NAME: the directory of a recording's truth, unpacked
truth() {
        mkdir -p "$dir/$1"
        cp "$shared/captures/$1/nodes.txt" "$shared/captures/$1/edges.tsv" "$dir/$1" &&
                zstd -q -f -d "$shared/captures/$1/truth_wire.tsv.zst" \
                        -o "$dir/$1/truth_wire.tsv" || exit 99
}

# check NAME RECORDING TRACE OPTION...: nothing of the truth is missing in the trace, and nothing
# is in it besides
check() {
        name=$1
        truth=$dir/$2
        trace=$dir/$3
        shift 3
        python3 "$score" "$truth" "$trace" "$@" >"$dir/table"
        result $? "$name: every call and return" "$(grep '<$' "$dir/table" | tr '\n' ';')"
}

# host NAME FILE: the capture of one host as the trace NAME.host
host() {
        ./ravel capture -r "$2" --host "$1" --nodes "$nodes" -w "$dir/$1.host" 2>"$dir/err"
}

truth testbed-small
nodes=$dir/testbed-small/nodes.txt
./ravel capture -r "$from/bridge.pcap.zst" --nodes "$nodes" -w "$dir/mirror.trace" 2>"$dir/err"
check mirror testbed-small mirror.trace
# Each packet three times, up to 50 us apart; the truth has the time of the last.
./ravel capture -r "$from/switch-any.pcap.zst" --nodes "$nodes" -w "$dir/switch.trace" 2>"$dir/err"
check 'all interfaces' testbed-small switch.trace --span --tol-ms 0.05

# Hosts stamp before the bridge does.
for file in "$from"/hosts/*; do
        host "$(basename "$file" .pcap.zst)" "$file"
done
./ravel merge "$dir"/*.host >"$dir/merged.trace" 2>"$dir/err"
check 'hosts, merged' testbed-small merged.trace --tol-ms 5
for skewed in web2 postgres; do
        host $skewed "$from/hosts-skew/$skewed.pcapng.zst"
done
./ravel merge "$dir"/*.host >"$dir/skewed.trace" 2>"$dir/err"
./ravel skewer --deskew "$dir/skewed.trace" >"$dir/deskewed.trace" 2>"$dir/err"
check 'hosts, two clocks wrong, merged and deskewed' testbed-small deskewed.trace --tol-ms 5

recordings=testbed-conc8
[ -z "${RAVEL_LONG:-}" ] || recordings='testbed-conc8 testbed-conc32'
for recording in $recordings; do
        if [ -f "$shared/captures/$recording/bridge.pcap.zst" ]; then
                truth "$recording"
                ./ravel capture -r "$shared/captures/$recording/bridge.pcap.zst" \
                        --nodes "$dir/$recording/nodes.txt" -w "$dir/$recording.trace" 2>"$dir/err"
                check "$recording" "$recording" "$recording.trace"
        fi
done

# messages TRACE: each call and return once, as one sorted line
messages() {
        grep -E 'CALL_SENT|RET_SENT' "$1" | cut -f1-5 | sort
}

# Packets that are cut: no call is made up, and at most so many in a thousand are missing, or have
# another return. With 68 bytes mails are one-way messages, and Redis's pipelined commands one call.
recordings=testbed-small
[ -z "${RAVEL_LONG:-}" ] || recordings='testbed-small testbed-conc8'
for recording in $recordings; do
        [ -f "$shared/captures/$recording/bridge.pcap.zst" ] || continue
        zstd -q -d -c "$shared/captures/$recording/bridge.pcap.zst" >"$dir/whole.pcap"
        ./ravel capture -r "$dir/whole.pcap" -w "$dir/whole.trace" 2>"$dir/err"
        messages "$dir/whole.trace" >"$dir/whole"
        for cut in 68:50 128:2 200:2; do
                python3 "${srcdir:-.}/tests/scripts/cut-packets.py" "${cut%:*}" <"$dir/whole.pcap" >"$dir/cut.pcap"
                ./ravel capture -r "$dir/cut.pcap" -w "$dir/cut.trace" 2>"$dir/err"
                messages "$dir/cut.trace" >"$dir/cut"
                invented=$(comm -13 "$dir/whole" "$dir/cut" | grep -c CALL)
                missing=$(comm -23 "$dir/whole" "$dir/cut" | wc -l)
                [ "$invented" = 0 ] && [ $((missing * 1000)) -le $((${cut#*:} * $(wc -l <"$dir/whole"))) ]
                result $? "$recording cut at ${cut%:*}: no call is made up, few are missing" \
                        "$invented, and $missing of $(wc -l <"$dir/whole") messages"
        done
done

# The paths: as many of each pattern as there were, and the mails that are passed on after
# the reply. What happened has the calls of a node in their order, ravel sorts them.
./ravel nesting --format tsv -n 0 "$dir/mirror.trace" >"$dir/found" 2>"$dir/err"
python3 - "$from/patterns.tsv" "$dir/found" <<'END' >"$dir/wrong"
import collections
import csv
import re
import sys


def canonical(signature):
    """Children sorted, from the innermost outwards."""
    caller, rest = signature.split(">", 1)
    open_nodes = [[]]
    for token in re.findall(r"[^(),]+|[()]", rest):
        if token == "(":
            open_nodes.append([])
        elif token == ")":
            children = ",".join(sorted(open_nodes.pop()))
            open_nodes[-1][-1] += f"({children})"
        else:
            open_nodes[-1].append(token)
    return f"{caller}>{open_nodes[0][0]}"


with open(sys.argv[1], encoding="utf-8") as file:
    rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
truth = {canonical(row[4]): int(row[2]) for row in rows}
truth["mta1>mta2"] = sum(int(row[2]) for row in rows if "~mta2" in row[5])
with open(sys.argv[2], encoding="utf-8") as file:
    found = collections.Counter()
    for row in csv.DictReader(file, delimiter="\t"):
        found[row["signature"]] += int(row["count"])
for signature, count in truth.items():
    if found.get(signature) != count:
        print(f"{found.get(signature, 0)} instead of {count} times {signature}", end="; ")
END
read=$?
[ $read = 0 ] && [ ! -s "$dir/wrong" ]
result $? 'mirror: the true patterns, each with its count' "$(cat "$dir/wrong")"

# The same of another system: the same messages as from where each passes once.
for point in any mirror; do
        ./ravel capture -r "$shared/captures/pairs/$point.pcap.zst" -w "$dir/$point.trace"
        grep -v '^#' "$dir/$point.trace" | cut -f2-5 | sort >"$dir/$point"
done
[ -s "$dir/any" ] && cmp -s "$dir/any" "$dir/mirror"
result $? 'all interfaces: the messages of the mirror'
finish
