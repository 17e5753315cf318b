#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The programs that make up ravel: which libraries each is linked with, where they find each other,
# and what is said where one is missing or broken. TAP.
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
build=$(dirname "$ravel")
[ -x "$build/ravel-draw" ] || build=$build/../libexec/ravel # installed
cd "$dir" || exit 99
# What the libraries do not give back is no finding of ours.
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0:$LSAN_OPTIONS"

# --- FFTW and Graphviz are never in one program, and ravel has neither ----------------

# has PROGRAM FFTW GRAPHVIZ: whether each is linked, "yes" or "no"
has()
{
	{ readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; nm -D --undefined-only "$1"; } >linked
	fftw=no graphviz=no
	grep -Eq '^libfftw3|[ _]fftwf?_' linked && fftw=yes
	grep -Eq '^lib(cgraph|gvc)|[ ](agopen|agwrite|gvContext|gvLayout)(@|$)' linked && graphviz=yes
	[ "$fftw $graphviz" = "$2 $3" ]
	result $? "$(basename "$1"): FFTW $2, Graphviz $3" linked
}
if command -v readelf >/dev/null && command -v nm >/dev/null; then
	has "$ravel" no no
	has "$build/ravel-convolution" yes no
	has "$build/ravel-draw" no yes
fi

# --- where they are found -------------------------------------------------------------

"$ravel" maketrace "$source/examples/multi-tier.conf" --messages 500 >trace 2>/dev/null
"$ravel" nesting --format svg trace >drawn 2>/dev/null
"$ravel" convolution -n 3 trace >found 2>/dev/null
mkdir -p one moved/bin moved/libexec/ravel
cp "$ravel" "$build/ravel-draw" "$build/ravel-convolution" one
cp "$ravel" moved/bin
cp "$build/ravel-draw" "$build/ravel-convolution" moved/libexec/ravel
ln -s ../moved/bin/ravel one/link
for program in one/ravel moved/bin/ravel one/link; do
	"$program" nesting --format svg trace 2>err | cmp -s - drawn
	result $? "$program finds ravel-draw" err
	"$program" convolution -n 3 trace 2>err | cmp -s - found
	result $? "$program finds ravel-convolution" err
done
moved/libexec/ravel/ravel-convolution --format svg trace >out 2>err && grep -q '<svg' out
result $? 'ravel-convolution finds ravel-draw' err
rm one/ravel-draw
printf '#!/bin/sh\ntouch %s/started\n' "$dir" >ravel-draw
chmod 755 ravel-draw
PATH=$dir:$PATH LD_LIBRARY_PATH=$dir one/ravel nesting --format svg trace >/dev/null 2>&1
[ ! -e started ]
result $? 'not in PATH'

# --- missing or broken ----------------------------------------------------------------

# says TEXT STATUS COMMAND...: one line with TEXT, and that status
says()
{
	text=$1
	status=$2
	shift 2
	"$@" >out 2>err
	got=$?
	[ $got = "$status" ] && [ "$(grep -c . err)" = 1 ] && grep -q "$text" err
	result $? "$text, status $status: $(basename "$1") $2" err
}

# draws CONTENT: what ravel-draw is from now on, a script
draws()
{
	printf '#!/bin/sh\n%s\n' "$1" >one/ravel-draw
	chmod 755 one/ravel-draw
}

one/ravel nesting -o new.sqlite trace >/dev/null 2>&1

# broken TEXT: nothing is left but one line with TEXT
broken()
{
	says "$1" 4 one/ravel nesting --format dot -w new.dot trace
	says "$1" 4 one/ravel nesting --format svg -w new.svg trace
	says "$1" 4 one/ravel report new.sqlite -o new.html
	[ ! -s out ] && [ -z "$(find . -name 'new.[dhs][otv]*' -print)" ]
	result $? "$1: no output is left"
}
installed=$(strings "$ravel" 2>/dev/null | grep -m1 '/libexec/ravel$')
if [ -z "$installed" ] || [ ! -e "$installed/ravel-draw" ]; then
	broken 'the program ravel-draw is missing'
	rm one/ravel-convolution
	says 'ravel convolution: the program ravel-convolution is missing' 4 one/ravel convolution trace
	says 'ravel convolution: the program ravel-convolution is missing' 4 one/ravel help convolution
fi
draws 'exit 7'
broken 'ended before it had drawn, with status 7'
draws 'kill -9 $$'
broken 'ended before it had drawn'
draws 'head -c 10000000 /dev/zero 2>/dev/null; cat >/dev/null'
broken 'answered nonsense'
draws 'head -c 20 >/dev/null; printf "\001\144\166\162\000\000\000\000\377\377\377\377\377\377\377\377x"; cat >/dev/null'
broken 'answered nonsense'
draws 'printf "hello, world, this is nonsense"; sleep 0.1'
broken 'ravel-draw '
printf '#!/no/such/shell\n' >one/ravel-draw
chmod 755 one/ravel-draw
broken 'cannot start'

# --- ravel-draw, asked by others -------------------------------------------------------

printf 'nonsense, and more of it' | "$build/ravel-draw" >out 2>err
[ ! -s out ] && grep -q 'invalid request' err
result $? 'ravel-draw takes no nonsense' err
"$build/ravel-draw" </dev/null && "$build/ravel-draw" --version | grep -q '^ravel '
result $? 'ravel-draw without anything to draw'
finish
