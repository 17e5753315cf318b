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
finish
