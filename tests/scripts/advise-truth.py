#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""advise-truth.py RAVEL SEED,SEED... [NAME...]: what ravel advise finds first, against maketrace run again without it.

Writes a row for each planted kind (or those named): in how many seeds its finding is the first, and how far its gains
are off those of the second run, in the mean over the seeds. The same seed draws the same delays. A clean system has no
finding. Ends with 1 if a finding is not the first, a gain is off by more than 20 %, or a clean system has one.
"""
import json
import math
import subprocess
import sys

HEAD = "[maketrace]\nseed={seed}\nmessages=1000000\n"
OPEN = "[tracelet {name}]\nparallel={n}\ncount={n}\nthink=uniform(0s,20s)\npath={path}\n"


def page(path, name="page", n=1500):
    return OPEN.format(name=name, n=n, path=path)


def pool(workers):
    return page("client > lb( 0.1ms~0.02ms app( 4ms~1ms db( exp(8ms) ) exp(4ms) ) 0.1ms )") + f"[node app]\nservers={workers}\n"


def replicas(slow):
    return page("client > lb( 0.2ms web1( 4ms~1ms db( 2ms~0.5ms ) 1ms ) 0.2ms )", "one", 750) + page(
        f"client > lb( 0.2ms web2( {slow}ms~1ms db( 2ms~0.5ms ) 1ms ) 0.2ms )", "two", 750)


def shared(names):
    return page(f"client > lb( 0.2ms [{names}]( 2ms~0.5ms exp(12ms) db( 2ms~0.5ms ) ) 0.2ms )") + "[node app1]\nservers=2\n[node app2]\nservers=2\n"


WEB = "client > web( 1ms~0.1ms {} 1ms~0.1ms )"
# kind: (text of the finding, configuration with it, without it)
CASES = {
    "repeated call": ("web calls db 12 times in a row", page(WEB.format("db*12( 1ms~0.3ms )")), page(WEB.format("db( 1ms~0.3ms )"))),
    "calls in series": ("web calls one after the other: user, price, stock",
                        page(WEB.format("user( 4ms~1ms ) price( 6ms~1.5ms ) stock( 5ms~1.2ms )")),
                        page(WEB.format("{ user( 4ms~1ms ) | price( 6ms~1.5ms ) | stock( 5ms~1.2ms ) }"))),
    "DNS query": ("web asks dns for names", page(WEB.format("dns( 3ms~1ms ) db( 5ms~1ms )")), page(WEB.format("db( 5ms~1ms )"))),
    "retry": ("web calls db again after an error", page(WEB.format("{ db( 20ms~2ms ) 5ms~1ms }?0.2 db( 4ms~1ms )")), page(WEB.format("db( 4ms~1ms )"))),
    "full pool": ("app: 2 workers", pool(2), pool(3)),
    "uneven share": ("app1 gets 8", shared("app1, app1, app1, app1, app2"), shared("app1, app2")),
    "slow replica": ("web2 needs", replicas(9), replicas(4)),
}
CLEAN = {
    "tree": page("client > web( 1ms~0.1ms auth( 2ms~0.5ms db( 1ms~0.3ms ) ) catalog( 3ms~1ms db*3( exp(2ms) ) ) 1ms~0.1ms )"),
    "equal replicas": replicas(4),
    "a cache": page(WEB.format("cache( 0.3ms~0.05ms ) { db( 12ms~2ms ) cache( 0.3ms~0.05ms ) }?0.22")),
    "at once": page(WEB.format("{ user( 4ms~1ms ) | price( 6ms~1.5ms ) | stock( 5ms~1.2ms ) }")),
    "a large pool": pool(8),
    "equal shares": shared("app1, app2"),
}


def trace(ravel, name, text, seed, kind):
    with open(name + ".conf", "w") as out:
        out.write(HEAD.format(seed=seed) + text)
    lines = subprocess.run([ravel, "maketrace", name + ".conf"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    begun, times, asked = {}, [], {}
    with open(name + ".trace", "w") as out:
        for line in lines:
            if line.startswith("#"):
                print(line, file=out)
                continue
            stamp, _, sender, receiver, call = line.split()[:5]
            time = int(stamp.replace(".", ""))
            if sender == "client":
                begun[call] = time
            elif receiver == "client":
                times.append(time - begun.pop(call))
            if receiver == "dns" and kind == "DNS query":
                line += " label=DNS%20A"
            if receiver == "db":
                asked[call] = time
            if sender == "db" and kind == "retry" and time - asked[call] > 12_000_000:
                line += " st=500"
            print(line, file=out)
    times.sort()
    return dict(mean=sum(times) / len(times), p99=times[math.ceil(0.99 * len(times)) - 1])


def ask(ravel):
    subprocess.run([ravel, "nesting", "-o", "now.sqlite", "now.trace"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    answer = subprocess.run([ravel, "advise", "--format", "json", "now.sqlite"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(answer)["findings"]


def try_case(ravel, kind, seeds):
    text, with_it, without = CASES[kind]
    first, errors = 0, dict(mean=[], p99=[])
    for seed in seeds:
        now, then = trace(ravel, "now", with_it, seed, kind), trace(ravel, "then", without, seed, "")
        findings = ask(ravel)
        if findings and findings[0]["kind"] == kind and findings[0]["finding"].startswith(text):
            first += 1
            for figure in errors:
                errors[figure].append(int(findings[0][figure + "_gain"]) / (now[figure] - then[figure]) - 1)
        else:
            print(f"{kind}, seed {seed}:", [f["finding"] for f in findings])
    off = {figure: sum(map(abs, e)) / len(e) if e else 1 for figure, e in errors.items()}
    print(f"{kind}\tfirst {first} of {len(seeds)}\tmean off {off['mean']:.1%}\tp99 off {off['p99']:.1%}", flush=True)
    return first == len(seeds) and max(off.values()) <= 0.2


def try_clean(ravel, name, seeds):
    wrong = 0
    for seed in seeds:
        trace(ravel, "now", CLEAN[name], seed, "")
        findings = ask(ravel)
        wrong += len(findings)
        for f in findings:
            print(f"{name}, seed {seed}: {f['finding']}")
    print(f"clean: {name}\tfindings {wrong}", flush=True)
    return wrong == 0


def main():
    ravel, seeds, names = sys.argv[1], [int(s) for s in sys.argv[2].split(",")], sys.argv[3:]
    good = [try_clean(ravel, n, seeds) if n in CLEAN else try_case(ravel, n, seeds) for n in names or [*CASES, *CLEAN]]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
