# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Completion of ravel's command line for bash. Verbs, options and the words that an option
# takes are those that the program lists itself.

_ravel_verbs() {
	"${COMP_WORDS[0]}" --help 2>/dev/null | sed -nE 's/^  ([a-z-]+)  +.*/\1/p'
}

_ravel_values() { # VERB OPTION: what may stand after it; nothing: a file
	case $2 in
	-i | --interface) ls /sys/class/net ;;
	--*) "${COMP_WORDS[0]}" "$1" --complete "$2" 2>/dev/null ;;
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
		words="$(_ravel_verbs) help --help --version"
	elif [ "$verb" = help ]; then
		words=$([ "$COMP_CWORD" != 2 ] || _ravel_verbs)
	elif [[ $current == -* ]]; then
		words=$("${COMP_WORDS[0]}" "$verb" --help 2>/dev/null |
			sed -nE 's/^  (-[a-zA-Z], )?(--[a-z-]+=?).*/\2/p')
	else
		words=$(_ravel_values "$verb" "$previous")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
	return 0
}

complete -o default -F _ravel ravel
