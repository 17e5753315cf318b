#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes one conversation as bare IP, plain-4.pcap and plain-6.pcap, and in each tunnel and link layer
that ravel opens, into the current directory: KIND.4.pcap with IPv4 in it, KIND.6.pcap with IPv6.

A kind over UDP is at its own port, at another (KIND-any), in IPv6 (KIND-in-6), and in two VLANs.
"""
import importlib.machinery
import importlib.util
import os
import socket
import struct
import sys

sys.dont_write_bytecode = True
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'make-captures')
loader = importlib.machinery.SourceFileLoader('captures', PATH)
made = importlib.util.module_from_spec(importlib.util.spec_from_loader('captures', loader))
loader.exec_module(made)

ENDS = {4: ('10.0.0.1', '10.0.0.2'), 6: ('2001:db8::1', '2001:db8::2')}
OUTER = {4: ('192.0.2.1', '192.0.2.2'), 6: ('2001:db8:9::1', '2001:db8:9::2')}
MACS = bytes.fromhex('020000000001020000000002')
CLEAR = b'\xaa\xaa\3\0\0\0'


def ip(source, target, protocol, data):
    """With a checksum, other than those of make-captures."""
    if ':' in source:
        return struct.pack('>IHBB', 6 << 28, len(data), protocol, 64) + \
            socket.inet_pton(socket.AF_INET6, source) + \
            socket.inet_pton(socket.AF_INET6, target) + data
    head = struct.pack('>BBHHHBBH', 0x45, 0, 20 + len(data), 1, 0, 64, protocol, 0) + \
        socket.inet_aton(source) + socket.inet_aton(target)
    total = sum(struct.unpack('>10H', head))
    total = (total & 0xffff) + (total >> 16)
    return head[:10] + struct.pack('>H', ~total & 0xffff) + head[12:] + data


made.ip = ip


def kind(packet):
    return b'\x86\xdd' if packet[0] >> 4 == 6 else b'\x08\0'


def ethernet(packet, tags=b''):
    """Of at least 60 bytes."""
    return (MACS + tags + kind(packet) + packet).ljust(60, b'\0')


def ppp(packet):
    return b'\xff\3' + (b'\0\x57' if packet[0] >> 4 == 6 else b'\0\x21') + packet


def sized(head, at, extra=0):
    """Two bytes of head, at at, are the length of what follows it, and extra bytes more."""
    return lambda p: head[:at] + struct.pack('>H', len(p) + extra) + head[at + 2:] + p


def hex_before(text, inside=bytes):
    return lambda p: bytes.fromhex(text) + inside(p)


# Over UDP: name: (port, what stands before the packet)
OVER_UDP = {
    'vxlan': (4789, hex_before('0800000000000100', ethernet)),
    'vxlan-8472': (8472, hex_before('0800000000000100', ethernet)),
    'vxlan-policy': (48879, hex_before('8800000100000100', ethernet)),
    'vxlan-gpe': (4790, hex_before('0c00000300000100', ethernet)),
    'vxlan-gpe-ip': (4790, lambda p: bytes.fromhex('0c0000%02x00000100' % (2 if p[0] >> 4 == 6 else 1)) + p),
    'vxlan-gpe-nsh': (4790, hex_before('0e00000400000100' + '0fc6010300000100' + '00' * 16,
                                       ethernet)),
    'geneve': (6081, hex_before('0100655800000100aabbccdd', ethernet)),
    'geneve-ip': (6081, lambda p: b'\0\0' + kind(p) + bytes(4) + p),
    'gtp-u': (2152, sized(bytes.fromhex('30ff000000000001'), 2)),
    'gtp-u-sequence': (2152, sized(bytes.fromhex('32ff00000000000100070000'), 2, 4)),
    'l2tp': (1701, lambda p: bytes.fromhex('000200010002') + ppp(p)),
    'l2tp-length': (1701, lambda p: struct.pack('>HHHH', 0x4002, 8 + len(ppp(p)), 1, 2) + ppp(p)),
    'l2tp-3': (1701, hex_before('0003000000000007', ethernet)),
    'tzsp': (37008, hex_before('010000010a02ffee01', ethernet)),
    'tzsp-802.11': (37008, lambda p: bytes.fromhex('0100001201') + wireless(p)),
    'fou': (5555, bytes),
    'gre': (4754, lambda p: b'\x20\0' + kind(p) + bytes(4) + p),
    'gue': (6080, lambda p: bytes([0, 41 if p[0] >> 4 == 6 else 4, 0, 0]) + p),
    'gue-bare': (6080, bytes),
    'lisp': (4341, hex_before('8000000100000001')),
    'teredo': (3544, hex_before('0000aaaabbbbbbbb')),
    'mpls': (6635, hex_before('00010040000201ff')),
    'mpls-wire': (6635, hex_before('000201ff00000000', ethernet)),
    'hp-erm': (7932, hex_before('00' * 12, ethernet)),
}


def wireless(packet):
    return b'\x88\1\0\0' + MACS + MACS[:6] + b'\x10\0\0\0' + CLEAR + kind(packet) + packet


def tag(text, inside=None):
    """After the addresses of Ethernet."""
    inside = inside or (lambda p: kind(p) + p)
    return lambda p: MACS + bytes.fromhex(text) + inside(p)


def ip_in(protocol, head, inside=bytes):
    return lambda p: ip(*OUTER[4], protocol, bytes.fromhex(head) + inside(p))


def authenticated(packet):
    """AH in transport mode: between the header of IP and that of TCP."""
    six = packet[0] >> 4 == 6
    size, at = (40, 6) if six else (20, 9)
    head = bytes([packet[at], 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]) + bytes(12)
    ends = ENDS[6 if six else 4]
    source = packet[8:24] if six else packet[12:16]
    family = socket.AF_INET6 if six else socket.AF_INET
    if socket.inet_ntop(family, source) != ends[0]:
        ends = ends[::-1]
    return ip(*ends, 51, head + packet[size:])


def described(packet):
    """Apple's: its length, type and the link type of what follows."""
    return struct.pack('<III', 108, 1, 1) + bytes(96) + ethernet(packet)


