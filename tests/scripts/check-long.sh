#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What takes too long for every make check: both compilers without a warning, the
# sanitizers, the distribution, installing, fuzzing, the same results whatever the
# compiler, and the longer forms of the tests.
#
#     make check-long               in the build directory; all steps; some three hours on two cores
#     make check-long STEPS=fuzz    only some, by name; FUZZ_SECONDS=1000: so long for each target
#
# Each step is run, also after one has failed: a line each, and a sum at the end. Works
# in check-long/ of the build directory, where STEP.log is what each step said. Exit
# status 1 where a step failed.
set -u
shopt -s inherit_errexit
export LC_ALL=C.UTF-8
steps=(gcc clang sanitizers clang_sanitizers distcheck install fuzz determinism shellcheck browser long drops)
fuzz_runs=1000000                # of each target, but
fuzz_seconds=${FUZZ_SECONDS:-60} # for so long at most

srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
export RAVEL_SHARED=${RAVEL_SHARED:-$srcdir/../shared}
work=$PWD/check-long
source=$work/source
jobs=$(nproc)

# build DIRECTORY CONFIGURE-ARGUMENT...: everything, also what only tests use, from the
# files of a distribution, so that one is missed that lacks a file. Goes there.
build() {
	local directory=$work/$1
	shift
	rm -rf "$directory"
	mkdir "$directory"
	cd "$directory"
	"$source/configure" -q "$@"
	make -s -j"$jobs" check TESTS=
}

missing() { # PROGRAM...: 77 says that the step is skipped, and why
	local program
	for program; do
		command -v "$program" >/dev/null || {
			echo "$program is not installed"
			exit 77
		}
	done
}

warnings='-Werror -Wall -Wextra'

step_gcc() {
	build gcc CC=gcc "CFLAGS=-O2 -g $warnings"
}

step_clang() {
	missing clang
	build clang CC=clang "CFLAGS=-O2 -g $warnings"
}

step_sanitizers() {
	build sanitizers --enable-sanitizers 'CFLAGS=-O1 -g'
	make -k check
}

step_clang_sanitizers() {
	missing clang
	build clang_sanitizers CC=clang --enable-sanitizers 'CFLAGS=-O1 -g'
	make -k check
}

step_distcheck() {
	make distcheck # of the build directory that this was started in
}

step_install() {
	build install --prefix=/usr
	make -s install DESTDIR="$PWD/root"
	test -x root/usr/bin/ravel
	root/usr/bin/ravel --version
	make -s uninstall DESTDIR="$PWD/root"
	find root ! -type d >left
	cat left
	test ! -s left
}

# fuzz NAME: from the kept inputs on. What it finds, it leaves.
fuzz() {
	local began=$SECONDS
	mkdir "$1.new"
	nice "./$1" -runs=$fuzz_runs -max_total_time="$fuzz_seconds" -timeout=10 \
		-rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$1." \
		"$1.new" "$source/tests/fuzz/corpus/${1#fuzz-}" >"$1.log" 2>&1 || {
		tail -n 40 "$1.log"
		echo "$1" >>found
	}
	sed -n "s/^stat::number_of_executed_units: */$1, $((SECONDS - began)) s, runs: /p" "$1.log"
}

# Each target from its kept inputs on, a million runs or as many as come in a bounded time.
step_fuzz() {
	local target name flags=(-O1 -g '-fsanitize=address,undefined' -fno-sanitize-recover=undefined)
	missing clang
	rm -rf "$work/fuzz"
	mkdir "$work/fuzz"
	cd "$work/fuzz"
	"$source/configure" -q CC=clang CFLAGS="${flags[*]} -fsanitize=fuzzer-no-link"
	make -s -j"$jobs" libravel.a ravel-draw
	for target in "$source"/tests/fuzz/fuzz-*.c; do
		name=$(basename "$target" .c)
		# shellcheck disable=SC2046 # flags
		clang "${flags[@]}" -fsanitize=fuzzer -D_GNU_SOURCE -I. -I"$source" -o "$name" "$target" libravel.a \
			$(pkg-config --cflags --libs glib-2.0 libpcap libnghttp2 libnghttp3 nettle zlib libzstd liblzma sqlite3 libgvc libcgraph fftw3f fftw3) -lm
		[ "$(jobs -r | wc -l)" -lt "$jobs" ] || wait -n
		fuzz "$name" &
	done
	wait
	test ! -e found
}

