#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""databases.py RAVEL DIRECTORY [CLIENT...]

Clients of databases as people use them, against small servers of this file, which speak the protocol and know
which answer belongs to which request. What both sides say is written as packets: as it was, in segments of 68 and
7 bytes, cut to 200 bytes, from the middle on, and with holes. ravel capture must find each call with its label, its
return and its outcome, at the times of their first and last bytes. TAP; without CLIENT all that are installed.
"""
import importlib.util
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib

RAVEL, WORK = sys.argv[1:3]
count = 0


def tap(ok, name, notes=()):
    global count
    count += 1
    print("%sok %d - %s" % ("" if ok else "not ", count, name), flush=True)
    for note in notes if not ok else ():
        print("#", note)


# --- what is recorded -----------------------------------------------------------

class Call:
    """Offsets of its first byte in what the client says, of its answer's first and last in what the server says."""

    def __init__(self, label, start, end, one_way=False):
        self.label, self.start, self.end, self.one_way, self.answer, self.outcome = label, start, end, one_way, None, ""
        self.answered_from = None


class Connection:
    """The server's end of one connection, of which all bytes are kept with their order."""

    def __init__(self, server, sock, port):
        self.server, self.sock, self.port, self.calls = server, sock, port, []
        self.said = [bytearray(), bytearray()]
        self.taken, self.lock = 0, threading.Lock()

    def take(self, n):
        while len(self.said[0]) - self.taken < n:
            data = self.sock.recv(65536)
            if not data:
                raise EOFError
            self.record(0, data)
        self.taken += n
        return bytes(self.said[0][self.taken - n:self.taken])

    def record(self, side, data):
        with self.server.lock:
            self.server.chunks.append((self, side, len(self.said[side]), len(data)))
            self.said[side] += data

    def call(self, label, start, one_way=False):
        call = Call(label, start, self.taken, one_way)
        self.calls.append(call)
        return call

    def answer(self, call, data, outcome="", last=True):
        """call: None where this answers nothing that counts."""
        with self.lock:
            if call and call.answered_from is None:
                call.answered_from = len(self.said[1])
            self.record(1, data)
            if call and last:
                call.answer, call.outcome = len(self.said[1]) - 1, outcome
            self.sock.sendall(data)


class Server:
    def __init__(self, speak):
        self.speak, self.chunks, self.lock, self.connections = speak, [], threading.Lock(), []
        self.random = random.Random(1)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                sock, (_, port) = self.listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, sock, port)
            self.connections.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            self.speak(connection)
        except (EOFError, OSError):
            pass

    def work(self):
        time.sleep(self.random.random() * 0.002)


# --- packets ----------------------------------------------------------------------

class Packet:
    def __init__(self, time_us, connection, side, offset, data, heard=0, flags=24):
        self.time, self.connection, self.side, self.offset, self.data = time_us, connection, side, offset, data
        self.heard, self.flags = heard, flags

    def bytes(self, port):
        ports = (self.connection.port, port) if self.side == 0 else (port, self.connection.port)
        opens = self.flags & 2
        tcp = struct.pack(">HHIIBBHHH", *ports, 1000 + self.offset - bool(opens), 1000 + self.heard, 80, self.flags, 65000, 0, 0)
        tcp += self.data
        hosts = ((10, 0, 0, 1), (10, 0, 0, 9)) if self.side == 0 else ((10, 0, 0, 9), (10, 0, 0, 1))
        return bytes(12) + b"\x08\x00" + struct.pack(">BBHHHBBH4B4B", 69, 0, 20 + len(tcp), 0, 0, 64, 6, 0, *hosts[0],
                                                     *hosts[1]) + tcp


def packets_of(server, most):
    out, seen, now = [], {}, 1_700_000_000_000_000
    for connection, side, offset, n in server.chunks:
        if connection not in seen:
            seen[connection] = [0, 0]
            out += [Packet(now + i, connection, i, 0, b"", flags=(2, 18)[i]) for i in range(2)]
            now += 1000
        for at in range(offset, offset + n, most):
            now += 10
            data = bytes(connection.said[side][at:min(at + most, offset + n)])
            out.append(Packet(now, connection, side, at, data, seen[connection][not side]))
            seen[connection][side] += len(data)
    return out


