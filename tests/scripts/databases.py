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
        self.answered_from = self.again = None


class Connection:
    """The server's end of one connection, of which all bytes are kept with their order."""

    def __init__(self, server, sock, port):
        self.server, self.sock, self.port, self.calls = server, sock, port, []
        self.said = [bytearray(), bytearray()]
        self.taken, self.lock, self.pushes = 0, threading.Lock(), []

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
    time, label, whether it is one-way, time of its return, outcome, whether all of it is there, times of its return's
    packets."""
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
                             all(at in heard for at in range(call.answered_from or 0, (call.answer or -1) + 1)),
                             {heard.get(at) for at in (call.again, *range(call.answered_from or 0, (call.answer or -1) + 1))}))
        rows += [(connection.server.port, heard[at], "", True, None, "", True, set()) for at in connection.pushes
                 if (connection, 1, at) in first]
    return rows


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
    return rows


def differences(want, got):
    lost, extra = list(want), []
    for row in got:
        if row in lost:
            lost.remove(row)
        else:
            extra.append(row)
    return ["missing %s" % (r,) for r in lost] + ["not said %s" % (r,) for r in extra]


def unlike(want, got, unknown, outcomes=True):
    """The same, where a label may also be one of those."""
    def bare(row):
        return row[:2] + row[3:5 + outcomes]
    labels = {}
    for row in want:
        labels.setdefault(bare(row), set(unknown)).add(row[2])
    return differences(list(map(bare, want)), list(map(bare, got))) + \
        ["label %s" % (r,) for r in got if r[2] not in labels.get(bare(r), unknown)]


def check(server, name, hides=()):
    """The same said in several ways. hides: labels of what the middle and cut packets do not tell."""
    path = os.path.join(WORK, name.replace(" ", "-") + "%s.pcap")

    def told(ok, how, notes):
        tap(ok and not notes, name + how, notes[:10])

    for most, how in ((65000, ""), (68, " in 68 bytes"), (7, " in 7 bytes")):
        packets = packets_of(server, most)
        write(path % how.replace(" ", "-"), packets, server.port)
        want = [r[:6] for r in expected(packets)]
        told(len(want) > 20, how, differences(want, found(path % how.replace(" ", "-"))))
    packets = packets_of(server, 65000)
    packets = packets[len(packets) * 2 // 5:]
    write(path % "-middle", packets, server.port)
    want = [r[:6] for r in expected(packets)]
    told(len(want) > 10, " from the middle", unlike(want, found(path % "-middle"), hides))
    if not name.endswith(("zstd", "lz4", "v5")):  # whose blocks open as a whole, or hide where frames begin
        packets = packets_of(server, 1400)
        write(path % "-cut", packets, server.port, 200)
        want, got = expected(packets, 100), found(path % "-cut")
        got = [r for r in got if any(r[:2] == w[:2] and r[4] == w[4] for w in want)]
        told(len(want) > 20, " cut to 200 bytes", unlike(want, got, ("", *hides), False))
    rng = random.Random(2)
    packets = [p for p in packets_of(server, 500) if not p.data or rng.random() > 0.02]
    write(path % "-holes", packets, server.port)
    want, got, returns = expected(packets), found(path % "-holes"), {}
    for row in want:
        returns.setdefault(row[:2], set()).update(row[7])
    sure = [r[:6] for r in want if r[6] and not r[3]]
    right = len(sure) - sum(n.startswith("missing") for n in differences(sure, got))
    least = 0.85 if "tedious" in name else 0.95  # in order a hole hides more than itself
    told(right >= least * len(sure), " with holes",
         ["%d of %d" % (right, len(sure))] * (right < least * len(sure)) + ["wrong %s" % (r,) for r in got if r[4] and r[4] not in returns.get(r[:2], ())])


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


# --- CQL -------------------------------------------------------------------------

def short_text(text):
    return struct.pack(">H", len(text.encode())) + text.encode()


def crc24(data):
    crc = 0x875060
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1974f0b
    return crc


def crc32_of_segment(data):
    return zlib.crc32(data, zlib.crc32(b"\xfa\x2d\x55\xca"))


class Cql:
    OPS = {1: "STARTUP", 5: "OPTIONS", 7: "QUERY", 9: "PREPARE", 10: "EXECUTE", 11: "REGISTER", 13: "BATCH"}
    KEYSPACE, TABLE = "shop", "orders"

    def __init__(self, most=4, packing=False):
        self.most, self.packing, self.prepared, self.pending = most, packing, {}, 0

    def label(self, text):
        words = text.replace("(", " ").split()
        verb = words[0].upper()
        after = {"SELECT": "FROM", "INSERT": "INTO", "DELETE": "FROM", "UPDATE": "UPDATE"}.get(verb)
        upper = [w.upper() for w in words]
        return verb + (" " + words[upper.index(after) + 1] if after in upper else "")

    # Segments of version 5.
    def segment(self, payload, alone=True):
        if self.packing:
            import lz4.block
            packed = lz4.block.compress(payload, store_size=False)
            plain = len(payload)
            if len(packed) >= plain:
                packed, plain = payload, 0
            head = (len(packed) | plain << 17 | alone << 34).to_bytes(5, "little")
        else:
            packed, head = payload, (len(payload) | alone << 17).to_bytes(3, "little")
        return head + crc24(head).to_bytes(3, "little") + packed + crc32_of_segment(packed).to_bytes(4, "little")

    def frame(self, connection, asked, opcode, body):
        version, stream = asked
        data = struct.pack(">BBhBI", version | 0x80, 0, stream, opcode, len(body)) + body
        if not connection.framed:
            return data
        parts = [data[i:i + 100000] for i in range(0, len(data), 100000)]
        return b"".join(self.segment(part, len(parts) == 1) for part in parts)

    def take(self, connection, n):
        """Of frames, whether in segments or not. Segments of clients hold frames from their first byte on."""
        if not connection.framed:
            return connection.take(n)
        while len(connection.plain) < n:
            head = connection.take(8 if self.packing else 6)
            bits = int.from_bytes(head[:-3], "little")
            data = connection.take(bits & 0x1ffff)
            assert int.from_bytes(head[-3:], "little") == crc24(head[:-3])
            assert int.from_bytes(connection.take(4), "little") == crc32_of_segment(data)
            if self.packing and bits >> 17 & 0x1ffff:
                import lz4.block
                data = lz4.block.decompress(data, uncompressed_size=bits >> 17 & 0x1ffff)
            connection.plain += data
        out, connection.plain = connection.plain[:n], connection.plain[n:]
        return out

    def speak(self, connection):
        connection.framed, connection.plain, connection.working = False, b"", 0
        while True:
            start = connection.taken
            if not connection.plain:
                connection.begun = start
            version, _, stream, opcode, length = struct.unpack(">BBhBI", self.take(connection, 9))
            body, asked = self.take(connection, length), (version, stream)
            if version > self.most:
                text = "Invalid or unsupported protocol version (%d); supported versions are (3/v3, 4/v4%s)" % (
                    version, ", 5/v5" if self.most > 4 else "")
                connection.answer(None, struct.pack(">BBhBIi", 0x80 | self.most, 0, stream, 0, 6 + len(text), 10) +
                                  short_text(text))
                continue
            name = self.OPS[opcode]
            if name == "OPTIONS":
                body = struct.pack(">H", 2) + short_text("CQL_VERSION") + struct.pack(">H", 1) + short_text("3.4.5") + \
                    short_text("COMPRESSION") + struct.pack(">H", int(self.packing)) + (
                        short_text("lz4") if self.packing else b"")
                connection.answer(None, self.frame(connection, asked, 6, body))
            elif name == "STARTUP":
                connection.answer(None, self.frame(connection, asked, 2, b""))
                connection.framed = version >= 5
            elif name == "REGISTER":
                connection.answer(None, self.frame(connection, asked, 2, b""))
                event = short_text("STATUS_CHANGE") + short_text("UP") + b"\x04\x7f\0\0\1" + struct.pack(">i", 1)
                connection.pushes.append(len(connection.said[1]))
                connection.answer(None, self.frame(connection, (version, -1), 12, event))
            else:
                self.ask(connection, asked, name, body, start)

    def ask(self, connection, asked, name, body, start):
        if name == "QUERY" or name == "PREPARE":
            text = body[4:4 + struct.unpack_from(">I", body)[0]].decode()
            label = self.label(text)
        elif name == "EXECUTE":
            n = struct.unpack_from(">H", body)[0]
            text = self.prepared[body[2:2 + n]]
            label = self.label(text)
        else:
            n = struct.unpack_from(">I", body, 4)[0] if body[3] == 0 else struct.unpack_from(">H", body, 4)[0]
            text = body[8:8 + n].decode() if body[3] == 0 else self.prepared[body[6:6 + n]]
            label = "BATCH " + self.label(text).split()[1]
        call = connection.call(label, start)
        call.start = max(start, connection.begun) if not connection.framed or not connection.plain else connection.begun
        delay = connection.server.random.random() * 0.004
        threading.Timer(delay, self.reply, (connection, call, asked, name, text, body)).start()

    def reply(self, connection, call, asked, name, text, body):
        opcode, outcome, result = 8, "", struct.pack(">I", 1)
        if "system" in text and name == "QUERY":
            opcode, result = 8, self.system(text)
        elif name == "PREPARE":
            number = zlib.crc32(text.encode()).to_bytes(4, "big") * 4
            self.prepared[number] = text
            marks = text.count("?")
            result = struct.pack(">IH", 4, 16) + number + (short_text("meta-of-result-1") if asked[0] >= 5 else b"")
            result += struct.pack(">II", 1, marks) + (struct.pack(">I", 0) if asked[0] >= 4 else b"")
            result += short_text(self.KEYSPACE) + short_text(self.TABLE)
            result += b"".join(short_text("c%d" % i) + struct.pack(">H", 9) for i in range(marks))
            result += struct.pack(">II", 4, 0)
        elif text.startswith("SELECT") and "fails" in text:
            opcode, outcome = 0, "READ_TIMEOUT"
            result = struct.pack(">I", 0x1200) + short_text("it takes too long") + struct.pack(">HIIB", 1, 0, 1, 0)
        elif text.startswith("SELECT"):
            rows = [b"z" * 150000 if "big" in text else b"answer"]
            result = struct.pack(">III", 2, 1, 1) + short_text(self.KEYSPACE) + short_text(self.TABLE)
            result += short_text("value") + struct.pack(">H", 3) + struct.pack(">I", len(rows))
            result += b"".join(struct.pack(">I", len(row)) + row for row in rows)
        elif text.upper().startswith("USE"):
            result = struct.pack(">I", 3) + short_text(text.split()[1].strip('";'))
        try:
            connection.answer(call, self.frame(connection, asked, opcode, result), outcome)
        except OSError:
            pass

    def system(self, text):
        """The one node of this cluster, and nothing of anything else."""
        host, text_type, inet, uuid = b"\x7f\0\0\1", 13, 16, 12
        ids = b"0123456789abcdef"
        columns = [] if "local" not in text else [
            ("key", text_type, b"local"), ("cluster_name", text_type, b"test"), ("data_center", text_type, b"dc"),
            ("rack", text_type, b"r1"), ("release_version", text_type, b"3.11.0"), ("rpc_address", inet, host),
            ("partitioner", text_type, b"org.apache.cassandra.dht.Murmur3Partitioner"), ("schema_version", uuid, ids),
            ("host_id", uuid, ids), ("broadcast_address", inet, host), ("listen_address", inet, host),
            ("cql_version", text_type, b"3.4.5"), ("native_protocol_version", text_type, b"4"),
            ("tokens", None, b"")]
        columns = [c for c in columns if c[1]]
        result = struct.pack(">III", 2, 1, len(columns) or 1) + short_text("system") + short_text("local")
        for name, kind, _ in columns or [("peer", inet, b"")]:
            result += short_text(name) + struct.pack(">H", kind)
        return result + struct.pack(">I", bool(columns)) + b"".join(
            struct.pack(">I", len(value)) + value for _, _, value in columns)


PYTHON_CQL = """
import sys, threading, warnings, logging
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.query import BatchStatement, SimpleStatement
from cassandra.policies import RoundRobinPolicy, FallthroughRetryPolicy
version, packing = int(sys.argv[2].split()[0]), sys.argv[2].endswith("lz4")
profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), retry_policy=FallthroughRetryPolicy())
cluster = Cluster(["127.0.0.1"], port=int(sys.argv[1]), protocol_version=version, compression=packing and "lz4",
                  execution_profiles={EXEC_PROFILE_DEFAULT: profile}, schema_metadata_enabled=False,
                  token_metadata_enabled=False, allow_beta_protocol_version=version > 4)