def frame_relay(packet):
    return b'\x18\x41\3' + (b'\x8e' if packet[0] >> 4 == 6 else b'\xcc') + packet


def bridged(packet):
    return b'\x18\x41\3\0\x80\0\x80\xc2\0\7' + ethernet(packet)


# Below IP: name: (link type, what stands before the packet)
BELOW = {
    'vlan': (1, tag('81000007')),
    'vn-tag': (1, tag('892600000001' + '81000007')),
    'e-tag': (1, tag('893f000000010000')),
    'pbb': (1, lambda p: MACS + bytes.fromhex('88a8000588e700000102') + ethernet(p)),
    'fabric-path': (1, lambda p: MACS + bytes.fromhex('89030010') + ethernet(p, b'\x81\0\0\7')),
    'trill': (1, lambda p: MACS + bytes.fromhex('22f30045000100020000abcd') + ethernet(p)),
    'nsh': (1, lambda p: MACS + bytes.fromhex('894f0fc6010300000100') + bytes(16) + ethernet(p)),
    'macsec': (1, lambda p: tag('88e52000000000010200000000010001')(p) + bytes(range(16))),
    'macsec-short': (1, lambda p: tag('88e5000000000001')(p) + bytes(range(16))),
    'mpls-2': (1, tag('8847' + '00010040000201ff', bytes)),
    'mpls-control-word': (1, lambda p: MACS + bytes.fromhex('8847000201ff00000007') + ethernet(p)),
    'ah': (101, authenticated),
    'ah-tunnel': (101, lambda p: ip(*OUTER[4], 51, bytes([41 if p[0] >> 4 == 6 else 4, 4, 0, 0]) +
                                    bytes(20) + p)),
    'l2tp-ip': (101, ip_in(115, '0000000711223344', ethernet)),
    'gre-ethernet': (101, ip_in(47, '2000655800000100', ethernet)),
    'c-hdlc': (104, lambda p: b'\x0f\0' + kind(p) + p),
    'ppp-serial': (50, ppp),
    'ppp-serial-cisco': (50, lambda p: b'\x0f\0' + kind(p) + p),
    'juniper': (178, lambda p: b'MGC\x81\0\6' + bytes(6) + ethernet(p)),
    'juniper-bare': (178, lambda p: b'MGC\x03' + bytes(4) + p),
    'pktap': (258, described),
    'frame-relay': (107, frame_relay),
    'frame-relay-cisco': (107, lambda p: b'\x18\x41' + kind(p) + p),
    'frame-relay-bridged': (107, bridged),
    'dsa-broadcom': (281, tag('20000001')),
    'dsa-broadcom-prepended': (282, lambda p: b'\x20\0\0\1' + ethernet(p)),
    'dsa': (284, tag('40080001')),
    'edsa': (285, tag('dada000040080001')),
    '802.11': (105, wireless),
    '802.11-bridge': (105, lambda p: b'\x08\3\0\0' + MACS + MACS[:6] + b'\x10\0' + MACS[6:] + CLEAR +
                      kind(p) + p),
    'radiotap': (127, lambda p: b'\0\0\x0a\0\2\0\0\0\0\0' + wireless(p)),
    'radiotap-padded': (127, lambda p: b'\0\0\x09\0\2\0\0\0\x20' + b'\x88\1\0\0' + MACS + MACS[:6] +
                        b'\x10\0\0\0\0\0' + CLEAR + kind(p) + p),
    'prism': (119, lambda p: struct.pack('<II', 0x44, 144) + bytes(136) + wireless(p)),
    'avs': (163, lambda p: struct.pack('>II', 0x80211001, 64) + bytes(56) + wireless(p)),
    'ppi': (192, lambda p: struct.pack('<BBHI', 0, 0, 8, 105) + wireless(p)),
}


