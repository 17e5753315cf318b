#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
mail_configuration.py SEED [RELAYS]: a configuration for `ravel maketrace` of mail that is
relayed, as the paper's Received headers show it (section 7.1.3): about 80,000 messages
in 5e6 seconds. Each of 60 routes goes through gateways, two or three tiers of relays and a
mailbox, some far more often than others. A relay passes most mail on within two seconds;
some hold some of it for 10 or 15 s, as they poll a queue, and a little for minutes. One
sends some mail twice. RELAYS nodes in all, 30 without it.
"""

import random
import sys

DURATION = 5_000_000  # s
ROUTES = 60
MAILS = 11_683  # the paper's
HELD = 0.02  # of all mail, at each relay, for minutes


class Mail:
    def __init__(self, seed, relays):
        self.random = random.Random(seed)
        tiers = {"gw": 1, "in": 2, "hub": 2, "out": 1}  # how many of six go to each tier
        self.tiers = [
            [f"{name}{k}" for k in range(1, max(2, relays * parts // 6) + 1)]
            for name, parts in tiers.items()
        ]
        nodes = [node for tier in self.tiers[1:] for node in tier]
        self.slow = {}  # of a node: how often it waits how long
        for node in self.random.sample(nodes, max(4, relays // 6)) + ["scan"]:
            self.slow[node] = (self.random.choice([0.2, 0.3]), self.random.choice([10, 15]))
        self.twice = self.random.choice(self.tiers[2])

    def wait(self, node):
        text = f"uniform(0ms,2s) {{ exp(600s) }}?{HELD}"
        if node in self.slow:
            share, seconds = self.slow[node]
            text += f" {{ {seconds}s uniform(0ms,1s) }}?{share}"
        return text

    def route(self):
        nodes = [self.random.choice(tier) for tier in self.tiers]
        if self.random.random() < 0.8:  # through another relay of the second tier
            nodes.insert(3, self.random.choice([n for n in self.tiers[1] if n != nodes[1]]))
        scanned = ["scan"] if self.random.random() < 0.8 else []
        return nodes + scanned + ["store", "mailbox"]

    def path(self, nodes):
        text = f">> {nodes[-1]}"
        for node in reversed(nodes[1:-1]):
            again = f" {{ {text} }}?0.3" if node == self.twice else ""
            text = f">> {node}( {self.wait(node)} {text}{again} )"
        return f"{nodes[0]} {text}"

    def write(self):
        routes = [self.route() for _ in range(ROUTES)]
        # Think times of so many sequences make nearly Poisson arrivals.
        sequences = 400
        head = (
            f"[maketrace]\nseed=1\nduration={DURATION}s\nparallel={sequences}\n"
            f"think=exp({DURATION * sequences / MAILS:.0f}s)\n"
        )
        return head + "".join(
            f"\n[tracelet route {k}]\nweight={1 / k:.4f}\npath={self.path(nodes)}\n"
            for k, nodes in enumerate(routes, 1)
        )


def configuration(seed, relays=30):
    return Mail(seed, relays).write()


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("usage: mail_configuration.py SEED [RELAYS]")
    print(configuration(*map(int, sys.argv[1:])), end="")