session = cluster.connect()
insert = session.prepare("INSERT INTO shop.orders (a, b) VALUES (?, ?)")
select = session.prepare("SELECT value FROM shop.orders WHERE a = ?")

def load(n):
    for i in range(12):
        futures = [session.execute_async(insert, (i, n)), session.execute_async(select, (i,)),
                   session.execute_async("SELECT value FROM items WHERE a = %d" % i),
                   session.execute_async("UPDATE carts SET a = 1 WHERE b = 2")]
        batch = BatchStatement()
        batch.add(SimpleStatement("DELETE FROM shop.carts WHERE a = 1"))
        batch.add(insert, (i, n))
        futures.append(session.execute_async(batch))
        assert list(futures[1].result())[0].value == b"answer"
        if i == 3:
            assert len(list(session.execute("SELECT value FROM big"))[0].value) == 150000
        try:
            session.execute("SELECT fails FROM items")
            raise SystemExit(1)
        except Exception as e:
            assert "ReadTimeout" in type(e).__name__, e
        [f.result() for f in futures]

threads = [threading.Thread(target=load, args=(n,)) for n in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
cluster.shutdown()
"""

NODE_CQL = """
const { Client, types, policies } = require("cassandra-driver");
(async () => {
    const client = new Client({ contactPoints: [`127.0.0.1:${process.argv[2]}`], localDataCenter: "dc",
                                isMetadataSyncEnabled: false, protocolOptions: { maxVersion: 4 },
                                policies: { retry: new policies.retry.FallthroughRetryPolicy() } });
    await client.connect();
    const insert = "INSERT INTO shop.orders (a, b) VALUES (?, ?)", prepare = { prepare: true };
    const load = async n => {
        for (let i = 0; i < 12; i++) {
            const all = [client.execute(insert, [i, n], prepare),
                         client.execute("SELECT value FROM shop.orders WHERE a = ?", [i], prepare),
                         client.execute("SELECT value FROM items WHERE a = 1"),
                         client.batch([{ query: insert, params: [i, n] }], prepare)];
            await client.execute("SELECT fails FROM items").then(() => process.exit(2), () => 0);
            if ((await Promise.all(all))[1].rows[0].value.toString() !== "answer")
                process.exit(1);
        }
    };
    await Promise.all([...Array(8).keys()].map(load));
    await client.shutdown();
})();
"""


# --- TDS -------------------------------------------------------------------------

def wide(text, size="<B"):
    return struct.pack(size, len(text)) + text.encode("utf-16-le")


class Tds:
    TRANSACTIONS = {5: "BEGIN", 7: "COMMIT", 8: "ROLLBACK", 9: "SAVEPOINT"}

    def __init__(self):
        self.handles, self.next = {}, 0

    def read(self, connection):
        start, body = connection.taken, b""
        while True:
            kind, status, length = struct.unpack(">BBH4x", connection.take(8))
            body += connection.take(length - 8)
            if status & 1:
                return start, kind, body

    def say(self, connection, call, tokens, outcome=""):
        size, out = 4088, b""
        for i in range(0, len(tokens), size):
            part = tokens[i:i + size]
            out += struct.pack(">BBHHBB", 4, i + size >= len(tokens), 8 + len(part), 51, (i // size + 1) & 255, 0) + part
        connection.answer(call, out, outcome)

    @staticmethod
    def done(token=0xfd, status=0, rows=0):
        return struct.pack("<BHHQ", token, status, 0xc1, rows)

    @staticmethod
    def environment(kind, new, old):
        body = struct.pack("<B", kind) + new + old
        return struct.pack("<BH", 0xe3, len(body)) + body

    def speak(self, connection):
        while True:
            start, kind, body = self.read(connection)
            if kind == 0x12:
                version = struct.pack(">BHHBHHB", 0, 11, 6, 1, 17, 1, 255) + b"\x0f\0\7\xd0\0\0" + b"\2"
                self.say(connection, None, version)
            elif kind == 0x10:
                ack = struct.pack(">BI", 1, 0x74000004) + wide("Microsoft SQL Server") + b"\x0f\0\7\xd0"
                self.say(connection, None, self.environment(4, wide("4096"), wide("4096")) +
                         struct.pack("<BH", 0xad, len(ack)) + ack + self.done())
            else:
                body = body[struct.unpack_from("<I", body)[0]:]
                self.ask(connection, kind, body, start)

    def parameter(self, body, at):
        """The value of a parameter, and where the next one begins."""
        at += 1 + 2 * body[at] + 1
        kind, at = body[at], at + 1
        if kind == 0x26:
            size = body[at + 1]
            return int.from_bytes(body[at + 2:at + 2 + size], "little"), at + 2 + size
        assert kind == 0xe7, kind
        n = struct.unpack_from("<H", body, at + 7)[0]
        if body[at:at + 2] == b"\xff\xff":
            n = struct.unpack_from("<I", body, at + 15)[0]
            return body[at + 19:at + 19 + n].decode("utf-16-le"), at + 19 + n + 4
        n = 0 if n == 0xffff else n
        return body[at + 9:at + 9 + n].decode("utf-16-le"), at + 9 + n

    def label(self, text):
        return Cql.label(self, text.replace("[", "").replace("]", ""))

    def ask(self, connection, kind, body, start):
        tokens, text, handle = b"", "", None
        if kind == 1:
            text = body.decode("utf-16-le")
            label = self.label(text)
        elif kind == 14:
            number = struct.unpack_from("<H", body)[0]
            label = self.TRANSACTIONS[number]
            tokens = self.environment(number + 3, b"\x08" + bytes(8), b"\0") if number == 5 else \
                self.environment(number + 2, b"\0", b"\x08" + bytes(8))
        else:
            n = struct.unpack_from("<H", body)[0]
            proc = struct.unpack_from("<H", body, 2)[0] if n == 0xffff else body[2:2 + 2 * n].decode("utf-16-le")
            at = 6 if n == 0xffff else 4 + 2 * n
            proc = {"sp_executesql": 10, "sp_prepare": 11, "sp_execute": 12, "sp_unprepare": 15}.get(proc, proc)
            label = "EXEC " + {15: "sp_unprepare"}.get(proc, str(proc))
            if proc == 10:
                text = self.parameter(body, at)[0]
            elif proc == 11:
                for _ in range(3):
                    text, at = self.parameter(body, at)
                self.next = handle = self.next + 1
                connection.prepared = dict(getattr(connection, "prepared", {}), **{str(handle): text})
            elif proc == 12:
                text = connection.prepared[str(self.parameter(body, at)[0])]
            if text:
                label = self.label(text)
        call = connection.call(label, start)
        if "slow" in text:
            assert self.read(connection)[1] == 6
            self.say(connection, call, self.done())
            self.say(connection, None, self.done(status=0x20))  # which is the return, where the other was lost
            call.again = len(connection.said[1]) - 1
            return
        connection.server.work()
        self.execute(connection, call, kind, text, tokens, handle)

    def execute(self, connection, call, kind, text, tokens, handle):
        outcome, status = "", 0
        if "fails" in text:
            error = struct.pack("<IBB", 2627, 1, 14) + wide("Violation of a key", "<H") + wide("server") + wide("") + \
                struct.pack("<I", 1)
            tokens += struct.pack("<BH", 0xaa, len(error)) + error
            outcome, status = "MSSQL2627", 2
        if text.upper().startswith("SELECT") and handle is None:
            columns = b"\x81" + struct.pack("<HIH", 1, 0, 9) + b"\x26\4" + wide("id")
            rows = 3000 if "big" in text else 1
            tokens = columns + (b"\xd1\4" + struct.pack("<i", 42)) * rows + tokens
        if handle is not None:
            tokens += b"\x79" + bytes(4) + b"\xac" + struct.pack("<H", 0) + wide("@handle") + b"\1" + bytes(6) + \
                b"\x26\4\4" + struct.pack("<i", handle)
        self.say(connection, call, tokens + self.done(0xfe if kind == 3 else 0xfd, status), outcome)


TEDIOUS = """
const { Connection, Request, TYPES } = require("tedious");
const port = Number(process.argv[2]);
const load = () => new Promise((resolve, reject) => {
    const connection = new Connection({ server: "127.0.0.1",
        authentication: { type: "default", options: { userName: "u", password: "p" } },
        options: { port, encrypt: false, trustServerCertificate: true, rowCollectionOnRequestCompletion: true } });
    const run = (how, text, fails, after) => new Promise((done, wrong) => {
        const request = new Request(text, (error, n, rows) =>
            !!error === !!fails ? done(rows) : wrong(error || new Error("no error: " + text)));
        after && after(request);
        connection[how](request);
    });
    connection.on("connect", async error => {
        if (error)
            return reject(error);
        try {
            for (let i = 0; i < 6; i++) {
                const rows = await run("execSqlBatch", "SELECT id FROM [dbo].[orders]");
                if (rows[0][0].value !== 42)
                    throw new Error("wrong row");
                await run("execSql", "SELECT id FROM items WHERE id = @id", false,
                          r => r.addParameter("id", TYPES.Int, i));
                await run("execSql", "INSERT INTO carts (a) VALUES (@text)", false,
                          r => r.addParameter("text", TYPES.NVarChar, "x".repeat(3000 * (i % 3))));
                await run("execSqlBatch", "INSERT INTO twice VALUES (1) -- fails", true);
                await run("execSql", "SELECT id FROM items -- fails", true);
                await run("callProcedure", "dbo.GetOrders");
            }
            await run("execSqlBatch", "SELECT id FROM big");
            const prepared = new Request("UPDATE orders SET a = @a", error => prepared.done(error));
            prepared.addParameter("a", TYPES.Int);
            await new Promise((done, wrong) => {
                prepared.once("prepared", done);
                connection.prepare(prepared);
            });
            for (let i = 0; i < 3; i++)
                await new Promise((done, wrong) => {
                    prepared.done = error => error ? wrong(error) : done();
                    connection.execute(prepared, { a: i });
                });
            await new Promise(done => connection.beginTransaction(done));
            await run("execSqlBatch", "DELETE FROM orders");
            await new Promise(done => connection.commitTransaction(done));
            await run("execSqlBatch", "SELECT slow FROM items", true, () => setTimeout(() => connection.cancel(), 20));
            await run("execSqlBatch", "SELECT id FROM items");
        } catch (e) {
            return reject(e);
        }
        connection.on("end", resolve);
        connection.close();
    });
    connection.connect();
});
Promise.all([...Array(8).keys()].map(load)).catch(e => { console.error(e); process.exit(1); });
"""


# --- all of them -------------------------------------------------------------------

def module_exists(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # not even the package that it is of
        return False


def python_has(*modules):
    return "" if all(map(module_exists, modules)) else "Python has no " + " or no ".join(modules)


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
    "python cassandra": (lambda: Cql().speak, PYTHON_CQL, "4", lambda: python_has("cassandra")),
    "python cassandra v5": (lambda: Cql(5).speak, PYTHON_CQL, "5", lambda: python_has("cassandra.segment")),
    "python cassandra v5 lz4": (lambda: Cql(5, True).speak, PYTHON_CQL, "5 lz4",
                                lambda: python_has("cassandra.segment", "lz4")),
    "node cassandra-driver": (lambda: Cql().speak, NODE_CQL, "", lambda: node_has("cassandra-driver")),
    "node tedious": (lambda: Tds().speak, TEDIOUS, "", lambda: node_has("tedious")),
    "node mongodb": (lambda: Mongo("").speak, NODE_MONGO, "", lambda: node_has("mongodb")),
}

for client in sys.argv[3:] or CLIENTS:
    speak, code, argument, lacks = CLIENTS[client]
    reason = lacks()
    if reason:
        tap(True, "%s # SKIP %s" % (client, reason))
        continue
    server = Server(speak())
    command = ["node", "-e", code, "-"] if client.startswith("node") else [sys.executable, "-c", code]
    done = subprocess.run(command + [str(server.port), argument], capture_output=True, text=True, timeout=60)
    time.sleep(0.2)
    server.listener.close()
    tap(done.returncode == 0, client + ": its load was done", done.stderr.splitlines()[:12])
    check(server, client, ("EXECUTE", "BATCH") if "mongo" not in client else ())
print("1..%d" % count)
