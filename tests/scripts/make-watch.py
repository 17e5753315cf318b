#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Packets of a client, web and db, for as long as wanted, as pcap on standard output.

    make-watch.py RATE FROM TO [START [CHANGE...]]

The requests are those that begin between FROM and TO, in seconds after START (seconds since the epoch; 1795262400 by
default), RATE a second, at even distances. Each is GET /N of a client to web (10.0.0.2:80), which asks db
(10.0.0.3:81) once. It takes 10 to 20 ms, in db 4 to 9. They go over connections that were open before, and no
request lasts over a second, so parts of the time can be made one by one.

Each CHANGE is of requests from some second on, or up to another (@300-400): slower=1.2@300 (own time of db), failed=0.02@300 (share of db's calls
that end with 500), cache=1@300 (web asks a cache, too), rate=0.5@300 (that share of the requests alone begins), and
workers=2@0 (db has 2 workers, and 8 requests begin at once).
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
    changes = {}
    for argument in sys.argv[5:]:
        name, value = argument.split("=")
        value, when = value.split("@")
        began, _, ended = when.partition("-")
        changes[name] = float(value), float(began), float(ended or "inf")
    client, web, db, cache = (bytes([10, 0, 0, i]) for i in (1, 2, 3, 4))
    seqs, waiting, out = {}, [], sys.stdout.buffer
    out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    error = b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"
    free = []  # when each worker of db is

    def change(name, time, otherwise):
        value, began, ended = changes.get(name, (otherwise, 0, 0))
        return value if began * 1e9 <= time - start < ended * 1e9 else otherwise

    def serve(time, i, noise):
        """When db replies to a call that enters at `time`."""
        served = int((4000000 + int(5e6 * noise)) * change("slower", time, 1))
        if not change("workers", time, 0):
            return time + served
        while len(free) < change("workers", time, 0):
            free.append(0)
        worker = free.index(min(free))
        free[worker] = max(time, free[worker]) + served
        return free[worker]

    def put(time, caller, callee, to_callee, data):
        seq = seqs.setdefault((caller, callee), [1000, 5000])
        ends = (caller, callee) if to_callee else (callee, caller)
        out.write(segment(time, ends, seq[not to_callee], seq[to_callee], data))
        seq[not to_callee] += len(data)

    def advance(until):
        """Puts what happens up to then; the steps of a request lead to each other."""
        while waiting and waiting[0][0] <= until:
            now, i, step = heappop(waiting)
            noise = i * 2654435761 % 2**32 / 2**32
            k = i % CONNECTIONS
            caller, front, back, aside = (client, 40000 + k), (web, 80), (web, 50000 + k), (web, 60000 + k)
            get = b"GET /%d HTTP/1.1\r\nHost: web\r\n\r\n" % (i % 3)
            failed = i * 40503 % 65536 < 65536 * change("failed", now, 0)
            if step == "ask":
                put(now, back, (db, 81), True, get)
                heappush(waiting, (serve(now, i, noise), i, "told"))
            elif step == "told":
                put(now, back, (db, 81), False, error if failed else answer)
                heappush(waiting, (now + 4000000 + int(3e6 * noise), i, "tell"))
                if change("cache", now, 0):
                    heappush(waiting, (now + 1000000, i, "look"))
                    heappush(waiting, (now + 2000000, i, "seen"))
            elif step in ("look", "seen"):
                put(now, aside, (cache, 82), step == "look", get if step == "look" else answer)
            else:
                put(now, caller, front, False, answer)

    for i in range(int(-(-since * rate // 1)), int(-(-until * rate // 1))):
        together = 8 if change("workers", start + int(i * 1e9 / rate), 0) else 1
        time = start + int(i // together * together * 1e9 / rate) + i % together * 100000
        advance(time)
        if i * 25173 % 1000 >= 1000 * change("rate", time, 1):
            continue
        noise = i * 2654435761 % 2**32 / 2**32
        get = b"GET /%d HTTP/1.1\r\nHost: web\r\n\r\n" % (i % 3)
        put(time, (client, 40000 + i % CONNECTIONS), (web, 80), True, get)
        heappush(waiting, (time + 2000000 + int(2e6 * noise), i, "ask"))
    advance(float("inf"))


if __name__ == "__main__":
    main()
