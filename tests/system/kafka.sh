#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The system test of Kafka: clients of Python and JavaScript, and a server of our own, in namespaces of
# their own; see kafka_test.py. TAP. RAVEL names the program, arguments name tests. Takes a minute; needs root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ravel=$(realpath "${RAVEL:-$here/../../build/ravel}")
python=$(command -v /usr/bin/python3 || command -v python3)
if ! unshare --net --pid --fork --kill-child true 2>/dev/null; then
	echo "1..0 # SKIP no namespaces"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# kafkajs is of npm, which may be fetched only here.
if command -v npm >/dev/null; then
	npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$work" kafkajs@2 >/dev/null 2>&1 || true
fi
# shellcheck disable=SC2016 # expanded inside
NODE_PATH=$work/node_modules TMPDIR=$work timeout --kill-after 5 300 \
	unshare --net --pid --fork --kill-child --mount-proc \
	sh -c 'ip link set lo up && exec "$@"' sh "$python" "$here/kafka_test.py" "$ravel" "$@"
