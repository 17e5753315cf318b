#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Captures a recorded system whose every call is known, and compares. The
# recording is not part of the project: RAVEL_SHARED says where it is, or it lies
# beside the source folder; without it the test is skipped.
src=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
shared=${RAVEL_SHARED:-$src/../shared}
from=$shared/captures/testbed-small
score=$shared/tools/acceptance.py
if [ ! -f "$from/bridge.pcap.zst" ] || [ ! -f "$score" ]; then
        echo "1..0 # SKIP no recorded system in $shared"
        exit 0
fi
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cp "$from/nodes.txt" "$from/edges.tsv" "$dir" || exit 99
zstd -q -d "$from/truth_wire.tsv.zst" -o "$dir/truth_wire.tsv" || exit 99
n=0
bad=0

result() { # OK NAME DETAIL
        n=$((n + 1))
        if [ "$1" = 0 ]; then
                echo "ok $n - $2"
        else
                echo "not ok $n - $2: $3"
                bad=1
        fi
}

# check NAME CAPTURE OPTION...: what of the truth is in the trace, edge by edge
check() {
        name=$1
        ./ravel capture -r "$2" --nodes "$dir/nodes.txt" -w "$dir/t.trace"
        result $? "$name: captured"
        shift 2
        python3 "$score" "$dir" "$dir/t.trace" "$@" >"$dir/table"
        for edge in 'client->lb' 'lb->web1' 'lb->web2' 'web1->auth' 'web2->auth' 'web1->catalog' \
                'web2->catalog' 'auth->redis' 'catalog->redis' 'catalog->postgres' \
                'web1->mta1' 'web2->mta1' 'mta1->mta2'; do
                row=$(grep -- "^$edge	" "$dir/table")
                case $row in
                '' | *'<') result 1 "$name: $edge" "$row" ;;
                *) result 0 "$name: $edge" ;;
                esac
        done
}

check mirror "$from/bridge.pcap.zst"
# Each packet three times, up to 50 us apart; the truth has the time of the last.
check 'all interfaces' "$from/switch-any.pcap.zst" --span --tol-ms 0.05

# The same of another system: the same messages as from where each passes once.
for point in any mirror; do
        ./ravel capture -r "$shared/captures/pairs/$point.pcap.zst" -w "$dir/$point.trace"
        grep -v '^#' "$dir/$point.trace" | cut -f2-5 | sort >"$dir/$point"
done
[ -s "$dir/any" ] && cmp -s "$dir/any" "$dir/mirror"
result $? 'all interfaces: the messages of the mirror'
echo "1..$n"
exit $bad
