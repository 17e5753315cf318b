#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# maketrace.sh [PAIRS]: CPU time (user and system) of making a trace of 20 million messages
# over that of md5sum of the file, in turn, median of PAIRS (5); and the memory for 2
# and for 20 million. Run it in the build folder; it needs GNU time and 1.2 GB in $TMPDIR.
set -eu
pairs=${1:-5}
source=$(cd "$(dirname "$0")/../.." && pwd)
ravel=${RAVEL:-$PWD/ravel}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
config=$source/examples/multi-tier.conf

make_trace() { # FORMAT MESSAGES
	rm -f "$dir/trace"
	command time -f "$1" -o "$dir/time" "$ravel" maketrace --messages "$2" -w "$dir/trace" "$config" \
		2>/dev/null
}
for _ in $(seq "$pairs"); do
	make_trace '%U %S' 20000000
	read -r user system <"$dir/time"
	command time -f '%U %S' -o "$dir/time" md5sum "$dir/trace" >/dev/null
	read -r md5_user md5_system <"$dir/time"
	awk -v a="$user" -v b="$system" -v c="$md5_user" -v d="$md5_system" 'BEGIN {
		printf "maketrace %.2f s (%.2f user), md5sum %.2f s: %.2f\n", a + b, a, c + d, (a + b) / (c + d) }'
done | tee "$dir/pairs"
awk '{ print $NF }' "$dir/pairs" | sort -n | sed -n "$(((pairs + 1) / 2))s/^/median of the ratios: /p"
for messages in 2000000 20000000; do
	make_trace '%M' $messages
	echo "$messages messages: $(cat "$dir/time") KiB"
done
