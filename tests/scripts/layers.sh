#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A folder or sub-folder includes and calls only what stands before it in the pipeline; neither files
# nor folders include or call each other in a circle; each library is known to the files that wrap it
# alone; the doors of nesting and inference stay small, and so do files. TAP. Calls are those of the
# objects in the folder where the program was built.
build=$PWD
src=${srcdir:-$(dirname "$0")/../..}
cd "$src" || exit 99
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
n=0
bad=0

# none NAME LINES: they should be none
none() {
        n=$((n + 1))
        if [ -z "$2" ]; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1"
                echo "$2" | sed 's/^/# /'
                bad=1
        fi
}

# From here a file is its name without the ending: a header and what it declares are one.

folders='base tracefmt capture import maketrace clocks paths store analysis calls queues inference nesting write export
        ranks convolution draw watch tools'

# The includes of the project's own headers: FILE OTHER
# shellcheck disable=SC2086 # words
grep -rE '^#include "' --include='*.[ch]' $folders |
        sed -nE 's#^([^:]*)\.[ch]:\#include "([^"]*)\.h".*#\1 \2#p' |
        grep -v 'config$' | sort -u >"$work/includes"

# What an object leaves undefined and another defines: FILE OTHER. An object of a library may be
# named after that, too.
list_calls() {
        for folder in $folders; do
                [ -d "$build/$folder" ] && find "$build/$folder" -name '*.o'
        done | xargs nm -A -P | awk -v build="$build/" '
                {
                        sub(/\.o:$/, "", $1)
                        $1 = substr($1, length(build) + 1)
                        sub(/\/lib(other)?ranks_a-/, "/", $1)
                }
                $3 ~ /^[ABCDGRSTVW]$/ { defines[$2] = $1 }
                $3 == "U" { user[++n] = $1; name[n] = $2 }
                END {
                        for (i = 1; i <= n; i++)
                                if (name[i] in defines && defines[name[i]] != user[i])
                                        print user[i], defines[name[i]]
                }' | sort -u
}
calls=
if command -v nm >/dev/null 2>&1 && list_calls >"$work/calls" && [ -s "$work/calls" ]; then
        calls=yes
fi

# circle FILE: the first circle in the graph of these lines
circle() {
        tsort "$1" 2>&1 >/dev/null | sed 's/^tsort: //' | awk '/loop/ && k++ { exit } { print }'
}

# folders FILE: the same graph of folders; a sub-folder counts as a folder of its own
folders() {
        awk '{ for (i = 1; i <= 2; i++) sub(/\/[^\/]*$/, "", $i) } $1 != $2' "$1" | sort -u
}

# no_circles FILE VERB: the graph of files has none, nor has that of their folders
no_circles() {
        awk '$1 != $2' "$1" >"$work/files"
        none "files do not $2 each other in a circle" "$(circle "$work/files")"
        folders "$1" >"$work/folders"
        none "folders do not $2 each other in a circle" "$(circle "$work/folders")"
}

# outside FILE FOLDER OTHERS FILES: lines of the folder's files whose others are neither of OTHERS, a
# pattern of folders, nor of FILES
outside() {
        awk -v folder="$2/" 'index($1, folder) == 1' "$1" | grep -Ev " (($2${3:+|$3})/${4:+|$4})"
}