def write(path, packets, port, snap=262144):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, snap, 1))
        for p in packets:
            data = p.bytes(port)
            file.write(struct.pack("<IIII", *divmod(p.time, 1000000), min(len(data), snap), len(data)) + data[:snap])


def expected(packets, within=65536):
    """Of each call whose first byte, and that of its return, is in one of the first bytes of a packet: client's port,
    time, label, whether it is one-way, time of its return, outcome, whether all of it is there."""
    times, first = {}, set()
    for p in packets:
        for at in range(p.offset, p.offset + len(p.data)):
            times.setdefault((p.connection, p.side), {})[at] = p.time
            if at - p.offset < within:
                first.add((p.connection, p.side, at))
    rows = []
    for connection in {p.connection for p in packets}:
        said, heard = times.get((connection, 0), {}), times.get((connection, 1), {})
        for call in connection.calls:
            if (connection, 0, call.start) in first and (call.answered_from not in heard or
                                                         (connection, 1, call.answered_from) in first):
                rows.append((connection.port, said[call.start], call.label, call.one_way,
                             None if call.answer is None else heard.get(call.answer), call.outcome,
                             all(at in said for at in (call.start, call.end - 1)) and
                             all(at in heard for at in range(call.answered_from or 0, (call.answer or -1) + 1))))
    return sorted(rows, key=str)


def found(path):
    run = subprocess.run([RAVEL, "capture", "-r", path, "-w", "-"], capture_output=True, text=True, check=True)
    calls, returns = [], {}
    for line in run.stdout.splitlines():
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        stamp, op, number = round(float(fields[0].replace(".", "")) / 1000), fields[1], fields[4]
        facts = dict(f.split("=", 1) for f in fields[5].split(" ") if "=" in f) if len(fields) > 5 else {}
        facts["of"] = (number, facts.get("conn"))
        if op == "RET_SENT":
            returns.setdefault(facts["of"], []).append((stamp, facts))
        else:
            calls.append((int(number.split(".")[0], 16), stamp, op, facts))
    rows = []
    for port, stamp, op, facts in calls:
        back = returns.get(facts["of"], [])
        ret = back.pop(0) if back and op == "CALL_SENT" else (None, {})
        if ret[0] is not None and "end" in ret[1]:
            ret = (None, {})
        rows.append((port, stamp, facts.get("label", "").replace("%20", " "), op == "MSG_SENT", ret[0],
                     ret[1].get("st", "")))
    return sorted(rows, key=str), run.stdout


def differences(want, got):
    lost, extra = [r for r in want if r not in got], [r for r in got if r not in want]
    return ["%d wanted, %d found" % (len(want), len(got))] + ["missing %s" % (r,) for r in lost[:5]] + \
        ["not said %s" % (r,) for r in extra[:5]]


