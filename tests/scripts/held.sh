#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Who held the lock, or the connections of a pool, that calls waited for. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

make_held()
{
	python3 "$source/tests/scripts/make-held.py" "$@"
}

names='one-holder own-request before-capture pool-idle lock-and-pool'
[ -z "${RAVEL_LONG:-}" ] || names="$names innocents in-turn pool-report pool-replica implicit-rare"
for name in $names; do
	make_held "$name" 1 >t.trace && "$ravel" nesting -o t.db -w out t.trace 2>err &&
		"$ravel" why --waiting --format tsv t.db >out 2>err
	result $? "$name" err
	make_held "$name" --check <out >wrong
	[ ! -s wrong ]
	result $? "$name: the holder is named, and nobody else" wrong
	make_held "$name" 2 --clean >t.trace && "$ravel" nesting -o t.db -w out t.trace 2>err &&
		"$ravel" why --waiting --format tsv t.db | grep -v '^worker' >out
	[ "$(wc -l <out)" = 1 ]
	result $? "$name without its fault: nobody" out
done

make_held one-holder >t.trace && "$ravel" nesting -o t.db -w out t.trace 2>err && "$ravel" why t.db >out 2>>err
grep -q '^POST /buy > SELECT accounts: .* waited at mysql for a transaction, .* for batch: SELECT accounts, UPDATE accounts, open ' out
result $? 'ravel why says it' out
"$ravel" report t.db -o page.html 2>err && grep -q '"held":\["POST /buy > SELECT accounts: ' page.html
result $? 'so does the page' err
said=$("$ravel" query --format tsv t.db "SELECT DISTINCT s.calls = count(*) AS a, s.time = sum(own + network) AS b,
	s.latency_mean = CAST(round(avg(latency)) AS INTEGER) AS c, s.errors, s.client,
	s.per_request = (SELECT round(1.0 * count(*) / count(DISTINCT request), 4) FROM hop r
		WHERE r.entry = s.entry AND r.entry_label = s.entry_label AND (depth = 0 OR label = statement)) - 1 AS d,
	s.share = (SELECT round(1.0 * sum(h.own + h.network) / sum(latency), 4) FROM hop r
		WHERE r.entry = s.entry AND r.entry_label = s.entry_label AND depth = 0) AS e
	FROM statements s JOIN hop h ON h.node = s.node AND h.label = s.statement AND h.entry = s.entry
		AND h.entry_label = s.entry_label
	WHERE s.entry_label = 'POST /buy' GROUP BY s.entry, s.statement")
[ "$(echo "$said" | sed 1d)" = "$(printf '1\t1\t1\t0\tclient\t1\t1')" ]
result $? 'statements: as the calls say' "$said"
finish
