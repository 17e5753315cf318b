#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Packets of a client, web and db, for as long as wanted, as pcap on standard output.

    make-watch.py RATE FROM TO [START]

The requests are those that begin between FROM and TO, in seconds after START (seconds since the epoch; 1795262400 by
default), RATE a second, at even distances. Each is GET /N of a client to web (10.0.0.2:80), which asks db
(10.0.0.3:81) once. It takes 10 to 20 ms, in db 4 to 9. They go over connections that were open before, and no
request lasts over a second, so parts of the time can be made one by one.
"""
import struct
import sys
from heapq import heappop, heappush

CONNECTIONS = 64
PACKET = struct.Struct("<IIII12sHBBHHHBBH4s4sHHIIBBHHH")


def segment(time, ends, seq, ack, data):
    (a, port), (b, to) = ends
    size = 54 + len(data)
    # The stamps are little-endian; what is on the wire is swapped by hand.
    swap = lambda n: n >> 8 | (n & 255) << 8
    turn = lambda n: int.from_bytes((n & 0xFFFFFFFF).to_bytes(4, "big"), "little")
    return PACKET.pack(time // 1000000000, time % 1000000000, size, size, bytes(12), 8, 69, 0, swap(size - 14), 0, 0,
                       64, 6, 0, a, b, swap(port), swap(to), turn(seq), turn(ack), 80, 24, 65535, 0, 0) + data


def main():
    rate, since, until = float(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    start = int(float(sys.argv[4]) * 1e9) if len(sys.argv) > 4 else 1795262400000000000
    client, web, db = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]), bytes([10, 0, 0, 3])
    seqs, waiting, out = {}, [], sys.stdout.buffer
    out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    def put(time, caller, callee, to_callee, data):
        seq = seqs.setdefault((caller, callee), [1000, 5000])
        ends = (caller, callee) if to_callee else (callee, caller)
        out.write(segment(time, ends, seq[not to_callee], seq[to_callee], data))
        seq[not to_callee] += len(data)

    for i in range(int(-(-since * rate // 1)), int(-(-until * rate // 1))):
        time = start + int(i * 1e9 / rate)
        while waiting and waiting[0][0] <= time:
            put(waiting[0][0], *heappop(waiting)[2:])
        noise = i * 2654435761 % 2**32 / 2**32
        k = i % CONNECTIONS
        caller, front, back = (client, 40000 + k), (web, 80), (web, 50000 + k)
        in_db = time + 2000000 + int(2e6 * noise)
        from_db = in_db + 4000000 + int(5e6 * noise)
        done = from_db + 4000000 + int(3e6 * noise)
        get = b"GET /%d HTTP/1.1\r\nHost: web\r\n\r\n" % (i % 3)
        put(time, caller, front, True, get)
        heappush(waiting, (in_db, i, back, (db, 81), True, get))
        heappush(waiting, (from_db, i, back, (db, 81), False, answer))
        heappush(waiting, (done, i, caller, front, False, answer))
    while waiting:
        put(waiting[0][0], *heappop(waiting)[2:])


if __name__ == "__main__":
    main()
