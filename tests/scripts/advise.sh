#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel advise: a planted finding of each kind is the first, with the gain of maketrace run again without it; clean
# systems have none (advise-truth.py). Of causes on the way the gain is the planted time. TAP.
set -u
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99

seeds=11
[ -z "${RAVEL_LONG:-}" ] || seeds=11,12,13,14,15
python3 "$source/tests/scripts/advise-truth.py" "$ravel" $seeds >found 2>err
result $? 'planted findings are the first, and their gains as in another run' found

python3 "$source/tests/scripts/make-causes.py" made nagle connect login 2>err
kinds='nagle-0 connect-0 login-0'
[ -z "${RAVEL_LONG:-}" ] || kinds=$(cd made && echo *.pcap | sed 's/\.pcap//g')
wrong=0
for kind in $kinds; do
	"$ravel" capture -r "made/$kind.pcap" --nodes made/nodes.txt -w trace 2>>err &&
		"$ravel" nesting -o s.sqlite trace >out 2>>err &&
		"$ravel" advise --format tsv s.sqlite >"$kind.tsv" 2>>err &&
		awk -F '\t' -v kind="$kind" '
			NR == FNR && $1 == kind { where = $2; mean = 1e6 * $3 * $4 / $5; sub(/ \(/, ": ", where); sub(/\)$/, "", where) }
			NR > FNR && FNR == 2 { found = index($2, where) == 1 && $10 > 0.8 * mean && $10 < 1.2 * mean }
			END { exit !found }' made/truth.tsv "$kind.tsv" || {
		echo "$kind: $(sed -n 2p "$kind.tsv")" >>found
		wrong=$((wrong + 1))
	}
done
result $wrong 'causes on the way with their gains' found

"$ravel" report --format json s.sqlite >summary.json 2>lines &&
	python3 -c 'import json; f = json.load(open("summary.json"))["findings"]; exit(f[0]["finding"] not in open("lines").read())' &&
	"$ravel" advise --format tsv s.sqlite | sed -n 2p | cut -f 15 | sed "s|^ravel|$ravel|" >command && sh ./command >out 2>>err && [ -s out ]
result $? 'the head of a report; its evidence' lines

"$ravel" advise --fail-on 'p50>99%' --fail-on 'mean>1%' s.sqlite >out 2>err
[ $? = 1 ] && grep -q '^ravel advise: mean>1%: ' err && ! grep -q 'p50>99%' err &&
	"$ravel" advise --fail-on 'mean>1h' s.sqlite >out 2>>err
result $? 'a condition that a finding meets: status 1' err
"$ravel" advise --fail-on 'p98>1%' s.sqlite >out 2>err
[ $? = 2 ] && grep -q 'found "p98>1%"' err
result $? 'a condition that is wrong: status 2' err
finish
