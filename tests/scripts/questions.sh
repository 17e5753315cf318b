#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the manual asks a store in SQL, against a second computation: of the demonstration. RAVEL_LONG=1:
# of a large recording from the truth of its packets where RAVEL_SHARED has it; and of a million calls, how long each
# question, and each filter on each column of each view, takes. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99
page=$source/docs/ravel-query.1

questions() {
	python3 "$source/tests/scripts/questions.py" "$@"
}

check() { # NAME ARGUMENT...: nothing differs
	questions "${@:2}" >said 2>err && [ ! -s said ]
	result $? "$1" "$(cat said; tail -n 3 err)"
}

"$ravel" capture -r "$source/demo/shop.pcap.zst" --nodes "$source/demo/shop.nodes" -w shop.trace 2>err
"$ravel" nesting -o shop.sqlite -w out shop.trace
check 'the demonstration' ask "$ravel" shop.sqlite "$page"

recording=$shared/captures/testbed-conc8
if [ "${RAVEL_LONG-}" ] && [ -f "$recording/bridge.pcap.zst" ]; then
	"$ravel" capture -r "$recording/bridge.pcap.zst" --nodes "$recording/nodes.txt" -w conc8.trace 2>err
	questions path conc8.trace "$recording/truth_wire.tsv.zst" >true.trace
	"$ravel" nesting --cheat -o true.sqlite -w out true.trace
	check 'a recording, from truth' ask "$ravel" true.sqlite "$page" "$recording/truth_wire.tsv.zst"
	questions copies true.trace 29 >million.trace
	"$ravel" nesting --cheat -o million.sqlite -w out million.trace
	check 'a million calls: 3 s a question' time "$ravel" million.sqlite "$page" 3
	check "a million calls: 2 s a filter" filters "$ravel" million.sqlite 2
fi
finish
