#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""brokers.py RAVEL

The system test of brokers: Mosquitto, NATS, RabbitMQ, Redis and ZooKeeper of the distribution, each under a load
that is known, captured live on the loopback of a network namespace. Every message must be in the
trace, each delivery linked to what was published, and each request paired. TAP; what is not
installed is skipped. Run it by brokers.sh.
"""
import collections, os, random, shutil, socket, struct, subprocess, sys, tempfile, threading, time

RAVEL = sys.argv[1]
WORK = tempfile.mkdtemp()
count = bad = 0


def tap(ok, name, note=''):
    global count, bad
    count += 1
    bad += not ok
    print('%sok %d - %s%s' % ('' if ok else 'not ', count, name, note), flush=True)


def take(sock, n):
    out = b''
    while len(out) < n:
        more = sock.recv(n - len(out))
        if not more:
            raise EOFError
        out += more
    return out


def connect(address, port, patience=60):
    """From an address of its own, so that the trace tells who it is."""
    end = time.time() + patience
    while True:
        sock = socket.socket()
        try:
            sock.bind((address, 0))
            sock.connect(('127.0.0.1', port))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        except OSError:
            sock.close()
            if time.time() > end:
                raise
            time.sleep(0.2)


def is_up(port, patience):
    try:
        connect('127.0.0.1', port, patience).close()
        return True
    except OSError:
        return False


class Capture:
    """What is captured of ports between its beginning and lines()."""

    def __init__(self, port, *others):
        self.file = os.path.join(WORK, '%d.pcap' % port)
        self.dump = subprocess.Popen(['tcpdump', '-i', 'lo', '-U', '-s', '0', '-B', '65536', '-w', self.file,
                                      ' or '.join('tcp port %d' % p for p in (port, *others))],
                                     stderr=subprocess.PIPE)
        self.dump.stderr.readline()
        time.sleep(0.5)

    def lines(self, nodes=''):
        if self.dump.poll() is None:
            time.sleep(1)
            self.dump.terminate()
            self.dump.wait()
        names = os.path.join(WORK, 'nodes')
        with open(names, 'w') as out:
            out.write(nodes)
        text = subprocess.run([RAVEL, 'capture', '-r', self.file, '-w', '-', '--nodes', names],
                              capture_output=True, text=True, check=True).stdout
        self.trace = text
        self.facts = [line for line in text.splitlines() if line.startswith('#')]
        rows = []
        for line in text.splitlines():
            if line.startswith('#'):
                continue
            fields = line.split()
            rows.append(dict(time=fields[0], op=fields[1], sender=fields[2], receiver=fields[3], id=fields[4],
                             **dict(f.split('=', 1) for f in fields[5:] if '=' in f)))
        return rows


def links_of(rows, published, delivered):
    """How many deliveries are linked to what was published: both are lists of what was said, by
    address, in the order of each connection."""
    link, wrong, n = {}, 0, 0
    for address, said in published.items():
        sent = [r for r in rows if r['sender'] == address and r['op'] in ('CALL_SENT', 'MSG_SENT') and 'link' in r]
        if len(sent) != len(said):
            return 'published by %s: %d of %d' % (address, len(sent), len(said)), n
        for row, text in zip(sent, said):
            link[text] = row['link']
    for address, said in delivered.items():
        got = [r for r in rows if r['receiver'] == address and r['op'] in ('CALL_SENT', 'MSG_SENT') and 'link' in r]
        if len(got) != len(said):
            return 'delivered to %s: %d of %d' % (address, len(got), len(said)), n
        for row, text in zip(got, said):
            n += 1
            wrong += row['link'] != link[text]
    return '%d wrong' % wrong if wrong else '', n


# --- MQTT ------------------------------------------------------------------------

class Mqtt:
    def __init__(self, address, port, name, version):
        self.sock, self.version, self.id = connect(address, port), version, 0
        body = struct.pack('>H4sBBH', 4, b'MQTT', version, 2, 60) + (b'\0' if version == 5 else b'')
        self.send(0x10, body + struct.pack('>H', len(name)) + name.encode())
        self.read()

    def send(self, head, body):
        size, out = len(body), b''
        while True:
            out += bytes([size & 127 | (128 if size > 127 else 0)])
            size >>= 7
            if not size:
                break
        self.sock.sendall(bytes([head]) + out + body)

    def read(self):
        head, size, shift = take(self.sock, 1)[0], 0, 0
        while True:
            byte = take(self.sock, 1)[0]
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        return head, take(self.sock, size)

    def subscribe(self, topic, qos):
        self.send(0x82, b'\0\1' + (b'\0' if self.version == 5 else b'') + struct.pack('>H', len(topic)) +
                  topic.encode() + bytes([qos]))
        self.read()

    def publish(self, topic, text, qos):
        body = struct.pack('>H', len(topic)) + topic.encode()
        if qos:
            self.id += 1
            body += struct.pack('>H', self.id)
        self.send(0x30 | qos << 1, body + (b'\0' if self.version == 5 else b'') + text.encode())
        while qos:
            head, body = self.read()
            if head == 0x50:
                self.send(0x62, body[:2])
            elif head in (0x40, 0x70):
                break

    def receive(self):
        """What is published next; acknowledged."""
        while True:
            head, body = self.read()
            if head >> 4 == 3:
                n, qos = struct.unpack('>H', body[:2])[0], head >> 1 & 3
                rest = body[2 + n:]
                if qos:
                    self.send(0x40 if qos == 1 else 0x50, rest[:2])
                    rest = rest[2:]
                return (rest[1 + rest[0]:] if self.version == 5 else rest).decode()
            if head == 0x62:
                self.send(0x70, body[:2])


def start_mosquitto(port):
    with open(os.path.join(WORK, 'mosquitto.conf'), 'w') as conf:
        conf.write('listener %d 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\nset_tcp_nodelay true\n' % port)
    server = subprocess.Popen([shutil.which('mosquitto', path=PATH), '-c', conf.name],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    is_up(port, 20)
    return server


def test_mqtt():
    port, n = 18830, 50
    server = start_mosquitto(port)
    capture = Capture(port)
    published, delivered, threads = {}, {}, []

    def subscriber(address, qos, version, expected):
        client = Mqtt(address, port, address, version)
        client.subscribe('q/#', qos)
        ready.release()
        for _ in range(expected):
            delivered[address].append(client.receive())
        client.sock.settimeout(0.5)
        try:
            client.receive()
        except OSError:
            pass

    def publisher(address, qos, version):
        client = Mqtt(address, port, address, version)
        for i in range(n):
            published[address].append('%s-%d' % (address, i))
            client.publish('q/%d' % qos, published[address][-1], qos)
        time.sleep(1)

    ready = threading.Semaphore(0)
    for i, (qos, version) in enumerate([(0, 4), (1, 4), (2, 4), (2, 5)]):
        address = '127.0.1.%d' % (i + 1)
        delivered[address] = []
        threads.append(threading.Thread(target=subscriber, args=(address, qos, version, 8 * n), daemon=True))
        threads[-1].start()
        ready.acquire()
    for i in range(8):
        address = '127.0.2.%d' % (i + 1)
        published[address] = []
        threads.append(threading.Thread(target=publisher, args=(address, i % 3, 5 if i > 5 else 4), daemon=True))
        threads[-1].start()
    for thread in threads:
        thread.join(30)
    rows = capture.lines()
    server.terminate()
    server.wait()
    problem, linked = links_of(rows, published, delivered)
    tap(not problem and linked == 4 * 8 * n, 'mosquitto: deliveries are linked', ': %d %s' % (linked, problem))
    calls, returns = (sum(r['op'] == op for r in rows) for op in ('CALL_SENT', 'RET_SENT'))
    tap(calls == returns, 'mosquitto: what is acknowledged is', ': %d calls, %d returns' % (calls, returns))


def test_mqtt_work():
    port, sql = 18831, 18852
    server = start_mosquitto(port)
    serve_sql(sql)

    def receive(address):
        client = Mqtt(address, port, address, 4)
        client.subscribe('$share/workers/q/#', 0)
        client.sock.settimeout(3)
        return client.receive

    def publish(address):
        client = Mqtt(address, port, address, 4)
        return lambda text: client.publish('q/0', text, 0)

    tap_unacknowledged('mosquitto', ((port, 'mosquitto'), (sql, 'sql')), receive, publish)
    server.terminate()
    server.wait()


# --- NATS ------------------------------------------------------------------------

class Nats:
    """A client that reads what comes in a thread: handle(subject, reply, payload)."""

    def __init__(self, address, port, handle=None):
        self.sock = connect(address, port)
        self.stream, self.handle, self.lock = self.sock.makefile('rb'), handle, threading.Lock()
        self.stream.readline()
        self.waits, self.n, self.inbox = {}, 0, '_INBOX.%s' % address.replace('.', '-')
        self.say('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB %s.* 1\r\n' % self.inbox)
        threading.Thread(target=self.read, daemon=True).start()

    def say(self, text):
        with self.lock:
            self.sock.sendall(text.encode())

    def publish(self, subject, payload, reply=''):
        self.say('PUB %s %s %d\r\n%s\r\n' % (subject, reply, len(payload), payload))

    def request(self, subject, payload):
        """The reply; several at a time, by several threads."""
        with self.lock:
            self.n += 1
            reply = '%s.%d' % (self.inbox, self.n)
            wait = self.waits[reply] = [threading.Event(), None]
        self.publish(subject, payload, reply)
        return wait[1] if wait[0].wait(10) else None

    def read(self):
        try:
            for line in self.stream:
                words = line.split()
                if words[0] == b'PING':
                    self.say('PONG\r\n')
                if words[0] not in (b'MSG', b'HMSG'):
                    continue
                payload = self.stream.read(int(words[-1]) + 2)[:-2].decode()
                subject = words[1].decode()
                wait = self.waits.pop(subject, None)
                if wait:
                    wait[1] = payload
                    wait[0].set()
                elif self.handle:
                    reply = words[3].decode() if len(words) == (6 if words[0] == b'HMSG' else 5) else ''
                    self.handle(subject, reply, payload)
        except (OSError, ValueError):
            pass


def test_nats():
    port, n = 18835, 60
    server = subprocess.Popen([shutil.which('nats-server', path=PATH), '-a', '127.0.0.1', '-p', str(port), '-js',
                               '-sd', os.path.join(WORK, 'nats')], stderr=subprocess.DEVNULL)
    if not is_up(port, 30):
        tap(False, 'nats: starts')
        server.terminate()
        return
    setup = Nats('127.0.0.1', port)
    setup.request('$JS.API.STREAM.CREATE.JOBS', '{"name":"JOBS","subjects":["jobs.>"]}')
    setup.request('$JS.API.CONSUMER.DURABLE.CREATE.JOBS.work',
                  '{"stream_name":"JOBS","config":{"durable_name":"work","ack_policy":"explicit"}}')
    capture = Capture(port)
    published, delivered = collections.defaultdict(list), collections.defaultdict(list)
    asked, answered, heard, done, threads = {}, {}, collections.Counter(), [], []

    def responder(address):
        """Answers later, so that replies come in another order."""
        def answer(subject, reply, payload):
            answered[payload] = address
            threading.Timer(random.random() / 50, client.publish, (reply, 're ' + payload)).start()
        client = Nats(address, port, answer)
        client.say('SUB echo.* workers 2\r\n')

    def listener(address):
        def hear(subject, reply, payload):
            heard[address] += 1
            delivered[address].append(payload)
        Nats(address, port, hear).say('SUB event.> 2\r\n')

    def worker(address):
        def work(subject, reply, payload):
            if not reply.startswith('$JS.ACK'): # a status
                return
            done.append(payload)
            client.publish(reply, '+WPI')
            time.sleep(0.001)
            client.publish(reply, '-NAK' if done.count(payload) == 1 and payload.endswith('7') else '+ACK')
            ask()
        client = Nats(address, port, work)
        ask = lambda: client.publish('$JS.API.CONSUMER.MSG.NEXT.JOBS.work', '', client.inbox + '.pull')
        ask()

    def requester(address):
        client = Nats(address, port)
        def ask(k):
            for i in range(n):
                text = '%s-%s-%d' % (address, k, i)
                asked[text] = client.request('echo.' + k, text)
        some = [threading.Thread(target=ask, args=(k,)) for k in 'abcd']
        for thread in some:
            thread.start()
        for thread in some:
            thread.join()
        for i in range(n):
            published[address].append('%s-event-%d' % (address, i))
            client.publish('event.a', published[address][-1])
        for i in range(n):
            client.request('jobs.a', '%s-job-%d' % (address, i))
        time.sleep(1)

    for i in range(2):
        responder('127.0.5.%d' % (i + 1))
        listener('127.0.5.%d' % (i + 11))
        worker('127.0.5.%d' % (i + 21))
    time.sleep(0.3)
    for i in range(4):
        threads.append(threading.Thread(target=requester, args=('127.0.6.%d' % (i + 1),), daemon=True))
        threads[-1].start()
    for thread in threads:
        thread.join(60)
    rows = capture.lines('127.0.0.1:%d nats\n' % port)
    server.terminate()
    server.wait()
    tap(len(asked) == 16 * n and all(asked[text] == 're ' + text for text in asked), 'nats: the load was done',
        ': %d requests, %d jobs' % (len(asked), len(done)))
    calls = {(r['sender'], r['receiver'], r['id']): r for r in rows if r['op'] == 'CALL_SENT'}
    returns = collections.Counter((r['receiver'], r['sender'], r['id']) for r in rows if r['op'] == 'RET_SENT')
    by_callee = collections.Counter((k[0] == 'nats', r.get('label', '').split('.')[0]) for k, r in calls.items())
    tap(by_callee[False, 'publish%20echo'] == by_callee[True, 'deliver%20echo'] == 16 * n and
        by_callee[False, 'publish%20jobs'] == 4 * n and by_callee[True, 'deliver%20jobs'] == len(done),
        'nats: requests, deliveries and jobs are calls', ': %s' % dict(by_callee))
    open_calls = [k for k in calls if not returns[k]]
    tap(not open_calls and set(returns.values()) == {1}, 'nats: each has a return', ': %d have none' % len(open_calls))
    # A request's responder is the one that its link leads to.
    asks = collections.defaultdict(list)
    for (sender, receiver, _), r in calls.items():
        if receiver == 'nats' and r['label'].startswith('publish%20echo'):
            asks[sender, r['label']].append(r['link'])
    to = {r['link']: receiver for (sender, receiver, _), r in calls.items() if sender == 'nats'}
    wrong = sum(to.get(link) != answered['%s-%s-%d' % (sender, label[-1], i)]
                for (sender, label), links in asks.items() for i, link in enumerate(links))
    tap(wrong == 0 and len(asks) == 16, 'nats: requests are linked with their deliveries', ': %d are not' % wrong)
    events = [r for r in rows if r['op'] == 'MSG_SENT' and 'event' in r.get('label', '')]
    problem, linked = links_of(events, published, delivered)
    tap(not problem and linked == 8 * n, 'nats: events are linked', ': %d %s' % (linked, problem))
    stored = collections.Counter(r['link'] for k, r in calls.items() if 'publish%20jobs' in r['label'])
    brought = collections.Counter(r['link'] for k, r in calls.items() if 'deliver%20jobs' in r['label'])
    tap(set(stored) == set(brought) and len(stored) == 4 * n, 'nats: jobs are linked, also again',
        ': %d of %d' % (len(set(stored) & set(brought)), 4 * n))


# --- AMQP ------------------------------------------------------------------------

def short(text):
    return bytes([len(text)]) + text.encode()


class Amqp:
    def __init__(self, address, port):
        self.sock = connect(address, port)
        self.sock.sendall(b'AMQP\0\0\x09\1')
        self.method()
        answer = b'\0guest\0guest'
        self.send(0, 10, 11, struct.pack('>I', 0) + short('PLAIN') + struct.pack('>I', len(answer)) + answer + short('en_US'))
        self.method()
        self.send(0, 10, 31, struct.pack('>HIH', 2047, 131072, 0))
        self.send(0, 10, 40, short('/') + short('') + b'\0')
        self.method()
        self.call(20, 10, b'\0')

    def send(self, channel, group, method, body):
        body = struct.pack('>HH', group, method) + body
        self.sock.sendall(struct.pack('>BHI', 1, channel, len(body)) + body + b'\xce')

    def frame(self):
        while True:
            kind, _, size = struct.unpack('>BHI', take(self.sock, 7))
            body = take(self.sock, size + 1)[:-1]
            if kind != 8:
                return kind, body

    def method(self):
        return self.frame()[1]

    def call(self, group, method, body):
        self.send(1, group, method, body)
        return self.method()

    def publish(self, queue, text):
        method = struct.pack('>HHH', 60, 40, 0) + short('') + short(queue) + b'\0'
        header = struct.pack('>HHQH', 60, 0, len(text), 0)
        out = b''
        for kind, body in ((1, method), (2, header), (3, text.encode())):
            out += struct.pack('>BHI', kind, 1, len(body)) + body + b'\xce'
        self.sock.sendall(out)

    def receive(self):
        """Tag, body."""
        method = self.method()
        n = method[4]
        tag = struct.unpack('>Q', method[5 + n:13 + n])[0]
        size, body = struct.unpack('>Q', self.method()[4:12])[0], b''
        while len(body) < size:
            body += self.method()
        return tag, body.decode()


class Sql:
    """A client of the stand-in below, which speaks as PostgreSQL does, and takes its time."""

    def __init__(self, address, port):
        self.sock = connect(address, port)
        body = struct.pack('>I', 196608) + b'user\0ravel\0\0'
        self.sock.sendall(struct.pack('>I', len(body) + 4) + body)
        self.answer()

    def answer(self):
        while True:
            kind, size = struct.unpack('>cI', take(self.sock, 5))
            take(self.sock, size - 4)
            if kind == b'Z':
                return

    def query(self, text):
        body = text.encode() + b'\0'
        self.sock.sendall(b'Q' + struct.pack('>I', len(body) + 4) + body)
        self.answer()


def serve_sql(port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(('127.0.0.1', port))
    listener.listen(64)

    def serve(sock):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ready = b'Z' + struct.pack('>I', 5) + b'I'
        try:
            take(sock, struct.unpack('>I', take(sock, 4))[0] - 4)
            sock.sendall(b'R' + struct.pack('>II', 8, 0) + ready)
            for i in range(1 << 30):
                kind, size = struct.unpack('>cI', take(sock, 5))
                take(sock, size - 4)
                time.sleep(0.0005 + i % 7 * 0.0003)
                sock.sendall(b'C' + struct.pack('>I', 13) + b'SELECT 1\0' + ready)
        except (OSError, EOFError):
            sock.close()

    def accept():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def check_paths(capture, ports, published, delivered, asked, *options):
    """The paths that ravel nesting finds, against who published, got and asked what, in order."""
    broker = ports[0][1]
    rows = capture.lines(''.join('127.0.0.1:%d %s\n' % p for p in ports))
    calls = os.path.join(WORK, 'calls')
    capture.paths = subprocess.run([RAVEL, 'nesting', '--calls', calls, '--format', 'tsv', *options, '-'],
                                   input=capture.trace, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, check=True).stdout
    with open(calls) as lines:
        head = next(lines).rstrip('\n').split('\t')
        found = {(c['caller'], c['callee'], c['id']): c
                 for c in (dict(zip(head, line.rstrip('\n').split('\t'))) for line in lines)}

    def ids(sender, receiver):
        return [r['id'] for r in rows if r['sender'] == sender and r['receiver'] == receiver and
                r['op'] in ('CALL_SENT', 'MSG_SENT') and not r.get('label', '').startswith(('queue.', 'basic.'))]

    instance = {}
    for address, said in published.items():
        for text, i in zip(said, ids(address, broker)):
            instance[text] = found.get((address, broker, i), {}).get('instance')
    right = queries = joined = deliveries = 0
    for address, said in delivered.items():
        got = ids(broker, address)
        for text, i in zip(said, got):
            call = found.get((broker, address, i)) # none: it had no return
            deliveries += call is not None
            joined += call is not None and call['instance'] == instance[text]
        for k, i in zip(asked[address], ids(address, 'sql')):
            call = found.get((address, 'sql', i))
            if (broker, address, got[k]) in found:
                queries += 1
                right += call is not None and call['parent_id'] == got[k]
    return right, queries, joined, deliveries


def test_amqp():
    port, sql, n = 18840, 18850, 100
    home = os.path.join(WORK, 'rabbit')
    os.mkdir(home)
    subprocess.run(['chown', '-R', 'rabbitmq', WORK], check=True)
    os.chmod(WORK, 0o755)
    env = dict(os.environ, PATH=PATH, HOME=home, RABBITMQ_NODE_PORT=str(port), RABBITMQ_NODENAME='ravel@localhost',
               RABBITMQ_NODE_IP_ADDRESS='127.0.0.1', RABBITMQ_MNESIA_BASE=home, RABBITMQ_LOG_BASE=home,
               RABBITMQ_DIST_PORT='18841', ERL_EPMD_PORT='18842', RABBITMQ_PID_FILE=os.path.join(home, 'pid'),
               RABBITMQ_ENABLED_PLUGINS_FILE=os.path.join(home, 'plugins'), RABBITMQ_CONF_ENV_FILE='/dev/null')
    log = open(os.path.join(WORK, 'rabbit.log'), 'w')
    server = subprocess.Popen([shutil.which('rabbitmq-server', path=PATH)], stdout=log, stderr=log, env=env, cwd='/')
    if not is_up(port, 90):
        print('# ' + open(log.name).read().replace('\n', '\n# '))
        tap(False, 'rabbitmq: starts')
        server.terminate()
        return
    time.sleep(3)
    setup = Amqp('127.0.0.1', port)
    setup.call(50, 10, struct.pack('>H', 0) + short('work') + b'\0' + struct.pack('>I', 0))
    capture = Capture(port, sql)
    serve_sql(sql)
    published, delivered, settled = {}, collections.defaultdict(list), collections.Counter()
    asked = collections.defaultdict(list) # by query: for which delivery
    done, lock, threads = set(), threading.Lock(), []

    def worker(address, dies):
        broker, rejected, kept = Amqp(address, port), set(), []
        database = Sql(address, sql)
        broker.call(60, 10, struct.pack('>IHB', 0, 4, 0))
        broker.call(60, 20, struct.pack('>H', 0) + short('work') + short('') + b'\0' + struct.pack('>I', 0))
        broker.sock.settimeout(3)
        try:
            while True:
                tag, text = broker.receive()
                delivered[address].append(text)
                if dies and len(delivered[address]) == 20:
                    broker.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                    broker.sock.close()
                    return
                time.sleep(0.001)
                for query in 'SELECT * FROM item', 'INSERT INTO orders VALUES (1)':
                    asked[address].append(len(delivered[address]) - 1)
                    database.query(query)
                if text.endswith('7') and text not in rejected:
                    rejected.add(text)
                    settled[address] += 1
                    broker.send(1, 60, 90, struct.pack('>QB', tag, 1))
                elif address.endswith('2') and len(kept) < 1:
                    kept.append((tag, text))
                else: # with the one before it, where that was kept
                    settled[address] += 1 + len(kept)
                    broker.send(1, 60, 80, struct.pack('>QB', tag, len(kept) > 0))
                    with lock:
                        done.update([text] + [k[1] for k in kept])
                    kept.clear()
        except OSError:
            for tag, text in kept:
                settled[address] += 1
                broker.send(1, 60, 80, struct.pack('>QB', tag, 0))
                done.add(text)
        time.sleep(0.5)

    def producer(address):
        broker = Amqp(address, port)
        for i in range(n):
            published[address].append('%s-%d' % (address, i))
            broker.publish('work', published[address][-1])
            time.sleep(0.002)
        time.sleep(1)

    for i in range(4):
        threads.append(threading.Thread(target=worker, args=('127.0.3.%d' % (i + 1), i == 3), daemon=True))
    for i in range(8):
        published['127.0.4.%d' % (i + 1)] = []
        threads.append(threading.Thread(target=producer, args=('127.0.4.%d' % (i + 1),), daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    rows = [r for r in capture.lines('127.0.0.1:%d sql\n' % sql) if 'sql' not in (r['sender'], r['receiver'])]
    deliveries = sum(map(len, delivered.values()))
    problem, linked = links_of([r for r in rows if r['sender'] != '127.0.0.1' or r['op'] != 'RET_SENT'],
                               published, {a: delivered[a] for a in delivered if not a.endswith('.4')})
    tap(not problem and linked == deliveries - 20, 'rabbitmq: deliveries are linked, also again',
        ': %d of %d, %d published %s' % (linked, deliveries, 8 * n, problem))
    tap(len(done) == 8 * n, 'rabbitmq: the load was done', ': %d' % len(done))
    returns = collections.Counter(r['sender'] for r in rows if r['op'] == 'RET_SENT')
    open_calls = {(r['id'], r['receiver']) for r in rows if r['op'] == 'CALL_SENT' and 'link' in r} - \
        {(r['id'], r['sender']) for r in rows if r['op'] == 'RET_SENT'}
    got = {a: returns[a] for a in delivered}
    tap(all(got[a] == settled[a] for a in delivered), 'rabbitmq: what is settled is, several at a time too',
        ': %s settled, %s returns' % (dict(settled), got))
    right, queries, joined, all_of = check_paths(capture, ((port, 'rabbit'), (sql, 'sql')), published, delivered, asked)
    tap(right >= 0.95 * queries > 0, 'rabbitmq: queries have the delivery they are for',
        ': %d of %d = %.1f %%' % (right, queries, 100 * right / max(queries, 1)))
    tap(joined >= 0.97 * all_of > 0, 'rabbitmq: deliveries are in the path of what was published',
        ': %d of %d = %.1f %%' % (joined, all_of, 100 * joined / max(all_of, 1)))
    tap(all(who.endswith('.3.4') for _, who in open_calls) and len(open_calls) >= 1,
        'rabbitmq: only the dead worker leaves calls open', ': %d' % len(open_calls))

    def receive(address):
        broker = Amqp(address, port)
        broker.call(60, 20, struct.pack('>H', 0) + short('fast') + short('') + b'\2' + struct.pack('>I', 0))
        broker.sock.settimeout(3)
        return lambda: broker.receive()[1]

    def publish(address):
        broker = Amqp(address, port)
        return lambda text: broker.publish('fast', text)

    setup.call(50, 10, struct.pack('>H', 0) + short('fast') + b'\0' + struct.pack('>I', 0))
    tap_unacknowledged('rabbitmq', ((port, 'rabbit'), (sql, 'sql')), receive, publish)
    server.terminate()
    server.wait()


# --- what nobody acknowledges ----------------------------------------------------

def run_unacknowledged(ports, receive, publish, pause, n):
    """Eight producers at a time, and two workers who do two or three queries for each message, in turn."""
    (port, _), (sql, _) = ports
    published, delivered, asked = {}, collections.defaultdict(list), collections.defaultdict(list)
    capture, threads, ready = Capture(port, sql), [], threading.Semaphore(0)

    def worker(address):
        take, database = receive(address), Sql(address, sql)
        ready.release()
        try:
            while True:
                delivered[address].append(take())
                for query in ('SELECT * FROM item', 'INSERT INTO orders VALUES (1)',
                              'UPDATE item SET n = 1')[:2 + (hash(delivered[address][-1]) % 3 == 0)]:
                    asked[address].append(len(delivered[address]) - 1)
                    database.query(query)
        except OSError:
            pass

    def producer(address):
        put = publish(address)
        for i in range(n):
            published[address].append('%s-%d' % (address, i))
            put(published[address][-1])
            time.sleep(pause * random.random() * 2)
        time.sleep(1)

    for i in range(2):
        threads.append(threading.Thread(target=worker, args=('127.0.1.%d' % (i + 1),), daemon=True))
        threads[-1].start()
        ready.acquire()
    for i in range(8):
        published['127.0.2.%d' % (i + 1)] = []
        threads.append(threading.Thread(target=producer, args=('127.0.2.%d' % (i + 1),), daemon=True))
        threads[-1].start()
    for thread in threads:
        thread.join(60)
    return check_paths(capture, ports, published, delivered, asked)


def tap_unacknowledged(name, ports, receive, publish):
    for load, pause in ('at leisure', 0.2), ('in a hurry', 0.06):
        right, queries, joined, all_of = run_unacknowledged(ports, receive, publish, pause, 50)
        tap(right >= 0.9 * queries > 0, '%s: not acknowledged, %s: queries have the message they are for' % (name, load),
            ': %d of %d = %.1f %%' % (right, queries, 100 * right / max(queries, 1)))
        tap(joined == all_of > 0, '%s: not acknowledged, %s: messages are in the path of what was published' % (name, load),
            ': %d of %d' % (joined, all_of))


# --- Redis -----------------------------------------------------------------------

class Redis:
    def __init__(self, address, port):
        self.sock = connect(address, port)
        self.file = self.sock.makefile('rb')

    def read(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2].decode()
        if not line:
            raise EOFError
        if kind == b'$':
            return None if rest == '-1' else self.file.read(int(rest) + 2)[:-2].decode()
        if kind == b'*':
            return None if rest == '-1' else [self.read() for _ in range(int(rest))]
        return rest

    def call(self, *words):
        words = [word.encode() for word in words]
        self.sock.sendall(b'*%d\r\n' % len(words) + b''.join(b'$%d\r\n%s\r\n' % (len(w), w) for w in words))
        return self.read()


def take_blpop(redis):
    return redis.call('BLPOP', 'jobs', '1')[1]


def take_move(redis):
    text = redis.call('BRPOPLPUSH', 'jobs', 'taken', '1')
    if not text:
        raise TypeError
    redis.call('LREM', 'taken', '1', text)
    return text


def take_poll(redis):
    end = time.time() + 1
    while time.time() < end:
        text = redis.call('LPOP', 'jobs')
        if text:
            return text
        time.sleep(0.002)
    raise TypeError


def take_stream(redis):
    return redis.call('XREADGROUP', 'GROUP', 'g', 'w', 'COUNT', '1', 'BLOCK', '1000', 'STREAMS', 'jobs', '>')[0][1][0][1][1]


def put_list(redis, text):
    redis.call('RPUSH', 'jobs', text)


def put_stream(redis, text):
    redis.call('XADD', 'jobs', '*', 'job', text)


def run_redis(port, sql, put, takes, pause, n):
    """Eight producers at a time; a worker for each way to take a job, which asks the database twice and
    hands it on to a mailer, who asks once."""
    published, delivered, asked = {}, collections.defaultdict(list), collections.defaultdict(list)
    capture, threads = Capture(port, sql), []

    def worker(address, take):
        redis, database = Redis(address, port), Sql(address, sql)
        try:
            while True:
                text = take(redis)
                delivered[address].append(text)
                for query in 'SELECT * FROM item', 'INSERT INTO orders VALUES (1)':
                    asked[address].append(len(delivered[address]) - 1)
                    database.query(query)
                redis.call('LPUSH', 'mails', 'mail ' + text)
        except TypeError: # nothing came
            time.sleep(0.5)

    def mailer(address):
        redis, database = Redis(address, port), Sql(address, sql)
        while True:
            came = redis.call('BRPOP', 'mails', '1')
            if not came:
                break
            delivered[address].append(came[1])
            asked[address].append(len(delivered[address]) - 1)
            database.query('INSERT INTO mail VALUES (1)')

    def producer(address):
        redis = Redis(address, port)
        for i in range(n):
            published[address].append('%s-%d' % (address, i) + ' and more' * (i % 2 * 400))
            put(redis, published[address][-1])
            time.sleep(pause)

    for i, take in enumerate(takes):
        threads.append(threading.Thread(target=worker, args=('127.0.7.%d' % (i + 1), take), daemon=True))
    threads.append(threading.Thread(target=mailer, args=('127.0.7.9',), daemon=True))
    for i in range(8):
        published['127.0.6.%d' % (i + 1)] = []
        threads.append(threading.Thread(target=producer, args=('127.0.6.%d' % (i + 1),), daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    time.sleep(0.5)
    ports = (port, 'redis'), (sql, 'sql')
    rows = capture.lines(''.join('127.0.0.1:%d %s\n' % p for p in ports))
    link = {}
    for address, said in published.items():
        link.update(zip(said, [r.get('link') for r in rows if r['sender'] == address and r['op'] == 'CALL_SENT']))
    linked = sum(r.get('link') == link[text] for address in delivered if address != '127.0.7.9'
                 for r, text in zip([r for r in rows if r['receiver'] == address and r['op'] == 'MSG_SENT'],
                                    delivered[address]))
    return capture, ports, published, delivered, asked, linked


def test_redis():
    port, sql, n = 18860, 18851, 60
    server = subprocess.Popen(['redis-server', '--port', str(port), '--bind', '127.0.0.1', '--protected-mode', 'no',
                               '--save', '', '--appendonly', 'no'], stdout=subprocess.DEVNULL)
    is_up(port, 20)
    serve_sql(sql)
    setup = Redis('127.0.0.1', port)
    for name, put, takes in (('lists', put_list, (take_blpop, take_move, take_poll)),
                             ('streams', put_stream, (take_stream, take_stream, take_stream))):
        setup.call('DEL', 'jobs')
        if put is put_stream:
            setup.call('XGROUP', 'CREATE', 'jobs', 'g', '0', 'MKSTREAM')
        for load, pause in ('at leisure', 0.1), ('in a hurry', 0.01):
            capture, ports, published, delivered, asked, linked = run_redis(port, sql, put, takes, pause, n)
            right, queries, joined, all_of = check_paths(
                capture, ports, published, {a: d for a, d in delivered.items() if a != '127.0.7.9'}, asked,
                '-n', '9999')
            tap(linked == all_of == 8 * n, 'redis: %s %s: what is taken is linked to what was put in' % (name, load),
                ': %d of %d' % (linked, 8 * n))
            tap(right >= 0.95 * queries > 0, 'redis: %s %s: queries have the job they are for' % (name, load),
                ': %d of %d = %.1f %%' % (right, queries, 100 * right / max(queries, 1)))
            tap(joined == all_of, 'redis: %s %s: jobs are in the path of who put them in' % (name, load),
                ': %d of %d' % (joined, all_of))
            whole = sum(int(row[2]) for row in (line.split('\t') for line in capture.paths.splitlines()[1:])
                        if '>redis~>' in row[16] and 'redis~>127.0.7.9(sql)' in row[16] and row[16].count('sql') == 3)
            tap(whole >= 0.95 * 8 * n, 'redis: %s %s: one path a job, up to its mail' % (name, load),
                ': %d of %d' % (whole, 8 * n))
            waits = [line for line in capture.paths.splitlines()[1:] if not 'redis~>' in line and 'POP\t' in line]
            tap(not any(line.endswith(('BLPOP', 'BRPOP')) for line in waits), 'redis: waiting is nobody\'s work',
                ': %d paths' % len(waits))
    server.terminate()
    server.wait()


# --- ZooKeeper -------------------------------------------------------------------

class ZooKeeper:
    def __init__(self, address, port):
        self.sock, self.xid = connect(address, port), 0
        self.sock.sendall(struct.pack('>IIQIQI16sB', 45, 0, 0, 30000, 0, 16, b'', 0))
        self.read()

    def read(self):
        return take(self.sock, struct.unpack('>I', take(self.sock, 4))[0])

    def request(self, kind, body):
        self.xid += 1
        return struct.pack('>III', 8 + len(body), self.xid, kind) + body


def test_zookeeper():
    port, n = 18870, 3000
    home = os.path.join(WORK, 'zookeeper')
    os.mkdir(home)
    with open(os.path.join(WORK, 'zoo.cfg'), 'w') as conf:
        conf.write('tickTime=2000\ndataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\n'
                   'admin.enableServer=false\n' % (home, port))
    log = open(os.path.join(WORK, 'zookeeper.log'), 'w')
    jars = ':'.join('/usr/share/java/' + name for name in sorted(os.listdir('/usr/share/java')) if name.endswith('.jar'))
    server = subprocess.Popen(['java', '-Xmx256m', '-cp', jars, 'org.apache.zookeeper.server.ZooKeeperServerMain',
                               conf.name], stdout=log, stderr=log)
    if not is_up(port, 60):
        print('# ' + open(log.name).read()[-2000:].replace('\n', '\n# '))
        tap(False, 'zookeeper: starts')
        server.terminate()
        return
    time.sleep(2)
    capture = Capture(port)
    acl = struct.pack('>II', 1, 31) + struct.pack('>I', 5) + b'world' + struct.pack('>I', 6) + b'anyone'
    path = lambda text: struct.pack('>I', len(text)) + text.encode()
    watcher, client = ZooKeeper('127.0.5.2', port), ZooKeeper('127.0.5.1', port)
    client.sock.sendall(client.request(1, path('/a') + struct.pack('>I', 1) + b'x' + acl + struct.pack('>I', 0)))
    client.read()
    watcher.sock.sendall(watcher.request(4, path('/a') + b'\1'))
    watcher.read()
    asked = []
    reader = threading.Thread(target=lambda: [client.read() for _ in range(n)])
    reader.start()
    for i in range(0, n, 100): # pipelined, many in a segment and over the edges of segments
        out = b''
        for j in range(100):
            kind = (4, 3, 8, 12)[j % 4] if i or j != 50 else 5
            out += client.request(kind, path('/a') + (struct.pack('>I', 1) + b'y' + b'\xff' * 4 if kind == 5 else b'\0'))
            asked.append(client.xid)
        client.sock.sendall(out)
    reader.join(60)
    event = watcher.read()
    client.sock.sendall(client.request(0xfffffff5, b''))
    client.read()
    client.sock.close()
    rows = capture.lines()
    server.terminate()
    server.wait()
    calls = [r for r in rows if r['op'] == 'CALL_SENT' and r['sender'] == '127.0.5.1']
    returns = [r for r in rows if r['op'] == 'RET_SENT' and r['receiver'] == '127.0.5.1']
    want = ['%x' % xid for xid in [1] + asked]
    tap([r['id'].split('.')[1] for r in calls] == want and
        sorted(r['id'].split('.')[1] for r in returns) == sorted(want),
        'zookeeper: pipelined requests', ': %d calls, %d returns, %d asked' % (len(calls), len(returns), len(want)))
    events = [r for r in rows if r['op'] == 'MSG_SENT']
    tap(event[:4] == b'\xff' * 4 and len(events) == 1 and events[0]['receiver'] == '127.0.5.2',
        'zookeeper: the event of a watch', ': %d' % len(events))


PATH = os.environ['PATH'] + ':/usr/sbin:/sbin'
TESTS = (('mosquitto', test_mqtt, lambda: shutil.which('mosquitto', path=PATH)),
         ('mosquitto', test_mqtt_work, lambda: shutil.which('mosquitto', path=PATH)),
         ('nats', test_nats, lambda: shutil.which('nats-server', path=PATH)),
         ('rabbitmq', test_amqp, lambda: shutil.which('rabbitmq-server', path=PATH)),
         ('redis', test_redis, lambda: shutil.which('redis-server', path=PATH)),
         ('zookeeper', test_zookeeper, lambda: shutil.which('java') and os.path.exists('/usr/share/java/zookeeper.jar')))


def run(tests):
    global count
    try:
        for name, test, installed in tests:
            if len(sys.argv) > 2 and name not in sys.argv[2:]:
                continue
            if installed() and shutil.which('tcpdump', path=PATH):
                test()
            else:
                count += 1
                print('ok %d # SKIP %s is not installed' % (count, name))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    print('1..%d' % count)
    sys.exit(bad > 0)


if __name__ == '__main__':
    run(TESTS)
