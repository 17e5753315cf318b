#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Public captures of many protocols, link types and forms of files: each is read in
# bounded time, and refused only for a link type that carries no IP, by name. What some
# of them hold is known from tshark, or was counted by hand. The captures are not part
# of the project: RAVEL_SHARED says where they are, or they lie beside the source
# folder; without them the test is skipped. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
corpus=$shared/captures/corpus
if [ ! -f "$corpus/INDEX.tsv" ]; then
	skip_all "no captures in $corpus"
fi

fact() { # KEY: of the trace, 0 where it has none
	awk -F': ' -v key="# $1" '$1 == key { n = $2 } END { print n + 0 }' "$dir/trace"
}

# Calls, returns and one-way messages by file. From tshark: requests and final responses of
# HTTP, queries and answers of DNS less those that come again; of frames by their protocols
# the datagrams that are neither DNS nor to a group address, nor without a stamp; in
# suri_vxlan the runs of ssh, 20 and 19, beside the 8 of DNS; simple queries and Syncs of
# PostgreSQL, commands of MySQL but for the goodbye, calls of ONC RPC by their ids, requests of
# HTTP/2. zeek_http_bro.org has one response that tshark does not put together. By hand: the
# mails of SMTP, of which in zeek_smtp_smtp-bdat-gap a part is missing, Redis's commands, and
# what is published and delivered by NATS; in arkime_tcp-reassembly-synthetic 7 answers to HTTP are runs
# of letters.
known() {
	cat <<-'TABLE'
		arkime_6-4-gre-ppp-udp-4-dns.pcap 1 1 0
		arkime_http-no-length.pcap 1 1 0
		arkime_http-wrapped-header.pcap 1 1 0
		arkime_ipv6-in-ipv4.pcap 0 0 0
		arkime_tcp-reassembly-synthetic.pcap 11 9 0
		df_geneve.pcap 0 0 0
		df_http_grpc-service-name.pcap 1 1 0
		df_http_istio-tcp-frag.pcap 1 0 0
		df_nats_nats-headers.pcap 2 0 7
		df_nats_nats-nrpc1.pcap 2 2 0
		df_vmware-gre-teb.pcap 0 0 2
		pb_dns_mx.pcap 1 1 0
		pb_gap_in_stream.pcap 1 1 0
		pb_http_over_vlan.pcap 1 1 0
		pb_http_unmatched.pcap 2 1 0
		pb_mysql_prepare_statement.pcap 2 2 0
		pb_pgsql_extended_query.pcap 2 2 0
		pb_pgsql_insert_error.pcap 1 1 0
		pb_pgsql_long_result.pcap 1 1 0
		pb_pgsql_rt.pcap 1 1 0
		pb_redis_session.pcap 11 11 0
		pb_wsgi_drum.pcap 16 16 0
		pb_wsgi_loopback.pcap 1 1 0
		pcpp_frag_http_req.pcap 1 0 0
		pcpp_linktype_ipv4.pcap 1 1 0
		pcpp_one_http_stream_rst.pcap 1 1 0
		pcpp_one_tcp_stream.pcap 2 2 0
		pcpp_one_tcp_stream_max_seq.pcap 2 2 0
		png_be_test001.pcapng 0 0 2
		png_be_test100.pcapng 0 0 2
		png_be_test102.pcapng 0 0 2
		png_be_test201.pcapng 0 0 1
		png_le_test018.pcapng 0 0 2
		suri_decode-sll2-01.pcap 1 0 0
		suri_dns_dns-udp-double-request-response_dns-udp-double-request-response.pcap 2 2 0
		suri_http-ipv6.pcap 1 1 0
		suri_http2-bugfixes.pcap 4 4 0
		suri_http2-compression-bug.pcap 5 5 0
		suri_nfs3-procedure.pcap 97 97 0
		suri_nfs4-01.pcap 33 33 0
		suri_pgsql_pgsql-copy-data-out.pcap 1 1 0
		suri_pgsql_pgsql-ssl-rejected-md5-auth-simple-query.pcap 1 1 0
		suri_smtp-pipelining.pcap 1 1 0
		suri_vxlan-decoder-03_vxlan.pcap 28 27 2
		tcpdump_LINKTYPE_IPV6.pcap 1 0 0
		tcpdump_ipv4_tcp_http_xml_tso.pcap 1 0 0
		tcpdump_nflog.pcap 0 0 0
		tcpdump_time_2107.pcapng 1 0 0
		zeek_dns-two-responses.pcap 1 1 0
		zeek_http-vlan-0.pcap 1 1 0
		zeek_http_100-continue.pcap 1 1 0
		zeek_http_206_example_a.pcap 2 2 0
		zeek_http_bro.org.pcap 31 31 0
		zeek_http_get.pcap 1 1 0
		zeek_http_get_nosyn.pcap 1 1 0
		zeek_http_interleaved-http-entity.pcap 1 1 0
		zeek_http_pipelined-requests.pcap 5 5 0
		zeek_mysql_many-query-attrs.pcap 42 42 0
		zeek_mysql_mysql-show-engine-innodb-status-no-password.pcap 2 2 0
		zeek_nfs_nfs_write.pcap 56 56 0
		zeek_portmapper-many-unanswered-calls.pcapng 5000 0 0
		zeek_postgresql_greenhouse-app.pcap 84 84 0
		zeek_postgresql_psql-create-insert-select-delete-drop.pcap 7 7 0
		zeek_postgresql_psql-insert-fail-drop-fail.pcap 5 5 0
		zeek_redis_bulk-loading.pcap 1001 1001 0
		zeek_smtp_smtp-bdat-gap.pcap 1 1 0
		zeek_smtp_smtp-bdat-pipeline-8bitmime.pcap 2 2 0
	TABLE
}