def conversation(ends):
    """Requests of HTTP on four connections, of sizes from one byte of body to more than a segment,
    beside those of DNS."""
    packets = []
    for k in range(4):
        c = made.Connection(packets, 1000 * k, *ends, (40000 + k, 80))
        for i in range(3):
            body = b'x' * (1 + 400 * i * k)
            c.call(10000 * (i + 1) + 1000 * k, b'GET /item/%d HTTP/1.1\r\nHost: a\r\n\r\n' % i,
                   10000 * (i + 1) + 1000 * k + 500, made.page(body))
    for i in range(5):
        query = struct.pack('>HHHHHH', i + 1, 0x100, 1, 0, 0, 0) + b'\1a\0\0\1\0\1'
        packets.append((5000 * i + 7, made.udp(*ends, (50000 + i, 53), query)))
        packets.append((5000 * i + 407, made.udp(*ends[::-1], (53, 50000 + i), query[:2] + b'\x81' +
                                                 query[3:])))
    packets.sort(key=lambda p: p[0])
    return packets


def pcap(name, link_type, packets):
    with open(name + '.pcap', 'wb') as f:
        f.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, link_type))
        for time, frame in packets:
            f.write(struct.pack('<IIII', made.START + time // 1000000, time % 1000000, len(frame),
                                len(frame)) + frame)


def in_udp(ends, port, header):
    """Each direction from its own end, from the port that the packet's bytes choose."""
    def wrap(p):
        six = p[0] >> 4 == 6
        back = (p[23] if six else p[15]) == 2
        data = header(p)
        return made.udp(*(ends[::-1] if back else ends), (49152 + p[21] % 97, port), data)
    return wrap


def main():
    for version, ends in ENDS.items():
        packets = conversation(ends)

        def put(name, link_type, wrap):
            pcap('%s.%d' % (name, version), link_type, [(time, wrap(p)) for time, p in packets])

        pcap('plain-%d' % version, 101, packets)
        for name, (link_type, wrap) in BELOW.items():
            put(name, link_type, wrap)
        for name, (port, header) in OVER_UDP.items():
            if name == 'teredo' and version == 4:
                continue
            put(name, 101, in_udp(OUTER[4], port, header))
            put(name + '-any', 101, in_udp(OUTER[4], 21212, header))
            put(name + '-in-6', 101, in_udp(OUTER[6], port, header))
            udp = in_udp(OUTER[4], port, header)
            put(name + '-vlan', 1, lambda p, udp=udp: ethernet(udp(p), b'\x88\xa8\0\5\x81\0\0\7'))


if __name__ == '__main__':
    main()
