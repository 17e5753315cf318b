#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Inputs that a stranger can send to cost more than they weigh, of a size of choice.

usage: make-floods.py [--beside MS] KIND N FILE

KIND is what N counts:
  syns       SYNs, each of another address
  halves     halves of a request, likewise
  addresses  queries of DNS, each from another address of IPv6; the addresses differ in their high bits
  edges      requests between any of 1,000 clients and servers
  channels   deliveries of AMQP on 4,096 channels, which nobody settles
  few        the same on 64 channels
  secrets    lines of a key log for other sessions whose random numbers begin alike
  streams    streams of HTTP/2 on a connection whose window is then closed and opened as often
  labels     calls of a trace, each with a label whose unkeyed hash is the same
  nothing    none

--beside: in the time of the capture 20 clients make a request every MS milliseconds and wait for the
answer, on connections that stay open.
"""
import argparse
import heapq
import struct

START = 1_700_000_000_000_000  # us
SYN, ACK, PUSH = 2, 16, 8
SERVER = 0x0A000002
CLIENTS = 20


def ipv4(source, destination, protocol, data):
    return struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(data), 0, 0, 64, protocol, 0, source, destination) + data


def tcp(source, destination, ports, seq, ack, flags, data=b""):
    header = struct.pack(">HHIIBBHHH", *ports, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50, flags, 65535, 0, 0)
    return ipv4(source, destination, 6, header + data)


def syns(n):
    for i in range(n):
        yield tcp(0x20000000 + i, SERVER, (1024 + i % 60000, 80), i, 0, SYN)


def halves(n):
    for i in range(n):
        yield tcp(0x20000000 + i, SERVER, (40000, 80), 1000, 1, PUSH | ACK, b"GET /x HTTP/1.1\r\nHost: a\r\n")


def addresses(n):
    query = struct.pack(">HHHHHH", 1, 0x100, 1, 0, 0, 0) + b"\1a\0\0\1\0\1"
    for i in range(n):
        source = struct.pack(">HHIHHI", 0x2001 + (i >> 16), 0, 0, i & 0xFFFF, 0, 0)
        yield (struct.pack(">IHBB", 0x60000000, 8 + len(query), 17, 64) + source + bytes(15) + b"\1" +
               struct.pack(">HHHH", 5000, 53, 8 + len(query), 0) + query)


def edges(n):
    for i in range(n):
        yield tcp(0x20000000 + i // 1000 % 1000, 0x30000000 + i % 1000, (40000 + i // 1000000, 80), 1000, 1,
                  PUSH | ACK, b"GET /x HTTP/1.1\r\n\r\n")


def talk(pieces, ports, server_first=False):
    """What the sides of a connection say: (side, bytes)"""
    ends, seq = (0x0A000001, SERVER), [1000, 5000]
    for side, data in pieces:
        yield tcp(ends[side], ends[1 - side], ports if side == 0 else ports[::-1], seq[side], seq[1 - side],
                  PUSH | ACK, data)
        seq[side] += len(data)


def amqp_frame(kind, channel, payload):
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def amqp_method(channel, group, method, arguments):
    return amqp_frame(1, channel, struct.pack(">HH", group, method) + arguments)


def few(n):
    return channels(n, 64)


def channels(n, many=4096):
    text = lambda word: bytes([len(word)]) + word

    def pieces():
        yield 0, b"AMQP\0\0\x09\1"
        yield 1, amqp_method(0, 10, 10, b"\0\x09" + struct.pack(">II", 0, 5) + b"PLAIN" +
                             struct.pack(">I", 5) + b"en_US")
        for channel in range(1, many + 1):
            yield 0, (amqp_method(channel, 20, 10, b"\0") +
                      amqp_method(channel, 60, 20, b"\0\0" + text(b"q") + text(b"tag") + bytes(5)))
        for first in range(0, n, 64):
            batch = b""
            for i in range(first, min(first + 64, n)):
                channel = 1 + i % many
                batch += (amqp_method(channel, 60, 60, text(b"tag") + struct.pack(">Q", 1 + i // many) + b"\0" +
                                      text(b"x") + text(b"q")) +
                          amqp_frame(2, channel, struct.pack(">HHQH", 60, 0, 1, 0)) +
                          amqp_frame(3, channel, b"x"))
            yield 1, batch

    return talk(pieces(), (40000, 5672))


def streams(n):
    def pieces():
        yield 0, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\4" + bytes(5)
        for first in range(0, n, 100):
            yield 0, b"".join(b"\0\0\1\1\4" + struct.pack(">I", 2 * i + 1) + b"\x82"
                              for i in range(first, first + 100))

    last = None
    for last in talk(pieces(), (40000, 80)):
        yield last
    for i in range(n):
        packet = bytearray(tcp(SERVER, 0x0A000001, (80, 40000), 5000, struct.unpack_from(">I", last, 24)[0], ACK))
        packet[34:36] = bytes(2) if i % 2 else b"\1\0"
        yield bytes(packet)


def hash_alike(n):
    """Texts of letters that djb's hash, which GLib has, does not tell apart: "Ab" is "BA" there."""
    bits = max(n.bit_length(), 1)
    for i in range(n):
        yield "".join("Ab" if i >> bit & 1 else "BA" for bit in range(bits))


