#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Names, ids and facts of strangers in every output: no byte of it is a control
# character, turns or hides text, is no character, or begins a formula; XML is XML. TAP.
set -u
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
ravel=$(realpath "${RAVEL:-./ravel}")
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
command -v python3 >/dev/null || {
	echo "1..0 # SKIP python3 is not installed"
	exit 0
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-printable.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
PYTHONDONTWRITEBYTECODE=1 exec python3 "$source/tests/scripts/printable.py" "$ravel" "$source/tests/data/hostile-names.trace"
