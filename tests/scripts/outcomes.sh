#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Outcomes of calls in public captures, against the statuses that tshark finds. Where the two differ, the
# reason is known. The captures are not part of the project (corpus.sh). TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
corpus=$shared/captures/corpus
[ -f "$corpus/INDEX.tsv" ] || skip_all "no captures in $corpus"
command -v tshark >/dev/null || skip_all 'tshark is not installed'

# How many outcomes are equal, and how many statuses have none: of a response whose request is not there
# (pb_http_unmatched, zeek_http_http-11), of a login, and in the buffers of a security layer.
known() {
	cat <<-'TABLE'
		arkime_6-4-gre-ppp-udp-4-dns.pcap 1 0
		df_amqp_amqp-error.pcap 1 0
		pb_http_unmatched.pcap 0 1
		pb_pgsql_insert_error.pcap 1 0
		pb_wsgi_drum.pcap 1 0
		pcpp_one_http_stream_rst.pcap 1 0
		suri_dns_dns-tcp-multirequest-buffer_dns-tcp-multirequest-buffer.pcap 20 0
		suri_pgsql_pgsql-upgrade-tls.pcap 0 1
		zeek_dce-rpc_mapi.pcap 8 0
		zeek_http_http-11-request-then-cruft.pcap 0 1
		zeek_http_methods.pcap 44 0
		zeek_ldap_missing_ldap_logs.pcapng 0 1
		zeek_postgresql_psql-insert-fail-drop-fail.pcap 2 0
	TABLE
}

known >"$dir/known"
set --
while read -r name _; do
	timeout 20 ./ravel capture -r "$corpus/$name" -w "$dir/$name.trace" 2>"$dir/err"
	set -- "$@" "$corpus/$name" "$dir/$name.trace"
done <"$dir/known"
python3 "$source/tests/scripts/outcomes.py" "$@" >"$dir/found" 2>"$dir/err"
result $? 'tshark reads the captures' "$dir/err"
while read -r name equal missing; do
	awk -v name="$name" -v equal="$equal" -v missing="$missing" '
		/^[0-9]/ { here = $2 == name; if (here && $1 != equal) bad = 1; found += here }
		/^\t/ && here && /: tshark has / { missing-- }
		/^\t/ && here && !/: tshark has / { bad = 1 }
		END { exit bad || missing || !found }' "$dir/found"
	result $? "$name: $equal outcomes" "$dir/found"
done <"$dir/known"
./ravel capture -r "$corpus/pb_redis_session.pcap" -w "$dir/redis" 2>"$dir/err"
[ "$(grep -c ' st=ERR$' "$dir/redis")" = 1 ]
result $? 'an error of Redis' "$dir/redis"
finish
