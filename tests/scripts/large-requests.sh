#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A request with twice as many calls, twice as many requests at a time, and twice as many nodes cost hardly
# more than twice the time. Sizes are so that a cost that grows with the square would be the most of it. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3'
cd "$dir" || exit 99

cat >doubled.py <<'END'
import resource, subprocess, sys

ravel, shape, size, *command = sys.argv[1:]


def requests(n):
    """All at a time, or even at one moment, with a call each."""
    for i in range(n):
        at = 0 if shape == "same" else i
        for k, word in enumerate((f"CALL_SENT c a r{i}", f"CALL_SENT a b x{i}", f"RET_SENT b a x{i}",
                                  f"RET_SENT a c r{i}")):
            yield at if shape == "same" else 10**6 * k + at, word


def nodes(n):
    """Each is called once, and calls b."""
    for i in range(n):
        for k, word in enumerate((f"CALL_SENT c{i} a{i} r", f"CALL_SENT a{i} b x{i}", f"RET_SENT b a{i} x{i}",
                                  f"RET_SENT a{i} c{i} r")):
            yield 10000 * i + 10 * k, word


def lines(n):
    if shape == "nodes":
        yield from nodes(n)
        return
    if shape in ("crowd", "same"):
        yield from requests(n)
        return
    yield 0, "CALL_SENT c a r label=root"
    for i in range(n):
        if shape == "deep":
            yield i + 1, f"CALL_SENT {'a' if i == 0 else f'n{i}'} n{i + 1} x{i}"
            yield 40 * n - i, f"RET_SENT n{i + 1} {'a' if i == 0 else f'n{i}'} x{i} st=503"
            continue
        yield 10 * i + 1, f"CALL_SENT a b x{i} label=op{i % 100}"
        end = {"wide": "", "failed": " st=503", "unanswered": " end=reset"}[shape]
        yield 10 * i + 5, f"RET_SENT b a x{i}{end}"
    yield 50 * n, "RET_SENT a c r st=503"


def user_time(n):
    """The least of some runs, ms."""
    with open("trace", "w") as trace:
        print("# ravel trace 1\n# clocks: one", file=trace)
        for time, line in sorted(lines(n), key=lambda line: line[0]):
            print(f"1000000000.{time:09} {line}", file=trace)
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([ravel, *command, "trace"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        if shape != "nodes":
            subprocess.run([ravel, "why", "--failed", "store.db"], check=True, stdout=subprocess.DEVNULL)
        times.append(1000 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before))
    return min(times)


for _ in range(3):
    one, two = user_time(int(size)), user_time(2 * int(size))
    print(f"{size} calls {one:.0f} ms, twice as many {two:.0f} ms")
    if two < 2.6 * one:
        sys.exit()
sys.exit(1)
END

for shape in wide failed unanswered deep; do
	python3 doubled.py "$ravel" $shape 10000 nesting -o store.db -w text >said 2>&1
	result $? "$shape: $(tail -n 1 said)" said
done
for shape in crowd same; do
	python3 doubled.py "$ravel" $shape 1500 nesting -j 1 -o store.db -w text >said 2>&1
	result $? "$shape: $(tail -n 1 said)" said
done
"$ravel" nesting -j 1 trace 2>&1 >/dev/null | grep -q '^ravel nesting: 100 % of calls were decided in haste: 3000 requests at a time at node a$'
result $? 'calls decided in haste are said'
python3 doubled.py "$ravel" nodes 8000 convolution >said 2>&1
result $? "convolution, nodes: $(tail -n 1 said)" said
finish
