# SPDX-License-Identifier: BSD-2-Clause
"""A server that speaks enough of Kafka for a producer, a consumer and a group of consumers, and a client of
its newer versions. Records are kept in memory. Imported by kafka_test.py."""
import collections, os, socket, struct, threading, time, uuid, zlib

# By number: the name, the versions that are spoken, and from which on they are flexible.
APIS = {0: (0, 13, 9), 1: (0, 17, 12), 2: (0, 7, 6), 3: (0, 12, 9), 8: (0, 8, 8), 9: (0, 7, 6), 10: (0, 4, 3),
        11: (0, 7, 6), 12: (0, 4, 4), 13: (0, 4, 4), 14: (0, 5, 4), 18: (0, 3, 3), 19: (0, 7, 5), 22: (0, 4, 2),
        24: (0, 3, 3), 25: (0, 3, 3), 26: (0, 3, 3), 28: (0, 3, 3)}


class Writer:
    def __init__(self, flexible):
        self.flexible, self.out = flexible, b''

    def put(self, form, *values):
        self.out += struct.pack('>' + form, *values)

    def varint(self, n):
        while n > 127:
            self.out += bytes([n & 127 | 128])
            n >>= 7
        self.out += bytes([n])

    def length(self, n, form):
        if self.flexible:
            self.varint(n + 1)
        else:
            self.put(form, n)

    def text(self, s):
        self.length(-1 if s is None else len(s), 'h')
        self.out += (s or '').encode()

    def data(self, b):
        self.length(-1 if b is None else len(b), 'i')
        self.out += b or b''

    def array(self, items, put):
        self.length(-1 if items is None else len(items), 'i')
        for item in items or ():
            put(item)

    def tags(self):
        if self.flexible:
            self.out += b'\0'


class Reader:
    def __init__(self, data, flexible=False):
        self.data, self.at, self.flexible = data, 0, flexible

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def get(self, form):
        got = struct.unpack('>' + form, self.take(struct.calcsize('>' + form)))
        return got[0] if len(got) == 1 else got

    def varint(self):
        n = shift = 0
        while True:
            byte = self.take(1)[0]
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    def length(self, form):
        return self.varint() - 1 if self.flexible else self.get(form)

    def text(self):
        n = self.length('h')
        return None if n < 0 else self.take(n).decode()

    def bytes(self):
        n = self.length('i')
        return None if n < 0 else self.take(n)

    def array(self, get):
        return [get() for _ in range(self.length('i'))]

    def tags(self):
        for _ in range(self.varint() if self.flexible else 0):
            self.varint()
            self.take(self.varint())


def topic_id(name):
    return uuid.uuid5(uuid.NAMESPACE_DNS, name).bytes


def crc32c(data, table=[]):
    if not table:
        for i in range(256):
            for _ in range(8):
                i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
            table.append(i)
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xffffffff


def batch(values, flags=0, producer=-1, epoch=-1, sequence=-1, compress=False):
    """A batch of records; compress: by gzip."""
    records = b''
    for i, value in enumerate(values):
        w = Writer(True)
        for n in 0, i: # the times and offsets, which are zigzag
            w.varint(n * 2)
        w.varint(1) # no key
        w.varint(len(value) * 2)
        w.out += value
        w.varint(0)
        body = b'\0' + w.out
        w = Writer(True)
        w.varint(len(body) * 2)
        records += w.out + body
    if compress:
        gzip = zlib.compressobj(wbits=31)
        records, flags = gzip.compress(records) + gzip.flush(), flags | 1
    now = int(time.time() * 1000)
    rest = struct.pack('>hiqqqhii', flags, len(values) - 1, now, now, producer, epoch, sequence, len(values)) + records
    return struct.pack('>qiiBI', 0, 9 + len(rest), -1, 2, crc32c(rest)) + rest


def entries(data):
    """The batches or messages of older formats in data, each with its number of records."""
    while data:
        size = 12 + struct.unpack('>i', data[8:12])[0]
        yield data[:size], struct.unpack('>i', data[57:61])[0] if data[16] == 2 else 1
        data = data[size:]


class Group:
    def __init__(self):
        self.members, self.assigned, self.generation, self.joining = {}, {}, 0, set()
        self.stable, self.offsets, self.ends = True, {}, 0


