#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The bundled demonstration capture: what ravel finds in it against what happened. The
# same checks as the system test's, of packets that were captured once. The page in docs/demo is
# of this version and has this answer; with RAVEL_LONG=1 it is the same to the byte. TAP.
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
	"$source/docs/demo/make-page" "$ravel" "$work/page" 2>"$work/said"
	for page in "$source/docs/demo/shop.html" "$work/page"; do
		if [ -n "${RAVEL_LONG:-}" ]; then
			cat "$page"
		else
			grep -o 'id="data">{"kind":.*"patternCount":[0-9]*' "$page"
		fi >"$work/head-${page##*/}"
	done
	cmp "$work/head-shop.html" "$work/head-page" && [ -s "$work/head-page" ] || printf 'not '
	echo 'ok - docs/demo/shop.html is what docs/demo/make-page makes'
} | tee "$work/tap"
echo "1..$(grep -c '^ok\|^not ok' "$work/tap")"
