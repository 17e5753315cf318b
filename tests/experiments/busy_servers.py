#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
busy_servers.py SEED CLIENTS [REQUESTS]: a trace of a system whose servers are busy, with its truth as
path=, on standard output.

Unlike in the systems of random_configuration.py, time passes here by work, and calls wait for each
other. What a call does between two of its events, a stretch, takes its turn at the server that the
call is at. Servers are, by chance,

    loop     an event loop: one stretch at a time, in the order in which they became ready
    pool     two to four threads that take stretches in that order
    threads  one to four at a time, whichever comes first: no order

There are 2 to 4 tiers of 1 to 3 servers each, 2 to 6 kinds of requests, and calls in series, in
parallel, optional, repeated and balanced over two servers. Each of CLIENTS sends a request,
waits for its answer, thinks and goes on. The same SEED makes the same system, whatever CLIENTS is.
"""

import collections
import heapq
import random
import sys

MILLISECOND = 10**6  # times are in ns
NETWORK = 0.02 * MILLISECOND  # at least, of a message

Stretch = collections.namedtuple("Stretch", "mean deviation")
Calls = collections.namedtuple("Calls", "chance operations")
Operation = collections.namedtuple("Operation", "servers steps")


class Clock:
    """What happens when."""

    def __init__(self):
        self.now, self.events, self.number = 0, [], 0

    def after(self, delay, then):
        self.number += 1
        heapq.heappush(self.events, (self.now + delay, self.number, then))

    def run(self):
        while self.events:
            self.now, _, then = heapq.heappop(self.events)
            then()


class Server:
    def __init__(self, name, kind, workers):
        self.name, self.kind, self.workers = name, kind, workers
        self.ready = collections.deque()

    def work(self, run, stretch, then):
        self.ready.append((run.lasts(stretch), then))
        self.start(run)

    def start(self, run):
        while self.workers and self.ready:
            if self.kind == "threads":
                self.ready.rotate(-run.random.randrange(len(self.ready)))
            duration, then = self.ready.popleft()
            self.workers -= 1
            run.clock.after(duration, lambda then=then: self.done(run, then))

    def done(self, run, then):
        self.workers += 1
        then()
        self.start(run)


class System:
    def __init__(self, seed):
        self.random = r = random.Random(seed)
        names = iter(f"n{k}" for k in range(1, 100))
        self.tiers = [
            [self.server(next(names)) for _ in range(r.randint(1, 3))]
            for _ in range(r.randint(2, 4))
        ]
        self.kinds = [self.operation(0) for _ in range(r.randint(2, 6))]
        self.weights = [r.uniform(0.2, 1.2) for _ in self.kinds]
        self.think = MILLISECOND * 10 ** r.uniform(0, 1.5)

    def server(self, name):
        kind = self.random.choice(["loop", "loop", "pool", "threads"])
        most = {"loop": (1, 1), "pool": (2, 4), "threads": (1, 4)}[kind]
        return Server(name, kind, self.random.randint(*most))

    def stretch(self):
        """0.03 to 0.9 ms."""
        mean = 0.03 * MILLISECOND * 30 ** self.random.random()
        return Stretch(mean, self.random.uniform(0.1, 0.6))

    def operation(self, tier):
        """What a call into a tier does: at which servers, and its steps."""
        r = self.random
        n = 2 if len(self.tiers[tier]) > 1 and r.random() < 0.5 else 1
        servers, steps = r.sample(self.tiers[tier], n), [self.stretch()]
        if tier + 1 < len(self.tiers):
            for _ in range(r.choice([0, 1, 1, 2, 2, 3] if tier else [1, 1, 2, 2, 3])):
                operations = [self.below(tier)]
                if r.random() < 0.15:
                    operations.append(self.below(tier))
                if r.random() < 0.15:
                    operations = operations[:1] * r.randint(2, 3)
                steps += [Calls(r.choice([1, 1, 1, 0.5, 0.2]), operations), self.stretch()]
        return Operation(servers, steps)

    def below(self, tier):
        return self.operation(self.random.randint(tier + 1, len(self.tiers) - 1))


class Run:
    """Requests of clients to a system, and the lines that they leave."""

    def __init__(self, system, clients, requests):
        self.system, self.clock = system, Clock()
        self.random = random.Random(f"{system.random.random()} {clients}")
        self.left, self.n_requests, self.n_calls = requests, 0, 0
        self.lines = []
        for _ in range(clients):
            self.clock.after(self.random.expovariate(1 / system.think), self.request)
        self.clock.run()

    def lasts(self, stretch):
        bias = stretch.deviation**2 / 2
        return stretch.mean * self.random.lognormvariate(-bias, stretch.deviation)

    def network(self):
        return NETWORK + self.random.expovariate(2 / NETWORK)

    def request(self):
        if self.n_requests == self.left:
            return
        self.n_requests += 1
        (kind,) = self.random.choices(self.system.kinds, self.system.weights)
        think = self.random.expovariate(1 / self.system.think)
        self.call("client", kind, f"{self.n_requests}", lambda: self.clock.after(think, self.request))

    def call(self, caller, operation, path, then):
        Call(self, caller, operation, path, then)


class Call:
    def __init__(self, run, caller, operation, path, then):
        run.n_calls += 1
        self.run, self.caller, self.then = run, caller, then
        self.server = run.random.choice(operation.servers)
        self.steps = iter(operation.steps)
        self.id, self.path, self.n_children = f"c{run.n_calls}", path, 0
        self.put("CALL_SENT", caller, self.server.name)
        run.clock.after(run.network(), self.go_on)

    def put(self, operation, sender, receiver):
        line = f"{operation} {sender} {receiver} {self.id} path={self.path}"
        self.run.lines.append((round(self.run.clock.now), line))

    def go_on(self):
        step = next(self.steps, None)
        if step is None:
            self.put("RET_SENT", self.server.name, self.caller)
            self.run.clock.after(self.run.network(), self.then)
        elif isinstance(step, Stretch):
            self.server.work(self.run, step, self.go_on)
        elif self.run.random.random() < step.chance:
            self.waiting = len(step.operations)
            for operation in step.operations:
                self.n_children += 1
                below = f"{self.path}.{self.n_children}"
                self.run.call(self.server.name, operation, below, self.returned)
        else:
            self.go_on()

    def returned(self):
        self.waiting -= 1
        if self.waiting == 0:
            self.go_on()


def trace(seed, clients, requests):
    lines = ["# ravel trace 1"]
    for time, line in sorted(Run(System(seed), clients, requests).lines, key=lambda x: x[0]):
        lines.append(f"{time // 10**9}.{time % 10**9:09} {line}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(trace(*map(int, sys.argv[1:3]), int((sys.argv[3:] or [3000])[0])))
