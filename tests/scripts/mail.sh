#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ravel import of mails: as an mbox, a maildir, compressed, with clocks that agree and that are off by
# seconds, the trace has every message that the mails went by, nothing of their text, and
# convolution finds all frequent paths in it and no other. RAVEL_LONG=1: nor would it with
# clocks that are off by a minute. TAP.
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
experiments=$source/tests/experiments
export PYTHONDONTWRITEBYTECODE=1
cd "$dir" || exit 99

seed=401
python3 "$experiments/mail_configuration.py" $seed 18 >conf
"$ravel" maketrace --seed $seed --messages 12000 -w made.trace conf 2>err
headers() { # OUT OPTION...
	out=$1
	shift
	python3 "$experiments/mail_headers.py" --seed $seed --hosts hosts "$@" made.trace "$out"
}
headers agree.mbox && headers agree --maildir && headers off.mbox --off 3 && headers far.mbox --off 60 --share 0.3
result $? 'mails of 12,000 messages' err

imported() { # NAME OPTION... FILE
	to=$1
	shift
	"$ravel" import --nodes hosts -w "$to.trace" "$@" 2>"$to.err"
}
imported agree agree.mbox
result $? 'an mbox' agree.err
! grep -qi 'secret\|subject\|someone' agree.trace
result $? 'nothing of a mail but its way is in the trace' agree.trace
! grep -q 'clocks put right' agree.err && grep -q '^# clocks: several' agree.trace
result $? 'clocks that agree are left as they are' agree.err

# Each message once, in whole seconds, with its place.
python3 - made.trace agree.trace "$experiments" <<'PYTHON' >why 2>&1
import sys
sys.path.insert(0, sys.argv[3])
import mail_headers

def trace(path):
    for line in open(path):
        if not line.startswith("#"):
            yield line.split()

def tree(hops, of):
    return sorted((of(h), tree(h.children, of)) for h in hops)

with open(sys.argv[1]) as lines:
    made = mail_headers.hops(lines)
chosen = mail_headers.corpus(sys.argv[1], 401, 0, 1)
names = {host.full(): name for name, host in chosen.hosts.items()}
with open(sys.argv[2]) as lines:
    found = mail_headers.hops(lines, 0)
ahead = {name: host.ahead for name, host in chosen.hosts.items()}
expected = tree(made, lambda h: (int((h.time / 1e9 + ahead[h.receiver]) // 1), h.sender, h.receiver))
got = tree(found, lambda h: (h.time // 10**9, names[h.sender], names[h.receiver]))
assert len(expected) > 1500 and expected == got, (len(expected), len(got))
assert all(f[0].endswith(".000000000") and f[1] == "MSG_RECV" for f in trace(sys.argv[2]))
PYTHON
result $? 'every message of every mail, with its true place and its second' why

imported folder agree && grep -v '^# source' agree.trace >a && grep -v '^# source' folder.trace >b
# Roots of one second are numbered in the order of files.
sort a >c && sort b >d && cut -f 1-5 c >e && cut -f 1-5 d | cmp - e
result $? 'a maildir gives the same, whatever else lies in it' folder.err
grep -q 'files left out, not mails: 1' folder.err
result $? 'and says what else lies in it' folder.err
gzip -c agree.mbox >agree.gz && imported gz agree.gz && grep -v '^# source' gz.trace | cmp - a
result $? 'compressed' gz.err
mkdir deep && mv agree/cur deep/one && mkdir deep/two && mv agree/new deep/two/.Sent && imported deep deep &&
	grep -v '^#' deep.trace | cut -f 1-5 | sort >x && grep -v '^#' a | cut -f 1-5 | sort | cmp - x
result $? 'folders within folders' deep.err

paths() { # TRACE: what prefixes are missed, false and derived, by the default method
	"$ravel" convolution -n 1 -o found.sqlite "$1" >/dev/null 2>err
	python3 - made.trace found.sqlite "$experiments" <<'PYTHON'
import sqlite3, sys
sys.path.insert(0, sys.argv[3])
import mail_headers, prefixes
with open(sys.argv[1]) as lines:
    messages = prefixes.caused_messages(lines)
for m in messages:
    m.sender, m.receiver = (f"{n}.{mail_headers.DOMAIN}" for n in (m.sender, m.receiver))
paths, found = {}, {}
for v, parent, name, count in sqlite3.connect(sys.argv[2]).execute(
        "SELECT v.id, v.parent, node.name, v.count FROM vertex v JOIN node ON node.id = v.node ORDER BY v.id"):
    paths[v] = paths.get(parent, ()) + (name,)
    if parent:
        found[paths[v]] = (count, [(0, count)])
score = prefixes.Score(prefixes.Truth(messages), found)
print(score)
sys.exit(bool(score.frequent < 50 or score.missed or score.false or score.often_derived))
PYTHON
}
paths agree.trace >why 2>&1
result $? 'convolution finds all frequent paths and no false one' why
for name in off far; do
	imported "$name" "$name.mbox" && grep -q 'clocks put right: ' "$name.err" && grep -q '^# skew removed: ' "$name.trace"
	result $? "$name: clocks are put right" "$name.err"
	paths "$name.trace" >why 2>&1
	result $? "$name: all frequent paths and no false one" why
	[ $name = off ] || [ "${RAVEL_LONG:-}" ] || continue
	imported as-it-is --one-clock "$name.mbox" && ! grep -q 'skew removed' as-it-is.trace &&
		grep -q '^# clocks: one' as-it-is.trace && ! paths as-it-is.trace >why 2>&1
	result $? "$name: they would not be found with clocks as they are" why
done

# Mails of others: nothing that a sender may write does harm.
{
	printf 'Received: from \033[31m\342\200\256evil by b.example; Tue, 1 Apr 2003 12:00:00 +0000\n'
	printf 'Received: from %s by c.example; Tue, 1 Apr 2003 12:00:00 +0000\n' "$(head -c 3000 /dev/zero | tr '\0' x)"
	printf 'Received: from a,b>c"d by =cmd; Tue, 1 Apr 2003 12:00:00 +0000\n\n'
} >evil.eml
"$ravel" import -w evil.trace evil.eml 2>err && ! LC_ALL=C grep -q "$(printf '\033')" evil.trace &&
	! LC_ALL=C grep -q "$(printf '\342\200\256')" evil.trace && ! grep -q xxxxxx evil.trace && "$ravel" stats evil.trace >/dev/null
result $? 'names that are none' evil.trace
printf 'From here it goes on\n' >text
"$ravel" import agree.mbox text >/dev/null 2>err
[ $? = 3 ] && grep -q 'text: expected an mbox or a mail' err
result $? 'a file that is no mail' err
"$ravel" import -w agree.mbox agree.mbox 2>err
[ $? = 2 ] && [ -s agree.mbox ]
result $? 'not onto itself' err
finish
