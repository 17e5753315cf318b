#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes a capture of a shop in which the requests of one tenant are slow.

    make-tags.py OUT REQUESTS [TENANT [SEED]]

client > web > app1 or app2, HTTP on kept connections, one request after another. GET /orders?tenant=T with T one
of t0 to t9, at random; web passes the tenant on in a header. The app needs 5 ms in the mean, for TENANT 40 ms
more. One request in five is a POST with the tenant in a body of JSON."""

import random
import struct
import sys

MS = 1_000_000
ADDRESS = {"client": "10.0.0.1", "web": "10.0.0.2", "app1": "10.0.0.3", "app2": "10.0.0.4"}
ACK, PUSH = 16, 24


class Connection:
    def __init__(self, packets, caller, callee, port):
        self.packets, self.name, self.port, self.seq = packets, (caller, callee), (port, 8080), [1000, 5000]
        self.segment(0, 0, 2)
        self.seq[0] += 1
        self.segment(1000, 1, 18)
        self.seq[1] += 1
        self.segment(2000, 0, ACK)

    def segment(self, time, side, flags, data=b""):
        tcp = struct.pack(">HHIIBBHHH", self.port[side], self.port[1 - side], self.seq[side],
                          self.seq[1 - side] if flags & ACK else 0, 5 << 4, flags, 64000, 0, 0) + data
        ends = [bytes(map(int, ADDRESS[self.name[i]].split("."))) for i in (side, 1 - side)]
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, *ends)
        self.packets.append((time, len(self.packets), ip + tcp))

    def send(self, time, side, text):
        self.segment(time, side, PUSH, text.encode())
        self.seq[side] += len(text)


def main():
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 7)
    slow = sys.argv[3] if len(sys.argv) > 3 else None
    packets = []
    front = Connection(packets, "client", "web", 40000)
    back = [Connection(packets, "web", app, 50000 + i) for i, app in enumerate(("app1", "app2"))]
    time = 100 * MS
    answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    for _ in range(int(sys.argv[2])):
        tenant = f"t{rng.randrange(10)}"
        body = f'{{"user":{{"tenant":"{tenant}"}}}}'
        if rng.randrange(5) == 0:
            front.send(time, 0, "POST /orders HTTP/1.1\r\nContent-Type: application/json\r\n"
                       f"Content-Length: {len(body)}\r\n\r\n{body}")
        else:
            front.send(time, 0, f"GET /orders?x=1&tenant={tenant} HTTP/1.1\r\nCookie: a=1; plan=gold\r\n\r\n")
        app = back[rng.randrange(2)]
        time += int(rng.expovariate(1 / MS))
        app.send(time, 0, f"GET /list HTTP/1.1\r\nX-Tenant: {tenant}\r\n\r\n")
        time += int(rng.expovariate(1 / (5 * MS)) + (tenant == slow) * 40 * MS)
        app.send(time, 1, answer)
        time += int(rng.expovariate(1 / MS))
        front.send(time, 1, answer)
        time += int(rng.expovariate(1 / (20 * MS)))
    with open(sys.argv[1], "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 101))
        for when, _, packet in sorted(packets):
            when += 1_795_000_000 * 10**9
            out.write(struct.pack("<IIII", when // 10**9, when % 10**9, len(packet), len(packet)) + packet)


if __name__ == "__main__":
    main()
