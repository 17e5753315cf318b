#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes captures in which a part of the requests is late for a known cause on the way.

    make-causes.py OUT [KIND...]

client > web > db, one request after another; web needs 3 ms and db 3 ms in the mean. For each kind and
variation OUT gets NAME.pcap, and truth.tsv a row: name, edge and cause, or node, ms in each late request, late
requests, all requests, own time of web and of db in ms. nodes.txt names the addresses. The variations differ
in seed, sizes, rates, protocol (HTTP, Redis, PostgreSQL), edge, and in which message is late.

ramp is the slow start of a connection with a long round trip, clocked a slow link behind the tap. In pause and
events the callee makes its answer in two pieces, or in twenty; in halt the caller so makes its request."""

import pathlib
import random
import struct
import sys

MS = 1_000_000
FIN, SYN, PUSH, ACK = 1, 2, 8, 16
ADDRESS = {"client": "10.0.0.1", "web": "10.0.0.2", "db": "10.0.0.3", "dns": "10.0.0.9"}
CAUSE = {"nagle": "delayed ACK", "resend": "resent", "hole": "resent", "syn": "resent", "shut": "window shut",
         "upload": "receiving", "download": "sending", "dns": "resent", "connect": "TCP handshake",
         "login": "login", "ramp": "sending", "clocked": "sending", "pause": None, "events": None, "halt": None}
KINDS = list(CAUSE)
VARIATIONS = 10
MSS = 1400


def ip(address, other, protocol, payload):
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0,
                       bytes(map(int, address.split("."))), bytes(map(int, other.split("."))))
    return head + payload


class Capture:
    def __init__(self):
        self.packets = []

    def add(self, time, packet):
        self.packets.append((int(time), len(self.packets), packet))

    def write(self, path):
        with open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 101))
            for time, _, p in sorted(self.packets):
                out.write(struct.pack("<IIII", time // 10**9, time % 10**9, len(p), len(p)) + p)


class Connection:
    """Sides are 0, the caller, and 1. Times are ns."""

    def __init__(self, capture, rng, caller, callee, port, protocol):
        self.capture, self.rng, self.name, self.protocol = capture, rng, (caller, callee), protocol
        self.port = (port, {"http": 8080, "redis": 6379, "postgres": 5432}[protocol])
        self.seq = [rng.randrange(1 << 31), rng.randrange(1 << 31)]
        self.trip = [10_000, 10_000]  # from the tap to a side and back

    def segment(self, time, side, flags=ACK, data=b"", seq=None, window=64000):
        seq = self.seq[side] if seq is None else seq
        tcp = struct.pack(">HHIIBBHHH", self.port[side], self.port[1 - side], seq % 2**32,
                          self.seq[1 - side] % 2**32 if flags & ACK else 0, 5 << 4, flags, window, 0, 0)
        self.capture.add(time, ip(ADDRESS[self.name[side]], ADDRESS[self.name[1 - side]], 6, tcp + data))

    def open(self, time, lost=0, handshake=20_000, login=200_000):
        """Returns when the connection is ready, and how long the SYN was lost."""
        start = time
        for i in range(lost):
            self.segment(time, 0, SYN)
            time += 1000 * MS << i
        again = time - start
        self.segment(time, 0, SYN)
        self.seq[0] += 1
        time += handshake + self.trip[1]
        self.segment(time, 1, SYN | ACK)
        self.seq[1] += 1
        time += 30_000 + self.trip[0]
        self.segment(time, 0)
        if self.protocol == "postgres":
            self.send(time + 10_000, 0, struct.pack(">II", 15, 196608) + b"user\0x\0"[:7])
            time = self.send(time + login + self.trip[1], 1, b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")
        return time, again

    def send(self, time, side, data, gap=15_000, skip=None, acked=0, pushes=1 << 30):
        """All segments, each acknowledged, but for the one to skip; all of pushes end a write. Returns the time of
        the last."""
        last = time
        for i in range(0, len(data), MSS):
            part = data[i:i + MSS]
            push = PUSH if i + MSS >= len(data) or i // MSS % pushes == pushes - 1 else 0
            if skip != i // MSS:
                self.segment(last, side, ACK | push, part)
            self.seq[side] += len(part)
            if skip is None:
                self.segment(last + (acked or self.trip[1 - side]), 1 - side)
            last += gap
        return last - gap

    def send_in_flights(self, time, side, data):
        """As many segments as the congestion window has, which doubles each round trip."""
        flight, at = 10 * MSS, 0
        while at < len(data):
            last = self.send(time, side, data[at:at + flight], pushes=5)
            at += flight
            flight *= 2
            time += max(self.trip) + 20_000
        return last

    def send_clocked(self, time, side, data, ms):
        """Ten segments, and one more for each acknowledgement."""
        start, n = self.seq[side], (len(data) - 1) // MSS + 1
        step = ms * MS // (n - 10)
        for i in range(n):
            last = time + max(i - 9, 0) * step + i * 2000
            self.segment(last, side, ACK | (PUSH if i == n - 1 or i % 7 == 6 else 0), data[i * MSS:(i + 1) * MSS],
                         start + i * MSS)
        for i in range(n):
            self.seq[side] = start + min((i + 1) * MSS, len(data))
            self.segment(time + (i + 1) * step + (i + 10) * 2000 - 20_000, 1 - side)
        return last

    def send_pieces(self, time, side, data, pause, n):
        """n writes with a pause between any two, and with the other end's delayed acknowledgements."""
        acked = self.rng.choice((0, 40 * MS))
        length = len(data) // n
        if self.rng.randrange(2) and length > MSS:
            length -= length % MSS
        for i in range(n):
            part = data[i * length:(i + 1) * length if i < n - 1 else None]
            time = self.send(time + (i > 0) * pause, side, part, acked=acked)
        return time

    def late(self, kind, time, side, data, ms):
        """A message that is late. Returns when all of it is there."""
        half = len(data) // 2
        if kind == "nagle":
            self.segment(time, side, data=data[:half])
            self.seq[side] += half
            self.segment(time + ms * MS, 1 - side)
            return self.send(time + ms * MS + self.rng.randrange(10_000, 400_000), side, data[half:])
        if kind == "shut":
            self.send(time, side, data[:half])
            self.segment(time + 100_000, 1 - side, window=0)
            self.segment(time + ms * MS, 1 - side)
            return self.send(time + ms * MS + 20_000, side, data[half:])
        if kind in ("upload", "download"):
            return self.send(time, side, data, gap=ms * MS // max((len(data) - 1) // MSS, 1), pushes=12)
        if kind == "ramp":
            return self.send_in_flights(time, side, data)
        if kind == "clocked":
            return self.send_clocked(time, side, data, ms)
        if kind in ("pause", "halt"):
            return self.send_pieces(time, side, data, ms * MS, 2)
        if kind == "events":
            return self.send_pieces(time, side, data, ms * MS // 19, 20)
        first = self.seq[side]
        n = (len(data) - 1) // MSS
        lost = 0 if kind == "hole" and n else n
        self.send(time, side, data, skip=lost if kind == "hole" and n else None if not n else None)
        if kind == "resend":  # no acknowledgement came back, since the last segment was lost
            self.capture.packets = [p for p in self.capture.packets if not self.is_ack_of(p, time, side)]
        self.segment(time + ms * MS, side, data=data[lost * MSS:(lost + 1) * MSS], seq=first + lost * MSS)
        self.segment(time + ms * MS + 10_000, 1 - side)
        return time + ms * MS

    def is_ack_of(self, packet, time, side):
        """Whether it acknowledges the last segment that side sent since time."""
        when, _, p = packet
        return (when >= time and len(p) == 40 and p[12:16] == bytes(map(int, ADDRESS[self.name[1 - side]].split(".")))
                and struct.unpack(">I", p[28:32])[0] == self.seq[side] % 2**32)

    def request(self, size):
        body = b"q" * size
        if self.protocol == "http":
            return b"POST /query HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size + body
        if self.protocol == "redis":
            return b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\n" % (size, body)
        sql = b"SELECT * FROM items WHERE a = '" + body + b"'\0"
        return b"Q" + struct.pack(">I", 4 + len(sql)) + sql

    def reply(self, size):
        body = b"r" * size
        if self.protocol == "http":
            return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + body
        if self.protocol == "redis":
            return b"$%d\r\n%s\r\n" % (size, body)
        row = struct.pack(">HI", 1, size) + body
        return (b"D" + struct.pack(">I", 4 + len(row)) + row + b"C\0\0\0\x0dSELECT 1\0" + b"Z\0\0\0\x05I")


def ask_dns(capture, time, number, ms, anew):
    """A query that is lost, and sent again after ms. anew: from another port, with another number."""
    question = b"\x02db\x05local\0\0\x01\0\x01"

    def say(at, answer, number):
        port = 20000 + number
        source, destination, from_port, to_port = ("dns", "web", 53, port) if answer else ("web", "dns", port, 53)
        data = struct.pack(">HHHHHH", number, 0x8180 if answer else 0x100, 1, int(answer), 0, 0) + question
        if answer:
            data += b"\xc0\x0c\0\x01\0\x01\0\0\0\x05\0\x04\x0a\0\0\x03"
        udp = struct.pack(">HHHH", from_port, to_port, 8 + len(data), 0) + data
        capture.add(at, ip(ADDRESS[source], ADDRESS[destination], 17, udp))
    say(time, False, number)
    number += 10000 * anew
    say(time + ms * MS, False, number)
    say(time + ms * MS + 200_000, True, number)
    return time + ms * MS + 220_000


def make(kind, variation, path):
    """One capture. Returns its row of the truth."""
    rng = random.Random(f"{kind}{variation}")
    capture = Capture()
    protocol = ("http", "redis", "postgres")[variation % 3]
    every = rng.choice((5, 8, 10, 20))
    n = rng.randrange(150, 300)
    on_client = kind not in ("syn", "connect", "login", "dns", "halt") and variation % 4 == 3
    if kind in ("upload", "download") and variation < 2 or kind == "clocked" or kind == "ramp" and variation % 2:
        on_client = True
    if kind == "login":
        protocol = "postgres"
    side = {"upload": 0, "halt": 0, "download": 1, "clocked": 1, "ramp": 1, "pause": 1,
            "events": 1}.get(kind, variation // 2 % 2)
    if kind == "resend" and on_client:
        side = 0  # the return of a request ends it
    ms = {"nagle": (40, 60, 200), "resend": (200, 300, 800), "hole": (20, 200, 400), "shut": (30, 60, 300),
          "syn": (1000, 3000), "upload": (100, 500, 2000), "download": (100, 500, 2000),
          "dns": (1000, 5000), "connect": (50, 200), "login": (30, 150), "ramp": (100, 30), "clocked": (500, 200),
          "pause": (30, 100, 1000), "events": (100, 500, 2000), "halt": (30, 100, 1000)}[kind]
    ms = ms[variation % len(ms)]
    size = {"upload": rng.randrange(30_000, 150_000), "download": rng.randrange(30_000, 150_000),
            "hole": rng.randrange(3000, 9000), "ramp": 60_000 + 14_000 * variation,
            "clocked": 60_000 + 14_000 * variation, "pause": (60, 4000, 30_000)[variation // 3 % 3],
            "events": (200, 4000, 60_000)[variation // 3 % 3]}.get(kind, rng.choice((60, 500, 1300, 4000)))
    small = rng.choice((20, 300))
    time = 1_800_000_000 * 10**9
    from_client = Connection(capture, rng, "client", "web", 40000, "http")
    to_db = Connection(capture, rng, "web", "db", 41000, protocol)
    if kind == "ramp":  # the tap is near the slow end, or far from it
        (from_client if on_client else to_db).trip[variation // 2 % 2 if on_client else 1] = ms * MS
    from_client.open(time - 1000 * MS)
    to_db.open(time - 1000 * MS)
    own = {"web": 0, "db": 0}
    hits = spent = 0
    for i in range(n):
        late = i % every == 3
        hits += late
        work = [max(rng.gauss(m, .05 * m), .1) * MS for m in (2, 3, 1)]
        if kind == "ramp":  # nobody can tell the way to a far end from what that does
            work[0] += from_client.trip[1]
            work[1] += to_db.trip[1]
        own["web"] += work[0] + work[2]
        own["db"] += work[1]

        def say(at, connection, of_side, data):
            nonlocal spent
            here = late and (connection is from_client) == on_client and of_side == side
            if not here or kind in ("syn", "connect", "login", "dns"):
                return connection.send(at, of_side, data)
            data = (connection.reply if of_side else connection.request)(size)
            end = connection.late(kind, at, of_side, data, ms)
            spent += end - at
            return end

        at = say(time, from_client, 0, from_client.request(small))
        at += work[0]
        if late and kind in ("syn", "connect", "login"):
            to_db = Connection(capture, rng, "web", "db", 41001 + i, protocol)
            at, _ = to_db.open(at, lost={1000: 1, 3000: 2}[ms] if kind == "syn" else 0,
                               handshake=ms * MS if kind == "connect" else 30_000,
                               login=ms * MS if kind == "login" else 200_000)
            at += 20_000
        elif late and kind == "dns":
            at = ask_dns(capture, at, i, ms, variation % 2)
        at = say(at, to_db, 0, to_db.request(small))
        at = say(at + work[1], to_db, 1, to_db.reply(small))
        at = say(at + work[2], from_client, 1, from_client.reply(small))
        time = at + rng.choice((5, 20, 50)) * MS + (ms * MS if kind in ("ramp", "clocked") else 0)
    capture.write(path)
    if kind == "ramp":
        ms = spent / hits / MS
    if not CAUSE[kind]:  # a node makes its message so slowly
        node = "web" if on_client or kind == "halt" else "db"
        own[node] += spent
        return (path.stem, node, ms, hits, n, own["web"] / n / MS, own["db"] / n / MS)
    edge = "client > web" if on_client else "web > dns" if kind == "dns" else "web > db"
    return (path.stem, f"{edge} ({CAUSE[kind]})", ms, hits, n, own["web"] / n / MS, own["db"] / n / MS)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(exist_ok=True)
    (out / "nodes.txt").write_text("".join(f"{a} {name}\n" for name, a in ADDRESS.items()))
    with open(out / "truth.tsv", "w", encoding="ascii") as truth:
        for kind in sys.argv[2:] or KINDS:
            kind, _, only = kind.partition("-")
            for i in [int(only)] if only else range(VARIATIONS):
                row = make(kind, i, out / f"{kind}-{i}.pcap")
                truth.write("\t".join(f"{c:.6f}" if isinstance(c, float) else str(c) for c in row) + "\n")


if __name__ == "__main__":
    main()