def check(server, name):
    """The same said in several ways."""
    path = os.path.join(WORK, name.replace(" ", "-") + "%s.pcap")
    whole = packets_of(server, 65000)
    for most, how in ((65000, ""), (68, " in 68 bytes"), (7, " in 7 bytes")):
        packets = packets_of(server, most)
        write(path % how.replace(" ", "-"), packets, server.port)
        want, (got, _) = [r[:6] for r in expected(packets)], found(path % how.replace(" ", "-"))
        tap(len(want) > 20 and want == got, name + how, differences(want, got))
    packets = packets_of(server, 1400)
    write(path % "-cut", packets, server.port, 200)
    want, (got, _) = [r[:5] for r in expected(packets, 100)], found(path % "-cut")
    got = [r[:5] for r in got if r[:2] in [w[:2] for w in want]]
    if name.endswith("zstd"):  # whose blocks open as a whole
        want, got = [[(*r[:2], *r[3:]) for r in rows] for rows in (want, got)]
    tap(len(want) > 20 and want == got, name + " cut to 200 bytes", differences(want, got))
    packets = whole[len(whole) * 2 // 5:]
    write(path % "-middle", packets, server.port)
    want, (got, _) = [r[:6] for r in expected(packets)], found(path % "-middle")
    tap(len(want) > 10 and want == got, name + " from the middle", differences(want, got))
    rng = random.Random(2)
    packets = [p for p in packets_of(server, 500) if not p.data or rng.random() > 0.02]
    write(path % "-holes", packets, server.port)
    want, (got, _) = expected(packets), found(path % "-holes")
    sure, every = [r[:6] for r in want if r[6] and not r[3]], {r[:2]: r for r in want}
    right = sum(r in got for r in sure)
    wrong = [r for r in got if not r[3] and r[4] and (r[:2] not in every or every[r[:2]][4] not in (None, r[4]))]
    tap(right >= 0.95 * len(sure) and not wrong, name + " with holes",
        ["%d of %d" % (right, len(sure))] + ["wrong %s" % (r,) for r in wrong[:5]])


# --- MongoDB ---------------------------------------------------------------------

def bson_value(kind, data, at):
    if kind in (1, 9, 17, 18):
        return (struct.unpack_from("<d" if kind == 1 else "<q", data, at)[0], at + 8)
    if kind in (3, 4):
        n = struct.unpack_from("<i", data, at)[0]
        fields = bson_read(data[at:at + n])
        return (fields if kind == 3 else list(fields.values()), at + n)
    if kind == 16:
        return struct.unpack_from("<i", data, at)[0], at + 4
    if kind in (2, 5):
        n = struct.unpack_from("<i", data, at)[0]
        return (data[at + 4:at + 3 + n].decode(), at + 4 + n) if kind == 2 else (data[at + 5:at + 5 + n], at + 5 + n)
    n = {7: 12, 8: 1, 10: 0, 6: 0, 19: 16, 255: 0, 127: 0}[kind]
    return data[at] != 0 if kind == 8 else data[at:at + n], at + n


def bson_read(data):
    at, fields = 4, {}
    while data[at]:
        end = data.index(0, at + 1)
        fields[data[at + 1:end].decode()], at_next = bson_value(data[at], data, end + 1)
        at = at_next
    return fields


def bson_write(fields):
    out = b""
    for name, value in fields.items():
        key = name.encode() + b"\0"
        if isinstance(value, bool):
            out += b"\x08" + key + bytes([value])
        elif isinstance(value, float):
            out += b"\x01" + key + struct.pack("<d", value)
        elif isinstance(value, int):
            out += b"\x12" + key + struct.pack("<q", value) if name == "id" or value > 1 << 30 else \
                b"\x10" + key + struct.pack("<i", value)
        elif isinstance(value, str):
            out += b"\x02" + key + struct.pack("<i", len(value.encode()) + 1) + value.encode() + b"\0"
        elif isinstance(value, dict):
            out += b"\x03" + key + bson_write(value)
        elif isinstance(value, list):
            out += b"\x04" + key + bson_write({str(i): v for i, v in enumerate(value)})
        elif len(value) == 12:
            out += b"\x07" + key + value
        else:
            out += b"\x05" + key + struct.pack("<i", len(value)) + b"\0" + value
    return struct.pack("<i", len(out) + 5) + out + b"\0"


class Mongo:
    GREETINGS = ("hello", "ismaster", "isMaster")
    OID = b"process-0001"

    def __init__(self, packing):
        self.packing, self.ids = packing, iter(range(1 << 20, 1 << 30))

    def packers(self):
        if self.packing == "snappy":
            import snappy
            return 1, snappy.compress, snappy.decompress
        if self.packing == "zstd":
            import zstandard
            return 3, zstandard.ZstdCompressor().compress, zstandard.ZstdDecompressor().decompress
        return 2, zlib.compress, zlib.decompress

    def read(self, connection):
        start = connection.taken
        length, number, _, op = struct.unpack("<iiii", connection.take(16))
        body, packed = connection.take(length - 16), False
        if op == 2012:
            op, _, _ = struct.unpack_from("<iiB", body)
            body, packed = self.packers()[2](body[9:]), True
        return start, number, op, body, packed

    def say(self, connection, call, op, to, body, packed, outcome="", last=True):
        number = next(self.ids)
        if packed:
            kind, pack, _ = self.packers()
            body, op = struct.pack("<iiB", op, len(body), kind) + pack(body), 2012
        connection.answer(call, struct.pack("<iiii", 16 + len(body), number, to, op) + body, outcome, last)
        return number

    def reply(self, connection, call, asked, to, fields, packed, outcome="", more=False):
        body = bson_write(fields)
        if asked == 2004:
            return self.say(connection, call, 1, to, struct.pack("<iqii", 8, 0, 0, 1) + body, packed, outcome)
        return self.say(connection, call, 2013, to, struct.pack("<IB", 2 if more else 0, 0) + body, packed, outcome,
                        not more)

    def greeting(self):
        topology = {"processId": self.OID, "counter": 1 << 40}
        fields = {"helloOk": True, "ismaster": True, "isWritablePrimary": True, "topologyVersion": topology,
                  "maxBsonObjectSize": 16777216, "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000,
                  "logicalSessionTimeoutMinutes": 30, "minWireVersion": 0, "maxWireVersion": 21, "readOnly": False}
        if self.packing:
            fields["compression"] = [self.packing]
        return dict(fields, ok=1.0)

    def greet(self, connection, op, number, command, flags):
        if "topologyVersion" in command and op == 2013:
            to = number
            while True:
                time.sleep(0.05)
                to = self.reply(connection, None, op, to, self.greeting(), False, more=bool(flags & 1 << 16))
                if not flags & 1 << 16:
                    return
        self.reply(connection, None, op, number, self.greeting(), False)

    def speak(self, connection):
        while True:
            start, number, op, body, packed = self.read(connection)
            flags, namespace = struct.unpack_from("<I", body)[0], ""
            if op == 2004:
                end = body.index(0, 4)
                namespace, body = body[4:end].decode(), body[end + 9:]
            elif op == 2013:
                assert body[4] == 0
                body = body[5:]
            else:
                return
            command = bson_read(body)
            command = command.get("$query", command)
            name = next(iter(command), "")
            if name in self.GREETINGS:
                self.greet(connection, op, number, command, flags)
                continue
            if op == 2004 and not namespace.endswith("$cmd"):
                label = "find " + namespace.split(".", 1)[1]
                call = connection.call(label, start)
                connection.server.work()
                self.exhaust_legacy(connection, call, number, flags)
                continue
            value = command.get("collection") if name == "getMore" else command[name]
            label = name + (" " + value if isinstance(value, str) else "")
            call = connection.call(label, start, bool(flags & 2))
            if not flags & 2:
                connection.server.work()
                self.execute(connection, call, op, number, command, name, packed, flags)

    def exhaust_legacy(self, connection, call, to, flags):
        for i in range(4 if flags & 64 else 1):
            more = i < 3 and flags & 64
            body = struct.pack("<iqii", 8, 77 if more else 0, i, 1) + bson_write({"_id": i, "text": "x" * 900})
            to = self.say(connection, call, 1, to, body, False, last=not more)
            connection.server.work()

    def execute(self, connection, call, op, number, command, name, packed, flags):
        def batch(kind, cursor, n=3):
            rows = [{"_id": i, "text": "y" * 400} for i in range(n)]
            return {"cursor": {kind: rows, "id": cursor, "ns": "shop." + str(command.get("collection", "c"))}, "ok": 1.0}
        outcome = ""
        if name == "find":
            wanted = command["filter"].get("_id")
            answer = batch("firstBatch", 1 << 40) if wanted is None else \
                {"cursor": {"firstBatch": [{"_id": wanted, "text": "y"}], "id": 0, "ns": "shop.orders"}, "ok": 1.0}
            if command["filter"].get("fail"):
                answer, outcome = {"ok": 0.0, "errmsg": "it fails", "code": 50, "codeName": "MaxTimeMSExpired"}, "MONGO50"
        elif name == "getMore":
            if flags & 1 << 16:
                for i in range(3):
                    number = self.reply(connection, call, op, number, batch("nextBatch", 1 << 40), packed, more=True)
                    connection.server.work()
            answer = batch("nextBatch", 0)
        elif name == "insert" and command.get("insert") == "twice":
            answer = {"n": 0, "writeErrors": [{"index": 0, "code": 11000, "errmsg": "E11000 duplicate"}], "ok": 1.0}
            outcome = "MONGO11000"
        elif name == "aggregate":
            answer = batch("firstBatch", 0)
        else:
            answer = {"n": 1, "nModified": 1, "ok": 1.0}
        self.reply(connection, call, op, number, answer, packed, outcome)


PYMONGO = """
import sys, threading, warnings
warnings.simplefilter("ignore")
import pymongo
from pymongo import MongoClient, WriteConcern
packing = sys.argv[2]
client = MongoClient("127.0.0.1", int(sys.argv[1]), maxPoolSize=8, serverSelectionTimeoutMS=5000,
                     **({"compressors": packing} if packing else {}))
shop, wrong = client.shop, []

def load(n):
    for i in range(10):
        key = 1000 * n + i
        shop.orders.insert_one({"_id": key, "text": "z" * (key % 700)})
        if shop.orders.find_one({"_id": key})["_id"] != key:
            wrong.append(key)
        shop.carts.with_options(write_concern=WriteConcern(w=0)).update_one({"_id": key}, {"$set": {"n": n}})
        if i % 5 == 0:
            list(shop.items.find({}, batch_size=3))
            list(shop.items.find({}, cursor_type=pymongo.CursorType.EXHAUST))
            list(shop.orders.aggregate([{"$match": {"n": key}}]))
            for fails in (lambda: shop.orders.find_one({"fail": 1}), lambda: shop.twice.insert_one({"_id": 1})):
                try:
                    fails()
                    wrong.append("no error")
                except pymongo.errors.PyMongoError:
                    pass
            client.admin.command("ping")

threads = [threading.Thread(target=load, args=(n,)) for n in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
client.close()
sys.exit(bool(wrong))
"""

NODE_MONGO = """
const { MongoClient } = require("mongodb");
(async () => {
    const packing = process.argv[3];
    const client = new MongoClient(`mongodb://127.0.0.1:${process.argv[2]}/?maxPoolSize=8` +
                                   (packing ? `&compressors=${packing}` : ""),
                                   { heartbeatFrequencyMS: 500, retryReads: false, retryWrites: false });
    await client.connect();
    const shop = client.db("shop");
    const load = async n => {
        for (let i = 0; i < 10; i++) {
            const key = 1000 * n + i;
            await shop.collection("orders").insertOne({ _id: key, text: "z".repeat(key % 700) });
            const row = await shop.collection("orders").findOne({ _id: key });
            if (row._id !== key)
                process.exit(1);
            await shop.collection("carts").updateOne({ _id: key }, { $set: { n } }, { writeConcern: { w: 0 } });
            if (i % 5 == 0) {
                await shop.collection("items").find({}, { batchSize: 3 }).toArray();
                await shop.collection("orders").aggregate([{ $match: { n: key } }]).toArray();
                await shop.collection("orders").findOne({ fail: 1 }).then(() => process.exit(2), () => 0);
                await shop.collection("twice").insertOne({ _id: 1 }).then(() => process.exit(3), () => 0);
            }
        }
    };
    await Promise.all([...Array(8).keys()].map(load));
    await client.close();
})();
"""


# --- all of them -------------------------------------------------------------------

def python_has(*modules):
    return "" if all(importlib.util.find_spec(m) for m in modules) else "Python has no " + " or no ".join(modules)


def node_has(*modules):
    code = "".join("require('%s');" % m for m in modules)
    try:
        done = subprocess.run(["node", "-e", code], capture_output=True, timeout=30).returncode == 0
    except OSError:
        return "no node"
    return "" if done else "node has no " + " or no ".join(modules)


CLIENTS = {
    "pymongo": (lambda: Mongo("").speak, PYMONGO, "", lambda: python_has("pymongo")),
    "pymongo zlib": (lambda: Mongo("zlib").speak, PYMONGO, "zlib", lambda: python_has("pymongo")),
    "pymongo snappy": (lambda: Mongo("snappy").speak, PYMONGO, "snappy", lambda: python_has("pymongo", "snappy")),
    "pymongo zstd": (lambda: Mongo("zstd").speak, PYMONGO, "zstd", lambda: python_has("pymongo", "zstandard")),
    "node mongodb": (lambda: Mongo("").speak, NODE_MONGO, "", lambda: node_has("mongodb")),
}

for client in sys.argv[3:] or CLIENTS:
    speak, code, argument, lacks = CLIENTS[client]
    reason = lacks()
    if reason:
        tap(True, "%s # SKIP %s" % (client, reason))
        continue
    server = Server(speak())
    command = ["node", "-e", code, "-"] if code in (NODE_MONGO,) else [sys.executable, "-c", code]
    done = subprocess.run(command + [str(server.port), argument], capture_output=True, text=True, timeout=60)
    time.sleep(0.2)
    server.listener.close()
    tap(done.returncode == 0, client + ": its load was done", done.stderr.splitlines()[:12])
    check(server, client)
print("1..%d" % count)
