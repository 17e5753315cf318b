#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel report: the page stands alone, and what is in it is what the store has. What
# needs a browser is in tests/browser. TAP.
set -u
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
ravel=${RAVEL:-$PWD/ravel}
# What Graphviz does not give back is no finding of ours.
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
command -v python3 >/dev/null || {
	echo "1..0 # SKIP python3 is not installed"
	exit 0
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-report.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99

if ! {
	"$ravel" capture -r "$source/demo/shop.pcap.zst" --nodes "$source/demo/shop.nodes" -w shop.trace &&
		"$ravel" nesting -o shop.sqlite shop.trace && "$ravel" report shop.sqlite
} >out 2>&1; then
	sed 's/^/# /' out
	exit 99
fi
"$ravel" report -o - shop.sqlite >again.html

# From packets, and from a trace, at once. What is made on the way is gone then, also where the run is ended before.
mkdir way
TMPDIR=$PWD/way "$ravel" report -o once.html --nodes "$source/demo/shop.nodes" "$source/demo/shop.pcap.zst" 2>said
echo $? >status
TMPDIR=$PWD/way "$ravel" report -o traced.html shop.trace 2>>said
echo $? >>status
mkfifo packets
for number in HUP INT TERM QUIT; do # a shell's background ignores two of them
	(
		ulimit -c 0
		TMPDIR=$PWD/way exec env --default-signal=INT,QUIT,HUP "$ravel" report -o ended.html --nodes packets \
			"$source/demo/shop.pcap.zst" 2>err
	) &
	exec 3>packets # it has begun
	kill -$number $!
	wait $! 2>err
	echo $? >>status
	exec 3>&-
done
ls way >left
PYTHONDONTWRITEBYTECODE=1 exec python3 "$source/tests/scripts/report.py" "$ravel" "$source/tests/data/hostile-names.trace"
