#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Tags: values of requests from packets to the store. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

printf '10.0.0.1 client\n10.0.0.2 web\n10.0.0.3 app1\n10.0.0.4 app2\n' >nodes
python3 "$source/tests/scripts/make-tags.py" shop.pcap 1500 t3 || exit 99

answer() # NAME OPTION...: NAME.trace and NAME.db of shop.pcap
{
	name=$1
	shift
	"$ravel" capture -r shop.pcap --nodes nodes "$@" -w "$name.trace" 2>>err &&
		"$ravel" nesting -o "$name.db" -w out "$name.trace" 2>>err
}

answer plain --tag tenant=query:tenant --tag tenant2=header:x-tenant --tag json=json:user.tenant --tag plan=cookie:plan \
	--tag first=path:1
result $? 'a capture with tags' err
said=$("$ravel" query --format tsv plain.db "SELECT count(*), sum(t.value IS NULL), sum(j.value IS NULL),
	sum(coalesce(t.value, j.value) = w.value), count(p.value), count(f.value) FROM path
	LEFT JOIN request_tag w ON w.request = path.id AND w.name = 'tenant2'
	LEFT JOIN request_tag t ON t.request = path.id AND t.name = 'tenant'
	LEFT JOIN request_tag j ON j.request = path.id AND j.name = 'json'
	LEFT JOIN request_tag p ON p.request = path.id AND p.name = 'plan'
	LEFT JOIN request_tag f ON f.request = path.id AND f.name = 'first' AND f.value = 'orders'" | tail -n 1)
posts=$(grep -c 'tags=json:' plain.trace)
[ "$posts" -gt 200 ] && [ "$said" = "1500	$posts	$((1500 - posts))	1500	$((1500 - posts))	1500" ]
result $? 'the store has the tags of each request' "$said, $posts posts"

"$ravel" why plain.db >said && grep -q '^  json=t3, tenant2=t3: ' said && [ "$(grep -c ' slowest, .* of all' said)" = 2 ] &&
	grep -qE '^  tenant2=t3, tenant=t3: ([0-9]+) of the \1 slowest, 1[01] % of all' said
result $? 'why: the slow ones share the tenant' said
"$ravel" why --format json plain.db | python3 -c 'import json, sys
for kind in json.load(sys.stdin)["kinds"]:
    assert kind["shared"][0]["value"].endswith("=t3") and 0 < kind["shared"][0]["chance"] < 1e-9, kind'
result $? 'why: the same in JSON'
"$ravel" why --slowest 100 plain.db | tail -n 3 >said && grep -qE '^tenant2=t3: 100 of the 100 slowest' said
result $? 'why --slowest: the same' said

for seed in 1 2 3 4 5; do
	python3 "$source/tests/scripts/make-tags.py" clean.pcap 1500 '' $seed && "$ravel" capture -r clean.pcap --nodes nodes \
		--tag tenant=query:tenant --tag tenant2=header:x-tenant -w clean.trace 2>>err &&
		"$ravel" nesting -o clean.db -w out clean.trace 2>>err && "$ravel" why clean.db && "$ravel" why --slowest 100 clean.db
done >said 2>>err
! grep -q 'slowest, .* of all' said && [ "$(grep -c '; the slowest' said)" = 10 ]
result $? 'why: without a slow tenant they share nothing' said

answer hashed --tag tenant=query:tenant --tag tenant2=header:x-tenant --tag-hash
[ "$("$ravel" query --format tsv hashed.db "SELECT count(DISTINCT value), min(length(value)), max(length(value))
	FROM tag" | tail -n 1)" = '10	8	8' ] && ! grep -q 'tags=[^ ]*:t[0-9]' hashed.trace
result $? 'hashes: as many as values, which are not written' err

"$ravel" nesting --no-requests -o few.db -w out plain.trace
[ "$("$ravel" query --format tsv few.db 'SELECT count(*) FROM tag' | tail -n 1)" = 0 ]
result $? '--no-requests: no tags'

answer none
! grep -q tags= none.trace && "$ravel" query --format tsv none.db "SELECT * FROM request_tag" >out && [ "$(wc -l <out)" = 1 ]
result $? 'no tags unless asked for' out
finish
