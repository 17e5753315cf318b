#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Alerts of ravel watch: planted changes are said within two windows, once when they begin and once
# when they end, to a program as well; a program that hangs or fails stops nothing. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

make() { # RATE FROM TO [START CHANGE...]: packets
	timeout 120 python3 "$source/tests/scripts/make-watch.py" "$@"
}
await() { # COMMAND...: until it succeeds, 30 seconds at most
	local turn
	for ((turn = 0; turn < 300; turn++)); do
		! "$@" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE N
begun() { grep -c 'alert begins' err; }

cat >hook <<'END'
#!/bin/sh
[ $# = 0 ] && cat >>facts
echo printed
END
chmod +x hook
conditions=('own(10.0.0.3) +20%' 'new' 'errors(10.0.0.3) > 1%' 'rate(GET /...) -30%'
	'rate < 30/s for 1m' 'p99(GET /...) > 21ms' 'p99(nobody) > 3s')
given=()
for condition in "${conditions[@]}"; do given+=(--alert "$condition"); done
make 50 0 400 1795262400 slower=1.2@300 failed=0.02@300 cache=1@300 rate=0.5@300 >changed.pcap
"$ravel" watch -r changed.pcap --dir stores "${given[@]}" --alert-hook ./hook >lines 2>err
[ $? = 0 ] && [ "$(begun)" = 6 ] && ! grep -q 'alert ends' err && [ "$(wc -l <lines)" = 40 ]
result $? 'each planted change is said once' err
python3 - 2>why <<'END'
import json

facts = {fact["condition"]: fact for fact in map(json.loads, open("facts"))}
assert len(facts) == 6 and all(fact["state"] == "begins" for fact in facts.values()), facts
for name, fact in facts.items():
    late = "12:06:00" if "1m" in name else "12:05:20"
    assert fact["since"] == "2026-11-21T12:05:00.000000Z", fact
    assert "2026-11-21T12:05:10" <= fact["at"][:19] <= "2026-11-21T" + late, fact
    assert fact["node"] == "10.0.0.3" and 0.4 < fact["node_share"] < 0.6, fact
    assert fact["store"].startswith("stores/windows/"), fact
own, rate = facts["own(10.0.0.3) +20%"], facts["rate(GET /...) -30%"]
assert abs(own["value"] / own["before"] - 1.2) < 0.01 and own["unit"] == "s", own
assert abs(rate["value"] - 25) < 1 and rate["before"] == 50, rate
assert 0.01 < facts["errors(10.0.0.3) > 1%"]["value"] < 0.03
END
result $? 'within two windows, with its facts to a program' why
[ "$(grep -c '^printed$' err)" = 6 ] && ! grep -q printed lines
result $? 'what the program prints is not among the lines' err
grep -q 'p99(nobody) > 3s: no operation or node has had this name yet' err
result $? 'a name that nothing has is said' err

make 50 0 200 1795262400 slower=2@0-100 >slow.pcap
"$ravel" watch -r slow.pcap --alert 'p99 > 21ms for 20s' >lines 2>err
[ "$(begun)" = 1 ] && [ "$(grep -c 'alert ends: p99 > 21ms for 20s: 19[.0-9]* ms, since 2026-11-21T12:00:00Z' err)" = 1 ]
result $? 'an alert ends once' err

make 50 0 400 >even.pcap
"$ravel" watch -r even.pcap "${given[@]}" >lines 2>err
[ "$(begun)" = 0 ]
result $? 'without a change there is none' err

# --- programs that hang or fail ----------------------------------------------------------

# They hang, with a child; the watch goes on, and ends at once.
cat >hang <<'END'
#!/bin/sh
echo $$ >>hung
sleep 1000 &
echo $! >>hung
wait
END
cat >fail <<'END'
#!/bin/sh
exit 7
END
chmod +x hang fail
mkfifo pipe
: >lines
"$ravel" watch -r pipe --alert 'rate > 1/s' --alert 'p99 > 1ms' --alert-hook ./hang >lines 2>err &
pid=$!
exec 3>pipe
cat even.pcap >&3
await has_lines lines 38 && has_lines hung 2 && kill -0 $pid
result $? 'a program that hangs does not stop windows' "$(wc -l <lines) lines"
kill -TERM $pid
began=$SECONDS
wait $pid && [ $((SECONDS - began)) -lt 10 ] && grep -q 'hang: ended with the watch' err &&
	grep -q 'hang: 1 alerts were left out' err
result $? 'it ends with the watch, and what is left out is said' err
exec 3>&-
alive=
for hung in $(cat hung); do
	grep -qs '^State:.*[RSD] ' /proc/"$hung"/status && alive="$alive $hung"
done
[ -z "$alive" ] && [ "$(wc -l <hung)" = 2 ]
result $? 'and its children do' "$alive"
"$ravel" watch -r even.pcap --alert 'rate > 1/s' --alert-hook ./fail >lines 2>err
[ $? = 0 ] && grep -q 'fail: ended with status 7' err && [ "$(wc -l <lines)" = 40 ]
result $? 'a program that fails is said' err
"$ravel" watch -r even.pcap --alert 'rate > 1/s' --alert-hook ./none >lines 2>err
[ $? = 0 ] && grep -q 'none: .*No such file' err && [ "$(wc -l <lines)" = 40 ]
result $? 'and one that is not there' err
if [ "${RAVEL_LONG-}" ]; then
	rm hung
	"$ravel" watch -r even.pcap --alert 'rate > 1/s' --alert-hook ./hang >lines 2>err
	[ $? = 0 ] && grep -q 'hang: ended after 30 s' err
	result $? 'a program that hangs is ended after 30 s' err
fi

wrong=
for condition in '' 'p99(x)' 'p99(x) > 3' 'p990 > 3s' 'p99(x > 3s' 'own > 3ms' 'foo(x) > 3s' 'rate(x) +0%' \
	'own(x) +20% for 1m' 'errors > 3ms' 'errors > -1%' 'rate > 3' 'p99 > 3s for ever' 'p99 = 3s'; do
	"$ravel" watch -r even.pcap --alert "$condition" >lines 2>err
	[ $? = 2 ] && grep -q 'expected a condition such as' err || wrong="$wrong \"$condition\""
done
[ -z "$wrong" ]
result $? 'what is no condition is an error' "$wrong"
"$ravel" watch -r even.pcap --alert-hook ./hook >lines 2>err
[ $? = 2 ] && grep -q 'expected --alert' err
result $? 'and so is a program without a condition' err
finish
