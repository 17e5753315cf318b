#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Requests that are late on the way: the edge and the cause come first, with their time, and nodes keep their own
# (check-causes.py). RAVEL_LONG=1: ten variations of each kind instead of one. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
export PYTHONDONTWRITEBYTECODE=1

some='nagle-1 resend-2 hole-0 syn-4 shut-3 upload-1 download-2 dns-0 dns-1 connect-0 login-1 ramp-0
clocked-1 pause-1 events-4 halt-2'
[ -z "$RAVEL_LONG" ] || some=
# shellcheck disable=SC2086 # a list
"$source/tests/scripts/make-causes.py" "$dir/made" $some 2>"$dir/err"
result $? 'captures are made' "$dir/err"
"$source/tests/scripts/check-causes.py" "$ravel" "$dir/made" >"$dir/found" 2>&1
while read -r line; do
	case $line in
	'ok '*) result 0 "${line%%:*}" ;;
	*) result 1 "${line%%:*}" "$line" ;;
	esac
done <"$dir/found"
finish
