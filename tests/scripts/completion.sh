#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Bash completes what the program knows: verbs, options, values of options. TAP.
set -u
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
ravel=$(realpath "${RAVEL:-./ravel}")
# shellcheck disable=SC2317 # called by completion, and works only while bash completes
compopt() { :; }
# shellcheck disable=SC1091
. "$source/tools/completion/ravel"
n=0
bad=0

result() { # NAME EXPECTED FOUND
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '# found "%s", expected "%s"\n' "$3" "$2"
		bad=1
	fi
}

completed() { # WORD...: what the last one is completed to
	COMP_WORDS=("$ravel" "$@")
	COMP_CWORD=$#
	_ravel
	echo "${COMPREPLY[*]}"
}

result 'verbs' 'skewer' "$(completed sk)"
result 'all verbs' "$("$ravel" --help | sed -nE 's/^  ([a-z-]+)  +.*/\1/p' | xargs) help --help --version" \
	"$(completed '')"
for verb in $("$ravel" --help | sed -nE 's/^  ([a-z-]+)  +.*/\1/p'); do
	result "options of $verb" "$("$ravel" "$verb" --help | grep -oE '^  (-[a-zA-Z], )?--[a-z-]+=?' |
		sed 's/.*--/--/' | xargs)" "$(completed "$verb" --)"
done
result 'an option' '--no-requests' "$(completed nesting --no-r)"
result 'an option with a value' '--format=' "$(completed query x.sqlite --form)"
result 'values after a blank' 'otlp' "$(completed export x.sqlite --as o)"
result 'values after =' 'text tsv json' "$(completed query --format =)"
result 'the beginning of a value' 'total' "$(completed nesting --sort = t)"
result 'methods of nesting' 'joint paper oracle' "$(completed nesting --method '')"
result 'methods of convolution' 'auto paper' "$(completed convolution --method '')"
result 'a verb of help' 'merge' "$(completed help me)"
result 'no file after it' '' "$(completed help merge '')"
result 'files are left to bash' '' "$(completed nesting sh)"
# What the libraries do not give back is no finding of ours.
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
# What completion says that a value may be, the program takes.
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-completion.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
"$ravel" nesting -o "$work/store.db" "$source/tests/data/truth.trace" >"$work/out"
refused=
for value in $(completed export --as ''); do
	"$ravel" export "$work/store.db" --as "$value" >"$work/out" || refused+=" --as $value"
done
for verb in nesting convolution; do
	for option in $(completed $verb --); do
		option=${option%=}
		for value in $(completed $verb "$option" ''); do
			"$ravel" $verb "$option" "$value" "$source/tests/data/truth.trace" >"$work/out" 2>&1 ||
				refused+=" $verb $option $value"
		done
	done
done
for value in $(completed diff --format ''); do
	"$ravel" diff --format "$value" "$work/store.db" "$work/store.db" >"$work/out" 2>"$work/err" || refused+=" $value"
done
for value in $(completed maketrace --stamps ''); do
	"$ravel" maketrace --stamps "$value" --messages 100 "$source/examples/multi-tier.conf" \
		>"$work/out" 2>&1 || refused+=" $value"
done
for value in $(completed query --format ''); do
	"$ravel" query --format "$value" "$work/store.db" 'SELECT 1' >"$work/out" || refused+=" $value"
	"$ravel" score --format "$value" "$work/store.db" "$work/store.db" >"$work/out" || refused+=" $value"
done
result 'values are taken' '' "$refused"
echo "1..$n"
exit $bad
