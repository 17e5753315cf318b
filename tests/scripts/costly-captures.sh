#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Captures that are made to cost more than they weigh: each once took more than 20 s or memory
# without a bound, and must be read in less. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3'
# Sanitizers reserve address space without end.
sanitized=$(nm "$ravel" 2>/dev/null | grep __asan_init)

# abuse NAME WHAT KIB: the capture of that name, and the memory that reading it may take
abuse() {
	(
		# shellcheck disable=SC3045 # dash and bash have it
		[ -n "$sanitized" ] || ulimit -v "$3"
		timeout 20 "$ravel" capture -r "$dir/$1.pcapng" -w "$dir/trace" 2>"$dir/err"
	)
	result $? "$2" "$dir/err"
	rm -f "$dir/$1.pcapng"
}

python3 - "$dir" <<'END'
import struct
import sys

CLIENT, SERVER, SYN, ACK = 0x0a000001, 0x0a000002, 2, 16
START = 10**15  # us
RAW_IP = 101


def write(name, packets):
    """packets: (us, bytes)"""
    out = bytearray(struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28))
    out += struct.pack("<IIHHII", 1, 20, RAW_IP, 0, 0, 20)
    for time, data in packets:
        padding = -len(data) % 4
        size = 32 + len(data) + padding
        out += struct.pack("<7I", 6, size, 0, time >> 32, time & 0xFFFFFFFF, len(data), len(data))
        out += data + bytes(padding) + struct.pack("<I", size)
    with open(f"{sys.argv[1]}/{name}.pcapng", "wb") as file:
        file.write(out)


def segment(source, destination, seq, ack, flags, data=b""):
    """Port 80 is the server's. A length of 0 is what offload leaves of a long packet."""
    length = 40 + len(data)
    ports = (80, 4096) if source == SERVER else (4096, 80)
    return (struct.pack(">BBHHHBBHII", 0x45, 0, length if length < 65536 else 0, 0, 0, 64, 6, 0,
                        source, destination) +
            struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 65535, 0, 0) + data)


def talk(client, server):
    """A connection on which the client says all of its pieces, and then the server."""
    packets = [(START, segment(CLIENT, SERVER, 99, 0, SYN)),
               (START + 1, segment(SERVER, CLIENT, 499, 100, SYN | ACK))]
    seq, ack = 100, 500
    for piece in client:
        packets.append((START + len(packets), segment(CLIENT, SERVER, seq, ack, ACK, piece)))
        seq += len(piece)
    for piece in server:
        packets.append((START + len(packets), segment(SERVER, CLIENT, ack, seq, ACK, piece)))
        ack += len(piece)
    return packets


def pieces(data, size):
    return [data[at:at + size] for at in range(0, len(data), size)]


preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\4" + bytes(5)
frame = b"\0\0\0\0\1\0\0\0\1"
streams = [(x << 14 | x & 0x3FFF) << 1 | 1 for x in range(1, 16384)]
headers = b"".join(b"\0\0\1\1\4" + struct.pack(">I", x) + b"\x82" for x in streams)
data = b"".join(b"\0\0\1\0\0" + struct.pack(">I", x) + b"x" for x in streams)
multiplier = 0x9E3779B97F4A7C15

def query(client, number):
    """A name is asked for."""
    return (struct.pack(">BBHHHBBHII", 0x45, 0, 49, 0, 0, 64, 17, 0, 0x20000000 + client, SERVER) +
            struct.pack(">HHHH", 1024 + client % 60000, 53, 29, 0) +
            struct.pack(">HHHHHH", number, 0x100, 1, 0, 0, 0) + b"\3abc\0\0\1\0\1")


write("queries", [(START + i, query(7 * i, i & 0xFFFF)) for i in range(100000)])
write("switches", talk([b"GET / HTTP/1.1\r\n\r\n"], [b"HTTP/1.1 101 x\r\n\r\n" * 500000]))
write("frames", talk(pieces(frame * 29000, 1), []))
write("streams", talk([preface] + pieces(headers, 1400) + pieces(data, 1400) * 10, []))
write("past", [(START + (5 * 10**7 if i < 40000 else 4 * 10**7 + i),
                segment(CLIENT + 2 + i, SERVER, 100, 0, ACK, b"GET /")) for i in range(80000)])
write("heads", [(START + i, segment(CLIENT + 2 + i // 2, SERVER, 100 - (i + 1) % 2, 0,
                                    ACK if i % 2 else SYN,
                                    b"GET / HTTP/1.1\r\nA: " + b"x" * 65000 if i % 2 else b""))
                for i in range(5000)])
write("addresses", [(START + 1000 * i,
                     struct.pack(">IHBB4Q", 0x60000000, 12, 17, 64, i * multiplier % 2**64, i,
                                 0x20010DB8 << 32, 1) + struct.pack(">4H", 5000, 6000, 12, 0) +
                     b"abcd") for i in range(1, 200001)])
END

abuse switches 'a connection that becomes another half a million times in a packet' 500000
abuse frames 'frames that say nothing, a byte a packet' 500000
abuse streams 'streams that would share a place in a table' 500000
abuse past 'many messages that begin before others that are open' 500000
abuse heads 'header lines without an end on many connections' 140000
abuse addresses 'addresses that would share a place in a table' 500000
abuse queries 'a hundred thousand clients of one server' 500000
# And in a trace.
awk 'BEGIN { print "# ravel trace 1"; for (i = 0; i < 60000; i++) printf("%.6f\tCALL_SENT\tc%d\ts\t%d\n%.6f\tRET_SENT\ts\tc%d\t%d\n",
	1000 + i / 1000, i, i, 1000.0005 + i / 1000, i, i) }' >"$dir/many.trace"
timeout 20 "$ravel" convolution "$dir/many.trace" >"$dir/out" 2>"$dir/err"
result $? 'sixty thousand clients of one server, by convolution' "$dir/err"
finish
