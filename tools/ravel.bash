# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Completion of ravel's command line for bash. Verbs and options are those that the
# program lists itself.

_ravel_values() { # OPTION VERB: what may stand after it; nothing: a file
	case $1 in
	--as) echo otlp folded chrome tsv ;;
	--format) [ "$2" = nesting ] && echo text dot svg json tsv || echo text tsv json ;;
	--method) echo paper joint ;;
	--sort) echo total count mean p99 ;;
	--sibling-order) echo multiset strict ;;
	-i | --interface) ls /sys/class/net ;;
	esac
}

_ravel() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local verb=${COMP_WORDS[1]} words
	COMPREPLY=()
	# Bash takes the '=' of --option=value for a word.
	if [ "$current" = = ]; then
		current=
	elif [ "$previous" = = ]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [ "$COMP_CWORD" = 1 ]; then
		words=$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -nE 's/^  ([a-z]+)  +.*/\1/p')
		words="$words --help --version"
	elif [[ $current == -* ]]; then
		words=$("${COMP_WORDS[0]}" "$verb" --help 2>/dev/null |
			sed -nE 's/^  (-[a-zA-Z], )?(--[a-z-]+=?).*/\2/p')
	else
		words=$(_ravel_values "$previous" "$verb")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
	return 0
}

complete -o default -F _ravel ravel
