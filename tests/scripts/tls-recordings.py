#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of TLS connections, with the same conversations in the clear, for tls-keys.sh.

    tls-recordings.py memory FOLDER     OpenSSL with itself, in memory: NAME.pcap, NAME.clear.pcap,
                                        NAME.keys for each version, cipher and case
    tls-recordings.py relay PCAP PORT TARGET
                                        passes what comes to PORT of the loopback on to TARGET, and
                                        records it, until a connection has ended
    tls-recordings.py inputs FOLDER CORPUS
                                        makes the kept inputs of the fuzz target anew
    tls-recordings.py lose PCAP LOSSY FIRST LAST
                                        a recording without some of its packets
    tls-recordings.py secrets PCAP KEYS PCAPNG
                                        a recording with its keys in it

In memory each side's bytes of one turn are one flight of segments; a flight takes 1 ms, a
segment 10 µs. In the clear a flight has the segments of the cleartext, at the times of the first
and the last segment that carry it.
"""
import os
import random
import select
import socket
import ssl
import struct
import subprocess
import sys
import time

SEGMENT = 1448


class Recording:
    """Packets of connections between two addresses, written as a pcap of bare IP."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 101))

    def packet(self, ns, ports, sequence, acknowledged, flags, payload=b"", up=True):
        addresses = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])]
        if not up:
            addresses.reverse()
            ports = ports[::-1]
        tcp = struct.pack(">HHIIBBHHH", *ports, sequence & 0xFFFFFFFF, acknowledged & 0xFFFFFFFF,
                          5 << 4, flags, 65535, 0, 0)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0, *addresses)
        bytes_ = ip + tcp + payload
        self.file.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(bytes_), len(bytes_)))
        self.file.write(bytes_)


class Connection:
    """One, with its sequence numbers; up is from the client."""

    def __init__(self, recording, port, server_port, ns):
        self.recording, self.ports = recording, (port, server_port)
        self.next = {True: 1000, False: 5000}
        recording.packet(ns, self.ports, 999, 0, 2)
        recording.packet(ns + 1000, self.ports, 4999, 1000, 18, up=False)
        recording.packet(ns + 2000, self.ports, 1000, 5000, 16)

    def segment(self, up, ns, payload, flags=24):
        self.recording.packet(ns, self.ports, self.next[up], self.next[not up], flags, payload, up)
        self.next[up] += len(payload)

    def flight(self, up, ns, payload, segment=SEGMENT):
        """Returns when its first and its last segment went."""
        last = ns
        for at in range(0, len(payload), segment):
            last = ns + at // segment * 10000
            self.segment(up, last, payload[at:at + segment])
        return ns, last

    def end(self, ns):
        self.segment(True, ns, b"", 17)
        self.next[True] += 1
        self.segment(False, ns + 1000, b"", 17)
        self.next[False] += 1
        self.segment(True, ns + 2000, b"", 16)


def clear_flight(connection, up, first, last, payload):
    """The bytes of a flight, the first of them at `first` and the last at `last`."""
    if last > first and len(payload) > 1:
        connection.segment(up, first, payload[:1])
        payload = payload[1:]
    for at in range(0, len(payload), 60000):
        connection.segment(up, last, payload[at:at + 60000])


# --- in memory ------------------------------------------------------------------

LETTERS = bytes(97 + i % 26 for i in range(256))


def http_turns(number):
    """Requests and responses, some in several writes, some larger than a record."""
    chosen = random.Random(number)
    for i in range(8):
        body = chosen.randbytes(chosen.choice([0, 30, 5000, 40000])).translate(LETTERS)
        yield True, [b"POST /item%d HTTP/1.1\r\nHost: s\r\nContent-Length: %d\r\n\r\n" % (i, len(body)),
                     body]
        body = chosen.randbytes(chosen.choice([2, 900, 17000, 50000])).translate(LETTERS)
        yield False, [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body]


def pg_message(kind, body):
    return kind + struct.pack(">I", len(body) + 4) + body


def postgres_turns(_):
    ready = pg_message(b"Z", b"I")
    yield True, [struct.pack(">II", 30, 196608) + b"user\0u\0database\0d\0\0\0\0\0"[:22]]
    yield False, [pg_message(b"R", struct.pack(">I", 0)) + ready]
    for i in range(5):
        yield True, [pg_message(b"Q", b"SELECT %d FROM t\0" % i)]
        yield False, [pg_message(b"C", b"SELECT 1\0") + ready]
    yield True, [pg_message(b"X", b"")]


class Peer:
    def __init__(self, context, server, session=None):
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=server, session=session,
                                    server_hostname=None if server else "localhost")

    def shake(self):
        try:
            self.tls.do_handshake()
            return True
        except ssl.SSLWantReadError:
            return False

    def read(self):
        got = b""
        try:
            while piece := self.tls.read(65536):
                got += piece
        except ssl.SSLWantReadError:
            pass
        return got


