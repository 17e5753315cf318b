#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Spans of Jaeger, OTLP and Zipkin as traces: the same calls, parents and times from each; every way
# in which they can be wrong is counted and said; what ravel export writes comes back as it was; any
# size in bounded memory. The spans are made by make-spans.py, which says what calls they tell of.
# The calls of a real system are used where RAVEL_SHARED, or ../shared beside the sources, has them;
# RAVEL_LONG=1 reads a gigabyte. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"

command -v python3 >/dev/null || skip_all 'python3 is not installed'
make=$source/tests/scripts/make-spans.py
cd "$dir" || exit 99
mkdir spans
python3 -B "$make" all spans || exit 99

facts() # TRACE: all but where it is from
{
	grep '^# ' "$1" | grep -v '^# \(ravel trace\|source\|importer\)' | LC_ALL=C sort
}

messages() # TRACE: without ids, which are those of the spans
{
	grep -v '^#' "$1" | awk '{ sub(/link=[^ ]*/, "link"); $5 = ""; print }'
}

for expected in spans/*.expected; do
	name=$(basename "$expected" .expected)
	"$ravel" import -w out.trace "spans/$name.json" 2>err && facts out.trace >found &&
		LC_ALL=C sort "$expected" | diff - found >why
	result $? "what is said of spans: $name" why
done

for format in jaeger.json otlp.jsonl otlp.json zipkin.json; do
	"$ravel" import -w $format.trace spans/shop.$format 2>err &&
		"$ravel" nesting --cheat --calls calls.tsv -w /dev/null $format.trace 2>>err &&
		python3 -B "$make" compare calls.tsv spans/shop.calls >why
	result $? "$format: the calls, their parents and times" why
	messages $format.trace >found
	[ -f first ] || mv found first
	[ ! -f found ] || cmp found first >why
	result $? "$format: the same messages as of the others" why
done
for form in spans/forms/*; do
	"$ravel" import -w form.trace "$form" 2>err && messages form.trace >found
	cp first wanted
	case $form in *whole*) sed -i 's/label=[^ ]*//' found wanted ;; esac # one name for both ends
	cmp found wanted >why
	result $? "the same messages of $(basename "$form")" why
done
messages otlp.jsonl.trace >found
sort -R --random-source="$make" spans/shop.otlp.jsonl | "$ravel" import - 2>err >shuffled
messages shuffled | cmp - found >why
result $? 'lines in any order' why
head -n 1 spans/shop.otlp.jsonl >part1
tail -n +2 spans/shop.otlp.jsonl | gzip >part2
"$ravel" import part2 part1 2>err >parts
messages parts | cmp - found >why
result $? 'a trace in several files, one of them compressed' why

# --- what paths they make
shop='client>frontend(cart,catalog(postgres),redis)'
while read -r name signature; do
	"$ravel" import "spans/$name.json" 2>err | "$ravel" nesting --cheat --format json -w out - 2>>err
	grep -qF "\"signature\": \"$signature\"" out
	result $? "paths of spans: $name" out
done <<END
good $shop~>orders~>mailer(postgres)
mixed_ids $shop~>orders~>mailer(postgres)
linked $shop~>orders~>mailer(postgres)
no_queue $shop~>mailer(postgres)
follows client>frontend(catalog(postgres),redis)~>{cart,orders~>mailer(postgres)}
retried client>frontend(cart,catalog,catalog(postgres),redis)~>orders~>mailer(postgres)
internal_root $shop~>orders~>mailer(postgres)
lost_server client>frontend(cart,cart,catalog(postgres),redis)~>orders~>mailer(postgres)
END

# --- options
"$ravel" import --whole -w out.trace spans/sampled.json 2>err
[ "$(grep -c 'path=[0-9]*[[:blank:]]\|path=[0-9]*$' out.trace)" = 6 ] && facts out.trace |
	grep -q '^# traces left out: not whole: 1 of 4 (25.0 %)$'
result $? '--whole leaves out what lacks a part' out.trace
"$ravel" import --one-clock spans/good.json 2>err | grep -q '^# clocks: one$'
result $? '--one-clock' err
"$ravel" import --node-attr host.name spans/numbers.json 2>err | grep -q 'host-of-frontend	host-of-catalog'
result $? '--node-attr' err
"$ravel" import --node-attr hostname spans/shop.jaeger.json 2>err | grep -q 'orders	host-of-mailer'
result $? "--node-attr of Jaeger's processes" err

# --- what is no JSON
fails() # NAME STATUS TEXT FILE
{
	"$ravel" import -w out.trace "$4" >out 2>err
	[ $? = "$2" ] && grep -q "$3" err
	result $? "$1" err
}
head -c 100000 spans/shop.jaeger.json >cut.json
fails 'a file that ends early is used as far as it goes' 4 '^ravel import: cut.json:[0-9]*: byte [0-9]*: found the end' cut.json
[ "$(grep -vc '^#' out.trace)" -gt 100 ]
result $? 'and makes a trace' out.trace
printf '{"resourceSpans":[\n{]}' >broken.json
fails 'broken JSON: where, what, and what was expected' 3 \
	'^ravel import: broken.json:2: byte 2: found "]", expected " before a key' broken.json
