#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The command line of systemd/ravel-capture@.service, with the rights that the unit gives and no
# more: traces follow each other, it is stopped, started and killed, and together they have every
# message that one capture beside it has, but of the time while it was down. Then what
# ravel-hourly makes of the traces, and which it keeps. TAP. In a network namespace of its own.
set -u
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
ravel=$(realpath "${RAVEL:-./ravel}")
PATH=$PATH:/usr/sbin:/sbin
tests=0
bad=0

result() { # STATUS NAME [FILE]
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests - $2"
	else
		echo "not ok $tests - $2"
		bad=1
		[ ! "${3-}" ] || sed 's/^/# /' "$3"
	fi
}

if [ "${1-}" != --inside ]; then
	for tool in setpriv unshare ip python3; do
		command -v $tool >/dev/null || {
			echo "1..0 # SKIP $tool is not installed"
			exit 0
		}
	done
	if [ "$(id -u)" != 0 ] || ! unshare --net --mount true 2>/dev/null; then
		echo '1..0 # SKIP only root may give a program the rights of the unit'
		exit 0
	fi
	RAVEL=$ravel exec unshare --net --mount -- bash "$0" --inside
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-units.XXXXXX") || exit 99
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 99
chmod 755 .
mkdir state
chown 65534:65534 state
chmod 750 state
cp "$ravel" program
ip link set lo up
unit=$source/systemd/ravel-capture@.service

# As systemd reads it: a word that is a variable may be none or several, within a word it is text.
command_line() {
	# shellcheck disable=SC2016 # variables of systemd
	sed -n 's/^ExecStart=//p' "$unit" | sed -e 's#^/usr/bin/ravel#'"$dir/program"'#' -e 's/%[iI]/lo/g' -e 's/%%/%/g' \
		-e 's/\$RAVEL_CAPTURE_OPTIONS//; s/\${RAVEL_TRACE_SECONDS}/2/' -e "s#\\\${STATE_DIRECTORY}#$dir/state#"
}
capability() { # NAME OF SETTING
	sed -n "s/^$1=CAP_//p" "$unit" | tr 'A-Z ' 'a-z,'
}
only=-all,+$(capability AmbientCapabilities)
[ "$only" = -all,+net_raw ] && [ "$(capability CapabilityBoundingSet)" = net_raw ]
result $? 'the unit gives one capability'

start_unit() {
	read -ra words < <(command_line)
	# What is read-only to the unit is so here, but for the folder of the traces.
	# shellcheck disable=SC2016 # of the other shell
	TZ=UTC unshare --mount -- sh -c 'mount --bind "$0" "$0" && mount --bind "$0/state" "$0/state" &&
		mount -o remount,bind,ro "$0" && ! touch "$0/program" 2>/dev/null && umask 027 && exec "$@"' "$dir" setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$only" \
		--ambient-caps="$only" --bounding-set="$only" --no-new-privs "${words[@]}" 2>>unit.err &
	pid=$!
}
await_packets() { # until its trace has some
	local turn
	for ((turn = 0; turn < 100; turn++)); do
		# shellcheck disable=SC2012
		grep -qs '^[0-9]' "$(ls -t state/*.trace 2>/dev/null | head -n 1)" && return
		sleep 0.1
	done
}

cat >traffic.py <<'PY'
import http.server, os, threading, time, urllib.request

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(('127.0.0.1', 18080), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
while not os.path.exists('enough'):
    urllib.request.urlopen('http://127.0.0.1:18080/').read()
    time.sleep(0.02)
PY

"$ravel" capture -i lo -Z root -w whole.trace 2>whole.err &
whole=$!
sleep 1
python3 traffic.py &
traffic=$!
start_unit
await_packets
sleep 8
kill -TERM $pid
wait $pid
result $? 'SIGTERM, as systemctl stop sends it: complete'
sleep 1
start_unit
sleep 5
kill -KILL $pid
wait $pid 2>/dev/null
sleep 1
start_unit
sleep 4
touch enough
wait $traffic
sleep 1
kill -TERM $pid $whole
wait $pid $whole
[ "$(grep -c . unit.err)" -gt 0 ] && ! grep -Eiq 'cannot|permi|denied|lost' unit.err
result $? 'the unit has the rights that it needs' unit.err
[ "$(find state -name 'lo-*.trace' | wc -l)" -ge 6 ]
result $? 'three traces and more follow each other'
[ -z "$(find state ! -user 65534 -o -type f -perm /027)" ]
result $? 'they belong to the user of the unit, and nobody else may change or read them'

# Each message by what it is, in the order of time, with its time.
messages() {
	cat "$@" | grep '^[0-9]' | LC_ALL=C sort | awk '{ print $2, $3, $4, $5, $1 }'
}
messages whole.trace >whole
messages state/*.trace >parts
python3 - >compared <<'PY'
def read(name):
    return {tuple(line.split()[:4]): float(line.split()[4]) for line in open(name)}
whole, parts = read('whole'), read('parts')
n = sum(1 for _ in open('parts'))
print('messages', len(whole), 'in parts', n)
print('twice', n - len(parts), 'more', len(set(parts) - set(whole)))
# Where the unit was down there is a second without a message of the parts.
times = sorted(parts.values())
down = [(a, b) for a, b in zip(times, times[1:]) if b - a > 0.7]
print('down', len(down))
first = times[0]
lost = [t for m, t in whole.items() if m not in parts and t >= first and
        not any(a - 0.05 <= t <= b + 0.05 for a, b in down)]
print('lost', len(lost))
PY
grep -q '^twice 0 more 0$' compared && grep -q '^down 2$' compared && grep -q '^lost 0$' compared
result $? 'no message is lost but while it was down, none is there twice' compared
failed=0
for trace in state/*.trace; do
	"$ravel" stats "$trace" >/dev/null 2>err || failed=1
done
[ $failed = 0 ]
result $? 'each can be read, also the one that was killed' err

# --- every hour -----------------------------------------------------------------------

n=$(find state -name '*.trace' | wc -l)
hourly() {
	RAVEL=$ravel sh "$source/systemd/ravel-hourly" "$dir/state" lo
}
hourly >out 2>err
[ ! -s out ] && [ "$(find state -name '*.sqlite' | wc -l)" = $((n - 1)) ] && [ "$(find state -name '*.txt' | wc -l)" = $((n - 1)) ]
result $? 'hourly: a store and a text of each trace but the last, which may still be written' err
[ "$(find state -name '*.trace' | wc -l)" = 1 ] && [ "$(find state -name '*.trace.*' | wc -l)" = $((n - 1)) ]
result $? 'hourly: those are compressed'
"$ravel" merge -w all state/*.trace state/*.trace.* 2>err && "$ravel" stats all >/dev/null
result $? 'hourly: and read again' err
touch state/other state/lo.conf
find state -name '*.trace.*' | head -n 1 | xargs touch -d '20 days ago'
hourly 2>err
[ "$(find state -name '*.trace.*' | wc -l)" = $((n - 2)) ]
result $? 'hourly: what is old goes'
RAVEL_KEEP_MEGABYTES=0 hourly 2>err
[ "$(find state -type f | wc -l)" = 3 ] && [ -e state/other ] && [ -e state/lo.conf ]
result $? 'hourly: so does what is too much, but nothing else, and not the last'
echo "1..$tests"
exit $bad
