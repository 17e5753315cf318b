#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Packets of a broker's queue, as seen at the broker, with the truth: which message each delivery brings.

    make-queues.py write PROTOCOL CASE DIRECTORY
        nodes.txt, all.pcap and cut-1.pcap ... cut-20.pcap, which begin at a random moment of the first half;
        and all.tsv, cut-1.tsv ...: for each delivery its time (ns), its worker, and the time of its message, with a minus if that was
        not captured
    make-queues.py check CALLS.tsv TRUTH.tsv LEAST SHORTEST TIMES
        whether what ravel nesting --calls wrote has LEAST % of the deliveries right, and a longest wait of at
        least SHORTEST seconds and at most TIMES the longest of TRUTH

PROTOCOL: list (BRPOP), move (BLMOVE), stream (XREADGROUP), amqp, mqtt, nats. Two producers, three workers that do
75 % of what they can, and three payloads. CASE: plain; lost (1 packet of 200 is not captured); again (jobs come
back to the queue); delayed (no worker for 30 s); growing (more jobs than the workers can do). Always the same bytes.
"""
import csv
import random
import struct
import sys
from collections import deque
from heapq import heappop, heappush

BROKER, PORTS = 9, {"list": 6379, "move": 6379, "stream": 6379, "amqp": 5672, "mqtt": 1883, "nats": 4222}
WORKERS, SERVICE, RATE, SECONDS = 3, 0.1, 22.5, 60.0
LONGEST_NOISE = 0.002  # s, between a message that finds an idle worker and its delivery


def resp(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


def amqp_frame(kind, payload):
    return struct.pack(">BHI", kind, 1, len(payload)) + payload + b"\xce"


def amqp_content(method, body):
    return amqp_frame(1, method) + amqp_frame(2, struct.pack(">HHQH", 60, 0, len(body), 0)) + amqp_frame(3, body)


def mqtt_publish(number, body):
    packet = struct.pack(">H", 4) + b"jobs" + struct.pack(">H", number) + body
    return bytes([0x32, len(packet)]) + packet


class Connection:
    def __init__(self, run, host, port):
        self.run, self.ends, self.seq, self.asked = run, ((host, port), (BROKER, run.port)), [1000, 5000], 0
        for side, flags in ((0, 2), (1, 18), (0, 16)):
            self.segment(run.time, side, b"", flags)
            self.seq[side] += flags != 16
            run.time += 0.0001

    def segment(self, time, side, data, flags=24):
        (a, port), (b, to) = self.ends[side], self.ends[not side]
        tcp = struct.pack(">HHIIBBHHH", port, to, self.seq[side], self.seq[not side], 80, flags, 65000, 0, 0) + data
        ip = struct.pack(">BBHHHBBH4B4B", 69, 0, 20 + len(tcp), 0, 0, 64, 6, 0, 10, 0, 0, a, 10, 0, 0, b)
        self.run.packets.append((round(time * 1e6), len(self.run.packets), bytes(12) + b"\x08\x00" + ip + tcp))
        self.seq[side] += len(data)

    def say(self, time, data):
        self.segment(time, 0, data)

    def hear(self, time, data):
        self.segment(time, 1, data)


class Run:
    def __init__(self, protocol, case):
        self.protocol, self.case, self.port, self.random = protocol, case, PORTS[protocol], random.Random(protocol + case)
        self.time, self.packets, self.truth, self.events, self.queue = 1_700_000_000.0, [], [], [], deque()
        self.producers = [Connection(self, 1 + i, 40000 + i) for i in range(2)]
        self.workers = [Connection(self, 11 + i, 41000 + i) for i in range(WORKERS)]
        self.idle, self.number = deque(), 0
        self.begin, self.end = self.time + 1, self.time + 1 + SECONDS
        self.greet()
        rate = RATE * (1.5 if case == "growing" else 1)
        time = self.begin
        while time < self.end:
            time += self.random.expovariate(rate)
            self.at(time, self.publish)
        for i, worker in enumerate(self.workers):
            self.at(self.begin + (30 if case == "delayed" else -0.5) + i / 100, self.ready, worker)
        while self.events:
            self.time, _, what, arguments = heappop(self.events)
            if self.time < self.end + 60 and (case != "growing" or self.time < self.end):
                what(*arguments)

    def at(self, time, what, *arguments):
        heappush(self.events, (time, len(self.packets) + len(self.events) + self.random.random(), what, arguments))

    def pause(self):
        """The broker's: most often short."""
        return self.random.uniform(3e-5, 2e-4) + (self.random.random() < 0.01) * self.random.uniform(0, LONGEST_NOISE / 2)

    def greet(self):
        for connection in self.producers + self.workers:
            if self.protocol == "amqp":
                connection.say(self.time, b"AMQP\x00\x00\x09\x01")
            elif self.protocol == "nats":
                connection.hear(self.time, b'INFO {"server_id":"N","version":"2.9","headers":true}\r\n')
                connection.say(self.time + 1e-3, b'CONNECT {"verbose":false}\r\n')
            elif self.protocol == "mqtt":
                connection.say(self.time, b"\x10\x0e\x00\x04MQTT\x04\x02\x00\x3c\x00\x02" + b"c%d" % (connection.ends[0][1] % 10))
                connection.hear(self.time + 1e-3, b"\x20\x02\x00\x00")

    def publish(self):
        body = b"job-%d" % self.random.choice((1, 1, 1, 2, 2, 3))
        connection, time = self.random.choice(self.producers), self.time
        self.number += 1
        if self.protocol in ("list", "move"):
            connection.say(time, resp(b"LPUSH", b"jobs", body))
            connection.hear(time + self.pause(), b":%d\r\n" % (len(self.queue) + 1))
        elif self.protocol == "stream":
            connection.say(time, resp(b"XADD", b"jobs", b"*", b"job", body))
            number = b"%d-%d" % (time * 1000, self.number)
            connection.hear(time + self.pause(), b"$%d\r\n%s\r\n" % (len(number), number))
        elif self.protocol == "amqp":
            connection.say(time, amqp_content(struct.pack(">HHHBB", 60, 40, 0, 0, 4) + b"jobs\x00", body))
        elif self.protocol == "mqtt":
            number = self.number % 60000 + 1
            connection.say(time, mqtt_publish(number, body))
            connection.hear(time + self.pause(), struct.pack(">BBH", 0x40, 2, number))
        else:
            connection.say(time, b"PUB jobs %d\r\n%s\r\n" % (len(body), body))
        self.queue.append((time, self.number, body))
        self.deliver(time)

    def ready(self, worker):
        if worker.asked == 0 and self.protocol == "amqp":
            worker.say(self.time, amqp_frame(1, struct.pack(">HHHB", 60, 20, 0, 4) + b"jobs\x00\x00" + bytes(4)))
        elif worker.asked == 0 and self.protocol == "nats":
            worker.say(self.time, b"SUB jobs workers 1\r\n")
        elif self.protocol in ("list", "move", "stream"):
            command = {"list": (b"BRPOP", b"jobs", b"0"), "move": (b"BLMOVE", b"jobs", b"taken", b"RIGHT", b"LEFT", b"0"),
                       "stream": (b"XREADGROUP", b"GROUP", b"g", b"w", b"COUNT", b"1", b"BLOCK", b"0", b"STREAMS",
                                  b"jobs", b">")}[self.protocol]
            worker.say(self.time, resp(*command))
        worker.asked += 1
        self.idle.append(worker)
        self.deliver(self.time)

    def deliver(self, time):
        while self.queue and self.idle:
            worker, message = self.idle.popleft(), self.queue.popleft()
            self.at(time + self.pause(), self.bring, worker, message)

    def bring(self, worker, message):
        time, (came, number, body) = self.time, message
        entry = b"%d-%d" % (came * 1000, number)
        worker.hear(time, {
            "list": lambda: resp(b"jobs", body),
            "move": lambda: b"$%d\r\n%s\r\n" % (len(body), body),
            "stream": lambda: b"*1\r\n*2\r\n$4\r\njobs\r\n*1\r\n*2\r\n$%d\r\n%s\r\n" % (len(entry), entry) + resp(b"job", body),
            "amqp": lambda: amqp_content(struct.pack(">HHB", 60, 60, 1) + b"c" + struct.pack(">QBB", worker.asked, 0, 0) +
                                         b"\x04jobs", body),
            "mqtt": lambda: mqtt_publish(worker.asked % 60000 + 1, body),
            "nats": lambda: b"MSG jobs 1 %d\r\n%s\r\n" % (len(body), body)}[self.protocol]())
        self.truth.append((round(time * 1e6), f"worker{worker.ends[0][0]}", round(came * 1e6)))
        if self.protocol == "nats":  # which keeps nothing
            self.idle.append(worker)
        else:
            self.at(time + self.random.expovariate(1 / SERVICE), self.done, worker, message)

    def done(self, worker, message):
        back = self.case == "again" and self.random.random() < 0.03
        number = worker.asked
        if self.protocol == "stream":
            entry = b"%d-%d" % (message[0] * 1000, message[1])
            worker.say(self.time, resp(b"XACK", b"jobs", b"g", entry))
            worker.hear(self.time + 1e-4, b":1\r\n")
        elif self.protocol == "move":
            worker.say(self.time, resp(b"LREM", b"taken", b"1", message[2]))
            worker.hear(self.time + 1e-4, b":1\r\n")
        elif self.protocol == "amqp":
            worker.say(self.time, amqp_frame(1, struct.pack(">HHQB", 60, 120 if back else 80, number, 2 * back)))
        elif self.protocol == "mqtt":
            worker.say(self.time, struct.pack(">BBH", 0x40, 2, number % 60000 + 1))
        if back and self.protocol == "amqp":
            self.queue.appendleft(message)
        self.at(self.time + 5e-4, self.ready, worker)

    def write(self, name, begin):
        """What is captured from a moment on (us)."""
        lost = random.Random(7)
        with open(name + ".pcap", "wb") as out:
            out.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
            for time, _, data in sorted(self.packets):
                if time >= begin and (self.case != "lost" or lost.random() >= 0.005):
                    out.write(struct.pack("<IIII", time // 10**6, time % 10**6, len(data), len(data)) + data)
        with open(name + ".tsv", "w") as out:
            for time, worker, came in self.truth:
                if time >= begin:
                    print(time * 1000, worker, came * (1000 if came >= begin else -1000), sep="\t", file=out)


def write(protocol, case, directory):
    run = Run(protocol, case)
    with open(directory + "/nodes.txt", "w") as out:
        for host in [1, 2, BROKER] + [11 + i for i in range(WORKERS)]:
            print(f"10.0.0.{host}", "broker" if host == BROKER else f"{'app' if host < BROKER else 'worker'}{host}", file=out)
    run.write(directory + "/all", 0)
    moments = random.Random(5)
    for i in range(20):
        run.write(f"{directory}/cut-{i + 1}", round((run.begin + moments.uniform(0, SECONDS / 2)) * 1e6))


def check(calls, truth, least, shortest, times):
    came = {}
    with open(truth) as file:
        for time, worker, message in csv.reader(file, delimiter="\t"):
            came[int(time), worker] = int(message)
    said, right, waits = 0, 0, []
    with open(calls) as file:
        for call in csv.DictReader(file, delimiter="\t"):
            if call["caller"] != "broker" or not call["callee"].startswith("worker"):
                continue
            time = int(call["call_time"].replace(".", ""))
            key = time, call["callee"]
            parent = call["parent_call_time"]
            parent = None if parent == "-" else int(parent.replace(".", ""))
            said += 1
            right += key in came and max(came[key], 0) == (parent or 0)
            if parent is not None:
                waits.append((time - parent) / 1e9)
    longest = max((time - abs(message)) / 1e9 for (time, _), message in came.items())
    share = 100 * right / max(1, len(came))
    told = max(waits, default=0)
    print(f"{len(came)} deliveries, {said} said, {share:.1f} % right; longest wait {told:.4f} s of {longest:.4f} s, "
          f"mean {sum(waits) / max(1, len(waits)):.4f} s")
    return 0 if told <= times * longest + LONGEST_NOISE and share >= least and told >= shortest else 1


if sys.argv[1] == "write":
    write(*sys.argv[2:])
else:
    sys.exit(check(sys.argv[2], sys.argv[3], *map(float, sys.argv[4:])))