# Labels of calls, as often as they are there; from tshark's methods and paths.
labels() {
	cat <<-'TABLE'
		df_http_grpc-service-name.pcap 1 StreamingService/ClientStreamRPC
		suri_http2-bugfixes.pcap 1 GET%20/robots.txt
		suri_http2-bugfixes.pcap 1 POST%20/youtubei/v1/log_event
		suri_http2-compression-bug.pcap 1 GET%20/widget/callout
		suri_http2-compression-bug.pcap 4 POST%20/log
	TABLE
}

for file in "$corpus"/*; do
	name=$(basename "$file")
	[ "$name" != INDEX.tsv ] || continue
	timeout 10 ./ravel capture -r "$file" -w "$dir/trace" 2>"$dir/err"
	status=$?
	case $status in
	0) grep -q '^ravel capture: [0-9]* packets\?, .* calls\?, ' "$dir/err" ;;
	1) grep -q ': no packet in it$' "$dir/err" ;;
	3) grep -q ': link type .* carries no IP' "$dir/err" ;;
	4) grep -q 'the trace holds what was read before that' "$dir/err" ;;
	*) false ;;
	esac
	result $? "$name: status $status" "$(tail -n 1 "$dir/err")"
done
known >"$dir/known"
while read -r name calls returns one_way; do
	[ -f "$corpus/$name" ] || continue
	timeout 10 ./ravel capture -r "$corpus/$name" -w "$dir/trace" 2>"$dir/err"
	found="$(fact calls) $(fact returns) $(fact 'one-way messages')"
	[ "$found" = "$calls $returns $one_way" ]
	result $? "$name: its messages" "$found instead of $calls $returns $one_way"
done <"$dir/known"
labels >"$dir/labels"
while read -r name times label; do
	[ -f "$corpus/$name" ] || continue
	timeout 10 ./ravel capture -r "$corpus/$name" --labels -w "$dir/trace" 2>"$dir/err"
	[ "$(grep -c "CALL_SENT.*label=$label\( .*\)\?\$" "$dir/trace")" = "$times" ]
	result $? "$name: label $label" "not $times times"
done <"$dir/labels"
finish
