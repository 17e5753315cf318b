#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples of the manual pages print what the pages say (tests/scripts/examples.py). TAP.
# With --update the pages are written anew.
command -v python3 >/dev/null || {
	echo "1..0 # SKIP python3 is not installed"
	exit 0
}
source=$(realpath "${srcdir:-$(dirname "$0")/../..}")
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
exec python3 "$(dirname "$0")/examples.py" "$@" "${RAVEL:-./ravel}" "$source" \
	ravel-tutorial.7 ravel-advise.1 ravel-export.1 ravel-query.1 ravel-variance.1 ravel-store.5.in ravel-whatif.1 ravel-why.1
