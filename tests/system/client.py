#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The shop's customers: a bounded load of requests, the same for the same seed.

Writes a `call` line (see service.py) for each request, with its type added, and
fails if a request does or if the load takes longer than it may.
"""
import argparse
import http.client
import random
import socket
import sys
import threading
import time

MIX = {"home": 35, "search": 25, "item": 20, "account": 8, "order": 4, "style": 8}


def plan(count, seed, think_ms):
    """A list of (think time in s, type, method, path, headers)."""
    dice = random.Random(seed)
    requests = []
    for _ in range(count):
        kind = dice.choices(list(MIX), weights=MIX.values())[0]
        user = dice.randrange(50)
        item = min(int(dice.paretovariate(0.8)), 2000)
        method, headers = "GET", {}
        if kind == "home":
            path = f"/?user={user}"
        elif kind == "search":
            path = f"/search?q={dice.randrange(50)}"
        elif kind == "item":
            path = f"/item/{item}?user={user}"
        elif kind == "account":
            path = f"/account?user={user}"
        elif kind == "order":
            method, path = "POST", f"/order?user={user}&item={item}"
        else:
            path = "/style.css"
            method = dice.choice(["GET", "GET", "HEAD"])
            headers = dice.choice([{}, {"If-None-Match": '"1"'}])
        requests.append((dice.expovariate(1000 / think_ms) if think_ms else 0,
                         kind, method, path, headers))
    return requests


class Load:
    def __init__(self, options):
        self.options = options
        self.requests = plan(options.count, options.seed, options.think_ms)
        self.next = 0
        self.lines = []
        self.errors = []
        self.lock = threading.Lock()
        self.deadline = time.monotonic() + options.limit

    def take(self):
        with self.lock:
            if self.next == len(self.requests) or self.errors:
                return None
            self.next += 1
            return self.options.first + self.next - 1, *self.requests[self.next - 1]

    def run(self):
        """One customer: one connection, one request at a time."""
        connection = http.client.HTTPConnection(*self.options.target.split(":"), timeout=10)
        try:
            while request := self.take():
                number, think, kind, method, path, headers = request
                if time.monotonic() > self.deadline:
                    raise TimeoutError(f"the load took more than {self.options.limit} s")
                time.sleep(think)
                headers |= {"X-Request-Id": f"r{number}", "X-Span": str(number)}
                if not connection.sock:
                    connection.connect()
                    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                start = time.time_ns()
                connection.request(method, path, headers=headers,
                                   body=b"agree=1" if method == "POST" else None)
                response = connection.getresponse()
                response.read()
                end = time.time_ns()
                if response.status >= 400:
                    raise RuntimeError(f"{method} {path}: status {response.status}")
                with self.lock:
                    self.lines.append((number, f"call\t{number}\tclient\tlb\t{start}\t{end}\t{kind}"))
        except Exception as error:  # pylint: disable=broad-except
            self.errors.append(error)


def wait(target, patience=30):
    """Until the load balancer has found each of its servers up several times in a row."""
    deadline = time.monotonic() + patience
    good = 0
    while good < 6:
        if time.monotonic() > deadline:
            sys.exit("client: the shop does not open")
        connection = http.client.HTTPConnection(*target.split(":"), timeout=10)
        try:
            connection.request("GET", "/style.css")
            good = good + 1 if connection.getresponse().status == 200 else 0
        except OSError:
            good = 0
        connection.close()
        time.sleep(0 if good else 0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--target", required=True, help="ADDRESS:PORT")
    parser.add_argument("--log", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="number of the first request")
    parser.add_argument("--think-ms", type=float, default=2, help="mean pause before a request")
    parser.add_argument("--limit", type=float, default=120, help="seconds that it may take")
    parser.add_argument("--wait", action="store_true", help="for the servers to be up first")
    options = parser.parse_args()

    if options.wait:
        wait(options.target)
    load = Load(options)
    threads = [threading.Thread(target=load.run) for _ in range(options.concurrency)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open(options.log, "w", encoding="ascii") as file:
        file.writelines(line + "\n" for _, line in sorted(load.lines))
    if load.errors:
        sys.exit(f"client: {load.errors[0]}")


if __name__ == "__main__":
    main()
