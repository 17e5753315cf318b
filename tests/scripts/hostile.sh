#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Whatever is given to ravel capture, it ends: in bounded time and memory, with
# status 0 to 4, and says why in whole lines. Captures from outside the
# project are used where RAVEL_SHARED, or ../shared beside the sources, has them.
src=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
shared=${RAVEL_SHARED:-$src/../shared}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
n=0
bad=0

# Sanitizers reserve address space without end; otherwise 1 GB must do.
if ! ./ravel --version >/dev/null 2>&1 || ! nm ./ravel 2>/dev/null | grep -q __asan_init; then
        limit='ulimit -v 1000000;'
else
        limit=
fi

result() { # NAME OK DETAIL
        n=$((n + 1))
        if [ "$2" = yes ]; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1: $3"
                bad=1
        fi
}

# check NAME STATUSES COMMAND: runs it, stderr to $dir/err.
check() {
        timeout 20 sh -c "$limit $3" 2>"$dir/err" </dev/null
        status=$?
        ok=no
        for allowed in $2; do
                [ "$status" = "$allowed" ] && ok=yes
        done
        grep -qE 'Sanitizer|runtime error|CRITICAL|Assertion' "$dir/err" && ok=no
        if [ "$status" != 0 ] && ! grep -q '^ravel capture: ' "$dir/err"; then
                ok=no
        fi
        detail=
        [ $ok = yes ] || detail="status $status: $(tail -n 1 "$dir/err")"
        result "$1" $ok "$detail"
}

# check_text NAME STATUS TEXT COMMAND: and stderr must hold TEXT.
check_text() {
        timeout 20 sh -c "$limit $4" 2>"$dir/err" </dev/null
        status=$?
        ok=no
        [ "$status" = "$2" ] && grep -qF -- "$3" "$dir/err" && ok=yes
        detail=
        [ $ok = yes ] || detail="status $status: $(cat "$dir/err")"
        result "$1" $ok "$detail"
}

# A capture of one packet of TCP, Ethernet, as bytes in octal.
packet() {
        printf '\324\303\262\241\002\000\004\000\000\000\000\000\000\000\000\000\000\000\001\000\001\000\000\000'
        printf '\001\000\000\000\000\000\000\000\066\000\000\000\066\000\000\000'
        printf '\002\000\000\000\000\001\002\000\000\000\000\002\010\000'
        printf '\105\000\000\050\000\000\000\000\100\006\000\000\012\000\000\001\012\000\000\002'
        printf '\020\000\000\120\000\000\000\001\000\000\000\000\120\002\377\377\000\000\000\000'
}
packet >"$dir/one.pcap"
head -c 60 "$dir/one.pcap" >"$dir/cut-first.pcap"
{
        cat "$dir/one.pcap"
        tail -c +25 "$dir/one.pcap" | head -c 30
} >"$dir/cut.pcap"
head -c 24 "$dir/one.pcap" >"$dir/header.pcap"
{
        head -c 20 "$dir/one.pcap"
        printf '\303\000\000\000'
} >"$dir/link.pcap"
head -c 100000 /dev/zero >"$dir/zero.pcap"
: >"$dir/empty.pcap"
gzip -c "$dir/one.pcap" >"$dir/one.pcap.gz"
head -c 40 "$dir/one.pcap.gz" >"$dir/cut.pcap.gz"

check_text 'one packet' 0 '1 packet,' "./ravel capture -r '$dir/one.pcap' -w '$dir/out'"
check_text 'compressed' 0 '1 packet,' "./ravel capture '$dir/one.pcap.gz' -w '$dir/out'"
check_text 'standard input' 0 '1 packet,' "cat '$dir/one.pcap' | ./ravel capture -r - -w '$dir/out'"
check_text 'two files' 0 '2 packets' \
        "./ravel capture -r '$dir/one.pcap' -r '$dir/one.pcap.gz' -w '$dir/out'"
check_text 'no packet' 1 'no packet' "./ravel capture -r '$dir/header.pcap' -w '$dir/out'"
check_text 'empty' 3 'empty' "./ravel capture -r '$dir/empty.pcap' -w '$dir/out'"
check_text 'zeros' 3 'not a packet capture' "./ravel capture -r '$dir/zero.pcap' -w '$dir/out'"
check_text 'a directory' 3 'directory' "./ravel capture -r '$dir' -w '$dir/out'"
check_text 'absent' 3 'cannot open' "./ravel capture -r '$dir/absent' -w '$dir/out'"
check_text 'cut in the first packet' 3 'truncated' \
        "./ravel capture -r '$dir/cut-first.pcap' -w '$dir/out'"
check_text 'cut later' 4 'truncated' "./ravel capture -r '$dir/cut.pcap' -w '$dir/cut.trace'"
check_text 'what came before the cut' 0 'packets: 1' "cat '$dir/cut.trace' >&2"
check_text 'cut compressed' 3 'early' "./ravel capture -r '$dir/cut.pcap.gz' -w '$dir/out'"
check_text 'link type without IP' 3 'IEEE802_15_4' "./ravel capture -r '$dir/link.pcap' -w '$dir/out'"
check_text 'wrong filter' 2 'filter' "./ravel capture -r '$dir/one.pcap' -f 'tcp prot 80' -w '$dir/out'"
check_text 'filter' 1 'no packet' "./ravel capture -r '$dir/one.pcap' -f 'udp' -w '$dir/out'"
check_text 'nothing to capture' 2 'name a file' "./ravel capture"
check_text 'wrong names' 3 "$dir/one.pcap:1:" \
        "./ravel capture -r '$dir/one.pcap' --nodes '$dir/one.pcap' -w '$dir/out'"
check_text 'wrong protocol' 2 'PORT=NAME' "./ravel capture -r '$dir/one.pcap' --proto 80=x"
check_text 'no such interface' 3 'there is no interface "nosuch0"' './ravel capture -i nosuch0'
check_text 'to the null device' 0 '1 packet,' "./ravel capture -r '$dir/one.pcap' -w /dev/null"
check_text 'full disk' 4 'space' "./ravel capture -r '$dir/one.pcap' -w /dev/full"
check_text 'full disk, standard output' 4 'space' "./ravel capture -r '$dir/one.pcap' >/dev/full"
check_text 'no folder for the output' 4 'No such file' \
        "./ravel capture -r '$dir/one.pcap' -w '$dir/no/out'"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
        user='setpriv --reuid=65534 --regid=65534 --clear-groups'
        chmod 755 "$dir"
        cp ./ravel "$dir/ravel"
        cp "$dir/one.pcap" "$dir/secret.pcap"
        chmod 600 "$dir/secret.pcap"
        check_text 'no permission to read' 3 'ermission' \
                "$user '$dir/ravel' capture -r '$dir/secret.pcap' -w /dev/null"
        check_text 'no permission to capture' 3 'setcap cap_net_raw' \
                "$user '$dir/ravel' capture -i lo -w /dev/null"
        check_text 'no such interface, as anybody' 3 'there is no interface' \
                "$user '$dir/ravel' capture -i nosuch0 -w /dev/null"
fi

# The corpus has a test of its own.
set -- "$shared"/captures/hostile/*
[ -z "${RAVEL_LONG:-}" ] || set -- "$@" "$shared"/captures/corpus/*
for file; do
        case $file in
        *INDEX.tsv | *'*') continue ;;
        esac
        check "${file##*/}" '0 1 3 4' "./ravel capture -r '$file' --labels -w '$dir/out'"
done
echo "1..$n"
exit $bad
