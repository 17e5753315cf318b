#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Captures of requests in which a database gives no answer, or a late one, with their truth.

missed.py make PCAP TRUTH KIND PROTOCOL [OPTION=VALUE...]
    KIND: reset, closed, silent: web waits for `wait` ms, gives db up so, and asks db2
          reset-error, closed-error, silent-error: the same, but web replies without asking db2
          hedge: db needs 30 to 90 ms; after `wait` ms web asks db2, and replies with its answer
          late: the same, but web replies after `wait` ms without asking db2
    PROTOCOL: http, redis, postgres, of web to db; all else is HTTP
    OPTION: seed, requests, rate (one of how many is hit), wait (ms), depth (nodes before web), at_a_time
missed.py check STORE TRUTH SHARE
    prints what is wrong if less than SHARE of the requests have the true marks and own times, or if the sums
    of the time that db was waited for in vain differ by more than 2 %."""
import random
import sqlite3
import struct
import sys

MS = 1_000_000
START = 1_800_000_000 * 10**9


class Packets:
    def __init__(self):
        self.all = []

    def add(self, time, segment):
        self.all.append((int(time), len(self.all), segment))

    def write(self, name):
        with open(name, "wb") as f:
            f.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101))  # nanoseconds, raw IP
            for time, _, packet in sorted(self.all):
                f.write(struct.pack("<IIII", time // 10**9, time % 10**9, len(packet), len(packet)) + packet)


class Connection:
    """From the port of a client to a server. The client is side 0."""

    next_port = 33000

    def __init__(self, packets, client, server, port, time):
        Connection.next_port += 1
        self.packets, self.free_at = packets, time
        self.address, self.port = (client, server), (Connection.next_port, port)
        self.seq = [7 * Connection.next_port, 11 * Connection.next_port]
        for side, flags, after in ((0, 2, -300), (1, 0x12, -200), (0, 0x10, -100)):
            self.segment(time + after * 100, side, flags)

    def segment(self, time, side, flags, payload=b""):
        header = struct.pack(">HHIIBBHHH", self.port[side], self.port[1 - side], self.seq[side] & 0xFFFFFFFF,
                             self.seq[1 - side] & 0xFFFFFFFF if flags != 2 else 0, 5 << 4, flags, 64000, 0, 0)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0,
                         bytes(self.address[side]), bytes(self.address[1 - side]))
        self.packets.add(time, ip + header + payload)
        self.seq[side] += len(payload) + (flags & 3 != 0)

    def say(self, time, side, payload):
        self.segment(time, side, 0x18, payload)
        self.segment(time + 20_000, 1 - side, 0x10)


def http_call(path):
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


HTTP_RETURN = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
DATABASE = {
    "http": (8080, http_call("/query"), HTTP_RETURN),
    "redis": (6379, b"*2\r\n$3\r\nGET\r\n$4\r\nitem\r\n", b"$2\r\nok\r\n"),
    "postgres": (5432, b"Q" + struct.pack(">I", 24) + b"SELECT a FROM items\0",
                 b"C" + struct.pack(">I", 13) + b"SELECT 1\0" + b"Z" + struct.pack(">I", 5) + b"I"),
}


class Pool:
    """Connections from a node to another, each with one call at a time."""

    def __init__(self, packets, client, server, port):
        self.make = lambda time: Connection(packets, client, server, port, time)
        self.all = []

    def take(self, time):
        for connection in self.all:
            if connection.free_at <= time:
                break
        else:
            connection = self.make(time)
            self.all.append(connection)
        connection.free_at = 1 << 62
        return connection

    def drop(self, connection):
        self.all.remove(connection)


def make(pcap, truth, kind, protocol, options):
    options = {"seed": 1, "requests": 200, "rate": 10, "wait": 100, "depth": 0, "at_a_time": 1} | options
    draw = random.Random(options["seed"])
    packets, wait = Packets(), options["wait"] * MS
    port, call, answer = DATABASE[protocol]
    front = [(10, 0, 0, 1 + i) for i in range(options["depth"] + 2)]  # client, nodes before web, web
    pools = [Pool(packets, a, b, 80) for a, b in zip(front, front[1:])]
    db, db2 = (Pool(packets, front[-1], (10, 0, 1, i), port) for i in (1, 2))
    rows = []

    def some(ms):
        return int(draw.gauss(ms, ms / 20) * MS)

    def ask(pool, time, stay):
        connection = pool.take(time)
        connection.say(time, 0, call)
        connection.say(time + stay, 1, answer)
        connection.free_at = time + stay + MS
        return time + stay

    def query(time, hit):
        """Returns when web goes on to its reply, and how long it waited for db in vain."""
        if not hit:
            return ask(db, time, some(3)), 0
        if kind in ("hedge", "late"):
            ask(db, time, wait + draw.randrange(30, 90) * MS)
        else:
            connection = db.take(time)
            connection.say(time, 0, call)
            db.drop(connection)
            if not kind.startswith("silent"):
                connection.segment(time + wait, 0, 0x14 if kind.startswith("reset") else 0x11)
        if kind in ("late", "silent-error"):
            return time + wait, None
        if kind.endswith("error"):
            return time + wait, wait
        return ask(db2, time + wait, some(3)), wait

    clients = [START + draw.randrange(50) * MS for _ in range(options["at_a_time"])]
    for i in range(options["requests"]):
        client = min(range(len(clients)), key=lambda k: clients[k])
        begun = time = clients[client]
        on_the_way = [pool.take(time + k * MS) for k, pool in enumerate(pools)]
        for k, connection in enumerate(on_the_way):
            connection.say(time + k * MS, 0, http_call("/home"))
        time += (len(pools) - 1) * MS + some(2)
        asked = time
        hit = i % options["rate"] == options["rate"] // 2
        time, vain = query(time, hit)
        time += some(1)
        if hit and vain is None:  # until web replies
            vain = time - asked
        for k, connection in enumerate(reversed(on_the_way)):
            connection.say(time + k * MS // 2, 1, HTTP_RETURN)
            connection.free_at = time + (k + 1) * MS
        mark = ("late" if kind in ("hedge", "late") else "no answer") if hit else None
        rows.append((begun, mark, vain))
        clients[client] = time + len(pools) * MS + some(20) + draw.randrange(30) * MS
    for time, _, _ in (max(packets.all),):
        for pool in pools:  # the capture goes on
            pool.take(time).say(time + 10**9, 0, b"\r\n")
    packets.write(pcap)
    with open(truth, "w", encoding="ascii") as f:
        f.writelines(f"{begun}\t{mark}\t{vain}\n" for begun, mark, vain in rows)


def check(store, truth, share):
    database = sqlite3.connect(store)
    found = {}
    for path, start in database.execute("SELECT id, start FROM path"):
        found.setdefault(start, []).append(path)
    calls = {}
    for path, mark, own in database.execute(
            "SELECT path, continues, own FROM call WHERE continues IN ('late', 'no answer')"):
        calls.setdefault(path, []).append((mark, own))
    rows = [line.rstrip("\n").split("\t") for line in open(truth, encoding="ascii")]
    if sum(map(len, found.values())) != len(rows):
        print(f"{sum(map(len, found.values()))} paths of {len(rows)} requests")
    right, true_sum, found_sum = 0, 0, sum(own for of_path in calls.values() for _, own in of_path)
    for begun, mark, vain in rows:
        paths = found.get(int(begun), [])
        marked = [c for path in paths for c in calls.get(path, [])]
        expected = [] if mark == "None" else [mark]
        true_sum += int(vain)
        right += (len(paths) == 1 and [m for m, _ in marked] == expected and
                  abs(sum(own for _, own in marked) - int(vain)) <= max(int(vain) // 50, 1000))
    if right < float(share) * len(rows):
        print(f"{right} of {len(rows)} requests are right")
    if abs(found_sum - true_sum) > true_sum / 50:
        print(f"{found_sum / 1e6:.1f} ms were waited for in vain, expected {true_sum / 1e6:.1f}")


if sys.argv[1] == "make":
    make(*sys.argv[2:6], {name: int(value) for name, _, value in (o.partition("=") for o in sys.argv[6:])})
else:
    check(*sys.argv[2:5])