class Case:
    def __init__(self, folder, name, client, server, turns, starttls=False):
        self.folder, self.name, self.turns, self.starttls = folder, name, turns, starttls
        self.client, self.server = client, server
        keys = os.path.join(folder, name + ".keys")
        open(keys, "w", encoding="ascii").close()
        os.chmod(keys, 0o600)
        client.keylog_filename = keys
        self.sealed = Recording(os.path.join(folder, name + ".pcap"))
        self.clear = Recording(os.path.join(folder, name + ".clear.pcap"))
        self.ns = 1_600_000_000 * 10**9
        self.port = 40000

    def flights(self, to, peers, connection):
        """Hands over what both sides have to say until neither has."""
        up = True
        while peers[True].outgoing.pending or peers[False].outgoing.pending:
            self.ns += 10**6
            payload = peers[up].outgoing.read()
            connection.flight(up, self.ns, payload)
            peers[not up].incoming.write(payload)
            to(peers[not up])
            up = not up

    def run(self, session=None):
        server_port = 5432 if self.starttls else 8443
        connection = Connection(self.sealed, self.port, server_port, self.ns)
        clear = Connection(self.clear, self.port, server_port, self.ns)
        self.port += 1
        peers = {True: Peer(self.client, False, session), False: Peer(self.server, True)}
        if self.starttls:
            self.ns += 10**6
            connection.flight(True, self.ns, struct.pack(">II", 8, 80877103))
            connection.flight(False, self.ns + 1000, b"S")
        peers[True].shake()
        self.flights(Peer.shake, peers, connection)
        for up, writes in self.turns(self.port):
            for write in writes:
                if not write:
                    continue
                self.ns += 10**6
                peers[up].tls.write(write)
                payload = peers[up].outgoing.read()
                first, last = connection.flight(up, self.ns, payload)
                # A record of many segments is stamped by those that it stands in.
                for start, end, size in records(payload, len(write)):
                    clear_flight(clear, up, first + start // SEGMENT * 10000,
                                 first + (end - 1) // SEGMENT * 10000, write[:size])
                    write = write[size:]
                peers[not up].incoming.write(payload)
                peers[not up].read()
                self.ns = max(self.ns, last)
            self.flights(Peer.read, peers, connection)
        self.ns += 10**6
        connection.end(self.ns)
        clear.end(self.ns)
        self.ns += 10**6
        return peers[True].tls.session


def records(payload, size):
    """Start and end of each record in payload, and how many bytes are inside: all records are
    full but the last, as OpenSSL fills them."""
    at = 0
    while at < len(payload):
        end = at + 5 + struct.unpack_from(">H", payload, at + 3)[0]
        inside = min(size, 16384)
        yield at, end, inside
        size -= inside
        at = end


def contexts(folder, version, ciphers, key_type=("rsa:2048",)):
    certificate, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    if not os.path.exists(key):
        subprocess.run(["openssl", "req", "-x509", "-newkey", *key_type, "-nodes", "-keyout", key,
                        "-out", certificate, "-subj", "/CN=localhost", "-days", "3"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client, server = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    server.load_cert_chain(certificate, key)
    for context in client, server:
        context.minimum_version = context.maximum_version = version
        if ciphers:
            context.set_ciphers(ciphers)
    return client, server


def only_suite(folder, suite):
    """Which suites there are in version 1.3, only OpenSSL's configuration says."""
    path = os.path.join(folder, "openssl.cnf")
    with open(path, "w", encoding="ascii") as file:
        file.write("openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n"
                   f"[c]\nCiphersuites = {suite}\nCipherString = DEFAULT:@SECLEVEL=0\n")
    subprocess.run([sys.executable, __file__, "suite", folder, suite], check=True,
                   env=dict(os.environ, OPENSSL_CONF=path))


def suite_13(folder, suite):
    client, server = contexts(folder, ssl.TLSVersion.TLSv1_3, None)
    Case(folder, "13-" + suite, client, server, http_turns).run()


def memory(folder):
    random.seed(1)
    old, new = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
    suites = ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384",
              "ECDHE-RSA-CHACHA20-POLY1305", "AES256-CCM", "AES128-CCM8",
              "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA384", "AES128-SHA256",
              "AES256-SHA", "AES128-GCM-SHA256"]
    for suite in suites:
        client, server = contexts(folder, old, suite + ":@SECLEVEL=0")
        Case(folder, "12-" + suite, client, server, http_turns).run()
        if "-SHA" in suite and "GCM" not in suite:
            no_etm = 1 << 19  # SSL_OP_NO_ENCRYPT_THEN_MAC
            client, server = contexts(folder, old, suite + ":@SECLEVEL=0")
            client.options |= no_etm
            Case(folder, "12-mac-first-" + suite, client, server, http_turns).run()
    client, server = contexts(folder, old, None)
    case = Case(folder, "12-resumed", client, server, http_turns)
    case.run(case.run())
    client, server = contexts(folder, new, None)
    server.set_ecdh_curve("secp384r1")  # which the client does not offer a key for
    Case(folder, "13-again", client, server, http_turns).run()
    for suite in "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", \
            "TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256":
        only_suite(folder, suite)
    client, server = contexts(folder, new, None)
    case = Case(folder, "13-resumed", client, server, http_turns)
    case.run(case.run())
    client, server = contexts(folder, new, None)
    Case(folder, "13-postgres", client, server, postgres_turns, True).run()


# --- over the loopback ------------------------------------------------------------

def relay(path, port, target):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(1)
    listener.settimeout(20)
    print("listening", flush=True)
    recording = Recording(path)
    client, (_, client_port) = listener.accept()
    server = socket.create_connection(("127.0.0.1", target), 10)
    connection = Connection(recording, client_port, 8443, time.time_ns())
    ends = {client: (True, server), server: (False, client)}
    deadline = time.monotonic() + 20
    while ends and time.monotonic() < deadline:
        for ready in select.select(list(ends), [], [], 0.5)[0]:
            up, other = ends[ready]
            payload = ready.recv(65536)
            if not payload:
                ends.pop(ready)
                try:
                    other.shutdown(socket.SHUT_WR)
                except OSError:
                    ends.clear()
                continue
            connection.flight(up, time.time_ns(), payload)
            other.sendall(payload)
    connection.end(time.time_ns())


def secrets(pcap, keys, pcapng):
    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    with open(pcap, "rb") as file:
        packets = file.read()[24:]
    with open(keys, "rb") as file:
        log = file.read()
    with open(pcapng, "wb") as out:
        out.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        out.write(block(10, struct.pack("<II", 0x544C534B, len(log)) + log))
        out.write(block(1, struct.pack("<HHI", 101, 0, 262144) + struct.pack("<HHBxxx", 9, 1, 9) +
                        struct.pack("<HH", 0, 0)))
        at = 0
        while at < len(packets):
            seconds, ns, captured, length = struct.unpack_from("<IIII", packets, at)
            stamp = seconds * 10**9 + ns
            out.write(block(6, struct.pack("<IIIII", 0, stamp >> 32, stamp & 0xFFFFFFFF, captured,
                                           length) + packets[at + 16:at + 16 + captured]))
            at += 16 + captured


def input_of(pcap, keys, path):
    """A recording of one connection as the fuzz target takes it."""
    with open(keys, "rb") as file:
        log = file.read()
    with open(pcap, "rb") as file:
        packets = file.read()
    out, at = struct.pack(">H", len(log)) + log, 24
    while at < len(packets):
        size = 16 + struct.unpack_from("<I", packets, at + 8)[0]
        payload = packets[at + 16 + 40:at + size]
        if payload:
            server = packets[at + 16 + 15] == 2  # the end of the source address
            out += struct.pack(">BH", server, len(payload)) + payload
        at += size
    with open(path, "wb") as file:
        file.write(out)


def small_turns(number):
    """One short request and its response."""
    yield True, [b"GET /%d HTTP/1.1\r\n\r\n" % number]
    yield False, [b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]


def inputs(folder, corpus):
    """The kept inputs of the fuzz target, made anew."""
    for version, suite in ((ssl.TLSVersion.TLSv1_2, "ECDHE-ECDSA-AES128-GCM-SHA256"),
                           (ssl.TLSVersion.TLSv1_2, "ECDHE-ECDSA-AES256-SHA"),
                           (ssl.TLSVersion.TLSv1_2, "ECDHE-ECDSA-CHACHA20-POLY1305"),
                           (ssl.TLSVersion.TLSv1_3, None)):
        client, server = contexts(folder, version, suite, ["ec", "-pkeyopt",
                                                           "ec_paramgen_curve:prime256v1"])
        name = suite or "13"
        Case(folder, name, client, server, small_turns).run()
        path = os.path.join(folder, name)
        input_of(path + ".pcap", path + ".keys", os.path.join(corpus, name))


def lose(pcap, lossy, first, last):
    """All packets but those from the first to before the last."""
    with open(pcap, "rb") as file:
        packets = file.read()
    at, number, out = 24, 0, packets[:24]
    while at < len(packets):
        size = 16 + struct.unpack_from("<I", packets, at + 8)[0]
        if not int(first) <= number < int(last):
            out += packets[at:at + size]
        at += size
        number += 1
    with open(lossy, "wb") as file:
        file.write(out)


if __name__ == "__main__":
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "memory":
        memory(*arguments)
    elif what == "suite":
        suite_13(*arguments)
    elif what == "relay":
        relay(arguments[0], int(arguments[1]), int(arguments[2]))
    elif what == "inputs":
        inputs(*arguments)
    elif what == "lose":
        lose(*arguments)
    else:
        secrets(*arguments)
