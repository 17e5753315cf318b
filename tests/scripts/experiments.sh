#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Each experiment has a table, a picture or a link in docs/evaluation.md. Random configurations are what maketrace
# reads, the same for the same seed. With RAVEL_LONG=1 the experiments run, on a real system too, and find the
# delay that Figure 12 added at WS2, there and not at WS1. TAP.
set -u
source=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
ravel=$(realpath "${RAVEL:-./ravel}")
experiments=$source/tests/experiments
export PYTHONDONTWRITEBYTECODE=1

command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-experiments.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
n=0
bad=0
result() { # NAME STATUS DETAILS
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		bad=1
	fi
	[ -z "$3" ] || printf '# %s\n' "${3//$'\n'/$'\n# '}"
}

if [ -n "${RAVEL_LONG:-}" ]; then
	said=$(RAVEL=$ravel python3 "$experiments/experiments.py" figure-11-12 2>&1)
	result 'an experiment runs' $? "$said"
	# | paper | WS2 | normal | added | difference ± spread |
	found=$(grep '^| paper' experiments/figure-11-12.md)
	awk -F '|' '{ n++; ms = $6 + 0 } $3 ~ /WS1/ && (ms < -5 || ms > 5) { bad = 1 }
		$3 ~ /WS2/ && (ms < 190 || ms > 205) { bad = 1 } END { exit bad || n != 2 }' <<<"$found"
	result 'the added delay is charged to WS2' $? "$found"
fi

said=$(python3 "$experiments/experiments.py" figure-1 2>&1)
[ $? -eq 1 ] && grep -q 'no experiment figure-1;' <<<"$said"
result 'an experiment that there is not' $? "$said"

said=$(cd "$experiments" && python3 - "$source/docs" <<'EOF'
import pathlib, re, sys
import experiments
docs = pathlib.Path(sys.argv[1])
page = (docs / "evaluation.md").read_text()
tables = re.findall("<!-- table of (.*) -->", page)
pictures = re.findall(r"\(evaluation/(.*)\.svg\)", page)
tables += re.findall(r"\(evaluation/(.*)\.md\)", page)
for name in sorted(set(experiments.EXPERIMENTS) ^ {*tables, *pictures}):
    print(name, "is an experiment or in evaluation.md, not both")
for picture in sorted({f.stem for f in (docs / "evaluation").glob("*.svg")} ^ set(pictures)):
    print(picture, "is a picture or in evaluation.md, not both")
for table in sorted({f.stem for f in (docs / "evaluation").glob("*.md")} - set(tables)):
    print(table, "is a table, and not in evaluation.md")
EOF
) && [ -z "$said" ]
result 'each experiment has a place in the documentation' $? "$said"

said=$(for seed in 1 2; do
	python3 "$experiments/random_configuration.py" $seed 5 >one
	python3 "$experiments/random_configuration.py" $seed 5 | cmp - one
	"$ravel" maketrace --messages 200 -w trace one 2>&1 >/dev/null | grep -v '^ravel maketrace: [0-9]* messages of'
done)
[ -z "$said" ]
result 'random configurations' $? "$said"
said=$(for seed in 1 2; do
	python3 "$experiments/busy_servers.py" $seed 4 200 >one
	python3 "$experiments/busy_servers.py" $seed 4 200 | cmp - one
	"$ravel" nesting --cheat -w /dev/null one 2>&1
done)
[ -z "$said" ]
result 'busy servers' $? "$said"
said=$(for workers in '1 80 100 --loop' '0 50 100' '16 80 100 --stall'; do
	# shellcheck disable=SC2086 # several arguments
	python3 "$experiments/server_configuration.py" 3 $workers >one
	# shellcheck disable=SC2086
	python3 "$experiments/server_configuration.py" 3 $workers | cmp - one
	"$ravel" maketrace -w trace one 2>&1 >/dev/null | grep -v '^ravel maketrace: [0-9]* messages of'
done)
[ -z "$said" ]
result 'workers' $? "$said"
if [ "${RAVEL_LONG:-}" ] && [ -d "${RAVEL_SHARED:=$source/../shared}/captures/testbed-conc8" ]; then
	export RAVEL_SHARED
	said=$(RAVEL=$ravel REAL_SYSTEMS='shop, 8 at' python3 "$experiments/experiments.py" real 2>&1)
	result 'an experiment on a real system' $? "$said"
	# | shop | right parents by paper | joint | oracle | whole requests by paper | joint | oracle |
	found=$(grep '^| shop' experiments/real.md)
	awk -F '|' '{ n++ } !($4 > $3 && $7 > $6 && $4 > 95 && $5 > 95) { bad = 1 }
		END { exit bad || n != 1 }' <<<"$found"
	result 'it finds what is true' $? "$found"
fi
echo "1..$n"
exit $bad
