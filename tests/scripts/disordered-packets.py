#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A capture of HTTP on kept connections and of DNS, its packets in an order of choice.

usage: disordered-packets.py [-n CALLS] [-f FORMAT] [-s SEED] ORDER >FILE

ORDER is how the file has them:
  sorted     by stamps
  rx-tx      all to the server, then all from it, as mergecap -a puts two files of a tap
  tx-rx      the other way round
  halves     the second half, then the first
  shuffled   any
  reversed   the last first
  near       each up to 3 ms from its place
  once       one packet, a second late
  resolution  each second packet 1 us before the one that it follows
  unstamped  by stamps, of which each tenth is none
  step       as sent; the clock was set back by a quarter of the time, half-way
  back       as sent; the clock was set back by more than all of the time, half-way
"""
import argparse
import random
import struct
import sys

CLIENT, SERVER, RESOLVER = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]), bytes([10, 0, 0, 3])
SYN, ACK, PUSH = 2, 16, 8
START = 1_700_000_000_000_000  # us
CONNECTIONS = 8


def frame(source, destination, protocol, payload):
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0,
                         source, destination)
    return bytes(12) + b"\x08\x00" + header + payload


def udp(source, destination, ports, payload):
    return frame(source, destination, 17, struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload)


class Connection:
    def __init__(self, port):
        self.port, self.next = port, [1000, 5000]

    def send(self, side, flags, payload=b""):
        ends, ports = (CLIENT, SERVER), (self.port, 80)
        if side:
            ends, ports = ends[::-1], ports[::-1]
        ack = self.next[1 - side] if flags & ACK else 0
        segment = struct.pack(">HHIIBBHHH", *ports, self.next[side], ack, 0x50, flags, 60000, 0, 0)
        self.next[side] += len(payload) + (flags & SYN != 0)
        return frame(*ends, 6, segment + payload)


def call(connection, number):
    """The packets of a request: from the server or not, and the frame."""
    path = b"/item/%d" % (number % 7)
    yield 0, connection.send(0, ACK | PUSH, b"GET " + path + b" HTTP/1.1\r\nHost: a\r\n\r\n")
    body = b"x" * (number * 37 % 300)
    yield 1, connection.send(1, ACK | PUSH, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    yield 0, connection.send(0, ACK)


def question(number):
    name = b"\x04host\x07example\x00" + struct.pack(">HH", 1, 1)
    ports = 20000 + number % 20000, 53
    for answer in 0, 1:
        head = struct.pack(">HHHHHH", number & 0xffff, 0x8180 if answer else 0x0100, 1, 0, 0, 0)
        ends = (RESOLVER, CLIENT) if answer else (CLIENT, RESOLVER)
        yield answer, udp(*ends, ports[::-1] if answer else ports, head + name)


def conversation(calls, random):
    """Packets as sent: stamp (us), from the server or not, frame."""
    time = START
    connections = [Connection(40000 + i) for i in range(CONNECTIONS)]
    for c in connections:
        for side, flags in (0, SYN), (1, SYN | ACK), (0, ACK):
            time += random.randrange(100, 400)
            yield time, side, c.send(side, flags)
    for number in range(calls):
        packets = question(number) if number % 10 == 9 else call(connections[number % CONNECTIONS], number)
        for side, bytes in packets:
            time += random.randrange(100, 900)
            yield time, side, bytes


def arrange(packets, order, random):
    stamps = [time for time, _, _ in packets]
    half, whole = len(packets) // 2, stamps[-1] - stamps[0]
    if order == "rx-tx" or order == "tx-rx":
        return sorted(packets, key=lambda p: p[1] != (order == "tx-rx"))
    if order == "halves":
        return packets[half:] + packets[:half]
    if order == "shuffled":
        random.shuffle(packets)
    elif order == "reversed":
        packets.reverse()
    elif order == "near":
        packets.sort(key=lambda p: p[0] + random.randrange(3000))
    elif order == "once":
        late = packets.pop(half)
        at = next(i for i, p in enumerate(packets) if p[0] > late[0] + 1_000_000)
        packets.insert(at, late)
    elif order == "resolution":
        return [(stamps[i - 1] - 1 if i % 2 else t, s, b) for i, (t, s, b) in enumerate(packets)]
    elif order == "unstamped":
        return [(t if i % 10 else 0, s, b) for i, (t, s, b) in enumerate(packets)]
    elif order in ("step", "back"):
        back = whole // 4 if order == "step" else 2 * whole + 90_000_000
        return [(t - back if i >= half else t, s, b) for i, (t, s, b) in enumerate(packets)]
    return packets


def write_pcap(packets, kind, out):
    order = ">" if kind == "big" else "<"
    magic, unit = (0xa1b23c4d, 1000) if kind == "nano" else (0xa1b2cd34 if kind == "modified" else 0xa1b2c3d4, 1)
    out.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, 1))
    tail = bytes(8) if kind == "modified" else b""
    for time, _, frame in packets:
        fraction = time % 1_000_000 * unit if time else 0xffffffff
        out.write(struct.pack(order + "IIII", time // 1_000_000, fraction, len(frame), len(frame)))
        out.write(tail + frame)


def block(kind, body):
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def write_pcapng(packets, out):
    """Two interfaces, of us and ns, a direction each."""
    out.write(block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)))
    out.write(block(1, struct.pack("<HHI", 1, 0, 0)))
    out.write(block(1, struct.pack("<HHIHHB3xI", 1, 0, 0, 9, 1, 9, 0)))
    for time, side, frame in packets:
        units = time * (1000 if side else 1)
        body = struct.pack("<IIIII", side, units >> 32, units & 0xffffffff, len(frame), len(frame))
        out.write(block(6, body + frame + bytes(-len(frame) % 4)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=2000, dest="calls")
    parser.add_argument("-f", default="micro", dest="format")
    parser.add_argument("-s", type=int, default=1, dest="seed")
    parser.add_argument("order")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    packets = arrange(list(conversation(options.calls, chance)), options.order, chance)
    out = sys.stdout.buffer
    write_pcapng(packets, out) if options.format == "pcapng" else write_pcap(packets, options.format, out)


main()