# results RAVEL TRACE...: every output that can be had, as files of the directory
results() {
	local ravel=$1 trace format
	shift
	for trace; do
		for format in text dot json tsv svg; do
			"$ravel" nesting --method paper --format $format -n 0 "$trace" >"$trace.$format"
		done
		"$ravel" nesting --method paper --calls "$trace.calls" -o "$trace.sqlite" "$trace" >"$trace.out"
		"$ravel" report -o "$trace.html" "$trace.sqlite"
		"$ravel" nesting --method paper --smooth 1.5 --skew-window 100us --penalty 1.5,0.3,0.1 \
			--calls "$trace.smooth" "$trace" >"$trace.smooth.out"
		"$ravel" nesting --method joint --calls "$trace.joint" "$trace" >"$trace.joint.out"
		"$ravel" stats "$trace" >"$trace.stats"
	done
}

step_determinism() {
	local compiler directory
	missing clang
	rm -rf "$work/determinism"
	mkdir "$work/determinism"
	for compiler in 'gcc -O0' 'gcc -O3' 'clang -O2'; do
		directory=determinism/${compiler// /}
		build "$directory" "CC=${compiler% *}" "CFLAGS=${compiler#* }"
		mkdir results
		if [ "$compiler" = 'gcc -O0' ]; then # gen-trace uses the library's cos(), which may differ
			mkdir ../traces
			tests/gen-trace 100000 1.6 >../traces/calm
			tests/gen-trace 100000 20 --clients 50 --four --skew 1 >../traces/busy
		fi
		cp ../traces/* results
		cp "$source/demo/shop.pcap.zst" results
		cd results
		../ravel capture -r shop.pcap.zst --nodes "$source/demo/shop.nodes" --labels -w shop
		../ravel capture -r shop.pcap.zst --host 10.83.0.50 -w catalog
		../ravel maketrace -w made "$source/tests/fuzz/corpus/maketrace/everything"
		../ravel skewer --skew WS2=+30ms+50ppm --skew AP1=-50ppm -w skewed busy
		../ravel skewer --estimate -w estimates skewed
		../ravel skewer --deskew -w even skewed
		results ../ravel calm busy shop catalog
		../ravel diff --format tsv calm.sqlite busy.sqlite >diff.tsv
		../ravel diff --format html -o diff.html calm.sqlite busy.sqlite
	done
	cd "$work/determinism"
	diff -rq gcc-O0/results gcc-O3/results
	diff -rq gcc-O0/results clang-O2/results
	find gcc-O0/results -type f | wc -l
}

step_shellcheck() {
	missing shellcheck
	cd "$source"
	grep -rlE '^#! ?/bin/(ba)?sh' --exclude-dir=build-aux --exclude=configure . >"$work/scripts"
	echo ./build-aux/prepare >>"$work/scripts"
	xargs shellcheck -x <"$work/scripts"
}

# The pages in a real browser; with axe-core where npm can fetch it.
step_browser() {
	missing chromium python3
	build browser
	mkdir pages
	cd pages
	if command -v npm >/dev/null && npm install --silent --no-fund --no-audit axe-core@4; then
		AXE=$PWD/node_modules/axe-core/axe.min.js
		export AXE
	fi
	python3 "$source/tests/browser/pages.py" ../ravel "$source" >tap || true
	cat tap
	grep -q '^1\.\.' tap
	! grep '^not ok' tap
}

system_test() { # NAME
	RAVEL=./ravel "$source/tests/system/$1.sh" >"$1.log"
	cat "$1.log"
	grep -q '^1\.\.' "$1.log"
	! grep '^not ok' "$1.log"
}

step_long() {
	build long
	RAVEL_LONG=1 make -k check
	system_test system
	system_test protocols
	system_test brokers
	system_test kafka
	system_test why
	system_test quic
	system_test faults
	system_test metrics
}

step_drops() {
	build drops
	system_test drops
}

if [ $# -gt 0 ]; then
	for step; do
		declare -F "step_$step" >/dev/null || {
			echo "check-long: no step \"$step\": expected some of: ${steps[*]}" >&2
			exit 2
		}
	done
	steps=("$@")
fi
mkdir -p "$work"
{
	chmod -R u+w "$source" 2>/dev/null
	rm -rf "$source"
	make -s distdir distdir=check-long/source
} >"$work/distdir.log" 2>&1 || {
	cat "$work/distdir.log"
	echo "check-long: make distdir failed" >&2
	exit 1
}
passed=0 failed=0 skipped=0
for step in "${steps[@]}"; do
	began=$SECONDS
	(
		set -e
		"step_$step"
	) >"$work/$step.log" 2>&1
	status=$?
	took=$((SECONDS - began))
	case $status in
	0)
		echo "ok $step ($took s)"
		passed=$((passed + 1))
		;;
	77)
		echo "skipped $step: $(tail -n 1 "$work/$step.log")"
		skipped=$((skipped + 1))
		;;
	*)
		echo "FAILED $step ($took s): $work/$step.log ends with"
		tail -n 10 "$work/$step.log" | sed 's/^/    /'
		failed=$((failed + 1))
		;;
	esac
done
echo "$passed steps passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
