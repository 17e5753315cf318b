# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What the tests that are scripts have in common: a line of TAP for each thing that is
# tested, the plan at the end, and a directory of their own, $dir, which is removed.
# They read it first, in the build directory:
#
#     . "${srcdir:-$(dirname "$0")/..}/tests/tap.sh"
#
# Then $ravel and $gen_trace are programs and $source is the source folder, by absolute
# names; RAVEL and GEN_TRACE say others.

tap_n=0
tap_bad=0
source=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
# shellcheck disable=SC2034 # not all use all
ravel=${RAVEL:-$PWD/ravel}
# shellcheck disable=SC2034
gen_trace=${GEN_TRACE:-$PWD/tests/gen-trace}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-$(basename "$0" .sh).XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

result() # STATUS NAME [FILE]: passed with status 0; what is in the file says why not
{
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_n - $2"
		return
	fi
	echo "not ok $tap_n - $2"
	[ $# = 2 ] || sed 's/^/# /' "$3"
	tap_bad=1
}

finish() # after the last result
{
	echo "1..$tap_n"
	exit $tap_bad
}
