#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel nesting --cheat gives every call its true parent: on generated traces, without ids,
# with ids that repeat, with clocks that disagree, where messages were lost; and says what it
# had to leave out. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

# Calls and their parents, ids left out.
without_ids() {
	cut -f 1-4,6-8,10-12 "$1"
}

for parallelism in 1 1.6 20; do
	for shape in '' '--four --skew 30' '--repeat 3' '--repeat 4 --four'; do
		# shellcheck disable=SC2086 # options
		"$gen_trace" 12000 $parallelism $shape --path --truth truth >t.trace
		"$ravel" nesting --cheat --calls calls t.trace >out 2>err
		[ ! -s err ] && awk -F'\t' 'NR == FNR { parent[$1] = $2; calls++; next }
			FNR > 1 { right += $9 == parent[$5] && $12 == 1 }
			END { exit !(calls > 2400 && right == calls) }' truth calls
		result $? "parallelism $parallelism $shape: every parent is right" err

		awk -F'\t' -v OFS='\t' 'NF > 1 { $5 = "-" } 1' t.trace >no-ids.trace
		"$ravel" nesting --cheat --calls no-ids no-ids.trace >out 2>err
		[ ! -s err ] && cmp -s <(without_ids calls) <(without_ids no-ids)
		result $? "and without ids"
		awk -F'\t' -v OFS='\t' 'NF > 1 { $5 = substr($5, length($5)) } 1' t.trace >ids.trace
		"$ravel" nesting --cheat --calls ids ids.trace >out 2>err
		[ ! -s err ] && cmp -s <(without_ids calls) <(without_ids ids) &&
			cut -f 5 ids | sed 1d | awk 'length($0) != 1 { exit 1 }'
		result $? "and with ten ids for all calls"
	done
done
grep -q '(method cheat)' out
result $? 'the method is cheat' out
"$ravel" nesting --format json "$source/tests/data/shop.trace" >out && grep -q '"method": "joint"' out
result $? 'without --cheat it is joint'

# The traces of maketrace, some of their messages lost. The parent by another way: the call of
# the position without its last part, if it has both its halves.
for config in children-parallel penalty-breaker multi-tier; do
	for options in '' '--stamps both' lossy; do
		cp "$source/examples/$config.conf" config
		[ "$options" != lossy ] || printf '[sniffer]\nrate=250/s\nqueue=2\n' >>config
		# shellcheck disable=SC2086 # options
		"$ravel" maketrace --messages 20000 ${options#lossy} config >t.trace 2>/dev/null
		"$ravel" nesting --cheat --calls calls t.trace >out 2>err
		awk -F'\t' 'FILENAME != "calls" { if ($2 ~ /^CALL/ && match($0, /path=[0-9.]+/))
				path[$3, $4, $5] = substr($0, RSTART + 5, RLENGTH - 5); next }
			FNR == 1 { pass++; next }
			pass == 1 { call[path[$3, $4, $5]] = $3 " " $4 " " $5; next }
			{ up = path[$3, $4, $5]; is_child = sub(/\.[0-9]+$/, "", up)
			  parent = is_child && up in call ? call[up] : "- - -"
			  lost += is_child && !(up in call)
			  n++; right += parent == $7 " " $8 " " $9 }
			END { printf "%d of %d\n", lost, n; exit !(n > 1000 && right == n) }' t.trace calls calls >lost
		status=$?
		result $status "maketrace $config $options: every parent is right, $(cat lost) lost" err
		if [ "$options" = lossy ]; then
			! grep -q '^0 ' lost && grep -q "$(cat lost) calls have no parent in this trace" err
		else
			grep -q '^0 ' lost && [ ! -s err ]
		fi
		result $? 'and that is said' err
	done
done

# One request in hand: what is missing is said, and what is below it is a root.
cat >request.trace <<'EOT'
1.0 CALL_SENT client web a path=7
1.1 CALL_SENT web auth b path=7.1
1.2 CALL_SENT auth db c path=7.1.1
1.3 RET_SENT db auth c path=7.1.1
1.4 RET_SENT auth web b path=7.1
1.5 CALL_SENT web db d path=7.2
1.6 RET_SENT db web d path=7.2
1.9 RET_SENT web client a path=7
EOT
paths() { # NAME EXPECTED WARNING: of x.trace
	"$ravel" nesting --cheat --format tsv x.trace 2>err | sed 1d | cut -f 17 | sort | paste -sd' ' >got
	[ "$(cat got)" = "$2" ] && if [ -n "$3" ]; then
		[ "$(wc -l <err)" = 1 ] && grep -qF -- "$3" err
	else
		[ ! -s err ]
	fi
	result $? "$1" <(cat got err)
}
cp request.trace x.trace
paths 'a whole request' 'client>web(auth(db),db)' ''
sed 's/path=7\b/bytes=1 path=x%20/; s/path=7\./path=x%20./' request.trace >x.trace
paths 'positions are compared as text' 'client>web(auth(db),db)' ''
sed '/path=7.1$/d' request.trace >x.trace
paths 'a lost parent' 'auth>db client>web(db)' '1 of 3 calls have no parent in this trace'
sed 's/ path=7.1.1$//' request.trace >x.trace
"$ravel" nesting --cheat x.trace >out 2>err
grep -q '1 of 4 returns have no path=' err && grep -q '1 of 4 calls have no path=' err
result $? 'a call without a position is a root, and said' err
sed 's/path=7.1.1$/path=8.1.1/' request.trace >x.trace
paths 'a position below nothing' 'auth>db client>web(auth,db)' '1 of 4 calls have no parent in this trace'
sed 's/path=7.1.1$/path=7.2.1/' request.trace >x.trace
paths 'a position below a call that goes elsewhere' 'auth>db client>web(auth,db)' '1 of 4 calls have no parent in this trace'
sed 's/path=7.2$/path=7.1/' request.trace >x.trace
paths 'a position twice' 'client>web(auth(db),db)' '1 of 4 calls repeat the path= of an earlier call'
sed '/RET/s/ path=.*//' request.trace >x.trace
"$ravel" nesting --cheat x.trace >out 2>err
grep -q '4 of 4 returns have no path=, expected that of their call' err
result $? 'positions on calls only' err
sed 's/ path=.*//' request.trace >x.trace
"$ravel" nesting --cheat x.trace >out 2>err
[ $? = 3 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] &&
	grep -q 'x.trace: no call has the attribute path=, expected the true position' err
result $? 'a trace without positions is refused' err
echo '# ravel trace 1' >x.trace
"$ravel" nesting --cheat x.trace >out 2>err
[ $? = 1 ] && grep -q 'no messages in it' err
result $? 'an empty trace' err
finish
