#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""whatif-truth.py RAVEL SEED,SEED... [NAME...]: ravel whatif against maketrace run again with the change.

Writes a row for each change (or those named): the mean error of the predicted mean and p99 over the seeds, the worst
ones, and how many truths lie between from and to. Changes that ravel calls less than its error do not count. The same seed draws the same delays for each request, so both runs
differ by the change alone; with --other the second run has another seed. Ends with 1 if an error is above 5 % of the
mean or 10 % of p99 in the mean over the seeds, or fewer than 18 of 20 truths lie within their intervals.
"""
import json
import math
import subprocess
import sys

OPEN = """[tracelet page]
parallel={n}
count={n}
think=uniform(0s,{span}s)
"""
CLOSED = """[tracelet page]
parallel={users}
think={think}
"""
QUEUE = "path=client > lb( 0.1ms~0.02ms app( {app}ms~{app_dev}ms db( exp({db}ms) ) exp({app}ms) ) 0.1ms )\n[node app]\nservers={k}\n"
LEAF = "path=client > web( {first}ms~0.3ms db( exp({db}ms) ) {web}ms~0.2ms )\n[node db]\nservers={k}\n"
PLAIN = "path=client > web( 1ms~0.1ms {calls} 1ms~0.1ms )\n"
SERIAL = "user( {user}ms~{user_dev}ms ) price( {price}ms~{price_dev}ms ) stock( {stock}ms~{stock_dev}ms )"
PARALLEL = "{{ user( {user}ms~{user_dev}ms ) | price( {price}ms~{price_dev}ms ) | stock( {stock}ms~{stock_dev}ms ) }}"
CACHE = "cache( 0.3ms~0.05ms ) {{ db( 12ms~2ms ) cache( 0.3ms~0.05ms ) }}?{miss}"
DROP = "{dns} user( 4ms~1ms ) price( 6ms~1.5ms )"

DEFAULTS = dict(
    n=1500, span=20, users=6, think="exp(30ms)", app=4, db=8, first=2, web=1, k=2, user=4, price=6, stock=5, miss=0.22, dns="dns( 2ms~0.5ms )",
    app_dev=1, user_dev=1, price_dev=1.5, stock_dev=1.2,
)


def plain(calls):
    return OPEN + PLAIN.replace("{calls}", calls)


# name: (template, its values, the change, the values after it)
CASES = {
    "own, queue": (OPEN + QUEUE, {}, ["own(db)*0.5"], dict(db=4)),
    "own of the queued node": (OPEN + QUEUE, {}, ["own(app)*0.5"], dict(app=2, app_dev=0.5)),
    "own, leaf queue": (OPEN + LEAF, {}, ["own(db)*0.5"], dict(db=4)),
    "own, no queue": (plain(SERIAL), {}, ["own(price)*0.5"], dict(price=3, price_dev=0.75)),
    "own -2ms": (plain(SERIAL), {}, ["own(user)-2ms"], dict(user=2)),
    "own, parallel": (plain(PARALLEL), {}, ["own(price)*0.5"], dict(price=3, price_dev=0.75)),
    "workers doubled": (OPEN + QUEUE, {}, ["workers(app)=4"], dict(k=4)),
    "workers halved": (OPEN + QUEUE, dict(k=4, span=24), ["workers(app)=2"], dict(k=2)),
    "rate 1.4, queue": (OPEN + LEAF, dict(span=28, db=20), ["rate*1.4"], dict(span=20)),
    "rate 1.4, no queue": (plain(SERIAL), dict(span=28), ["rate*1.4"], dict(span=20)),
    "three at once": (plain(SERIAL), {}, ["parallel(web: user,price,stock)"], dict(template=plain(PARALLEL))),
    "call dropped": (plain(DROP), {}, ["drop(web>dns)"], dict(dns="")),
    "hit rate up": (plain(CACHE), {}, ["hit(cache)=0.95"], dict(miss=0.05)),
    "hit rate down": (plain(CACHE), {}, ["hit(cache)=0.5"], dict(miss=0.5)),
    "closed, own": (CLOSED + QUEUE, {}, ["own(db)*0.5"], dict(db=4)),
    "closed, own, leaf": (CLOSED + LEAF, {}, ["own(db)*0.5"], dict(db=4)),
    "closed, workers doubled": (CLOSED + QUEUE, {}, ["workers(app)=4"], dict(k=4)),
    "closed, workers halved": (CLOSED + QUEUE, dict(k=4), ["workers(app)=2"], dict(k=2)),
    "closed, rate 1.4": (CLOSED + LEAF, dict(think="exp(28ms)", db=16), ["rate*1.4"], dict(think="exp(20ms)")),
    "two changes": (OPEN + QUEUE, {}, ["own(db)*0.5", "rate*1.4"], dict(db=4, span=20 / 1.4)),
}

# name: (template, its values, the values with each node 10 % quicker)
RANKS = {
    "ranks, queue": (OPEN + QUEUE, {}, dict(app=dict(app=3.6, app_dev=0.9), db=dict(db=7.2))),
    "ranks, leaf queue": (OPEN + LEAF, dict(web=9), dict(db=dict(db=7.2), web=dict(first=1.8, web=8.1))),
    "ranks, in series": (plain(SERIAL), {}, {n: {n: v * 0.9, n + "_dev": d * 0.9} for n, v, d in (("user", 4, 1), ("price", 6, 1.5), ("stock", 5, 1.2))}),
    "ranks, parallel": (plain(PARALLEL), {}, {n: {n: v * 0.9, n + "_dev": d * 0.9} for n, v, d in (("user", 4, 1), ("price", 6, 1.5), ("stock", 5, 1.2))}),
}


def trace(ravel, name, template, values, seed):
    messages = "messages=9000\n" if "parallel={users}" in template else "messages=1000000\n"
    with open(name + ".conf", "w") as out:
        out.write(f"[maketrace]\nseed={seed}\n{messages}" + template.format(**values))
    with open(name + ".trace", "w") as out:
        subprocess.run([ravel, "maketrace", name + ".conf"], check=True, stdout=out, stderr=subprocess.DEVNULL)
    begun, times = {}, []
    for line in open(name + ".trace"):
        if line.startswith("#"):
            continue
        stamp, _, sender, receiver, call = line.split()[:5]
        if sender == "client":
            begun[call] = int(stamp.replace(".", ""))
        elif receiver == "client":
            times.append(int(stamp.replace(".", "")) - begun.pop(call))
    times.sort()
    return dict(mean=sum(times) / len(times), p99=times[math.ceil(0.99 * len(times)) - 1])


def ask(ravel, changes):
    subprocess.run([ravel, "nesting", "-o", "now.sqlite", "now.trace"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    answer = subprocess.run([ravel, "whatif", "--format", "json", "now.sqlite", *changes], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(answer)["entries"][0]


def try_case(ravel, case, seeds, other):
    template, before, changes, after = CASES[case]
    errors = dict(mean=[], p99=[])
    inside = asked = 0
    for seed in seeds:
        values = {**DEFAULTS, **before}
        trace(ravel, "now", template, values, seed)
        truth = trace(ravel, "then", after.get("template", template), {**values, **after}, seed + 1000 * other)
        entry = ask(ravel, changes)
        for figure, true in truth.items():
            found = entry.get(figure, {"then": None})
            if found["then"] is None:
                continue
            asked += 1
            inside += int(found["low"]) <= true <= int(found["high"])
            errors[figure].append(int(found["then"]) / true - 1)
    return errors, inside, asked


def try_ranks(ravel, case, seeds):
    """In how many runs nodes are in their true order, by the gain of the mean and of p99."""
    template, before, quicker = RANKS[case]
    right = dict(mean=0, p99=0)
    for seed in seeds:
        values = {**DEFAULTS, **before}
        now = trace(ravel, "now", template, values, seed)
        then = {n: trace(ravel, "then", template, {**values, **after}, seed) for n, after in quicker.items()}
        rows = [r for r in ask(ravel, [])["quicker"] if r["node"] in quicker]
        for figure in right:
            found = sorted(rows, key=lambda r: -(int(r[figure]["now"]) - (int(r[figure]["then"] or r[figure]["now"]))))
            true = sorted(quicker, key=lambda n: -(now[figure] - then[n][figure]))
            right[figure] += [r["node"] for r in found] == true
    print(f"{case}\tmean {right['mean']} of {len(seeds)}\tp99 {right['p99']} of {len(seeds)}", flush=True)
    return right["mean"] == len(seeds)


def summary(errors):
    return (sum(map(abs, errors)) / len(errors), max(errors, key=abs)) if errors else (0, 0)


def main():
    other = "--other" in sys.argv
    arguments = [a for a in sys.argv[1:] if a != "--other"]
    ravel, seeds, names = arguments[0], [int(s) for s in arguments[1].split(",")], arguments[2:]
    wrong = inside = asked = 0
    print("change\tmean off\tworst\tp99 off\tworst\tinside")
    for case in names or [*CASES, *RANKS]:
        if case in RANKS:
            wrong += not try_ranks(ravel, case, seeds)
            continue
        errors, within, of = try_case(ravel, case, seeds, other)
        (mean, mean_worst), (p99, p99_worst) = summary(errors["mean"]), summary(errors["p99"])
        inside, asked = inside + within, asked + of
        bad = not errors["mean"] or not other and (mean > 0.05 or p99 > 0.1)
        wrong += bad
        print(f"{case}\t{mean:.1%}\t{mean_worst:+.1%}\t{p99:.1%}\t{p99_worst:+.1%}\t{within}/{of}{' WRONG' * bad}", flush=True)
    print(f"within their intervals: {inside} of {asked}")
    sys.exit(wrong > 0 or inside < 0.9 * asked)


if __name__ == "__main__":
    main()
