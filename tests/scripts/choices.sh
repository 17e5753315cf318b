#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Conversations that a parser fits by half, or that only look like its protocol, have all their calls
# and returns, whole and with each segment in two halves. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99
python3 "$source/tests/scripts/make-choices.py" >expected || exit 99
while read -r name calls; do
	"$ravel" capture -r "$name.pcap" -w trace 2>error
	found="$(grep -c CALL_SENT trace) $(grep -c RET_SENT trace)"
	[ "$found" = "$calls $calls" ]
	result $? "$name" "$found calls and returns, not $calls"
done <expected
finish
