#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The system test of brokers: Mosquitto, NATS, RabbitMQ, Redis and ZooKeeper under load, in
# namespaces of their own; see brokers.py. TAP. RAVEL names the program, arguments name servers.
# Takes about three minutes; needs root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ravel=$(realpath "${RAVEL:-$here/../../build/ravel}")
if ! unshare --net --pid --fork --kill-child true 2>/dev/null; then
	echo "1..0 # SKIP no namespaces"
	exit 0
fi
# Whatever a server leaves behind ends with the namespace of processes.
exec timeout --kill-after 5 480 unshare --net --pid --fork --kill-child --mount-proc \
	sh -c 'ip link set lo up && exec python3 "$@"' sh "$here/brokers.py" "$ravel" "$@"
