#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""writes a trace of a small system in which statements wait for locks, or requests for a connection

    make-held.py NAME [SEED [--clean]]
    make-held.py NAME --check < WAITS

Requests go from a client to replicas of an app, which asks a cache and a database over a pool of
connections. The database locks rows. NAME: a row of PLANTED. --clean: the same without its fault. --check: says what
the answer of ravel why --waiting --format tsv lacks.
"""
import heapq
import random
import sys

MS = 1e6


class Lock:
    """first come, first served"""
    def __init__(self, n=1):
        self.free, self.queue = n, []


class World:
    def __init__(self, seed):
        self.random, self.now, self.events, self.count, self.lines = random.Random(seed), 0, [], 0, []
        self.sequence = 0

    def at(self, time, process, value=None):
        self.count += 1
        heapq.heappush(self.events, (time, self.count, process, value))

    def go(self, process, delay=0):
        self.at(self.now + delay, process)

    def run(self, end):
        while self.events and self.events[0][0] < end:
            self.now, _, process, value = heapq.heappop(self.events)
            try:
                asked = process.send(value)
            except StopIteration:
                continue
            if isinstance(asked, Lock):
                if asked.free:
                    asked.free -= 1
                    self.at(self.now, process)
                else:
                    asked.queue.append(process)
            else:
                self.at(self.now + asked, process)

    def release(self, lock):
        if lock.queue:
            self.at(self.now, lock.queue.pop(0))
        else:
            lock.free += 1

    def think(self, ms):
        return max(0.02, self.random.lognormvariate(0, 0.4) * ms) * MS

    def say(self, op, sender, receiver, ident, *attributes):
        self.lines.append((self.now, op, sender, receiver, ident, ' '.join(attributes)))

    def call(self, caller, callee, port, label, served):
        """served: a process that yields what the callee does, and returns attributes"""
        self.sequence += 1
        ident = '%x.%x' % (port, self.sequence)
        self.say('CALL_SENT', caller, callee, ident, 'label=' + label.replace(' ', '%20'))
        more = yield from served
        self.say('RET_SENT', callee, caller, ident, *(more or []))


class Database:
    def __init__(self, world, name, style):
        self.world, self.name, self.rows = world, name, {}
        self.begin = {'postgres': 'BEGIN', 'mysql': 'START', 'implicit': None}[style]

    def serve(self, session, label, row, ms):
        w = self.world
        yield w.think(ms / 2)
        if row and row not in session['locks']:
            lock = self.rows.setdefault(row, Lock())
            yield lock
            session['locks'].append(row)
        yield w.think(ms / 2)
        if label == self.begin or (session['open'] and label not in ('COMMIT', 'ROLLBACK')):
            return ['txn=1']
        for held in session['locks']:
            w.release(self.rows[held])
        session['locks'] = []
        return []

    def ask(self, caller, session, label, row=None, ms=0.8):
        """row: what is locked; the statement goes through a session, a dict with a port"""
        session['open'] = session.get('open') or label == self.begin or session.get('implicit')
        session.setdefault('locks', [])
        yield from self.world.call(caller, self.name, session['port'], label,
                                   self.serve(session, label, row, ms))
        if label in ('COMMIT', 'ROLLBACK'):
            session['open'] = session['implicit'] = None


def transaction(db, caller, session, statements, pause=()):
    """pause: what happens before the last statement"""
    if db.begin:
        yield from db.ask(caller, session, db.begin, ms=0.2)
    else:
        session['implicit'] = True
    for label, row in statements[:-1]:
        yield from db.ask(caller, session, label, row)
    yield from pause
    label, row = statements[-1]
    yield from db.ask(caller, session, label, row)
    yield from db.ask(caller, session, 'COMMIT', ms=0.5)


def wait(world, ms):
    yield world.think(ms)


class Shop:
    def __init__(self, seed, db='postgres', style='postgres', table='stock', apps=2, pool=8, rows=40,
                 cache=True):
        self.w = World(seed)
        self.db = Database(self.w, db, style)
        self.table, self.rows, self.cache = table, rows, cache
        self.apps = ['app%d' % (i + 1) for i in range(apps)]
        self.pool = {a: Lock(pool) for a in self.apps}
        self.sessions = {a: [{'port': 0x8000 + 64 * k + i} for i in range(pool)]
                         for k, a in enumerate(self.apps)}

    def ask_cache(self, app):
        port = 0x9000 + 64 * self.apps.index(app) + self.w.random.randrange(64)
        yield from self.w.call(app, 'redis', port, 'GET', wait(self.w, 0.3))

    def with_session(self, app, work):
        """takes a connection of the app's pool, and gives it back"""
        yield self.pool[app]
        session = self.sessions[app].pop()
        yield from work(session)
        self.sessions[app].append(session)
        self.w.release(self.pool[app])

    def request(self, label, work, port):
        """work: a function of the app that yields what it does"""
        app = self.w.random.choice(self.apps)

        def served():
            yield self.w.think(1)
            if self.cache:
                yield from self.ask_cache(app)
                yield self.w.think(0.5)
            yield from work(app)
            yield self.w.think(0.5)
        yield from self.w.call('client', app, port, label, served())

    def read(self, label, statement, ms=0.8):
        def work(app):
            yield from self.with_session(app, lambda s: self.db.ask(app, s, statement, ms=ms))
        return label, work

    def row(self):
        return self.table, self.w.random.randrange(self.rows)

    def write(self, label, extra=None, row=None, statements=None):
        """a transaction with a lock; extra(app): what it does while it has that"""
        def work(app):
            r = row or self.row()
            some = statements or [('SELECT ' + self.table, r), ('UPDATE ' + self.table, r)]
            pause = extra(app) if extra else ()
            yield from self.with_session(
                app, lambda s: transaction(self.db, app, s, some, pause))
        return label, work

    def clients(self, kinds, rate):
        """kinds: (weight, (label, work)); rate: requests a second, at random times"""
        def source():
            weights = [weight for weight, _ in kinds]
            for i in range(10 ** 9):
                yield self.w.random.expovariate(rate / 1000) * MS
                label, work = self.w.random.choices(kinds, weights)[0][1]
                self.w.go(self.request(label, work, 0xa000 + i % 0x2000))
        self.w.go(source())

    def every(self, ms, make, after=0.0):
        """a program from outside, that runs again and again"""
        def loop():
            yield after * MS
            for i in range(10 ** 9):
                yield from make()
                yield self.w.think(ms)
        self.w.go(loop())

    def outsider(self, name, port, row, hold, statements=None, every=2000.0, after=0.0, own=None):
        session = {'port': port}
        some = statements or [('SELECT ' + self.table, row), ('UPDATE ' + self.table, row)]

        def make():
            yield from transaction(self.db, name, session, some, wait(self.w, hold))
        self.every(every, make, after)

    def usual(self, rate=30.0, more=()):
        self.clients([(6, self.read('GET /item', 'SELECT ' + self.table)),
                      (3, self.read('GET /list', 'SELECT list', 2)),
                      (3, self.write('POST /buy'))] + list(more), rate)

    def innocents(self, n=3):
        """programs with long transactions on the same table that lock nothing that others want"""
        for i in range(n):
            self.outsider('report%d' % (i + 1), 0xe100 + i, None, 350,
                          [('SELECT ' + self.table, None), ('SELECT list', None)], every=300)


