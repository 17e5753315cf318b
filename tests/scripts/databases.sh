#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Clients of databases against servers whose answers are known: see databases.py. Only with RAVEL_LONG=1, since
# real clients do not send the same bytes twice. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
[ -n "${RAVEL_LONG:-}" ] || skip_all 'RAVEL_LONG is not set'
command -v python3 >/dev/null || skip_all 'python3 is not installed'
python=$(command -v /usr/bin/python3 || command -v python3) # the clients are Debian's packages
"$python" "$srcdir/tests/scripts/databases.py" "$ravel" "$dir"
