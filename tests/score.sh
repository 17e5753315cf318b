#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel score: its three formats against the outputs kept in tests/golden/, the share of right
# parents against what --calls and gen-trace say, and what it says of stores that will not do.
# With --update the golden files are written anew. TAP.
set -u
source=${srcdir:-$(dirname "$0")/..}
ravel=${RAVEL:-$PWD/ravel}
gen_trace=${GEN_TRACE:-$PWD/tests/gen-trace}
case $source in /*) ;; *) source=$PWD/$source ;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-score.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
n=0
bad=0

result() { # STATUS NAME [FILE]
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		[ $# = 2 ] || sed 's/^/# /' "$3"
		bad=1
	fi
}

# expect NAME STATUS TEXT COMMAND...: stderr is one line that holds TEXT, or empty as it is.
expect() {
	local name=$1 status=$2 text=$3 got
	shift 3
	"$@" >out 2>err
	got=$?
	if [ -n "$text" ]; then
		[ $got = "$status" ] && grep -qF -- "$text" err && [ "$(wc -l <err)" = 1 ]
	else
		[ $got = "$status" ] && [ ! -s err ]
	fi
	result $? "$name" err
}

stores() { # TRACE [OPTION...]: true.sqlite and found.sqlite
	"$ravel" nesting --cheat -o true.sqlite "$@" >/dev/null 2>&1 &&
		"$ravel" nesting -o found.sqlite "$@" >/dev/null 2>&1
}

# Requests of four shapes, some of them with two calls to one callee at once, that overlap.
awk 'function random(n) { seed = (seed * 1103 + 12345) % 65536; return int(seed * n / 65536) }
	function call(time, from, to, path, ends) {
		printf "%.3f CALL_SENT %s %s %d path=%s\n", time / 1000, from, to, ++id, path
		printf "%.3f RET_SENT %s %s %d path=%s\n", ends / 1000, to, from, id, path
	}
	BEGIN {
		for (i = 1; i <= 60; i++) {
			t = 1000 + 5 * i + random(9)
			web = random(3) ? "web1" : "web2"
			a = t + 2 + random(2); b = a + 5 + random(3)
			call(a, web, "auth", i ".1", b)
			c = b + 3 + random(2); d = c + 8 + random(4)
			call(c, web, "db", i ".2", d)
			if (i % 4 == 0)
				call(c + 1, web, "db", i ".3", d = d + 2)
			call(t, "client", web, i, d + 2)
		}
	}' | sort -n >small.trace
stores small.trace
for format in text tsv json; do
	"$ravel" score --format $format --top 1-3,10 true.sqlite found.sqlite >score.$format 2>err
	status=$?
	if [ "${1-}" = --update ]; then
		cp score.$format "$source/tests/golden/"
		continue
	fi
	[ $status = 0 ] && [ ! -s err ] && diff -u "$source/tests/golden/score.$format" score.$format >diff
	result $? "$format" diff
done
[ "${1-}" = --update ] && exit 0
"$ravel" score true.sqlite found.sqlite | awk '/^Path patterns/ { on = 1 } /^$/ { on = 0 } on { print $1 }' |
	paste -sd' ' >out
grep -qx 'Path top 1 2 5 all' out
result $? 'without --top: the usual ones, as far as there are patterns' out

# The same share by another way.
for shape in '3' '1.6 --four' '5 --repeat 3'; do
	# shellcheck disable=SC2086 # a number and options
	"$gen_trace" 20000 $shape --path --truth truth >t.trace
	stores t.trace --calls calls # both write it; the last are those found
	awk -F'\t' 'NR == FNR { parent[$1] = $2; next }
		FNR > 1 && parent[$5] != "-" { n++; right += $9 == parent[$5] }
		END { printf "\"children\": %d, \"right_parents\": %d,\n", n, right }' truth calls >expected
	"$ravel" score --format json true.sqlite found.sqlite 2>err >out && [ ! -s err ] &&
		grep -qFf expected out
	result $? "gen-trace $shape: as many right parents as by --calls: $(cat expected)" out
	"$ravel" score --format tsv true.sqlite true.sqlite | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == "all" { for (name in at) if (name ~ /^f[np]_|error/ && $at[name] + 0) exit
			ok = $at["right_instances"] == $at["true_instances"] && $at["right_parents"] == $at["children"] }
		END { exit !ok }'
	result $? 'and of the truth all is right'
done

expect 'no store' 2 '0 stores named: expected two' "$ravel" score
expect 'one store' 2 '1 stores named: expected two' "$ravel" score true.sqlite
expect 'no such format' 2 'expected --format text, tsv or json' "$ravel" score --format svg true.sqlite found.sqlite
for top in '' 0 x '1,' 3-2 1-1001 4294967295 5-; do
	expect "--top '$top'" 2 'expected up to 1000 numbers from 1' "$ravel" score --top "$top" true.sqlite found.sqlite
done
expect 'no such store' 3 'no.sqlite: cannot open: No such file' "$ravel" score no.sqlite found.sqlite
expect 'a trace' 3 't.trace: not a store' "$ravel" score true.sqlite t.trace
head -c 20000 found.sqlite >half.sqlite
expect 'half a store' 3 'half.sqlite: cannot read the store' "$ravel" score true.sqlite half.sqlite
expect 'a full disk' 4 'cannot write' sh -c '"$0" score true.sqlite found.sqlite >/dev/full' "$ravel"
expect 'the wrong way round' 0 'true.sqlite has the true paths, of nesting --cheat, and should be named first' \
	"$ravel" score found.sqlite true.sqlite
"$ravel" nesting --cheat -o small.sqlite small.trace >/dev/null 2>&1
expect 'stores of two traces' 0 'small.sqlite and found.sqlite are not of the same trace' \
	"$ravel" score small.sqlite found.sqlite
"$gen_trace" 2000 1.6 --clients 100 --path >clients.trace
stores clients.trace
"$ravel" nesting --no-fold -o unfolded.sqlite clients.trace >/dev/null 2>&1
expect 'clients folded in one' 0 "the stores' patterns do not compare: true.sqlite has fold=1, unfolded.sqlite fold=0" \
	"$ravel" score true.sqlite unfolded.sqlite
"$ravel" nesting --sibling-order strict -o strict.sqlite clients.trace >/dev/null 2>&1
expect 'another order of siblings' 0 'true.sqlite has sibling_order=multiset, strict.sqlite sibling_order=strict' \
	"$ravel" score true.sqlite strict.sqlite
expect 'folded in both' 0 '' "$ravel" score true.sqlite found.sqlite
echo '# ravel trace 1' >empty.trace
stores empty.trace
expect 'stores without paths' 0 '' "$ravel" score true.sqlite found.sqlite
echo "1..$n"
exit $bad
