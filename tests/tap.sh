# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What the tests that are scripts have in common: a line of TAP for each thing that is tested,
# the plan at the end, and $dir, a directory of their own, which is removed. They read it first,
# in the build directory:
#
#     . "${srcdir:-$(dirname "$0")/..}/tests/tap.sh"
#
# Then $ravel and $gen_trace are the programs, $source is the source folder, and $shared where
# test data that is not part of the project may lie, all by absolute names. RAVEL, GEN_TRACE and
# RAVEL_SHARED say others.

source=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
# shellcheck disable=SC2034 # not all use all
shared=${RAVEL_SHARED:-$source/../shared}
# shellcheck disable=SC2034
ravel=$(realpath "${RAVEL:-ravel}")
# shellcheck disable=SC2034
gen_trace=$(realpath "${GEN_TRACE:-tests/gen-trace}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-$(basename "$0" .sh).XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
tests=0
bad=0

skip_all() # REASON: this machine cannot run any of them
{
	echo "1..0 # SKIP $1"
	exit 0
}

result() # STATUS NAME [WHY]: passed with status 0; else why, a file or a text, is shown
{
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests - $2"
		return 0
	fi
	echo "not ok $tests - $2"
	bad=1
	if [ -f "${3-}" ]; then
		sed 's/^/# /' "$3"
	elif [ "${3-}" ]; then
		echo "$3" | sed 's/^/# /'
	fi
	return 1
}

finish() # after the last result
{
	echo "1..$tests"
	exit $bad
}
