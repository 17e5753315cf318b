#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
random_configuration.py SEED [PARALLEL]: a configuration for `ravel maketrace` of a system
that nobody has seen: 2 to 5 tiers of nodes, 1 to 5 kinds of requests, trees of different
shapes with calls in series, in parallel, optional, repeated and balanced over several
nodes, and delays of mixed laws. PARALLEL sequences, 1 to 50, chosen too where it is
missing. The same SEED makes the same system, whatever PARALLEL is.
"""

import random
import sys

MOST_CALLS = 30  # of a request, on average, about


class System:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.parallel = round(50 ** self.random.random())
        # Nodes of a tier call those of lower tiers only. Tiers have 1 to 4 nodes.
        names = iter(f"n{k}" for k in range(1, 100))
        self.tiers = [
            [next(names) for _ in range(self.random.randint(1, 4))]
            for _ in range(self.random.randint(2, 5))
        ]
        self.operations = {}  # of a node: its bodies, each with the mean number of calls in it

    def chance(self, probability):
        return self.random.random() < probability

    def delay(self):
        """0.3 to 30 ms, most of them short."""
        mean = 0.3 * 100 ** (self.random.random() ** 1.5)
        law = self.random.choice(
            ["normal", "normal", "lognormal", "lognormal", "exp", "uniform", "constant"]
        )
        if law == "normal":
            return f"{mean:.3g}ms~{mean * self.random.uniform(0.05, 0.33):.3g}ms"
        if law == "lognormal":
            return f"lognormal({mean:.3g}ms,{self.random.uniform(0.1, 0.8):.2g})"
        if law == "exp":
            return f"exp({mean:.3g}ms)"
        if law == "uniform":
            return f"uniform({mean * 0.5:.3g}ms,{mean * 1.5:.3g}ms)"
        return f"{mean:.3g}ms"

    def call(self, tier, budget):
        """A call of tier or below, and how many calls it makes of itself, on average."""
        tier = self.random.randint(tier, len(self.tiers) - 1)
        nodes = self.tiers[tier]
        node = self.random.choice(nodes)
        body, below = self.operation(tier, node, budget)
        if len(nodes) > 1 and self.chance(0.25):
            pair = self.random.sample(nodes, 2)
            node = f"[{' '.join(pair)}]" if self.chance(0.5) else f"[{', '.join(pair)}]"
        often = 1.0
        if self.chance(0.2):
            often = self.random.choice([0.1, 0.3, 0.5, 0.8])
            node += f"?{often}"
        if self.chance(0.15):
            times = self.random.randint(2, 4)
            if times * (1 + below) < budget:
                node += f"*poisson({times})" if self.chance(0.3) else f"*{times}"
                often *= times
        return f"{node}( {body} )", often * (1 + below)

    def operation(self, tier, node, budget):
        """One of the up to three things that a node does when called."""
        known = self.operations.setdefault(node, [])
        fit = [o for o in known if o[1] < budget]
        if not fit or (len(known) < 3 and self.chance(0.3)):
            fit = [self.body(tier + 1, budget)]
            known += fit
        return self.random.choice(fit)

    def body(self, tier, budget):
        """What a node does between its call and its return, and the calls in that."""
        steps, calls = [self.delay()], 0.0
        if tier < len(self.tiers):
            # A request makes a call at least, or there would be nothing to find.
            for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]) or tier == 1):
                if self.chance(0.2):
                    branches = []
                    for _ in range(self.random.randint(2, 3)):
                        wait = self.delay() + " " if self.chance(0.5) else ""
                        call, made = self.call(tier, (budget - calls) / 3)
                        branches.append(wait + call)
                        calls += made
                    steps.append("{ " + " | ".join(branches) + " }")
                elif calls < budget:
                    call, made = self.call(tier, budget - calls)
                    steps.append(call)
                    calls += made
                if self.chance(0.8):
                    steps.append(self.delay())
        return " ".join(steps), calls

    def tracelet(self, name):
        root = self.random.choice(self.tiers[0])
        weight = self.random.choice([1, 1, 2, 5])
        path = f"client > {root}( {self.body(1, MOST_CALLS)[0]} {self.delay()} )"
        return f"[tracelet {name}]\nweight={weight}\npath={path}\n"

    def write(self, parallel):
        kinds = [self.tracelet(f"kind {k}") for k in range(1, self.random.randint(1, 5) + 1)]
        think = self.random.choice(["exp(100ms)", "uniform(0ms,200ms)", "exp(20ms)"])
        return (
            f"[maketrace]\nseed=1\nmessages=20000\nnetwork=0.1ms~0.02ms\n"
            f"parallel={parallel or self.parallel}\nthink={think}\n\n" + "\n".join(kinds)
        )


def configuration(seed, parallel=None):
    return System(seed).write(parallel)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("usage: random_configuration.py SEED [PARALLEL]")
    print(configuration(*map(int, sys.argv[1:])), end="")
