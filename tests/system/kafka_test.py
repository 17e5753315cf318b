#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""kafka_test.py RAVEL

The system test of Kafka, captured on the loopback of a network namespace. A client of our own speaks all
versions; python3-kafka and kafkajs are a pipeline of producers, workers and a mailer. Every call and
return must be in the trace, and each record linked to the Produce that brought it. TAP; what is not
installed is skipped. Run it by kafka.sh.
"""
import collections, importlib.util, os, random, shutil, struct, subprocess, sys, time

from brokers import RAVEL, WORK, Capture, connect, run, serve_sql, tap
from kafka_server import Client, Server, batch

HERE = os.path.dirname(os.path.realpath(__file__))
VERSIONS = 18


# --- all versions ------------------------------------------------------------------

def old_messages(magic, values):
    """In the formats before batches."""
    out = b''
    for value in values:
        body = struct.pack('>bb', magic, 0) + (struct.pack('>q', 7) if magic else b'') + \
            struct.pack('>ii', -1, len(value)) + value
        out += struct.pack('>qiI', 0, len(body) + 4, hash(value) & 0xffffffff) + body
    return out


class Story:
    """What a producer and a consumer of one version say. said: whether each Produce has an answer; links: of
    each record that the consumer gets, the number of its Produce."""

    def __init__(self, version, port):
        self.version, self.said, self.links, self.at = version, [], [], {0: 0, 1: 0}
        self.topic = 'orders%c' % (ord('a') + version)
        self.out, self.take = (Client(connect('127.0.%d.%d' % (i, version + 1), port)) for i in (2, 3))
        for client in self.out, self.take:
            client.sock.sendall(client.metadata(min(version, 12), [self.topic]))
            client.read()

    def ask(self, offsets, committed=False):
        self.take.sock.sendall(self.take.fetch(self.version, self.topic, offsets, 300, committed))

    def get(self, records, kept=True):
        """The answer to Fetch has records, each by partition and number of its Produce."""
        self.take.read()
        for p, which in records:
            self.at[p] += 1
            if kept:
                self.links.append(which)

    def put(self, *partitions, acks=1, transaction=None):
        """A Produce for each of partitions, all at once."""
        first = len(self.said)
        self.said += [acks] * len(partitions)
        self.out.sock.sendall(b''.join(self.out.produce(min(self.version, 13), self.topic, p, acks, transaction)
                                       for p in partitions))
        for _ in partitions if acks else ():
            self.out.read()
        return first

    def tell(self):
        self.ask(self.at) # which waits
        time.sleep(0.01)
        k = self.put({0: batch([b'a', b'b', b'c']), 1: batch([b'd', b'e'], compress=True)})
        self.get([(0, k)] * 3 + [(1, k)] * 2)
        k = self.put({0: batch([b'f'])}, acks=0)
        time.sleep(0.02)
        self.ask(self.at)
        self.get([(0, k)])
        k = self.put({0: batch([b'g' * 3000])}, {0: batch([b'h', b'i'])}, {1: batch([b'j'])})
        self.ask(self.at)
        self.get([(0, k), (0, k + 1), (0, k + 1), (1, k + 2)])
        self.ask({0: self.at[0] - 1}) # from within a batch
        self.links.append(k + 1)
        self.take.read()
        if self.version < 3:
            k = self.put({0: old_messages(self.version // 2, [b'k', b'l'])})
            self.ask(self.at)
            self.get([(0, k)] * 2)
        else:
            self.transactions()
        self.ask(self.at) # nothing comes
        self.take.read()

    def transactions(self):
        version = min(self.version, 3)
        for producer, commit in (100 + self.version, 1), (200 + self.version, 0):
            k = self.put({0: batch([b'm', b'n'], 0x10, producer, 0, 0)}, transaction='t')
            self.out.sock.sendall(self.out.request(26, version, lambda w: (w.text('t'), w.put('qhb', producer, 0, commit))))
            self.out.read()
            self.ask(self.at, self.version >= 4)
            self.get([(0, k)] * 2, commit or self.version < 4)
            self.at[0] += 1 # the control record


def check_stories(stories, rows):
    """How many calls, returns and links there are, of how many."""
    right = every = 0
    for story in stories:
        out, take = ('127.0.%d.%d' % (i, story.version + 1) for i in (2, 3))
        sent = [r for r in rows if r['sender'] == out and r.get('label') == 'Produce%20' + story.topic]
        got = [r['link'] for r in rows if r['receiver'] == take and r.get('label') == 'deliver%20' + story.topic]
        returns = collections.Counter(r['id'] for r in rows if r['op'] == 'RET_SENT' and r['receiver'] == out)
        calls = [r['id'] for r in rows if r['op'] == 'CALL_SENT' and r['sender'] == out]
        every += len(story.said) + len(story.links) + 1
        right += returns == collections.Counter(calls)
        right += sum(r['op'] == ('CALL_SENT' if acks else 'MSG_SENT') for r, acks in zip(sent, story.said)
                     if len(sent) == len(story.said))
        if len(got) == len(story.links) and len(sent) == len(story.said):
            right += sum(g == sent[k]['id'] for g, k in zip(got, story.links))
    return right, every


def packets_of(file):
    with open(file, 'rb') as data:
        head = data.read(24)
        while len(record := data.read(16)) == 16:
            yield head, record[:8], data.read(struct.unpack('<I', record[8:12])[0])


def payload_of(packet):
    ip = packet[14:]
    tcp = ip[(ip[0] & 15) * 4:struct.unpack('>H', ip[2:4])[0]]
    return tcp[(tcp[12] >> 4) * 4:]


def rewrite(file, change):
    """A copy of the capture, in which change() has made packets of each packet, cut or not."""
    out = file + '.changed'
    with open(out, 'wb') as copy:
        for i, (head, stamp, packet) in enumerate(packets_of(file)):
            if i == 0:
                copy.write(head)
            for bytes_, size in change(i, packet):
                copy.write(stamp + struct.pack('<II', len(bytes_), size) + bytes_)
    return out


def by_byte(_, packet):
    """A segment for each byte."""
    payload = payload_of(packet)
    head = packet[:len(packet) - len(payload)]
    if not payload:
        return [(packet, len(packet))]
    seq = struct.unpack('>I', head[38:42])[0]
    size = struct.pack('>H', len(head) + 1 - 14)
    return [(head[:16] + size + head[18:38] + struct.pack('>I', seq + i & 0xffffffff) + head[42:] + payload[i:i + 1],
             len(head) + 1) for i in range(len(payload))]


class OpenBefore:
    """Leaves out the first request of each connection, and what was before it."""

    def __init__(self):
        self.begun = set()

    def __call__(self, _, packet):
        if packet[26:30] + packet[34:36] in self.begun or packet[30:34] + packet[36:38] in self.begun:
            return [(packet, len(packet))]
        if payload_of(packet):
            self.begun.add(packet[26:30] + packet[34:36])
        return []


def test_holes(file, whole):
    """What is found is right. Of a connection whose first request was lost the next are a run of bytes."""
    lost = random.Random(3)
    rows = read_back(rewrite(file, lambda i, packet: [(packet, len(packet))] if lost.random() > 0.05 else []))

    def known(rows, op, *keys):
        return {tuple(r.get(k) for k in keys) for r in rows if r['op'] == op}
    runs = {(r['receiver'], r['sender'], r['id']) for r in rows if r['op'] == 'CALL_SENT' and 'label' not in r}
    wrong = known(rows, 'CALL_SENT', 'receiver', 'sender', 'id') - known(whole, 'CALL_SENT', 'receiver', 'sender', 'id') - runs
    wrong |= known(rows, 'RET_SENT', 'sender', 'receiver', 'id') - known(whole, 'RET_SENT', 'sender', 'receiver', 'id') - runs
    produced = {r['link'] for r in rows if r.get('label', '').startswith('Produce')}
    wrong |= {link for link in known(rows, 'MSG_SENT', 'receiver', 'id', 'link') -
              known(whole, 'MSG_SENT', 'receiver', 'id', 'link') if link[2] in produced}
    n, every = (len(known(r, 'RET_SENT', 'id')) for r in (rows, whole))
    tap(not wrong and n > 0.8 * every, 'kafka: nothing is wrong after holes',
        ': %d wrong, %d returns of %d' % (len(wrong), n, every))


def read_back(file):
    capture = Capture.__new__(Capture)
    capture.file = file
    capture.dump = subprocess.Popen(['true'])
    capture.dump.wait()
    return capture.lines()


def test_versions():
    port = 18900
    capture = Capture(port)
    server = Server([port], {'orders%c' % (ord('a') + v): 2 for v in range(VERSIONS)}, slow=0.002)
    stories = []
    for version in range(VERSIONS):
        stories.append(Story(version, port))
        stories[-1].tell()
    right, every = check_stories(stories, capture.lines())
    tap(right == every, 'kafka: calls, returns and links of all versions', ': %d of %d' % (right, every))
    right, every = check_stories(stories, read_back(rewrite(capture.file, by_byte)))
    tap(right == every, 'kafka: the same in segments of a byte', ': %d of %d' % (right, every))
    whole = capture.lines()
    calls, returns = (sorted(r['id'] for r in whole if r['op'] == op) for op in ('CALL_SENT', 'RET_SENT'))
    rows = read_back(rewrite(capture.file, lambda i, packet: [(packet[:200], len(packet))]))
    cut = [sorted(r['id'] for r in rows if r['op'] == op) for op in ('CALL_SENT', 'RET_SENT')]
    every = len(calls) - 2 * VERSIONS # of three in a segment the first is seen
    tap(cut[0] == cut[1] and len(cut[0]) == every, 'kafka: calls and returns in packets that were cut',
        ': %d and %d of %d' % (len(cut[0]), len(cut[1]), every))
    # Where topics have ids, nobody has seen their names.
    right, every = check_stories(stories[:13], read_back(rewrite(capture.file, OpenBefore())))
    tap(right == every, 'kafka: connections that were open before the capture', ': %d of %d' % (right, every))
    test_holes(capture.file, whole)
    server.close()


# --- a pipeline --------------------------------------------------------------------

def pipeline(name, port, command, n, pause):
    """Eight producers, two workers and a mailer, each a process."""
    sql = port + 1
    capture = Capture(port, sql)
    server = Server([port], {'orders': 2, 'mails': 2}, slow=0.0005)
    serve_sql(sql)
    who = [('mailer', '127.0.6.1')] + [('worker', '127.0.5.%d' % (i + 1)) for i in range(2)] + \
        [('producer', '127.0.4.%d' % (i + 1)) for i in range(8)]
    clients = [subprocess.Popen([*command, role, address, str(port), str(sql), str(n), str(pause)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for role, address in who]
    for client in clients:
        client.stdout.readline()
    time.sleep(2) # until the group is at rest
    for client in clients:
        client.stdin.write('\n')
        client.stdin.flush()
    published, took = {}, {}
    for (_, address), client in zip(who, clients):
        words = [line.rstrip('\n').split(' ', 1) for line in client.communicate(timeout=120)[0].splitlines()]
        published[address] = [w[1] for w in words if w[0] == 'published']
        took[address] = [w[1] for w in words if w[0] == 'took']
    capture.rows = capture.lines('127.0.0.1:%d kafka\n127.0.0.1:%d sql\n' % (port, sql))
    server.close()
    check_pipeline(name, capture, {a: t for a, t in published.items() if t}, {a: t for a, t in took.items() if t}, 8 * n)


def check_pipeline(name, capture, published, took, n):
    rows, calls = capture.rows, os.path.join(WORK, 'calls')
    subprocess.run([RAVEL, 'nesting', '--calls', calls, '-n', '0', '-'], input=capture.trace, text=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(calls) as lines:
        head = next(lines).rstrip('\n').split('\t')
        found = {(c['caller'], c['callee'], c['id']): c
                 for c in (dict(zip(head, line.rstrip('\n').split('\t'))) for line in lines)}
    asked = {(r['sender'], r['id']) for r in rows if r['op'] == 'CALL_SENT' and r['receiver'] == 'kafka'}
    answered = {(r['receiver'], r['id']) for r in rows if r['op'] == 'RET_SENT' and r['sender'] == 'kafka'}
    tap(len(asked - answered) <= 3 and answered <= asked, name + ': calls have their returns',
        ': %d of %d' % (len(answered), len(asked)))   # what waits when its client ends
    link, instance, whole = {}, {}, True
    for address, said in published.items():
        sent = [r for r in rows if r['sender'] == address and r.get('label', '').startswith('Produce')]
        whole &= len(sent) == len(said)
        for text, r in zip(said, sent):
            link[text] = r['link']
            instance[text] = found.get((address, 'kafka', r['id']), {}).get('instance')
    linked = records = right = queries = joined = 0
    for address, said in took.items():
        got = {r['link']: r['id'] for r in rows if r['receiver'] == address and r.get('label', '').startswith('deliver')}
        each = 1 if said[0].startswith('mail') else 2
        sql = [r['id'] for r in rows if r['sender'] == address and r['receiver'] == 'sql' and r['op'] == 'CALL_SENT']
        whole &= len(sql) == each * len(said) and len(got) == len(said)
        for k, text in enumerate(said):
            records += 1
            mine = got.get(link.get(text))
            linked += mine is not None
            call = found.get(('kafka', address, mine), {})
            first = text[5:] if text.startswith('mail ') else text
            joined += call.get('instance') == instance.get(first) is not None
            for i in sql[each * k:each * k + each]:
                queries += 1
                right += found.get((address, 'sql', i), {}).get('parent_id') == mine is not None
    tap(whole and linked == records == 2 * n, name + ': records are linked to what was produced',
        ': %d of %d' % (linked, 2 * n))
    tap(right >= 0.95 * queries > 0, name + ': queries have the record that they are for',
        ': %d of %d = %.1f %%' % (right, queries, 100 * right / max(queries, 1)))
    tap(joined >= 0.95 * records > 0, name + ': records are in the path of the order',
        ': %d of %d = %.1f %%' % (joined, records, 100 * joined / max(records, 1)))


def test_python():
    pipeline('python3-kafka', 18910, [sys.executable, os.path.join(HERE, 'kafka-client.py'), RAVEL], 30, 0.3)


def test_kafkajs():
    pipeline('kafkajs', 18920, ['node', os.path.join(HERE, 'kafka-client.js')], 30, 0.3)


TESTS = (('kafka', test_versions, lambda: True),
         ('python3-kafka', test_python, lambda: importlib.util.find_spec('kafka')),
         ('kafkajs', test_kafkajs, lambda: shutil.which('node') and
          os.path.exists(os.path.join(os.environ.get('NODE_PATH', ''), 'kafkajs'))))
run(TESTS)