def write_trace(n, path):
    with open(path, "w") as file:
        file.write("# ravel trace 1\n")
        for i, label in enumerate(hash_alike(n)):
            file.write(f"1700000000.{i:07}0\tCALL_SENT\ta\tb\t1.{i:x}\tlabel={label}\n"
                       f"1700000000.{i:07}1\tRET_SENT\tb\ta\t1.{i:x}\n")


def secrets(n):
    """No packets: they are in a block of their own."""
    return ()


def secrets_block(n):
    lines = b"".join(b"CLIENT_TRAFFIC_SECRET_0 %064x %064x\n" % (i, i) for i in range(n))
    data = lines + bytes(-len(lines) % 4)
    size = 20 + len(data)
    return struct.pack("<IIII", 10, size, 0x544C534B, len(lines)) + data + struct.pack("<I", size)


def beside(interval, end):
    """The packets of the clients, with their times in us."""
    request, answer = b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    for turn in range(end // interval):
        for client in range(CLIENTS):
            time = turn * interval + client * interval // CLIENTS
            ends, ports = (0x0A000100 + client, 0x0A000003), (50000, 8080)
            seq, ack = 1000 + turn * len(request), 5000 + turn * len(answer)
            if turn == 0:
                yield time, tcp(*ends, ports, seq - 1, 0, SYN)
                yield time + 100, tcp(*ends[::-1], ports[::-1], ack - 1, seq, SYN | ACK)
            yield time + 200, tcp(*ends, ports, seq, ack, PUSH | ACK, request)
            yield time + interval // 2, tcp(*ends[::-1], ports[::-1], ack, seq + len(request), PUSH | ACK, answer)


def main():
    kinds = {kind.__name__: kind for kind in (syns, halves, addresses, edges, channels, few, secrets, streams)}
    parser = argparse.ArgumentParser()
    parser.add_argument("--beside", type=int, metavar="MS")
    parser.add_argument("kind", choices=[*kinds, "labels", "nothing"])
    parser.add_argument("n", type=int)
    parser.add_argument("file")
    args = parser.parse_args()
    if args.kind == "labels":
        write_trace(args.n, args.file)
        return
    gap = 5000 if args.kind == "streams" else 10  # us between packets
    flood = ((i * gap, packet) for i, packet in enumerate(kinds[args.kind](args.n)
                                                          if args.kind != "nothing" else ()))
    load = sorted(beside(args.beside * 1000, args.n * gap)) if args.beside else ()
    with open(args.file, "wb") as file:
        file.write(struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28))
        file.write(struct.pack("<IIHHII", 1, 20, 101, 0, 0, 20))
        if args.kind == "secrets":
            file.write(secrets_block(args.n))
        for time, data in heapq.merge(flood, load):
            padding = -len(data) % 4
            size = 32 + len(data) + padding
            at = START + time
            file.write(struct.pack("<7I", 6, size, 0, at >> 32, at & 0xFFFFFFFF, len(data), len(data)) + data +
                       bytes(padding) + struct.pack("<I", size))


main()
