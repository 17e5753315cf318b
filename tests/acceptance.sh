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
echo "1..11"
if ./ravel capture -r "$from/bridge.pcap.zst" --nodes "$dir/nodes.txt" -w "$dir/t.trace"; then
        echo "ok 1 - captured"
else
        echo "not ok 1 - captured"
fi
python3 "$score" "$dir" "$dir/t.trace" >"$dir/table"
n=1
bad=0
for edge in 'client->lb' 'lb->web1' 'lb->web2' 'web1->auth' 'web2->auth' 'web1->catalog' \
        'web2->catalog' 'auth->redis' 'catalog->redis' 'catalog->postgres'; do
        n=$((n + 1))
        row=$(grep -- "^$edge	" "$dir/table")
        case $row in
        '' | *'<')
                echo "not ok $n - $edge: $row"
                bad=1
                ;;
        *) echo "ok $n - $edge" ;;
        esac
done
exit $bad
