#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Of inputs that a stranger makes, twice as much takes at most 2.6 times as long. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3'
[ -z "$(nm "$ravel" 2>/dev/null | grep __asan_init)" ] || skip_all 'sanitizers take time of their own'

# compared KIND N KIND N WHAT COMMAND...: both inputs, for the command
compared() {
	python3 "$source/tests/scripts/$maker" "$1" "$2" "$dir/1"
	python3 "$source/tests/scripts/$maker" "$3" "$4" "$dir/2"
	what=$5
	shift 5
	python3 - "$dir/1" "$dir/2" "$@" >"$dir/times" <<'END'
import resource, subprocess, sys

def seconds(path):
    """The least of three runs, and at most 20 of CPU."""
    least = 20.0
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*sys.argv[3:], path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20)))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        least = min(least, used)
        if used > 1:
            break
    return least

once, twice = seconds(sys.argv[1]), seconds(sys.argv[2])
print(f"# {once:.2f} s, {twice:.2f} s")
sys.exit(twice > 2.6 * once + 0.05)
END
	result $? "$what" "$dir/times"
	sed 1q "$dir/times"
}

# doubled KIND N WHAT COMMAND...
doubled() {
	kind=$1 n=$2
	shift 2
	compared "$kind" "$n" "$kind" $((2 * n)) "$@"
}

maker=make-floods.py
doubled syns 100000 'SYNs' "$ravel" capture -w /dev/null
doubled halves 60000 'halves of requests' "$ravel" capture -w /dev/null
doubled addresses 30000 'addresses of IPv6 that differ in their high bits' "$ravel" capture -w /dev/null
doubled edges 100000 'edges' "$ravel" capture -w /dev/null
compared few 80000 channels 80000 'deliveries that nobody settles, on 64 and on 4,096 channels' \
	"$ravel" capture -w /dev/null
doubled secrets 20000 'secrets of sessions whose random numbers begin alike' "$ravel" capture -w /dev/null
doubled streams 8000 'streams that a window of 0 holds up' "$ravel" capture -w /dev/null
doubled labels 20000 'labels that collide' "$ravel" nesting --method paper -w /dev/null
maker=make-shapes.py
for shape in same chain fan burst crowd callees callers names unanswered answers messages patterns; do
	n=6000
	case $shape in same | crowd) n=3000 ;; chain) n=15000 ;; esac
	doubled $shape $n "$shape, joint" "$ravel" nesting
	[ $shape = burst ] || doubled $shape $n "$shape, paper" "$ravel" nesting --method paper
	[ $shape = patterns ] || doubled $shape $n "$shape, convolution" "$ravel" convolution
	doubled $shape $n "$shape, stats" "$ravel" stats
	doubled $shape $n "$shape, merge" "$ravel" merge
done
finish
