#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares outcomes of a trace (st=) with the statuses that tshark finds in its capture.

outcomes.py (CAPTURE TRACE)...: prints for each capture the number of outcomes that are equal, its
name, and a line for each difference. The nodes of the trace are addresses. By connection, since a
status may be found at another packet of a message than its last. tshark 4.0 knows no errors of
Redis.
"""
import collections
import re
import subprocess
import sys

GRPC = ('OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS '
        'PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE '
        'UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED').split()
DNS = ('NOERROR FORMERR SERVFAIL NXDOMAIN NOTIMP REFUSED YXDOMAIN YXRRSET NXRRSET NOTAUTH '
       'NOTZONE').split()
FIELDS = ['frame.number', '_ws.col.Protocol', 'ip.src', 'ipv6.src', 'ip.dst', 'ipv6.dst',
          'tcp.srcport', 'udp.srcport', 'tcp.dstport', 'udp.dstport', 'http.response.code',
          'http2.headers.status', 'grpc.status_code', 'http2.header', 'pgsql.code',
          'mysql.error_code', 'resp.error', 'dns.flags.response', 'dns.flags.rcode',
          'ldap.resultCode', 'ldap.protocolOp', 'memcache.response', 'memcache.status',
          'smtp.response.code', 'amqp.method.method', 'amqp.method.arguments.reply_code']


def tshark(capture, names):
    command = ['tshark', '-r', capture, '-Tfields', '-Eseparator=/t', '-Eoccurrence=a',
               '-Eaggregator=|']
    for name in names:
        command += ['-e', name]
    out = subprocess.run(command, capture_output=True, check=False).stdout
    for line in out.decode(errors='replace').splitlines():
        yield dict(zip(names, line.split('\t')))


def values(row, name):
    return [v for v in row.get(name, '').split('|') if v]


def statuses(row):
    """The failures in a packet, as st= has them."""
    for code in values(row, 'http.response.code'):
        if int(code) >= 400:
            yield code
    for code in values(row, 'http2.headers.status'):
        if int(code) >= 400:
            yield code
    for code in values(row, 'grpc.status_code'):
        if int(code) > 0:
            yield GRPC[min(int(code), 16)]
    for code in values(row, 'pgsql.code'):
        if code[:2] > '02':
            yield code
    for code in values(row, 'mysql.error_code'):
        yield code
    for text in values(row, 'resp.error'):
        word = re.match(r'([A-Z_]{2,12})(\s|$)', text)
        yield word.group(1) if word else 'ERR'
    rcodes = values(row, 'dns.flags.rcode')
    for response, code in zip([r for r in values(row, 'dns.flags.response')
                               if r in ('1', 'True')], rcodes):
        if int(code, 0) > 0:
            yield DNS[int(code, 0)] if int(code, 0) < len(DNS) else 'SERVFAIL'
    # A search's result is one; so is each bind's, which is of a session and no call.
    operations = [o for o in values(row, 'ldap.protocolOp') if o in '5 7 9 11 13 15 1 24'.split()]
    for operation, code in zip(operations, values(row, 'ldap.resultCode')):
        if operation not in ('1', '24') and int(code, 0) > 0:
            yield 'LDAP%d' % int(code, 0)
    for text in values(row, 'memcache.response'):
        if text.split(' ')[0] in ('ERROR', 'CLIENT_ERROR', 'SERVER_ERROR'):
            yield text.split(' ')[0]
    for code in values(row, 'memcache.status'):
        if int(code, 0) not in (0, 1, 2, 5):
            yield ('ERROR' if int(code, 0) == 0x81 else
                   'CLIENT_ERROR' if int(code, 0) < 0x80 else 'SERVER_ERROR')
    if '40' in values(row, 'amqp.method.method'):  # a channel closes
        for code in values(row, 'amqp.method.arguments.reply_code'):
            if int(code) > 200:
                yield 'AMQP' + code
    for code in values(row, 'smtp.response.code'):
        if int(code) >= 400:
            yield 'SMTP' + code


def expected(capture, names):
    found = collections.defaultdict(collections.Counter)
    for row in tshark(capture, names):
        source = (values(row, 'ip.src') or values(row, 'ipv6.src') or ['?'])[-1]
        target = (values(row, 'ip.dst') or values(row, 'ipv6.dst') or ['?'])[-1]
        port = (values(row, 'tcp.dstport') or values(row, 'udp.dstport') or ['0'])[-1]
        for status in statuses(row):
            found[source, target, int(port)][status] += 1
    return found


def of_trace(path):
    found, returns = collections.defaultdict(collections.Counter), collections.Counter()
    for line in open(path, encoding='utf-8'):
        if line.startswith('#'):
            continue
        part = line.rstrip('\n').split('\t')
        if not part[1].startswith('RET'):
            continue
        key = (part[2], part[3], int(part[4].split('.')[0], 16))
        returns[key] += 1
        for word in part[5].split() if len(part) > 5 else []:
            if word.startswith('st='):
                found[key][word[3:]] += 1
    return found, returns


def known_fields():
    known = set(subprocess.run(['tshark', '-G', 'fields'], capture_output=True,
                               check=True).stdout.decode().split())
    return [f for f in FIELDS if f in known or f.startswith('_ws')]


def compare(capture, trace, fields):
    truth = expected(capture, fields)
    found, returns = of_trace(trace)
    equal, differences = 0, []
    for key in sorted(set(truth) | set(found)):
        same = truth[key] & found[key]
        equal += sum(same.values())
        for status, n in sorted((found[key] - same).items()):
            differences.append('%s > %s %d: st=%s %d times, not in tshark' % (*key, status, n))
        for status, n in sorted((truth[key] - same).items()):
            differences.append('%s > %s %d: tshark has %s %d times, of %d returns'
                               % (*key, status, n, returns[key]))
    print('%d\t%s' % (equal, capture.split('/')[-1]))
    for line in differences:
        print('\t' + line, flush=True)


def main():
    fields = known_fields()
    for i in range(1, len(sys.argv) - 1, 2):
        compare(sys.argv[i], sys.argv[i + 1], fields)


main()
