#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The system test: real servers, `ravel capture` live on their bridge, `ravel nesting`,
# and what both found compared with the servers' own logs. TAP on standard output.
# RAVEL names the program. Takes about 20 seconds; needs root, or user namespaces.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ravel=${RAVEL:-$here/../../build/ravel}

if ! reason=$("$here/testbed" -k); then
	echo "1..0 # SKIP $reason"
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-system.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
tests=0
check() { # ARGUMENT...: of check.py; its lines are ours
	local lines
	lines=$(python3 "$here/check.py" "$@")
	echo "$lines"
	tests=$((tests + $(grep -c '^ok\|^not ok' <<<"$lines")))
}
find_paths() { # LOAD
	"$ravel" nesting --method paper --format json -n 0 --calls "$work/$1.calls" "$work/$1.trace" >"$work/$1.json"
}

slow=20
"$here/testbed" -o "$work" -r "$ravel" -d "$slow" calm:400:1:1 busy:400:4:2

echo "# one request at a time"
find_paths calm
check patterns "$work/calm.truth.tsv" "$work/calm.json"
check slowest "$work/calm.json" 'client>lb(web2(catalog(postgres,postgres)))' catalog "$slow"
check edges "$work/calm.edges.tsv" "$work/calm.calls"

# Which call caused which is now a matter of likelihood; the calls themselves are not.
echo "# four at a time"
find_paths busy
check edges "$work/busy.edges.tsv" "$work/busy.calls"
check paths "$work/busy.truth.tsv" "$work/busy.json"
echo "1..$tests"
