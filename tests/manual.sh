#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The manual says what the program does: the pages are correct mdoc, and have exactly the
# options that --help lists. TAP.
set -u
source=${srcdir:-$(dirname "$0")/..}
ravel=${RAVEL:-./ravel}
docs=$source/docs
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

for verb in capture convolution maketrace merge stats nesting score skewer; do
	result "$verb: the options of its page and of --help" "$(diff \
		<("$ravel" $verb --help | options_of_help) <(options_of_page <"$docs/ravel-$verb.1"))"
done
result 'every verb has a page, and every page a verb' "$(diff \
	<("$ravel" --help | sed -nE 's/^  ([a-z]+)  +.*/ravel-\1.1/p' | sort) \
	<(cd "$docs" && ls ravel-*.1))"
result 'ravel(1) names every verb' "$(diff \
	<("$ravel" --help | sed -nE 's/^  ([a-z]+)  +.*/\1/p' | sort) \
	<(sed -nE 's/^\.It Cm //p' "$docs/ravel.1" | sort))"
for page in "$docs"/ravel*.[15]; do
	if command -v mandoc >/dev/null; then
		result "$(basename "$page") is correct" "$(mandoc -T lint -W warning "$page")"
	else
		n=$((n + 1))
		echo "ok $n - $(basename "$page") # SKIP mandoc is not installed"
	fi
done
echo "1..$n"
exit $bad
