#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The bundled demonstration capture: what ravel finds in it against what happened. The
# same checks as the system test's, of packets that were captured once. TAP.
set -eu
source=${srcdir:-$(dirname "$0")/../..}
ravel=${RAVEL:-./ravel}
demo=$source/demo
check=$source/tests/system/check.py

command -v python3 >/dev/null || {
	echo "1..0 # SKIP python3 is not installed"
	exit 0
}
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT

"$ravel" capture -r "$demo/shop.pcap.zst" --nodes "$demo/shop.nodes" -w "$work/trace"
"$ravel" nesting --method paper --format json -n 0 --calls "$work/calls" "$work/trace" >"$work/json"
{
	python3 "$check" patterns "$demo/shop.truth.tsv" "$work/json"
	python3 "$check" slowest "$work/json" 'client>lb(web2(catalog(postgres,postgres)))' catalog 20
	python3 "$check" edges "$demo/shop.edges.tsv" "$work/calls"
} | tee "$work/tap"
echo "1..$(grep -c '^ok\|^not ok' "$work/tap")"
