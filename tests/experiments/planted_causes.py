#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
planted_causes.py CAUSE [--seed N] [--requests N] [--parallelism P] [--hits FILE]: a trace of a system with
one planted cause of slow requests, with the true paths as path=, on standard output.

    client>lb(web1(auth(redis),catalog(postgres x2)))     half of the requests
    client>lb(web2(auth(redis),catalog(postgres x2)))     the other half

Requests arrive at random, and nothing waits for anything but where the cause says so. CAUSE is

    caller  auth takes 18 ms longer for 12 % of the calls of web2, never for web1
    stall   for 60 ms now and then auth and catalog stand still together: calls that come take 8 ms longer
    miss    catalog has four answers of five at hand, and asks postgres three times for the fifth
    queue   catalog serves one call at a time, 4 ms in the mean, in order
    none    nothing

PLANTED says which nodes are to blame, each by the callees from the entry on, with | between replicas. --hits writes
a line for each time that the cause made a request slower: the request (the first number of path=), the node and by
how many ns (of a miss: about). P is the mean number of candidate parents of a call, as `ravel nesting` finds it; the
rate of the requests is chosen for it. The same cause, seed and options make the same bytes.
"""

import argparse
import heapq
import math
import random
import sys

MILLISECOND = 10**6  # times are in ns
SECOND = 10**9
START = 1795262483 * SECOND
NETWORK = 50_000  # of a message, one way

PLANTED = {
    "caller": ["web1|web2/auth"],
    "stall": ["web1|web2/auth", "web1|web2/catalog"],
    "miss": ["web1|web2/catalog/postgres"],
    "queue": ["web1|web2/catalog"],
    "none": [],
}


class Turn:
    """What one process has at a time, in order of asking."""

    def __init__(self):
        self.taken, self.waiting = False, []


class Simulation:
    """Processes are generators. They yield how long they sleep, or the Turn that they wait for."""

    def __init__(self):
        self.now, self.events, self.number = 0, [], 0

    def at(self, time, process):
        self.number += 1
        heapq.heappush(self.events, (time, self.number, process))

    def give_back(self, turn):
        turn.taken = bool(turn.waiting)
        if turn.waiting:
            self.at(self.now, turn.waiting.pop(0))

    def run(self):
        while self.events:
            self.now, _, process = heapq.heappop(self.events)
            wanted = next(process, None)
            while isinstance(wanted, Turn) and not wanted.taken:
                wanted.taken = True
                wanted = next(process, None)
            if isinstance(wanted, Turn):
                wanted.waiting.append(process)
            elif wanted is not None:
                self.at(self.now + wanted, process)


class Stalls:
    """Whether a moment lies in one; they begin at random, 400 ms after the last in the mean."""

    LENGTH = 60 * MILLISECOND

    def __init__(self, chance):
        self.chance, self.begin = chance, 0
        self.next()

    def next(self):
        self.begin += round(self.chance.expovariate(1 / (400 * MILLISECOND)))

    def stands_still(self, now):
        """Asked in order of time."""
        while now >= self.begin + self.LENGTH:
            self.begin += self.LENGTH
            self.next()
        return now >= self.begin


class System(Simulation):
    """One run. `messages` are in order of time; `hits` are (request, node, ns)."""

    def __init__(self, cause, seed, requests, rate):
        super().__init__()
        self.cause, self.chance = cause, random.Random(seed)
        self.stalls = Stalls(random.Random(seed + 1))
        self.turn, self.messages, self.hits, self.calls = Turn(), [], [], 0
        time = 0
        for i in range(requests):
            time += round(self.chance.expovariate(rate / SECOND))
            self.at(time, self.call("client", "lb", str(i + 1), self.lb))
        self.run()

    def work(self, milliseconds, deviation):
        """A delay of that mean; the deviation is that of its logarithm."""
        factor = math.exp(self.chance.gauss(-deviation * deviation / 2, deviation))
        return round(milliseconds * MILLISECOND * factor)

    def hit(self, path, node, delay):
        self.hits.append((int(path.split(".")[0]), node, delay))
        return delay

    def call(self, caller, callee, path, serve):
        self.calls += 1
        number = self.calls
        self.messages.append((self.now, "CALL_SENT", caller, callee, number, path))
        yield NETWORK
        yield from serve(caller, callee, path)
        yield NETWORK
        self.messages.append((self.now, "RET_SENT", callee, caller, number, path))

    def lb(self, _, me, path):
        yield self.work(0.1, 0.2)
        yield from self.call(me, self.chance.choice(["web1", "web2"]), path + ".1", self.web)
        yield self.work(0.1, 0.2)

    def web(self, _, me, path):
        yield self.work(4, 0.15)
        yield from self.call(me, "auth", path + ".1", self.auth)
        yield self.work(2, 0.15)
        yield from self.call(me, "catalog", path + ".2", self.catalog)
        yield self.work(6, 0.15)

    def auth(self, caller, me, path):
        delay = self.work(2, 0.2)
        if self.cause == "caller" and caller == "web2" and self.chance.random() < 0.12:
            delay += self.hit(path, me, self.work(18, 0.2))
        yield delay + self.stall(me, path)
        yield from self.call(me, "redis", path + ".1", self.redis)
        yield self.work(0.5, 0.2)

    def catalog(self, _, me, path):
        if self.cause == "queue":
            yield from self.take_turn(me, path)
        else:
            yield self.work(2.5, 0.2) + self.stall(me, path)
        for i in range(self.queries(path)):
            yield from self.call(me, "postgres", f"{path}.{i + 1}", self.postgres)
        yield self.work(0.5, 0.2)

    def redis(self, *_):
        yield self.work(0.3, 0.2)

    def postgres(self, *_):
        yield self.work(5 if self.cause == "miss" else 1.5, 0.2)

    def stall(self, node, path):
        if self.cause == "stall" and self.stalls.stands_still(self.now):
            return self.hit(path, node, self.work(8, 0.2))
        return 0

    def take_turn(self, node, path):
        asked = self.now
        yield self.turn
        if self.now > asked:
            self.hit(path, node, self.now - asked)
        yield round(self.chance.expovariate(1 / (4 * MILLISECOND)))
        self.give_back(self.turn)

    def queries(self, path):
        if self.cause != "miss":
            return 2
        if self.chance.random() >= 0.2:
            return 0
        self.hit(path, "postgres", 15 * MILLISECOND)
        return 3


def parallelism(messages):
    """The mean number of calls that may have made a call, of those that have any: open at its caller all along."""
    ends = {m[4]: m[0] for m in messages if m[1] == "RET_SENT"}
    stays, total, asked = {}, 0, 0
    for now, operation, caller, callee, number, _ in messages:
        if operation != "CALL_SENT":
            continue
        stays.setdefault(callee, []).append(ends[number])
        if caller in stays:
            stays[caller] = [end for end in stays[caller] if end > now]
            total += sum(end >= ends[number] for end in stays[caller])
            asked += 1
    return total / asked


def rate_for(cause, seed, wanted):
    """Requests a second for that parallelism, within a hundredth of what it is above 1, which grows about as the rate
    does: in that proportion from trial to trial, or halving where that leaves what is known."""
    least, most, rate = 1.0, 1000.0, 30.0
    for _ in range(12):
        found = parallelism(System(cause, seed, 1500, rate).messages)
        if abs(found - wanted) <= (wanted - 1) / 100:
            break
        least, most = (rate, most) if found < wanted else (least, rate)
        rate *= (wanted - 1) / max(found - 1, 1e-3)
        if not least < rate < most:
            rate = math.sqrt(least * most)
    return rate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cause", choices=PLANTED)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=10000)
    parser.add_argument("--parallelism", type=float, default=1.5, metavar="P")
    parser.add_argument("--hits", metavar="FILE")
    options = parser.parse_args()
    rate = rate_for(options.cause, options.seed, options.parallelism)
    system = System(options.cause, options.seed, options.requests, rate)
    print("# ravel trace 1")
    for time, operation, sender, receiver, number, path in system.messages:
        time += START
        sys.stdout.write(
            f"{time // SECOND}.{time % SECOND:09d}\t{operation}\t{sender}\t{receiver}\t{number:x}\tpath={path}\n"
        )
    if options.hits:
        with open(options.hits, "w", encoding="ascii") as out:
            out.writelines(f"{request}\t{node}\t{delay}\n" for request, node, delay in system.hits)


if __name__ == "__main__":
    main()
