#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Names of nodes from where they are: what ss printed of a system on one address. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

# --- the callers of a system on 127.0.0.1, by what ss printed ------------------
loopback() {
	local case=$shared/captures/wild/lo1
	if ! [ -f "$case/ss.txt" ] || ! command -v zstd >/dev/null; then
		echo "ok $((++tests)) # SKIP no capture of a system on one address here"
		return
	fi
	"$ravel" capture -r "$case/b.pcap.zst" --nodes "$case/nodes.txt" --nodes "$case/ss.txt" -w trace 2>err &&
		"$ravel" nesting --calls calls trace >out 2>>err
	awk '$1 + 0 && $2 && /node>front/ { print $2, $NF }' out | sort >patterns
	printf '%s\n' '104 node>front(price,stock)' '130 node>front(cart(price))' \
		'66 node>front(cart(stock),price,stock)' | cmp - patterns && grep -q 'fit for nesting and' err
	result $? 'the three patterns of a system on one address, by ss' out
	# By what is called and its id; of callers, truth calls the client otherwise.
	cut -f 3,4,5,6,7,8,9,10 calls | awk -F '\t' 'NR > 1 { print $2, $3, $6, $7 }' | sort >found
	awk -F '\t' '!/^#/ { print $2, $3, $5, $6 }' "$case/truth.tsv" | sort >true
	[ "$(wc -l <true)" = 1032 ] && cmp true found && [ "$(grep -vc -- '- -$' found)" = 732 ]
	result $? 'and the parents of its 732 calls' out
}
loopback
finish
