#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A folder includes only what stands before it in the pipeline, and each library is known to
# the files that wrap it alone. TAP.
src=${srcdir:-$(dirname "$0")/..}
cd "$src" || exit 99
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

# may FOLDER OTHERS: FOLDER includes its own headers and those of OTHERS, a pattern
may() {
        none "$1 includes only what it may" "$(grep -n '^#include "' "$1"/*.[ch] |
                grep -Ev "#include \"(config\.h|($2)/[a-z0-9-]+\.h)\"")"
}
may tracefmt 'tracefmt'
may capture 'tracefmt|capture'
may paths 'tracefmt|paths'
may maketrace 'tracefmt|maketrace'
may nesting 'tracefmt|paths|nesting'
may convolution 'tracefmt|paths|convolution'
may skewer 'tracefmt|skewer'
may tools 'tracefmt|capture|paths|nesting|convolution|maketrace|skewer|tools'

# only FILES HEADER: HEADER is included by FILES alone, a pattern
only() {
        none "$2 is included by $1 alone" "$(grep -nE "^#include <$2" ./*/*.[ch] |
                grep -Ev "^\./($1):" | grep -v '^\./tests/')"
}
only 'capture/pcap-source\.c' 'pcap'
only 'capture/header-labels\.c' 'nghttp2'
only 'convolution/correlation\.c' 'fftw3'
only 'paths/store(-[a-z]+)?\.[ch]' 'sqlite3'
only 'paths/write-[a-z]+\.[ch]' 'graphviz'
only 'tracefmt/byte-source\.c' '(zlib|zstd)'
echo "1..$n"
exit $bad