printf '{"resourceSpans":%s' "$(printf '[%.0s' $(seq 200))" >deep.json
fails 'what is too deep' 3 'no more than 128 objects' deep.json
printf '{"a":[]}' >other.json
fails 'JSON without spans' 3 'without spans, expected "data" of Jaeger' other.json
fails 'and what it is' 3 'found JSON with "a" without spans' other.json
printf '\357\273\277[]' >other.json
fails 'nothing' 3 'found JSON without spans' other.json
printf '{"data":[]}' >other.json
fails 'an answer without traces' 3 'found JSON with "data" without spans' other.json
printf '[{"traceId":"","id":"","name":"a"}]' >other.json
fails 'spans that cannot be told apart' 3 'found no span with an id and a trace, expected any; others: 1' other.json
printf 'hello\n' >other.txt
fails 'something else' 3 'found neither JSON of spans, nor mails, nor what tshark writes' other.txt

# --- what was exported
round_trip() # NAME TRACE: the same patterns as often
{
	"$ravel" nesting -o before.sqlite "$2" >out 2>err &&
		"$ravel" export before.sqlite --as otlp >spans.jsonl &&
		"$ravel" import -w after.trace spans.jsonl 2>>err &&
		"$ravel" nesting --cheat -o after.sqlite after.trace >out 2>>err
	result $? "$1: exported and imported" err
	for store in before after; do
		"$ravel" query --format tsv $store.sqlite \
			'SELECT count, signature, id FROM pattern ORDER BY 1, 2, 3' >$store
	done
	[ "$(wc -l <before)" -gt 1 ] && diff before after >why
	result $? "$1: the same patterns, as often" why
	[ -n "$3" ] || "$ravel" score before.sqlite after.sqlite 2>err |
		grep -q '^instances  100.0 % right in every call'
	result $? "$1: the same calls with the same parents" err
	rm -f before.sqlite after.sqlite
}
"$ravel" capture -r "$source/demo/shop.pcap.zst" --nodes "$source/demo/shop.nodes" -w shop.trace 2>err
"$gen_trace" 8000 4 --four --skew 1 --repeat 3 --clients 40 >many.trace
round_trip 'the demonstration' shop.trace
round_trip 'both ends, skewed clocks, many clients' many.trace
round_trip 'through queues' "$source/tests/data/queues.trace"
round_trip 'after the reply' "$source/tests/data/late.trace"
round_trip 'strange names' "$source/tests/data/names.trace" no-ids

# --- known calls of a real system
set -- "$shared"/traces/hotel/hotel_load150.four.gz
if [ -e "$1" ]; then
	loads=150
	[ -z "${RAVEL_LONG:-}" ] || loads='25 50 75 100 125 150'
	for load in $loads; do
		name=hotel_load$load
		gzip -dc "$shared/traces/hotel/$name.four.gz" >four
		gzip -dc "$shared/traces/hotel/$name.truth.gz" >truth
		python3 -B "$make" jaeger four truth . && "$ravel" import -w known.trace known.json 2>err &&
			"$ravel" nesting --cheat --no-fold --calls calls.tsv -w /dev/null known.trace 2>>err &&
			python3 -B "$make" compare calls.tsv known.calls >why
		result $? "$name: calls, parents and times as they are known" why
		rm -f true.sqlite found.sqlite
		"$ravel" nesting --cheat -o true.sqlite known.trace >out 2>&1 &&
			"$ravel" nesting -o found.sqlite known.trace >out 2>&1 &&
			"$ravel" score --format tsv true.sqlite found.sqlite >out 2>err &&
			awk -F'\t' 'END { share = $18 / $17; print "# " 100 * share " % of parents"; exit !(share > 0.99) }' out
		result $? "$name: joint inference finds 99 % of parents" out
	done
else
	tests=$((tests + 1))
	echo "ok $tests - known calls of a real system # SKIP no ../shared/traces/hotel beside the sources"
fi

# --- how right is inference?
mkdir tmp
TMPDIR=$dir/tmp "$ravel" score --import spans/shop.jaeger.json spans/shop.otlp.jsonl >out 2>err &&
	grep -q '^1,600 calls of 200 requests of 1 patterns are known$' out &&
	grep -q '^joint  *100.0 %  *100.0 %  *100.0 %  *1 of 1  *0  *100.0 %  *100.0 %$' out &&
	grep -q '^0.99 to 1  *1,400  *100.0 %' out && grep -q '^frontend  *800  *100.0 %' out &&
	grep -q '^ravel import: spans left out: duplicates: 2000$' err
result $? 'score --import' out
[ -z "$(ls tmp)" ]
result $? 'which leaves nothing behind'
"$ravel" score --import cut.json >out 2>err
[ $? = 4 ] && grep -q 'ends early\|found the end' err && grep -q '^joint' out
result $? 'of a file that ends early' err
"$ravel" score --import broken.json >out 2>err
[ $? = 3 ] && grep -q '^ravel import: broken.json:2' err && [ ! -s out ]
result $? 'of no JSON' err
"$ravel" score --import --top 3 cut.json 2>err
[ $? = 2 ] && grep -q 'neither --format nor --top' err
result $? 'has a table of its own' err

# --- any size
peak() # BYTES: of memory, KB, for so many bytes of lines
{
	python3 -B "$make" lines "$1" | python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$ravel" import -w large.trace -
}
size=25000000
[ -z "${RAVEL_LONG:-}" ] || size=1000000000
memory=$(peak $size)
spans=$(sed -n 's/^# spans: //p' large.trace)
echo "# $size bytes, $spans spans: $memory KB"
nm "$ravel" 2>/dev/null | grep -q __asan_init && memory=0 # sanitizers take memory of their own
[ "$spans" -gt $((size / 500)) ] && [ "$memory" -lt 160000 ]
result $? "$size bytes of lines in bounded memory"
finish