class Server:
    """Listens on ports, a broker each. partitions: by topic. versions: the highest of each API. slow: seconds that
    the answer to Produce takes after consumers have got the records."""

    def __init__(self, ports, partitions, versions=99, slow=0, down=None):
        self.ports, self.partitions, self.slow = ports, partitions, slow
        self.apis = {k: (v[0], min(v[1], versions), v[2]) for k, v in APIS.items()}
        self.apis.update({k: (v[0], down[k], v[2]) for k, v in self.apis.items() if down and k in down})
        self.log = collections.defaultdict(list)   # of (first offset, number, bytes), by topic and partition
        self.aborted = collections.defaultdict(list)
        self.open = {}                             # by producer and partition: the first offset of its transaction
        self.groups = collections.defaultdict(Group)
        self.changed = threading.Condition()
        self.producers = 0
        self.names = {topic_id(t): t for t in partitions}
        self.sockets = []
        for node, port in enumerate(ports):
            sock = socket.create_server(('127.0.0.1', port), backlog=64)
            self.sockets.append(sock)
            threading.Thread(target=self.accept, args=(sock, node), daemon=True).start()

    def close(self):
        for sock in self.sockets:
            sock.close()

    def accept(self, sock, node):
        while True:
            try:
                client = sock.accept()[0]
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(client, node), daemon=True).start()

    def serve(self, sock, node):
        file = sock.makefile('rb')
        try:
            while True:
                head = file.read(4)
                if len(head) < 4:
                    return
                r = Reader(file.read(struct.unpack('>i', head)[0]))
                api, version, number = r.get('hhi')
                r.text()
                known = api in self.apis and version <= self.apis[api][1]
                flexible = known and version >= self.apis[api][2]
                r.flexible = flexible
                r.tags()
                w = Writer(flexible)
                if api == 18:
                    w.flexible = flexible and known
                    self.versions(w, version if known else 0, 0 if known else 35)
                    w.flexible = False
                elif not known or getattr(self, 'api%d' % api)(r, w, version) is False:
                    continue
                out = struct.pack('>i', number) + (b'\0' if flexible and api != 18 else b'') + w.out
                sock.sendall(struct.pack('>i', len(out)) + out)
        except (OSError, struct.error):
            pass
        finally:
            sock.close()

    def versions(self, w, version, error):
        w.put('h', error)
        w.array(sorted(self.apis), lambda k: (w.put('hhh', k, 0, self.apis[k][1]), w.tags()))
        if version >= 1:
            w.put('i', 0)
        w.tags()

    def put_topic(self, w, version, name):
        if version >= 13:
            w.out += topic_id(name)
        else:
            w.text(name)

    def get_topic(self, r, version):
        return self.names[r.take(16)] if version >= 13 else r.text()

    def append(self, key, data):
        """With self.changed held."""
        first = None
        for entry, n in entries(data):
            log = self.log[key]
            at = log[-1][0] + log[-1][1] if log else 0
            first = at if first is None else first
            log.append((at, n, struct.pack('>q', at) + entry[8:]))
            if entry[16] == 2 and struct.unpack('>h', entry[21:23])[0] & 0x10:
                self.open.setdefault((struct.unpack('>q', entry[43:51])[0], key), at)
        return first

    def api0(self, r, w, v):
        if v >= 3:
            r.text()
        acks, _ = r.get('hi')
        done = []

        def partition():
            got = r.get('i'), r.bytes()
            r.tags()
            return got
        asked = []
        r.array(lambda: (asked.append((self.get_topic(r, v), r.array(partition))), r.tags()))
        with self.changed:
            for topic, partitions in asked:
                done.append((topic, [(p, 0, self.append((topic, p), data)) if p < self.partitions.get(topic, 0)
                                     else (p, 3, -1) for p, data in partitions]))
            self.changed.notify_all()
        if acks == 0:
            return False
        time.sleep(self.slow)

        def answer(p):
            w.put('ihq', *p)
            if v >= 2:
                w.put('q', -1)
            if v >= 5:
                w.put('q', 0)
            if v >= 8:
                w.array([], None)
                w.text(None)
            w.tags()
        w.array(done, lambda t: (self.put_topic(w, v, t[0]), w.array(t[1], answer), w.tags()))
        if v >= 1:
            w.put('i', 0)
        w.tags()

    def api1(self, r, w, v):
        if v < 15:
            r.get('i')
        wait, least = r.get('ii')
        if v >= 3:
            r.get('i')
        isolation = r.get('b') if v >= 4 else 0
        if v >= 7:
            r.get('ii')
        asked = []

        def partition():
            p = r.get('i')
            if v >= 9:
                r.get('i')
            offset = r.get('q')
            if v >= 12:
                r.get('i')
            if v >= 5:
                r.get('q')
            r.get('i')
            r.tags()
            return p, offset
        r.array(lambda: (asked.append((self.get_topic(r, v), r.array(partition))), r.tags()))
        end = time.time() + wait / 1000
        with self.changed:
            while True:
                got = {(t, p): [e for e in self.log[t, p] if e[0] + e[1] > offset][:100]
                       for t, ps in asked for p, offset in ps}
                left = end - time.time()
                if any(got.values()) or left <= 0 or least == 0:
                    break
                self.changed.wait(left)
        if v >= 1:
            w.put('i', 0)
        if v >= 7:
            w.put('hi', 0, 0)

        def answer(topic, p, offset):
            known = p < self.partitions.get(topic, 0)
            high = sum(e[1] for e in self.log[topic, p])
            w.put('ihq', p, 0 if known else 3, high)
            if v >= 4:
                w.put('q', high)
            if v >= 5:
                w.put('q', 0)
            if v >= 4:
                w.array(self.aborted[topic, p] if isolation else None, lambda a: (w.put('qq', *a), w.tags()))
            if v >= 11:
                w.put('i', -1)
            w.data(b''.join(e[2] for e in got[topic, p]))
            w.tags()
        w.array(asked, lambda t: (self.put_topic(w, v, t[0]),
                                  w.array(t[1], lambda p: answer(t[0], *p)), w.tags()))
        w.tags()

    def api2(self, r, w, v):
        r.get('i')
        if v >= 2:
            r.get('b')
        topics = []

        def partition():
            p = r.get('i')
            if v >= 4:
                r.get('i')
            when = r.get('q')
            if v == 0:
                r.get('i')
            r.tags()
            return p, when
        r.array(lambda: (topics.append((r.text(), r.array(partition))), r.tags()))
        if v >= 2:
            w.put('i', 0)

        def answer(topic, p, when):
            offset = 0 if when == -2 else sum(e[1] for e in self.log[topic, p])
            w.put('ih', p, 0)
            if v == 0:
                w.array([offset], lambda o: w.put('q', o))
            else:
                w.put('qq', -1, offset)
            if v >= 4:
                w.put('i', -1)
            w.tags()
        w.array(topics, lambda t: (w.text(t[0]), w.array(t[1], lambda p: answer(t[0], *p)), w.tags()))
        w.tags()

    def api3(self, r, w, v):
        names = []

        def topic():
            if v >= 10:
                r.take(16)
            names.append(r.text())
            r.tags()
        n = r.length('i')
        for _ in range(n):
            topic()
        names = names if n > 0 or (v >= 1 and n == 0) else list(self.partitions)
        if v >= 3:
            w.put('i', 0)

        def broker(i):
            w.put('i', i)
            w.text('127.0.0.1')
            w.put('i', self.ports[i])
            if v >= 1:
                w.text(None)
            w.tags()
        w.array(range(len(self.ports)), broker)
        if v >= 2:
            w.text('cluster')
        if v >= 1:
            w.put('i', 0)

        def partition(p):
            w.put('hii', 0, p, p % len(self.ports))
            if v >= 7:
                w.put('i', 0)
            for _ in range(2 + (v >= 5)):
                w.array([p % len(self.ports)] if _ < 2 else [], lambda i: w.put('i', i))
            w.tags()

        def answer(name):
            w.put('h', 0 if name in self.partitions else 3)
            w.text(name)
            if v >= 10:
                w.out += topic_id(name)
            if v >= 1:
                w.put('b', 0)
            w.array(range(self.partitions.get(name, 0)), partition)
            if v >= 8:
                w.put('i', -2147483648)
            w.tags()
        w.array(names, answer)
        if 8 <= v <= 10:
            w.put('i', -2147483648)
        w.tags()

    def api8(self, r, w, v):
        group = self.groups[r.text()]
        if v >= 1:
            r.get('i')
            r.text()
        if v >= 7:
            r.text()
        if 2 <= v <= 4:
            r.get('q')

        def partition(topic):
            p, offset = r.get('iq')
            if v >= 6:
                r.get('i')
            if v == 1:
                r.get('q')
            r.text()
            r.tags()
            group.offsets[topic, p] = offset
            return p

        def topic():
            name = r.text()
            got = name, r.array(lambda: partition(name))
            r.tags()
            return got
        topics = r.array(topic)
        if v >= 3:
            w.put('i', 0)
        w.array(topics, lambda t: (w.text(t[0]), w.array(t[1], lambda p: (w.put('ih', p, 0), w.tags())), w.tags()))
        w.tags()

    def api9(self, r, w, v):
        group = self.groups[r.text()]
        topics = r.array(lambda: (r.text(), r.array(lambda: r.get('i')), r.tags()))
        if v >= 3:
            w.put('i', 0)

        def partition(topic, p):
            w.put('iq', p, group.offsets.get((topic, p), -1))
            if v >= 5:
                w.put('i', -1)
            w.text('')
            w.put('h', 0)
            w.tags()
        w.array(topics, lambda t: (w.text(t[0]), w.array(t[1], lambda p: partition(t[0], p)), w.tags()))
        if v >= 2:
            w.put('h', 0)
        w.tags()

    def api10(self, r, w, v):
        if v >= 1:
            w.put('i', 0)
        if v >= 4:
            r.get('b')
            for key in [r.text() for _ in range(r.length('i'))]:
                w.varint(2)
                w.text(key)
                w.put('i', 0)
                w.text('127.0.0.1')
                w.put('ih', self.ports[0], 0)
                w.text(None)
                w.tags()
        else:
            w.put('h', 0)
            if v >= 1:
                w.text(None)
            w.put('i', 0)
            w.text('127.0.0.1')
            w.put('i', self.ports[0])
        w.tags()

    def api11(self, r, w, v):
        group = self.groups[r.text()]
        r.get('i')
        if v >= 1:
            r.get('i')
        member = r.text() or os.urandom(8).hex()
        if v >= 5:
            r.text()
        kind = r.text()
        protocols = r.array(lambda: (r.text(), r.bytes(), r.tags()))
        with self.changed:
            group.members[member] = protocols
            group.joining.add(member)
            if group.stable:
                group.stable, group.assigned, group.ends = False, {}, time.time() + 1
            mine = group.generation
            while group.generation == mine and not group.stable:
                if group.joining >= set(group.members) and time.time() > group.ends - 0.5 or time.time() > group.ends:
                    group.members = {m: p for m, p in group.members.items() if m in group.joining}
                    group.joining, group.stable = set(), True
                    group.generation += 1
                    self.changed.notify_all()
                else:
                    self.changed.wait(0.05)
            leader = sorted(group.members)[0]
            if v >= 2:
                w.put('i', 0)
            w.put('hi', 0, group.generation)
            if v >= 7:
                w.text(kind)
            w.text(protocols[0][0])
            w.text(leader)
            w.text(member)

            def put(m):
                w.text(m)
                if v >= 5:
                    w.text(None)
                w.data(group.members[m][0][1])
                w.tags()
            w.array(sorted(group.members) if member == leader else [], put)
            w.tags()

    def api14(self, r, w, v):
        group = self.groups[r.text()]
        generation = r.get('i')
        member = r.text()
        if v >= 3:
            r.text()
        if v >= 5:
            r.text(), r.text()
        assigned = r.array(lambda: (r.text(), r.bytes(), r.tags()))
        end = time.time() + 5
        with self.changed:
            if assigned:
                group.assigned = {m: a for m, a, _ in assigned}
                self.changed.notify_all()
            while member not in group.assigned and generation == group.generation and group.stable and time.time() < end:
                self.changed.wait(0.05)
            good = member in group.assigned
        if v >= 1:
            w.put('i', 0)
        w.put('h', 0 if good else 27)
        if v >= 5:
            w.text('consumer'), w.text('range')
        w.data(group.assigned.get(member, b''))
        w.tags()

    def api12(self, r, w, v):
        group = self.groups[r.text()]
        if v >= 1:
            w.put('i', 0)
        w.put('h', 0 if group.stable else 27)
        w.tags()

    def api13(self, r, w, v):
        group = self.groups[r.text()]
        members = r.array(lambda: (r.text(), r.text(), r.tags())) if v >= 3 else [(r.text(), None, None)]
        with self.changed:
            for m in members:
                group.members.pop(m[0], None)
        if v >= 1:
            w.put('i', 0)
        w.put('h', 0)
        if v >= 3:
            w.array(members, lambda m: (w.text(m[0]), w.text(m[1]), w.put('h', 0), w.tags()))
        w.tags()

    def api19(self, r, w, v):
        return False

    def api22(self, r, w, v):
        self.producers += 1
        w.put('ihqh', 0, 0, self.producers, 0)
        w.tags()

    def api24(self, r, w, v):
        r.text(), r.get('qh')
        topics = r.array(lambda: (r.text(), r.array(lambda: r.get('i')), r.tags()))
        w.put('i', 0)
        w.array(topics, lambda t: (w.text(t[0]), w.array(t[1], lambda p: (w.put('ih', p, 0), w.tags())), w.tags()))
        w.tags()

    def api25(self, r, w, v):
        w.put('ih', 0, 0)
        w.tags()

    def api26(self, r, w, v):
        """A marker, which is a batch of one control record, in each partition of the transaction."""
        r.text()
        producer, epoch, commit = r.get('qhb')
        with self.changed:
            for (who, key), first in list(self.open.items()):
                if who != producer:
                    continue
                del self.open[who, key]
                if not commit:
                    self.aborted[key].append((producer, first))
                self.append(key, batch([struct.pack('>hi', 0, 0)], 0x30, producer, epoch, -1))
                self.open.pop((who, key), None)
            self.changed.notify_all()
        w.put('ih', 0, 0)
        w.tags()

    def api28(self, r, w, v):
        w.put('i', 0)
        w.array([], None)
        w.tags()


