#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
server_configuration.py SEED WORKERS LOAD [REQUESTS] [--loop] [--stall]: a configuration for
`ravel maketrace` of a node `web` with WORKERS workers (0: no bound) and the nodes behind it, at
LOAD percent of what its workers can do (where there is no bound, of what 8 could).

Requests are of 2 to 4 kinds and come at random (Poisson), whatever is still under way. web works,
calls 1 to 3 of four nodes in series, in parallel, optionally or repeatedly, and works in between.
Each request holds a worker until it is answered; with --loop, web is an event loop that holds one
while it works. With --stall web stops for about 10 holding times, once in 300. The same SEED
makes the same system, whatever the rest is.
"""

import argparse
import math
import random

NETWORK = 0.05  # ms
SAMPLES = 4000  # of each kind of request, for its mean time at a worker
BEHIND = ["db", "cache", "auth", "stock"]


class Delay:
    def __init__(self, r, least, most):
        self.mean = least * (most / least) ** r.random()
        self.law = r.choice(["normal", "lognormal", "lognormal", "exp"])
        self.spread = r.uniform(0.1, 0.33) if self.law == "normal" else r.uniform(0.1, 0.8)

    def write(self):
        if self.law == "normal":
            return f"{self.mean:.4f}ms~{self.mean * self.spread:.4f}ms"
        if self.law == "lognormal":
            median = self.mean * math.exp(-self.spread**2 / 2)
            return f"lognormal({median:.4f}ms,{self.spread:.2f})"
        return f"exp({self.mean:.4f}ms)"

    def draw(self, r):
        if self.law == "normal":
            return max(r.gauss(self.mean, self.mean * self.spread), 0)
        if self.law == "lognormal":
            return self.mean * r.lognormvariate(-self.spread**2 / 2, self.spread)
        return r.expovariate(1 / self.mean)


class Call:
    def __init__(self, r, delays):
        self.node = r.choice(BEHIND)
        self.delay = r.choice(delays[self.node])
        self.often = r.choice(["", "", "", "?0.5", "?0.2", "*2", "*poisson(2)"])

    def write(self):
        return f"{self.node}{self.often}( {self.delay.write()} )"

    def draw(self, r):
        if self.often.startswith("?"):
            times = r.random() < float(self.often[1:])
        else:
            times = 1 if not self.often else 2  # on average
        return times * (2 * NETWORK + self.delay.draw(r))


class Kind:
    """What web does for a request: (work, calls at once) and so on, and a last work."""

    def __init__(self, r, delays):
        self.weight = r.uniform(0.2, 1)
        self.steps = [
            (Delay(r, 0.2, 4), [Call(r, delays) for _ in range(r.choice([1, 1, 1, 2]))])
            for _ in range(r.randint(1, 3))
        ]
        self.last = Delay(r, 0.1, 2)

    def write(self):
        steps = []
        for work, calls in self.steps:
            steps.append(work.write())
            text = " | ".join(call.write() for call in calls)
            steps.append("{ " + text + " }" if len(calls) > 1 else text)
        return " ".join(steps + [self.last.write()])

    def draw(self, r, loop):
        """For how long it holds a worker."""
        held = self.last.draw(r)
        for work, calls in self.steps:
            held += work.draw(r) + (0 if loop else max(call.draw(r) for call in calls))
        return held


def configuration(seed, workers, load, requests=4000, loop=False, stall=False):
    r = random.Random(seed)
    delays = {node: [Delay(r, 0.3, 12) for _ in range(2)] for node in BEHIND}
    kinds = [Kind(r, delays) for _ in range(r.randint(2, 4))]
    total = sum(kind.weight for kind in kinds)
    held = sum(
        kind.weight / total * sum(kind.draw(r, loop) for _ in range(SAMPLES)) / SAMPLES
        for kind in kinds
    )
    span = requests * held / (workers or 8) / (load / 100)
    text = f"[maketrace]\nseed={seed}\nnetwork={NETWORK}ms~0.01ms\n"
    for number, kind in enumerate(kinds, 1):
        count = max(round(requests * kind.weight / total), 1)
        text += (
            f"\n[tracelet kind {number}]\nparallel={count}\ncount={count}\n"
            f"think=uniform(0ms,{span:.3f}ms)\npath=client > web( {kind.write()} )\n"
        )
    if workers or stall:
        text += "\n[node web]\n"
    if workers:
        text += f"servers={workers}\n" + ("holds=work\n" if loop else "")
    if stall:
        text += f"stall=exp({10 * held:.3f}ms) every exp({300 * held:.3f}ms)\n"
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n", maxsplit=1)[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("workers", type=int)
    parser.add_argument("load", type=float)
    parser.add_argument("requests", type=int, nargs="?", default=4000)
    parser.add_argument("--loop", action="store_true")
    parser.add_argument("--stall", action="store_true")
    print(configuration(**vars(parser.parse_args())), end="")
