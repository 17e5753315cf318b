#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make-choices.py: conversations of which one protocol's parser takes a part, or another's does.

Writes NAME.pcap into the current folder and a line for each: its name, and how many calls it has. Each
call has a return. Of each kind there is also NAME-cut, whose segments come in two halves."""
import importlib.machinery
import importlib.util
import pathlib
import struct
import sys

MAKER = pathlib.Path(__file__).resolve().parents[1] / "data" / "make-captures"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("captures", str(MAKER))
made = importlib.util.module_from_spec(importlib.util.spec_from_loader("captures", loader))
loader.exec_module(made)

CLIENT, SERVER = 0, 1


def write(name, port, says, open_before, halves, client, closes):
    packets = []
    for i in range(3):
        talk = made.Connection(packets, 100000 * i, client, "10.0.0.2", (40000 + i, port))
        if open_before:
            del packets[-3:]
        time = 100000 * i + 1000
        for side, data in says:
            middle = len(data) // 2 if halves else len(data)
            for part in data[:middle], data[middle:]:
                if part:
                    talk.packet(time, side, 24, part)
                    time += 100
        if closes:
            talk.packet(time, CLIENT, 17)
            talk.packet(time + 100, SERVER, 17)
    made.write(name + ".pcap", 101, packets)


def conversation(name, calls, port, rounds, first=(), open_before=False, client="10.0.0.1", closes=False):
    """rounds: what is said three times on each of three connections; calls: of all that."""
    for suffix, halves in ("", False), ("-cut", True):
        write(name + suffix, port, [*first, *rounds * 3], open_before, halves, client, closes)
        print(name + suffix, calls)


def resp(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


def framed(magic, op, key=b"", extras=b"", value=b"", frames=b""):
    """A packet of memcached's binary protocol, or of Couchbase's."""
    lengths = struct.pack("BB", len(frames), len(key)) if frames else struct.pack(">H", len(key))
    body = frames + extras + key + value
    return struct.pack("BB", magic, op) + lengths + struct.pack(">BBHII", len(extras), 0, 0, len(body), 0) \
        + bytes(8) + body


def spdy(kind, data):
    return struct.pack(">HHI", 0x8003, kind, len(data)) + data


def mysql_x(kind, data=b""):
    return struct.pack("<IB", len(data) + 1, kind) + data


def fragments(data, size):
    """A record of ONC RPC."""
    parts = [data[i:i + size] for i in range(0, len(data), size)]
    return b"".join(struct.pack(">I", len(p) | (p is parts[-1]) << 31) + p for p in parts)


def ldap(number, operation, data):
    body = b"\2\1" + bytes([number, operation, len(data)]) + data
    return b"0" + bytes([len(body)]) + body


OK = (SERVER, b"+OK\r\n")
ONE = (SERVER, b"$1\r\n1\r\n")
NO_BODY = b"Content-Length: 0\r\n\r\n"
FINE = (SERVER, b"HTTP/1.1 200 OK\r\n" + NO_BODY)
EXPECTS = (CLIENT, b"POST /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 40\r\n\r\n")
BINDS = [(CLIENT, ldap(1, 0x60, b"\2\1\3\4\4cn=a\x80\1p")), (SERVER, ldap(1, 0x61, b"\n\1\0\4\0\4\0"))]
DELETES = [(CLIENT, ldap(2, 0x4a, b"cn=b")), (SERVER, ldap(2, 0x6b, b"\n\1\0\4\0\4\0"))]
UWSGI = (CLIENT, b"\0\x16\0\0\x0e\0REQUEST_METHOD\3\0GET")
BINARY = (SERVER, b"\1\2\3\4hello")
RPC_CALL = struct.pack(">10I", 1, 0, 2, 100003, 3, 1, 0, 0, 0, 0)
RPC_REPLY = struct.pack(">6I", 1, 1, 0, 0, 0, 0)

for when, earlier in ("", False), ("-open", True):
    conversation("resp-new" + when, 9, 6379, [(CLIENT, resp(b"VADD", b"a", b"b")), ONE], open_before=earlier)
    conversation("resp-renamed" + when, 9, 6379, [(CLIENT, resp(b"0b840fc02d5240", b"k")), OK], open_before=earlier)
    conversation("resp-pipelined" + when, 18, 6379, [(CLIENT, resp(b"HGETEX", b"k") * 2), (SERVER, ONE[1] * 2)],
                 open_before=earlier)
conversation("resp-inline", 18, 6379, [(CLIENT, b"SET k v\r\nINCR n\r\n"), (SERVER, b"+OK\r\n:1\r\n")])
conversation("resp-answers", 9, 6379, [(CLIENT, resp(b"GET", b"k")), BINARY])
conversation("spdy", 9, 443, [(CLIENT, spdy(1, bytes(70))), (SERVER, spdy(2, bytes(40)))])
conversation("sccp", 9, 2000, [(CLIENT, struct.pack("<III", 0x80, 0, 0) + bytes(124)),
                               (SERVER, struct.pack("<III", 0x24, 0, 0x100) + bytes(32))])
conversation("couchbase", 12, 11210,
             [(CLIENT, framed(8, 1, b"k", bytes(8), b"1", b"\x11\2")), (SERVER, framed(0x18, 1, frames=b"\2\0\1"))],
             [(CLIENT, framed(0x80, 0x1f, b"agent", value=b"\0\1")), (SERVER, framed(0x81, 0x1f, value=b"\0\1"))])
conversation("mysql-x", 12, 33060, [(CLIENT, mysql_x(12, b"\x12\x08SELECT 1")), (SERVER, mysql_x(13) + mysql_x(17))],
             [(CLIENT, mysql_x(1)), (SERVER, mysql_x(2, b"abc"))])
conversation("uwsgi", 9, 3031, [UWSGI, FINE])
conversation("http-binary", 9, 80, [(CLIENT, b"GET /a HTTP/1.1\r\n\r\n"), BINARY])
conversation("icy", 3, 80, [], [(CLIENT, b"GET /a HTTP/1.0\r\n\r\n"), (SERVER, b"ICY 200 OK\r\n\r\nmusic")])
conversation("sip", 9, 5060, [(CLIENT, b"INFO sip:a SIP/2.0\r\n" + NO_BODY), (SERVER, b"SIP/2.0 200 OK\r\n" + NO_BODY)])
conversation("ftp", 9, 2100, [(CLIENT, b"TYPE I\r\n"), (SERVER, b"200 ok\r\n")])
conversation("irc", 18, 6667, [(CLIENT, b"PING a\r\n"), (SERVER, b":s PONG a\r\n"),
                               (CLIENT, b"MODE a\r\nWHO a\r\n"), (SERVER, b":s 324 a\r\n:s 352 a\r\n")])
conversation("expect-final", 18, 80, [EXPECTS, (SERVER, b"HTTP/1.1 417 no\r\n" + NO_BODY),
                                      (CLIENT, b"GET /b HTTP/1.1\r\n\r\n"), FINE])
conversation("expect-body", 9, 80, [EXPECTS, (SERVER, b"HTTP/1.1 100 Continue\r\n\r\n"), (CLIENT, bytes(40)), FINE])
for length in 4, 20:
    conversation("rpc-%d" % length, 9, 2049, [(CLIENT, fragments(RPC_CALL, length)),
                                              (SERVER, fragments(RPC_REPLY + bytes(20), 100))])
conversation("modbus", 9, 502, [(CLIENT, bytes(5) + b"\6\1\3\0\0\0\n"), (SERVER, bytes(5) + b"\3\1\3\0")], open_before=True)
conversation("anonymised", 9, 80, [(CLIENT, b"GET /a HTTP/1.1\r\n\r\n"), FINE], client="237.244.174.255")
SICILY = [(CLIENT, ldap(1, 0x60, b"\2\1\3\4\4cn=a\x8a\1p")), (SERVER, ldap(1, 0x61, b"\n\1\0\4\1S\4\0"))]
conversation("ldap-sicily", 9, 389, DELETES, SICILY)
# Binds are calls where nothing follows but the end.
conversation("ldap-binds", 9, 389, BINDS, closes=True)
conversation("ldap-binds-last", 12, 389, BINDS, BINDS + DELETES, closes=True)
conversation("ldap-binds-first", 9, 389, DELETES, BINDS)
conversation("ldap-binds-stays", 0, 389, BINDS)
