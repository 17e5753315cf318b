#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The system test of QUIC and HTTP/3: client and server of ngtcp2 on the loopback of a network namespace; see
# quic_test.py. TAP. RAVEL names the program, arguments name tests. Takes a minute; needs root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ravel=$(realpath "${RAVEL:-$here/../../build/ravel}")
python=$(command -v /usr/bin/python3 || command -v python3)
PATH=$PATH:/usr/sbin
for program in gtlsclient gtlsserver openssl tcpdump; do
	if ! command -v "$program" >/dev/null; then
		echo "1..0 # SKIP $program is not installed"
		exit 0
	fi
done
if ! unshare --net --pid --fork --kill-child true 2>/dev/null; then
	echo "1..0 # SKIP no namespaces"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2016 # expanded inside
TMPDIR=$work timeout --kill-after 5 300 \
	unshare --net --pid --fork --kill-child --mount-proc \
	sh -c 'ip link set lo up && exec "$@"' sh "$python" "$here/quic_test.py" "$ravel" "$work" "$@"