def one_holder(bad, seed):
    s = Shop(seed, 'mysql', 'mysql', 'accounts', rows=8)
    s.usual()
    if bad:
        s.outsider('batch', 0xe001, ('accounts', 3), 300)
    return s


def innocents(bad, seed):
    s = Shop(seed, 'pg', 'postgres', 'seats', rows=20)
    s.usual()
    s.innocents()
    if bad:
        s.outsider('import', 0xe001, ('seats', 7), 400)
    return s


def own_request(bad, seed):
    s = Shop(seed, 'db', 'postgres', 'wallet', rows=20)
    def pay(app):
        yield from s.w.call(app, 'bank', 0xd000 + s.w.random.randrange(64), 'POST /pay', wait(s.w, 250))
    s.usual(more=[(0.4, s.write('POST /refund', pay if bad else None, ('wallet', 5)))])
    return s


def in_turn(bad, seed):
    s = Shop(seed, 'mysql', 'mysql', 'ledger', rows=25)
    s.usual()
    if bad:
        s.outsider('night', 0xe001, ('ledger', 2), 250, every=1500)
        s.outsider('sync', 0xe002, ('ledger', 2), 200, every=1500, after=20)
    return s


def before_capture(bad, seed):
    s = Shop(seed, 'postgres', 'postgres', 'orders', rows=10)
    s.usual(40)
    s.late = bad
    if bad:
        s.outsider('admin', 0xe001, ('orders', 4), 6000, every=10 ** 9)
    return s


