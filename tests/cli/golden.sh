#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What a user sees. Each line of tests/cli/TESTLIST is a name and a command; its
# standard output, standard error and exit status are kept in tests/golden/cli/.
# TAP.
#
#     tests/cli/golden.sh --update NAME...   write those anew (from the build directory);
#                                        without a name, all. Read their diff.
#
# A command runs in an empty directory with ravel on its path, beside copies of
# tests/data/ and what tests/data/make-captures and make-tshark make. "anybody COMMAND" runs it as
# a user with no rights to the files of others; "terminal COMMAND" with a terminal
# as its output; "stores TRACE" makes true.sqlite and found.sqlite of TRACE, "six TRACE" the
# folder six with six stores of it, "many TRACE" many.db of 150 copies of it, "events" makes
# events.trace of examples/publish-subscribe.conf.
src=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
golden=$src/tests/golden/cli
list=$src/tests/cli/TESTLIST
ravel=${RAVEL:-./ravel}
export LC_ALL=C.UTF-8 TZ=UTC
unset COLUMNS NO_COLOR
# What the libraries do not give back is no finding of ours.
export LSAN_OPTIONS="suppressions=$src/tests/lsan.supp:print_suppressions=0:$LSAN_OPTIONS"

for tool in python3 zstd; do
	command -v $tool >/dev/null || {
		echo "1..0 # SKIP $tool is not installed"
		exit 0
	}
done

update=
if [ "$1" = --update ]; then
	shift
	update=${*:---all}
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/ravel-golden.XXXXXX") || exit 99
trap 'chmod -R u+rwx "$dir"; rm -rf "$dir"' EXIT
chmod 755 "$dir"
mkdir -p "$dir/bin" "$dir/data" "$dir/libexec/ravel"
cp "$ravel" "$dir/bin/ravel"
# What it starts is found where it was moved to, as if installed there.
for helper in ravel-convolution ravel-draw; do
	for folder in "$(dirname "$ravel")" "$(dirname "$ravel")/../libexec/ravel"; do
		[ ! -f "$folder/$helper" ] || cp "$folder/$helper" "$dir/libexec/ravel"
	done
done
PATH=$dir/bin:$PATH
cp "$src"/tests/data/*.mbox "$src"/tests/data/*.trace "$src"/tests/data/*.nodes "$src"/tests/data/*.sed "$dir/data"
(cd "$dir/data" && python3 "$src/tests/data/make-captures")
(cd "$dir/data" && python3 "$src/tests/data/make-tshark" .)
ln -s "$src/demo" "$dir/data/demo"
ln -s "$src/examples" "$dir/data/examples"

cat >"$dir/bin/anybody" <<'SCRIPT'
#!/bin/sh
[ "$(id -u)" = 0 ] || exec "$@"
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
SCRIPT
cat >"$dir/bin/terminal" <<'SCRIPT'
#!/usr/bin/env python3
import os, pty, sys
status = pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536).replace(b'\r\n', b'\n'), lambda fd: b'')
sys.exit(os.waitstatus_to_exitcode(status))
SCRIPT
cat >"$dir/bin/events" <<'SCRIPT'
#!/bin/sh
exec ravel maketrace examples/publish-subscribe.conf --messages 4000 >events.trace 2>/dev/null
SCRIPT
# Those of a trace that no command changes are made once.
cat >"$dir/bin/stores" <<'SCRIPT'
#!/bin/sh
[ ! -d "$0-of-$1" ] || exec cp "$0-of-$1/true.sqlite" "$0-of-$1/found.sqlite" .
ravel nesting --cheat -o true.sqlite "$1" >/dev/null
ravel nesting --method paper -o found.sqlite "$1" >/dev/null
[ "$1" != truth.trace ] || { mkdir "$0-of-$1" && cp true.sqlite found.sqlite "$0-of-$1"; }
SCRIPT
cat >"$dir/bin/six" <<'SCRIPT'
#!/bin/sh
[ ! -d "$0-of-$1" ] || exec cp -r "$0-of-$1" six
mkdir six && ravel nesting -o six/s1.db "$1" >/dev/null && for i in 2 3 4 5 6; do cp six/s1.db six/s$i.db; done
cp -r six "$0-of-$1"
SCRIPT
cat >"$dir/bin/many" <<'SCRIPT'
#!/bin/sh
[ ! -f "$0-of-$1" ] || exec cp "$0-of-$1" many.db
python3 "$0.py" "$1" && ravel nesting -o many.db many.trace >/dev/null && case $1 in *.trace) cp many.db "$0-of-$1" ;; esac
SCRIPT
cat >"$dir/bin/many.py" <<'SCRIPT'
import sys
at, spaced = [line.split(None, 1) for line in open(sys.argv[1]) if line[0] != '#'], 100
with open('many.trace', 'w') as out:
    for i in range(150):
        for stamp, rest in at:
            time = round((float(stamp) - float(at[0][0])) * 1e9) * (100 + i * i % 37) // 100 + i * spaced * 10**9
            words = rest.split()
            words[3] += 'n%d' % i
            words = [w.replace('link=', 'link=%d.' % i) for w in words]
            out.write('%d.%09d %s\n' % (time // 10**9, time % 10**9, ' '.join(words)))
SCRIPT
chmod 755 "$dir/bin/"*

# Not exec: what was made is removed.
# shellcheck disable=SC2086 # names are words
python3 "$src/tests/cli/run-commands.py" "$dir" "$list" "$golden" $update
