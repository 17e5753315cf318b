#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""cut-packets.py N <FILE >CUT: a pcap file as it would be with a snapshot length of N bytes."""
import struct
import sys

length = int(sys.argv[1])
data = sys.stdin.buffer.read()
order = '<' if data[:4] in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1') else '>'
out = [data[:16], struct.pack(order + 'I', length), data[20:24]]
at = 24
while at + 16 <= len(data):
    captured = struct.unpack_from(order + 'I', data, at + 8)[0]
    kept = min(captured, length)
    out += [data[at:at + 8], struct.pack(order + 'I', kept), data[at + 12:at + 16 + kept]]
    at += 16 + captured
sys.stdout.buffer.write(b''.join(out))
