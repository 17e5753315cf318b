#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel nesting --learn and --model: what was learned once decides, anywhere the same, about as well
# as if it had been learned anew; what is no model, or one of another version, is refused. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
cd "$dir" || exit 99

# right CALLS: how many of the calls of the true ones have their parent, in percent.
right() {
	cut -f1-9 true | sort >true.parents
	cut -f1-9 "$1" | sort | comm -12 - true.parents | wc -l |
		awk -v all="$(wc -l <true.parents)" '{ print 100 * $1 / all }'
}

"$gen_trace" 12000 5 --path >t.trace
"$ravel" nesting --cheat --calls true -w /dev/null t.trace 2>err
"$ravel" nesting --calls plain -w plain.txt t.trace 2>err &&
	"$ravel" nesting --learn model --calls learned -w learned.txt t.trace 2>err &&
	cmp plain learned && cmp plain.txt learned.txt
result $? '--learn does not change the answer' err
"$ravel" nesting --learn model.2 -j 3 -w /dev/null t.trace 2>err && cmp model model.2
result $? 'the same model, whatever the threads' err

"$ravel" nesting --model model -j 1 --calls given -o given.sqlite -w given.txt t.trace 2>err &&
	"$ravel" nesting --model model.2 -j 3 --calls given.2 -w given.txt.2 t.trace 2>>err &&
	cmp given given.2 && cmp given.txt given.txt.2
result $? '--model: the same bytes, whatever the threads' err
[ ! -s err ]
result $? 'nothing to complain of' err
grep -q '(method joint, model [0-9a-f]\{16\})' given.txt
result $? 'the answer names the model'
"$ravel" nesting --model model --format json -w given.json t.trace && grep -q '"model": "[0-9a-f]\{16\}"' given.json
result $? 'and so does JSON'
"$ravel" show given.sqlite >shown 2>err && [ -s shown ] &&
	"$ravel" query given.sqlite 'SELECT parameters FROM run' | grep -q "model=$(grep -o '[0-9a-f]\{16\}' given.json) of t.trace"
result $? 'a store of it is read, and says which model' err
echo "# right: $(right plain) %, by the model $(right given) %"
awk "BEGIN { exit !($(right given) >= $(right plain) - 1) }"
result $? 'as many right parents, to a point'

# The second half of the trace, in a process of its own: calls far from its start have the parents
# that they have in the whole.
half=$(awk '!/^#/ { print $1 }' given | sort -n | awk 'NF && /^[0-9]/ { t[n++] = $1 } END { print t[int(n / 2)] }')
later=$(echo "$half" | awk '{ printf "%.9f", $1 + 10 }')
"$ravel" nesting --model model --from "$half" --calls shard -w /dev/null t.trace 2>err
awk -v from="$later" '/^[0-9]/ && $1 >= from' given | cut -f1-9,12 >whole.late
awk -v from="$later" '/^[0-9]/ && $1 >= from' shard | cut -f1-9,12 >shard.late
[ -s whole.late ] && cmp whole.late shard.late
result $? 'a shard: the parents and probabilities of the whole trace' err

# Another trace, of nodes that are not known.
sed 's/AUTH/OTHER/g' t.trace >other.trace
"$ravel" nesting --model model --calls other -w /dev/null other.trace 2>err
result $? 'a trace with a node that is not known'
grep -q 'of the nodes that are called and make calls is unknown to model' err
result $? 'and that is said' err

refused() { # STATUS NAME WORD
	[ "$1" -ne 0 ] && grep -q -- "$3" err && [ "$(wc -l <err)" -eq 1 ] && [ ! -e out.sqlite ]
	result $? "$2" err
}

head -c 11 model >bad && printf '\4\0' >>bad && tail -c +14 model >>bad
"$ravel" nesting --model bad -o out.sqlite t.trace >out 2>err
refused $? 'a model of another version' 'version 5, not of 4'
"$ravel" nesting --model t.trace -o out.sqlite t.trace >out 2>err
refused $? 'no model at all' 'byte 0: expected ravel state'
head -c 5000 model >bad
"$ravel" nesting --model bad -o out.sqlite t.trace >out 2>err
refused $? 'a model that is cut' 'bad: byte'
"$ravel" nesting --model nosuch -o out.sqlite t.trace >out 2>err
refused $? 'a model that is not there' nosuch
head -c 13 model >bad && printf '\0' >>bad && tail -c +15 model >>bad
"$ravel" nesting --model bad -o out.sqlite t.trace >out 2>err
refused $? 'another kind of state' 'a model that --learn has written'
"$ravel" nesting --model model --no-fold t.trace >out 2>err
refused $? 'other options' 'expected the same'
for with in '--window 1s' '--method paper' '--method oracle' --cheat; do
	# shellcheck disable=SC2086 # options with their values
	"$ravel" nesting --model model $with t.trace >out 2>err
	refused $? "--model $with" 'expected --method joint'
done
"$ravel" nesting --model model --learn model.3 t.trace >out 2>err
refused $? '--model and --learn' 'expected --method joint'
cp model kept
"$ravel" nesting --learn model --model model t.trace >out 2>err
"$ravel" nesting --learn t.trace t.trace >out 2>err
refused $? 'the trace is no place for a model' t.trace
cmp model kept
result $? 'nothing is written over'
finish