class Client:
    """Of one version of Produce and Fetch, whatever it is."""

    def __init__(self, sock, name='client'):
        self.sock, self.name, self.number = sock, name, 0

    def request(self, api, version, fill):
        flexible = version >= APIS[api][2]
        head, w = Writer(False), Writer(flexible)
        self.number += 1
        head.put('hhi', api, version, self.number)
        head.text(self.name)
        w.tags() # of the header
        fill(w)
        w.tags()
        return struct.pack('>i', len(head.out + w.out)) + head.out + w.out

    def read(self):
        """The bytes after the header, without its tags."""
        data = b''
        while len(data) < 4 or len(data) < 4 + struct.unpack('>i', data[:4])[0]:
            more = self.sock.recv(4 - len(data) if len(data) < 4 else 4 + struct.unpack('>i', data[:4])[0] - len(data))
            if not more:
                raise EOFError
            data += more
        return data[8:]

    def metadata(self, version, topics):
        def fill(w):
            w.array(topics, lambda t: ((w.out.__len__(), setattr(w, 'out', w.out + bytes(16))) if version >= 10 else None,
                                       w.text(t), w.tags()))
            if version >= 4:
                w.put('b', 0)
            if 8 <= version <= 10:
                w.put('b', 0)
            if version >= 8:
                w.put('b', 0)
        return self.request(3, version, fill)

    def produce(self, version, topic, partitions, acks=1, transaction=None):
        """partitions: bytes by number."""
        def fill(w):
            if version >= 3:
                w.text(transaction)
            w.put('hi', acks, 30000)
            w.length(1, 'i')
            if version >= 13:
                w.out += topic_id(topic)
            else:
                w.text(topic)
            w.array(sorted(partitions), lambda p: (w.put('i', p), w.data(partitions[p]), w.tags()))
            w.tags()
        return self.request(0, version, fill)

    def fetch(self, version, topic, offsets, wait=1000, committed=False):
        """offsets: by partition."""
        def partition(w, p):
            w.put('i', p)
            if version >= 9:
                w.put('i', -1)
            w.put('q', offsets[p])
            if version >= 12:
                w.put('i', -1)
            if version >= 5:
                w.put('q', -1)
            w.put('i', 1 << 20)
            w.tags()

        def fill(w):
            if version < 15:
                w.put('i', -1)
            w.put('ii', wait, 1)
            if version >= 3:
                w.put('i', 1 << 20)
            if version >= 4:
                w.put('b', committed)
            if version >= 7:
                w.put('ii', 0, -1)
            w.length(1, 'i')
            if version >= 13:
                w.out += topic_id(topic)
            else:
                w.text(topic)
            w.array(sorted(offsets), lambda p: partition(w, p))
            w.tags()
            if version >= 7:
                w.array([], None)
            if version >= 11:
                w.text('')
        return self.request(1, version, fill)
