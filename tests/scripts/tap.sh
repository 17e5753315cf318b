# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What the tests that are scripts have in common: a line of TAP for each thing that is tested,
# the plan at the end, and $dir, a directory of their own, which is removed. They read it first,
# in the build directory:
#
#     . "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
#
# Then $ravel and $gen_trace are the programs, $source is the source folder, and $shared where
# test data that is not part of the project may lie, all by absolute names. RAVEL, GEN_TRACE and
# RAVEL_SHARED say others.

source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
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

# What ravel nesting --window 10s says of a trace of 30 paths in each 10 s, which comes by a pipe.
reports_come() # TRACE LAST SECONDS OPTION...: LAST reports in all, two by the messages before SECONDS
{
	trace=$1
	last=$2
	seconds=$3
	shift 3
	mkfifo pipe
	: >out # there before it is looked at, and not an earlier test's
	"$ravel" nesting --window 10s -n 1 "$@" - <pipe >out 2>err &
	pid=$!
	exec 3>pipe
	awk "\$1 < $seconds" "$trace" >&3
	turn=0
	while [ $turn -lt 100 ] && [ "$(grep -c '^30 paths of' out)" -lt 2 ]; do
		sleep 0.1
		turn=$((turn + 1))
	done
	[ "$(grep -c '^30 paths of 1 pattern' out)" = 2 ] && kill -0 $pid
	result $? 'a report is written while the trace is still read' out
	awk "\$1 >= $seconds" "$trace" >&3
	exec 3>&-
	wait $pid && [ "$(grep -c '^30 paths of 1 pattern' out)" = "$last" ]
	result $? 'and the others follow' out
}

finish() # after the last result
{
	echo "1..$tests"
	exit $bad
}
