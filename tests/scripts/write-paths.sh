#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The writers of a path set against the outputs kept in tests/golden/, in TAP.
# With --update those are written anew: read their diff before committing it.
#
# SVG is not kept, since the room that text takes depends on the fonts of the
# machine: of that, what must hold everywhere is looked at.

program=${WRITE_PATHS:-tests/write-paths}
golden=${srcdir:-.}/tests/golden
# What the libraries do not give back is no finding of ours.
LSAN_OPTIONS=suppressions=${srcdir:-.}/tests/lsan.supp:print_suppressions=0:$LSAN_OPTIONS
export LSAN_OPTIONS
n=0

# result STATUS NAME: one line of TAP
result()
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

# golden FILE ARGUMENT...: what write-paths gives is what is in the file
golden()
{
	file=$golden/$1
	shift
	if [ "$update" ]; then
		"$program" "$@" > "$file"
		return
	fi
	"$program" "$@" | diff -u "$file" - > "$scratch/diff"
	status=$?
	sed 's/^/# /' "$scratch/diff"
	result $status "$*"
}

svg()
{
	"$program" svg "$1" > "$scratch/1.svg" && "$program" svg "$1" > "$scratch/2.svg"
	result $? "svg $1"
	cmp -s "$scratch/1.svg" "$scratch/2.svg"
	result $? "svg $1: the same bytes each time"
	# Elements and attributes are Graphviz's and ours, whatever the names are.
	! grep -Eiq '<(script|b|foreignObject|image)|href=|<[^>]* on[a-z]+=' "$scratch/1.svg"
	result $? "svg $1: names are text"
	if command -v xmllint > /dev/null; then
		xmllint --noout "$scratch/1.svg" 2> /dev/null
		result $? "svg $1: well-formed"
	fi
	[ -z "$(grep -o ' id="[^"]*"' "$scratch/1.svg" | sort | uniq -d)" ]
	result $? "svg $1: no id twice"
}

# rows NAME: pictures that do not fit beside each other are below each other
rows()
{
	"$program" svg "$1" | sed -nE 's/^<svg x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)".*/\1 \2 \3/p' |
		awk '{ if ($2 > y) rows++; else if ($1 < right || $1 + $3 > 1440) bad = 1
		       y = $2; right = $1 + $3 }
		     END { exit bad || rows < 2 }'
	result $? "svg $1: in rows"
}

[ "$1" = --update ] && update=1
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

golden paths-shop.txt text shop
golden paths-shop-100.txt text shop 100
golden paths-shop-40.txt text shop 40
golden paths-shop-colour.txt text shop 80 colour
golden paths-hostile-80.txt text hostile 80
golden paths-large-80.txt text large 80
golden paths-none.txt text none
golden paths-linear.txt text linear
golden paths-linear-60.txt text linear 60
golden paths-linear.dot dot linear
golden paths-linear.json json linear
golden paths-linear.tsv tsv linear
golden paths-shop.dot dot shop
golden paths-hostile.dot dot hostile
golden paths-shop.json json shop
golden paths-hostile.json json hostile
golden paths-none.json json none
golden paths-shop.tsv tsv shop
golden paths-hostile.tsv tsv hostile
[ "$update" ] && exit 0

svg shop
svg hostile
svg linear
rows hostile
for columns in 36 40 41 59 60 71 72 79 100 132; do
	"$program" text shop $columns | awk "length(\$0) > $columns { exit 1 }" &&
		"$program" text linear $columns | awk "length(\$0) > $columns { exit 1 }" &&
		"$program" text large $columns | awk "length(\$0) > $columns { exit 1 }"
	result $? "text: at most $columns columns wide"
done
for set in hostile linear; do
	"$program" json $set | python3 -c 'import json, sys; json.load(sys.stdin)' 2> /dev/null
	result $? "json $set: read by another program"
done
"$program" text shop > /dev/full 2> /dev/null
[ $? -eq 1 ]
result $? "text: a full disk is noticed"
echo "1..$n"