def pool_report(bad, seed):
    s = Shop(seed, 'mysql', 'mysql', 'visits', pool=3 if bad else 12, apps=1)
    s.usual(40, [(1, s.read('GET /report', 'SELECT totals', 250))])
    return s


def pool_idle(bad, seed):
    s = Shop(seed, 'postgres', 'postgres', 'basket', pool=2 if bad else 12, cache=False, rows=4000)
    def mail(app):
        yield from s.w.call(app, 'smtp', 0xd000 + s.w.random.randrange(64), 'MAIL', wait(s.w, 120))
    s.usual(25, [(3, s.write('POST /invite', mail))])
    return s


def pool_replica(bad, seed):
    s = Shop(seed, 'maria', 'mysql', 'cards', apps=3)
    if bad:
        s.pool['app2'], s.sessions['app2'] = Lock(1), s.sessions['app2'][:1]
    s.usual(45, [(1, s.read('GET /search', 'SELECT words', 90))])
    return s


def lock_and_pool(bad, seed):
    s = Shop(seed, 'postgres', 'postgres', 'stock', pool=3 if bad else 12, rows=4)
    s.usual(60)
    if bad:
        s.outsider('cron', 0xe001, ('stock', 1), 500, every=1500)
    return s


def implicit_rare(bad, seed):
    s = Shop(seed, 'mysql', 'implicit', 'shop.rooms', rows=6)
    s.usual(20)
    s.innocents(2)
    if bad:
        s.outsider('clean', 0xe001, ('shop.rooms', 3), 700, every=9000, after=2000)
    return s


# Who is to be named, by "lock" or "connection": the node of the wait, and a beginning of the holder.
PLANTED = {
    'one-holder': (one_holder, [('lock', 'mysql', 'batch: ')]),
    'innocents': (innocents, [('lock', 'pg', 'import: ')]),
    'own-request': (own_request, [('lock', 'db', 'POST /refund > app')]),
    'in-turn': (in_turn, [('lock', 'mysql', 'night: '), ('lock', 'mysql', 'sync: ')]),
    'before-capture': (before_capture, [('lock', 'postgres', 'admin: ')]),
    'pool-report': (pool_report, [('connection', 'app1', 'GET /report > ')]),
    'pool-idle': (pool_idle, [('connection', 'app', 'POST /invite > ')]),
    'pool-replica': (pool_replica, [('connection', 'app2', 'GET /search > ')]),
    'lock-and-pool': (lock_and_pool, [('lock', 'postgres', 'cron: '), ('connection', 'app', 'POST /buy > ')]),
    'implicit-rare': (implicit_rare, [('lock', 'mysql', 'clean: ')]),
}


def check(expected):
    """each expected holder has a quarter of some waits; whoever has half of some is expected"""
    rows = [dict(zip(FIELDS, line.rstrip('\n').split('\t'))) for line in sys.stdin][1:]
    rows = [r for r in rows if r['for'] != 'worker']

    def is_one(r, what, node, holder):
        return r['for'] == what and r['node'].startswith(node) and r['holding'].startswith(holder)
    for one in expected:
        if not any(is_one(r, *one) and float(r['share']) >= 0.25 for r in rows):
            print('not named:', *one)
    for r in rows:
        if float(r['share']) >= 0.5 and not any(is_one(r, *one) for one in expected):
            print('named:', *r.values())


FIELDS = ('for', 'node', 'of', 'workers', 'waiting', 'calls', 'waited', 'mean', 'holding', 'open', 'time', 'share')


def main():
    name = sys.argv[1]
    if '--check' in sys.argv:
        check(PLANTED[name][1])
        return
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    shop = PLANTED[name][0]('--clean' not in sys.argv, seed)
    shop.w.run(60e9)
    start = 1.5e9 if getattr(shop, 'late', False) else 0
    print('# ravel trace 1\n# ids: connection.sequence')
    for time, op, sender, receiver, ident, attributes in sorted(shop.w.lines, key=lambda line: line[0]):
        if time >= start:
            print('%.9f\t%s\t%s\t%s\t%s\t%s' % (1.8e9 + time / 1e9, op, sender, receiver, ident, attributes))


if __name__ == '__main__':
    main()
