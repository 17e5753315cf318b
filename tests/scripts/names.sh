#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Names of nodes from where they are: what ss printed of a system on one address; what Kubernetes
# and Docker say, by the lines of the manual for jq. TAP.
# shellcheck disable=SC2031 # the subshell changes none of them
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

# --- the callers of a system on 127.0.0.1, by what ss printed ------------------
loopback() {
	local case=$shared/captures/wild/lo1
	if ! [ -f "$case/ss.txt" ] || ! command -v zstd >/dev/null; then
		echo "ok $((++tests)) # SKIP no capture of a system on one address here"
		return
	fi
	"$ravel" capture -r "$case/b.pcap.zst" --nodes "$case/nodes.txt" --nodes "$case/ss.txt" -w trace 2>err &&
		"$ravel" nesting --calls calls trace >out 2>>err
	awk '$1 + 0 && $2 && /node>front/ { print $2, $NF }' out | sort >patterns
	printf '%s\n' '104 node>front(price,stock)' '130 node>front(cart(price))' \
		'66 node>front(cart(stock),price,stock)' | cmp - patterns && grep -q 'fit for nesting and' err
	result $? 'the three patterns of a system on one address, by ss' out
	# By what is called and its id; of callers, truth calls the client otherwise.
	cut -f 3,4,5,6,7,8,9,10 calls | awk -F '\t' 'NR > 1 { print $2, $3, $6, $7 }' | sort >found
	awk -F '\t' '!/^#/ { print $2, $3, $5, $6 }' "$case/truth.tsv" | sort >true
	[ "$(wc -l <true)" = 1032 ] && cmp true found && [ "$(grep -vc -- '- -$' found)" = 732 ]
	result $? 'and the parents of its 732 calls' out
}
loopback

# --- the manual's lines for jq ---------------------------------------------------
python3 "$source/tests/data/make-captures" . || exit 99
cat >kubectl.json <<'END'
{ "kind": "List", "items": [
  { "kind": "Pod", "metadata": { "name": "web-5c9f-x1", "labels": { "app": "web" } }, "spec": {},
    "status": { "startTime": "2026-11-22T12:00:00Z", "podIPs": [ { "ip": "10.0.0.2" }, { "ip": "2001:db8::2" } ] } },
  { "kind": "Pod", "metadata": { "name": "db-0", "labels": { "app.kubernetes.io/name": "db", "app": "no" } },
    "spec": {}, "status": { "startTime": "2026-11-22T12:00:00Z", "podIPs": [ { "ip": "10.0.0.3" } ] } },
  { "kind": "Pod", "metadata": { "name": "pending" }, "spec": {}, "status": { "phase": "Pending" } },
  { "kind": "Pod", "metadata": { "name": "proxy" }, "spec": { "hostNetwork": true },
    "status": { "startTime": "2026-11-22T12:00:00Z", "podIPs": [ { "ip": "192.0.2.1" } ] } },
  { "kind": "Service", "metadata": { "name": "web", "labels": { "app": "web" } },
    "spec": { "clusterIP": "10.96.0.10", "clusterIPs": [ "10.96.0.10" ] } },
  { "kind": "Service", "metadata": { "name": "headless" }, "spec": { "clusterIPs": [ "None" ] } },
  { "kind": "Service", "metadata": { "name": "outside" }, "spec": { "type": "ExternalName" } } ] }
END
cat >docker.json <<'END'
[ { "Name": "shop", "Containers": {
      "1a2b": { "Name": "shop-web-1", "IPv4Address": "172.18.0.2/16", "IPv6Address": "" },
      "3c4d": { "Name": "shop-db-1", "IPv4Address": "172.18.0.3/16", "IPv6Address": "2001:db8:1::3/64" } } },
  { "Name": "none", "Containers": {} } ]
END
cat >kubectl.nodes <<'END'
10.0.0.2 web from 2026-11-22T12:00:00Z
2001:db8::2 web from 2026-11-22T12:00:00Z
10.0.0.3 db from 2026-11-22T12:00:00Z
10.96.0.10 web
END
cat >docker.nodes <<'END'
172.18.0.2 shop-web-1
172.18.0.3 shop-db-1
2001:db8:1::3 shop-db-1
END
lines_of_manual() { # PROGRAM: with what it prints in place of it, as it would be typed in
	rm -f nodes.txt
	sed -n "/^$1 /,/>nodes.txt\$/p" "$source/docs/ravel-capture.1" >typed
	# shellcheck disable=SC2317,SC2329 # the lines call them
	(
		kubectl() { cat kubectl.json; }
		docker() { [ "$2" = ls ] || cat docker.json; }
		. ./typed
	)
	cmp "$1.nodes" nodes.txt && "$ravel" capture -r http.pcap --nodes nodes.txt -w trace 2>err
	result $? "the manual's line for $1" nodes.txt
}
if command -v jq >/dev/null; then
	lines_of_manual kubectl
	lines_of_manual docker
else
	echo "ok $((++tests)) # SKIP jq is not installed"
fi
finish
