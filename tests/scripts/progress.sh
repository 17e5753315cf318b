#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Progress is shown on a terminal alone, from the first second on, and leaves nothing
# behind. TAP.
set -u
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
ravel=$(realpath "${RAVEL:-./ravel}")
gen_trace=$(realpath "${GEN_TRACE:-tests/gen-trace}")
n=0
bad=0

command -v python3 >/dev/null || {
	echo "1..0 # SKIP python3 is not installed"
	exit 0
}
python3 -c 'import pty; pty.openpty()' 2>/dev/null || {
	echo "1..0 # SKIP there are no pseudo-terminals"
	exit 0
}
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-progress.XXXXXX") || exit 99
# shellcheck disable=SC2046 # a job a word
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 99

cat >terminal <<'SCRIPT'
import os, pty, sys
pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536), lambda fd: b'')
SCRIPT

matches() { # NAME EXPRESSION: it matches the whole of what was said, \r as newline
	n=$((n + 1))
	if python3 -c 'import re, sys; sys.exit(not re.fullmatch(sys.argv[1], open("said", newline="").read(), re.S))' "$2"; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		{ cat -A said && echo; } | sed 's/^/# /' | head -20
		bad=1
	fi
}

# A trace that comes in two parts, more than a second apart.
slowly() {
	echo '1 CALL_SENT a b 1'
	sleep 1.3
	echo '2 RET_SENT b a 1'
}
mkfifo pipe
slowly >pipe &
python3 terminal "$ravel" stats pipe >said
matches 'a pipe on a terminal' 'ravel stats: 0\.0 MB, 0\.0 MB/s\r +\rfirst .*'
slowly >pipe &
"$ravel" stats pipe >out 2>said
matches 'no terminal' ''
slowly >pipe &
python3 terminal sh -c "'$ravel' merge pipe" >said
matches 'not where the result goes to the terminal as it is read' '((?!MB/s).)*RET_SENT((?!MB/s).)*'
python3 terminal "$ravel" stats "$source/tests/data/shop.trace" >said
matches 'not within the first second' 'first .*'

# What takes longer than reading: a second of it is enough to see.
"$gen_trace" 40000 8 >many.trace
python3 terminal sh -c "'$ravel' nesting -j 1 -w /dev/null many.trace" >said
matches 'the work after reading' \
	'(ravel nesting: reading, [^\r]*\r +\r)*(ravel nesting: finding parents, (100|[1-9]?[0-9]) %, [0-9]+:[0-9][0-9] left\r +\r)+(ravel nesting: finding paths, .*\r +\r)?(ravel nesting: [0-9]+ clients.*)?'

# A live capture, on a loopback of its own.
unshare_options=(--net)
[ "$(id -u)" = 0 ] || unshare_options+=(--user --map-root-user)
if unshare "${unshare_options[@]}" ip link set lo up 2>/dev/null; then
	cat >live.sh <<-'SCRIPT'
		ip link set lo up
		python3 -c '
		import socket, time
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		for n in range(50):
		    s.sendto(b"%d" % n, ("127.0.0.1", 9))
		    time.sleep(0.05)' &
		exec "$1" capture -i lo -f udp -w live.trace --duration 3s
	SCRIPT
	python3 terminal unshare "${unshare_options[@]}" bash live.sh "$ravel" >said
	matches 'a live capture on a terminal' \
		'.*listening on lo.*\rravel capture: [0-9]+ packets, [0-9]+ messages, 0 dropped\r +\r.*[0-9]+ packets captured.*'
	unshare "${unshare_options[@]}" bash live.sh "$ravel" >out 2>said
	matches 'a live capture without one' '((?!messages, 0 dropped).)*'
else
	n=$((n + 1))
	echo "ok $n - a live capture on a terminal # SKIP no network namespaces"
fi

if [ -n "${RAVEL_LONG:-}" ] && command -v zstd >/dev/null; then
	# Four GB of comments, which are half a MB as they are stored.
	{
		echo '1 CALL_SENT a b 1'
		yes '# comment' | head -c 4G
	} | zstd -q >long.zst
	python3 terminal "$ravel" stats long.zst >said
	matches 'a share, a rate and the time left of a file' \
		'(ravel stats: (100|[1-9]?[0-9]) % of 0\.[0-9] MB, [0-9.]+ MB/s, [0-9]+:[0-9][0-9] left\r +\r)+(ravel stats: .*\r)?first .*'
else
	n=$((n + 1))
	echo "ok $n - a share, a rate and the time left of a file # SKIP RAVEL_LONG is not set, or zstd not installed"
fi
echo "1..$n"
exit $bad