# may FOLDER OTHERS FILES: FOLDER includes and calls itself and OTHERS and FILES, patterns
may() {
        none "$1 includes only what it may" "$(outside "$work/includes" "$1" "$2" "$3")"
        [ -z "$calls" ] || none "$1 calls only what it may" "$(outside "$work/calls" "$1" "$2" "$3")"
}
door='inference/(inference|given-model|shared-node)$' 
may base
may tracefmt 'base'
may capture 'base|tracefmt'
may capture/packet 'base|tracefmt'
may capture/network 'base|tracefmt|capture/packet'
may capture/source 'base|tracefmt|capture/(packet|network)'
may capture/processes 'base|tracefmt|capture/(packet|network)'
may capture/protocol 'base|tracefmt|capture/packet'
may capture/tls 'base|tracefmt|capture/packet'
may capture/quic 'base|tracefmt|capture/(packet|tls)'
may import 'base|tracefmt'
may maketrace 'base|tracefmt'
may clocks 'base|tracefmt'
may paths 'base|tracefmt'
may store 'base|tracefmt|paths'
may analysis 'base|tracefmt|paths|store'
may write 'base|tracefmt|paths|store|analysis|calls' 'nesting/explanation|inference/(model/weights|solve/weigh)'
may export 'base|tracefmt|paths|store|write'
may calls 'base|tracefmt'
may queues 'base|tracefmt|calls'
may inference 'base|tracefmt|calls'
may inference/model 'base|tracefmt|calls' "$door"
may inference/search 'base|tracefmt|calls|inference/model' "$door"
may inference/learn 'base|tracefmt|calls|inference/(model|search)' "$door"
may inference/evidence 'base|tracefmt|calls|inference/(model|search)' "$door"
may nesting 'base|tracefmt|clocks|paths|calls|queues|inference'
may ranks 'base|inference|nesting'
may convolution 'base|tracefmt|clocks|paths'
may draw 'base|write'
may watch 'base|tracefmt|paths|store|analysis|write|export'
may tools 'base|tracefmt|capture|import|maketrace|clocks|paths|store|analysis|write|export|calls|queues|inference|nesting|ranks|convolution|watch'
no_circles "$work/includes" include
[ -z "$calls" ] || no_circles "$work/calls" call
none "draw knows no more of write than what a drawing is" \
        "$(grep ' write/' "$work/includes" | grep '^draw/' | grep -v ' write/drawing$')"
[ "$calls" ] || echo "# calls are not looked at: no nm, or nothing is built here"

# only FILES HEADER: HEADER is included by FILES alone, a pattern
only() {
        # shellcheck disable=SC2086 # words
        none "$2 is included by $1 alone" "$(grep -rnE "^#include <$2" --include='*.[ch]' $folders |
                grep -Ev "^($1):")"
}
only 'capture/source/pcap-source\.c' 'pcap'
only 'base/sandbox\.c' 'seccomp'
only 'capture/(tls/record-cipher|packet/minute-keys)\.c' 'nettle'
only 'capture/protocol/header-labels\.c' 'nghttp2'
only 'capture/quic/qpack\.c' 'nghttp3'
only 'convolution/correlation\.c' 'fftw3'
only 'store/[a-z-]+\.[ch]' 'sqlite3'
only 'draw/draw\.c' 'graphviz'
only '(tracefmt/byte-source|capture/protocol/unpack)\.c' '(zlib|zstd|lzma)'
only 'watch/screen\.c' 'curses'
only 'ranks/ranks\.c' 'mpi'
only 'watch/metrics-server\.c' 'microhttpd'

# The two libraries have a door that can be read at once.
for door in nesting/nesting.h inference/inference.h; do
        [ ! -f $door ] ||
                none "$door has less than 100 lines" \
                        "$(awk 'END { if (NR >= 100) print NR " lines" }' $door)"
done
# shellcheck disable=SC2086 # words
none "no file has more than 900 lines" "$(find $folders -name '*.[ch]' -exec wc -l {} + |
        awk '$1 > 900 && $2 != "total" && $2 !~ /page-(script|style)\.h$/')"
none "the run of nesting is told to nobody but its drivers" \
        "$(awk '$2 == "nesting/nesting-run"' "$work/includes" |
                grep -Ev '^nesting/(nesting|nesting-run|windows) ')"
# What many files write, none of them can be read without the others.
if command -v python3 >/dev/null; then
        none "no field of a struct is written by more than three files" \
                "$(python3 tests/scripts/struct-writers.py 3 calls queues clocks inference nesting \
                        convolution)"
fi
echo "1..$n"
exit $bad
