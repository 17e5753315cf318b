#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Queues of brokers whose packets are captured from the middle of a run on, or not all: no message may seem to
# lie in a queue for longer than any did, and a queue that is truly long must stay. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99
make_queues=$source/tests/scripts/make-queues.py

queue() # PROTOCOL CASE LEAST SHORTEST TIMES FILE...: see make-queues.py; the longest wait counts in the first
{
	rm -f ./*.pcap ./*.tsv failed
	protocol=$1
	case=$2
	least=$3
	shortest=$4
	times=$5
	python3 "$make_queues" write "$protocol" "$case" . || exit 99
	shift 5
	for file; do
		"$ravel" capture --nodes nodes.txt -w trace "$file.pcap" 2>err &&
			"$ravel" nesting --calls calls trace >out 2>err &&
			python3 "$make_queues" check calls "$file.tsv" "$least" "$shortest" "$times" >said ||
			echo "$file: $(cat said err)" >>failed
		shortest=0
	done
	[ ! -f failed ]
	result $? "$protocol, $case: $# captures" failed
}

cuts=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	cuts="$cuts cut-$i"
done
for protocol in list stream amqp mqtt nats; do
	# shellcheck disable=SC2086
	queue $protocol plain 85 0 1 all $cuts
done
# The list is named in a command, which the first answer in a capture lacks.
# shellcheck disable=SC2086
queue move plain 85 0 1.5 all $cuts
for protocol in list stream amqp mqtt; do
	queue $protocol delayed 99 29 1 all
done
for protocol in list amqp; do
	queue $protocol growing 99 5 1 all
done
for protocol in list move amqp mqtt; do
	queue $protocol lost 90 0 1.2 all cut-1 cut-2
done
queue nats lost 95 0 1000 all cut-1 cut-2
queue amqp again 75 0 1 all cut-1 cut-2
finish
