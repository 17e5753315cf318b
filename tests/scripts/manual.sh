#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The manual says what the program does: the pages are correct mdoc, and have exactly the
# options that --help lists. TAP.
set -u
source=${srcdir:-$(dirname "$0")/../..}
ravel=${RAVEL:-./ravel}
docs=$source/docs
store_page=docs/ravel-store.5 # this and the next in the folder of the build
trace_page=docs/ravel-trace.5
n=0
bad=0

result() { # NAME DIFFERENCE
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '# %s\n' "${2//$'\n'/$'\n# '}"
		bad=1
	fi
}

# "-w --output FILE", sorted; the value's name in capitals.
options_of_help() {
	sed -nE 's/^  ((-[a-zA-Z]), )?(--[a-z-]+)(=(\S+))?( .*|$)/\2 \3 \U\5/p' | sort
}
options_of_page() {
	sed -nE 's/^\.It Fl (([a-zA-Z]) , Fl )?-([a-z-]+)( Ns = Ns Ar (.*))?$/-\2 --\3 \U\5/p' |
		sed -e 's/^- --/ --/' -e 's/ NS = NS AR /=/g' | sort
}

for verb in advise capture convolution import maketrace merge stats nesting cut diff export query report score show skewer trend variance watch whatif why; do
	result "$verb: the options of its page and of --help" "$(diff \
		<("$ravel" $verb --help | options_of_help) <(options_of_page <"$docs/ravel-$verb.1"))"
done
result 'every verb has a page, and every page a verb' "$(diff \
	<("$ravel" --help | sed -nE 's/^  ([a-z-]+)  +.*/ravel-\1.1/p' | sort) \
	<(cd "$docs" && printf '%s\n' ravel-*.1 | grep -v ravel-mpi))" # a program of its own
result 'ravel(1) names every verb' "$(diff \
	<("$ravel" --help | sed -nE 's/^  ([a-z-]+)  +.*/\1/p' | sort) \
	<(sed -nE 's/^\.It Cm //p' "$docs/ravel.1" | sort))"
result 'every --help fits a screen of 80 columns and 37 lines' "$(
	for verb in '' $("$ravel" --help | sed -nE 's/^  ([a-z-]+)  +.*/\1/p'); do
		# shellcheck disable=SC2086 # no verb is no argument
		"$ravel" $verb --help | awk -v verb="$verb" 'length > 80 { print verb ": " $0 }
			END { if (NR > 37) print verb ": " NR " lines" }'
	done)"
# The words that an option takes stand once in the program, where completion and errors have them
# from. VERB OPTION: those that its --help, and its part of the manual page, do not name; the usual
# word need not be.
words_without_help() {
	"$ravel" "$1" --help | awk -v option="--${2#--}=" '
		/^  / { is = index($0, option) > 0 } is { print }' >"$work/help"
	sed -n "/^\\.It Fl \\(.* , Fl \\)\\?-${2#--} /,/^\\.It Fl \\|^\\.El\\|^\\.Sh /p" "$docs/ravel-$1.1" \
		>"$work/page"
	"$ravel" "$1" --complete "$2" | tail -n +2 | while read -r word; do
		grep -qw -- "$word" "$work/help" || echo "--help of $1 $2: $word"
		grep -qw -- "$word" "$work/page" || echo "ravel-$1(1) $2: $word"
	done
}

# "TABLE COLUMN" of every table and view, sorted
columns_of_store() {
	local table
	"$ravel" nesting -o "$work/store.db" "$source/tests/data/shop.trace" >"$work/out"
	for table in $("$ravel" query --format tsv "$work/store.db" 'SELECT name FROM sqlite_schema' | sed 1d); do
		"$ravel" query --format tsv "$work/store.db" "PRAGMA table_info($table)" | sed 1d |
			awk -v table="$table" '{ print table, $2 }'
	done | sort
}
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-manual.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
for verb in $("$ravel" --help | sed -nE 's/^  ([a-z-]+)  +.*/\1/p'); do
	for option in $("$ravel" "$verb" --help | grep -oE '^  (-[a-zA-Z], )?--[a-z-]+=' | sed 's/.*--/--/; s/=//'); do
		[ -z "$("$ravel" "$verb" --complete "$option")" ] ||
			result "$verb $option: --help and its page name the words it takes" \
				"$(words_without_help "$verb" "$option")"
	done
done
columns_of_store >"$work/columns"
result 'ravel-store(5) has the columns of the store' "$(diff "$work/columns" \
	<(sed -nE -e 's/^\.Ss (.*)/= \1/p' -e 's/^\.It Li //p' "$store_page" |
		awk '$1 == "=" { table = $2; next } { gsub(",", ""); for (i = 1; i <= NF; i++) print table, $i }' | sort))"
result 'docs/store.md has the columns of the store' "$(diff "$work/columns" \
	<(sed -nE -e 's/^##+ (.*)/= \1/p' -e 's/^\| ([a-z0-9_, ]+) \|.*/\1/p' "$docs/store.md" |
		awk '$1 == "=" { table = $2; next } $1 != "column" {
			gsub(",", ""); for (i = 1; i <= NF; i++) print table, $i }' | sort))"
for page in "$docs"/ravel*.[157] "$store_page" "$trace_page"; do
	if command -v mandoc >/dev/null; then
		result "$(basename "$page") is correct" "$(mandoc -T lint -W warning "$page")"
	else
		n=$((n + 1))
		echo "ok $n - $(basename "$page") # SKIP mandoc is not installed"
	fi
done
echo "1..$n"
exit $bad
