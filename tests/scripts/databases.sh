#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Clients of databases against servers whose answers are known: see databases.py. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
python3 "$srcdir/tests/scripts/databases.py" "$ravel" "$dir"
