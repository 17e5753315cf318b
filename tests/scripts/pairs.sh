#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# One system, captured at several places at once: whatever two traces are merged, no call and
# no return is there twice, or by two ids; nor is any missing. The recordings are not part of
# the project: RAVEL_SHARED says where they are, or they lie beside the source folder; without
# them the test is skipped. RAVEL_LONG=1: each two of the places, and more beginnings. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
pairs=$shared/captures/pairs
small=$shared/captures/testbed-small
score=$shared/tools/acceptance.py
if [ ! -f "$pairs/mirror.pcap.zst" ] || [ ! -f "$score" ]; then
        skip_all "no recorded system in $shared"
fi

capture() # FILE TRACE OPTION...
{
        file=$1
        out=$2
        shift 2
        ./ravel capture -r "$file" -w "$out" "$@" 2>/dev/null || exit 99
}

# What was said, at whichever end that was seen: a line a call and a line a return
messages() # TRACE
{
        awk -F'\t' '!/^#/ { sub("_(SENT|RECV)", "", $2); print $2, $3, $4, $5 }' "$1" | sort -u
}

# No stamp of one end is there twice
once() # TRACE
{
        [ -z "$(grep -v '^#' "$1" | cut -f 2-5 | sort | uniq -d)" ]
}

# --- taps ---------------------------------------------------------------------
taps='any app client db web app_skew db_skew web_skew web_ttl web_vlan'
for tap in mirror $taps; do
        capture "$pairs/$tap.pcap.zst" "$dir/$tap"
        messages "$dir/$tap" >"$dir/$tap.messages"
        once "$dir/$tap"
        result $? "$tap: no id twice"
        [ -z "$(comm -13 "$dir/mirror.messages" "$dir/$tap.messages")" ]
        result $? "$tap: ids as at the mirror"
done
others=$taps
for a in $taps; do
        others=${others#"$a"}
        others=${others# }
        with=$others
        [ "${RAVEL_LONG:-}" ] || with=${others%% *}
        for b in $with; do
                ./ravel merge "$dir/$a" "$dir/$b" -w "$dir/merged" 2>/dev/null &&
                        sort -u "$dir/$a.messages" "$dir/$b.messages" >"$dir/wanted" &&
                        messages "$dir/merged" | cmp -s - "$dir/wanted" && once "$dir/merged"
                ok=$?
                ./ravel merge "$dir/$a" "$dir/$b" "$dir/mirror" -w "$dir/merged" 2>/dev/null &&
                        messages "$dir/merged" | cmp -s - "$dir/mirror.messages" &&
                        once "$dir/merged" || ok=1
                result $ok "$a and $b, and both with the mirror"
        done
done
./ravel merge --window 10ms "$dir/app" "$dir/app_skew" -w "$dir/merged" 2>"$dir/err"
[ $? = 4 ] && grep -q 'its clock is 0.050 s behind that of' "$dir/err"
result $? 'a window that is too small is named'

# Begun in the middle, at any packet
zstd -q -d "$pairs/client.pcap.zst" -o "$dir/client.pcap" || exit 99
begun='2 101 1500'
[ -z "${RAVEL_LONG:-}" ] || begun='2 5 33 101 502 1001 1500 1777 3000'
for from in $begun; do
        python3 - "$dir/client.pcap" "$from" "$dir/cut.pcap" <<'SCRIPT' || exit 99
import struct, sys
data = open(sys.argv[1], 'rb').read()
order = '<' if data[0] in (0xd4, 0x4d) else '>'
at = 24
for i in range(int(sys.argv[2])):
    at += 16 + struct.unpack(order + 'I', data[at + 8:at + 12])[0]
open(sys.argv[3], 'wb').write(data[:24] + data[at:])
SCRIPT
        capture "$dir/cut.pcap" "$dir/cut"
        ./ravel merge "$dir/mirror" "$dir/cut" -w "$dir/merged" 2>/dev/null &&
                messages "$dir/merged" | cmp -s - "$dir/mirror.messages" && once "$dir/merged"
        result $? "begun $from packets late"
done

# --- hosts --------------------------------------------------------------------
cp "$small/nodes.txt" "$small/edges.tsv" "$dir" || exit 99
zstd -q -d "$small/truth_wire.tsv.zst" -o "$dir/truth_wire.tsv" || exit 99
mkdir "$dir/hosts"
for file in "$small"/hosts/*.pcap.zst; do
        host=$(basename "$file" .pcap.zst)
        capture "$file" "$dir/hosts/$host" --host "$host" --nodes "$dir/nodes.txt"
done
./ravel merge "$dir"/hosts/* -w "$dir/merged" 2>/dev/null
result $? 'hosts: merged'
python3 "$score" "$dir" "$dir/merged" --tol-ms 5 >"$dir/table"
for edge in 'client->lb' 'lb->web1' 'lb->web2' 'web1->auth' 'web2->auth' 'web1->catalog' \
        'web2->catalog' 'auth->redis' 'catalog->postgres' 'catalog->redis'; do
        row=$(grep -- "^$edge	" "$dir/table")
        case $row in
        '' | *'<')
                echo "# $row"
                result 1 "hosts: $edge"
                ;;
        *) result 0 "hosts: $edge" ;;
        esac
done
messages "$dir/merged" >"$dir/merged.messages"
capture "$small/bridge.pcap.zst" "$dir/bridge" --nodes "$dir/nodes.txt"
./ravel merge "$dir/bridge" "$dir"/hosts/* -w "$dir/all" 2>/dev/null &&
        messages "$dir/all" | cmp -s - "$dir/merged.messages" && once "$dir/all"
result $? 'hosts and a bridge: the stamp of the host'
finish
