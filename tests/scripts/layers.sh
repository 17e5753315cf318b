#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A folder includes only what stands before it in the pipeline, and each library is known to
# the files that wrap it alone. TAP.
src=${srcdir:-$(dirname "$0")/../..}
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
        none "$1 includes only what it may" "$(grep -rn '^#include "' --include='*.[ch]' "$1" |
                grep -Ev "#include \"(config\.h|($1${2:+|$2})/[a-z0-9/-]+\.h)\"")"
}
may base
may tracefmt 'base'
may capture 'base|tracefmt'
may maketrace 'base|tracefmt'
may clocks 'base|tracefmt'
may paths 'base|tracefmt'
may calls 'base|tracefmt|paths'
may inference 'base|tracefmt|paths|calls'
may nesting 'base|tracefmt|clocks|paths|calls|inference'
may convolution 'base|tracefmt|clocks|paths'
may tools '[a-z]+'

# only FILES HEADER: HEADER is included by FILES alone, a pattern
only() {
        none "$2 is included by $1 alone" "$(grep -rnE "^#include <$2" --include='*.[ch]' . |
                grep -Ev "^\./($1):" | grep -v '^\./tests/')"
}
only 'capture/source/pcap-source\.c' 'pcap'
only 'capture/tls/record-cipher\.c' 'nettle'
only 'capture/protocol/header-labels\.c' 'nghttp2'
only 'convolution/correlation\.c' 'fftw3'
only 'paths/store/[a-z-]+\.[ch]' 'sqlite3'
only 'paths/write/[a-z-]+\.[ch]' 'graphviz'
only 'tracefmt/byte-source\.c' '(zlib|zstd|lzma)'
echo "1..$n"
exit $bad
