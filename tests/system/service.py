#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One of the shop's own services: `web`, `auth` or `catalog`.

    web      /          auth, then catalog (a visitor's first page)
             /search    catalog
             /item/N    auth, then catalog
             /account   auth and catalog at the same time
             /order     auth, then catalog (POST)
             /style.css nobody
    auth     /session   redis          /profile  redis, redis
    catalog  /offers    postgres       /search   postgres, postgres
             /item/N    redis, and if the item is not cached postgres, redis
             /orders    postgres       /order    postgres, postgres, postgres, redis

Every call carries two headers. X-Request-Id names the client's request. X-Span
is the call's position in its tree: 17.1.2 is the second call made by the
first call of request 17. The caller of each call logs it, the services also log
what they served, and truth.py makes the true paths of these lines:

    call    SPAN  CALLER  CALLEE  START  END     taken outside of the socket calls
    served  SPAN  CALLER  CALLEE  START  END     taken inside of the socket calls

in ns since the epoch. What a packet capture between the two sees lies between
the two lines, however busy the machine is.

Connections to other services are opened before the service listens, as many as
it may ever use, and each has at most one request outstanding: no connection is set
up while requests are measured, and nothing is pipelined.
"""
import argparse
import http.client
import http.server
import json
import queue
import random
import socket
import struct
import sys
import threading
import time
import urllib.parse

PATIENCE = 20  # seconds that a dependency may take to come up


def connect(address, port):
    """A TCP connection, to a server that perhaps still starts."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            sock = socket.create_connection((address, port), timeout=PATIENCE)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Http:
    """A persistent HTTP/1.1 connection to another service."""

    def __init__(self, address, port):
        connect(address, port).close()
        self.connection = http.client.HTTPConnection(address, port, timeout=PATIENCE)
        self.connection.connect()

    def call(self, headers, method, path, body=None):
        self.connection.request(method, path, body=body, headers=headers)
        response = self.connection.getresponse()
        content = response.read()
        if response.status >= 400:
            raise RuntimeError(f"{method} {path}: status {response.status}")
        return content


class Redis:
    """As much of RESP as GET, SET and the like need."""

    def __init__(self, address, port):
        self.sock = connect(address, port)
        self.file = self.sock.makefile("rb")

    def call(self, _headers, *words):
        out = b"*%d\r\n" % len(words)
        for word in words:
            data = str(word).encode()
            out += b"$%d\r\n%s\r\n" % (len(data), data)
        self.sock.sendall(out)
        return self.reply()

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        raise RuntimeError(f"redis: {line!r}")


class Postgres:
    """As much of PostgreSQL's protocol 3.0 as simple queries need."""

    def __init__(self, address, port):
        self.sock = connect(address, port)
        self.file = self.sock.makefile("rb")
        start = struct.pack("!I", 196608) + b"user\0shop\0database\0postgres\0\0"
        self.sock.sendall(struct.pack("!I", len(start) + 4) + start)
        self.result()

    def call(self, _headers, sql):
        body = sql.encode() + b"\0"
        self.sock.sendall(b"Q" + struct.pack("!I", len(body) + 4) + body)
        return self.result()

    def result(self):
        """Reads up to ReadyForQuery; the rows, each a list of texts."""
        rows, failure = [], None
        while True:
            head = self.file.read(5)
            if len(head) < 5:
                raise RuntimeError("postgres: connection closed")
            kind, length = head[:1], struct.unpack("!I", head[1:])[0]
            body = self.file.read(length - 4)
            if kind == b"D":
                rows.append(self.row(body))
            elif kind == b"E":
                failure = body.replace(b"\0", b" ").decode()
            elif kind == b"Z":
                if failure:
                    raise RuntimeError(f"postgres: {failure}")
                return rows

    @staticmethod
    def row(body):
        fields, at = [], 2
        for _ in range(struct.unpack("!H", body[:2])[0]):
            (length,) = struct.unpack("!i", body[at:at + 4])
            at += 4
            fields.append(None if length < 0 else body[at:at + length].decode())
            at += max(length, 0)
        return fields


class Pool:
    """Connections to one server; who finds none waits for one."""

    def __init__(self, opener, address, port, size):
        self.free = queue.LifoQueue()
        for _ in range(size):
            self.free.put(opener(address, port))

    def call(self, *arguments):
        connection = self.free.get(timeout=PATIENCE)
        try:
            return connection.call(*arguments)
        finally:
            self.free.put(connection)


class Log:
    """Lines of the log, written whole whichever thread writes them."""

    def __init__(self, path):
        self.file = open(path, "a", encoding="ascii", buffering=1)
        self.lock = threading.Lock()

    def add(self, *fields):
        with self.lock:
            self.file.write("\t".join(str(f) for f in fields) + "\n")


class Request:
    """What a handler knows of the request it serves, and its way to call others."""

    def __init__(self, shop, handler):
        self.shop = shop
        self.id = handler.headers.get("X-Request-Id", "-")
        self.span = handler.headers.get("X-Span", "-")
        self.caller = shop.names.get(handler.client_address[0], "-")
        self.calls = 0

    def call(self, callee, *arguments):
        self.calls += 1
        return self.call_as(f"{self.span}.{self.calls}", callee, *arguments)

    def call_as(self, span, callee, *arguments):
        headers = {"X-Request-Id": self.id, "X-Span": span}
        start = time.time_ns()
        answer = self.shop.pools[callee].call(headers, *arguments)
        self.shop.log.add("call", span, self.shop.name, callee, start, time.time_ns())
        return answer

    def call_both(self, first, second):
        """Two calls at the same time; the answer of the first."""
        self.calls += 2
        spans = [f"{self.span}.{self.calls - 1}", f"{self.span}.{self.calls}"]
        other = threading.Thread(target=self.call_as, args=(spans[1], *second))
        other.start()
        answer = self.call_as(spans[0], *first)
        other.join()
        return answer

    def work(self, mean_ms):
        """Takes some time: the same for the same seed and call, but not for all calls."""
        dice = random.Random(f"{self.shop.seed}:{self.shop.name}:{self.span}:{self.calls}")
        time.sleep(mean_ms / 1000 * dice.lognormvariate(-0.125, 0.5))


def web(request, _method, path, arguments):
    user = arguments.get("user", "0")
    if path == "/style.css":
        return "text/css", b"body { margin: 0 }\n" * 40
    if path == "/":
        request.call("auth", "GET", f"/session?user={user}")
        request.work(0.8)
        content = request.call("catalog", "GET", "/offers")
        request.work(1.2)
    elif path == "/search":
        request.work(0.4)
        content = request.call("catalog", "GET", f"/search?q={arguments['q']}")
        request.work(0.8)
    elif path == "/account":
        content = request.call_both(("auth", "GET", f"/profile?user={user}"),
                                    ("catalog", "GET", f"/orders?user={user}"))
        request.work(0.6)
    elif path == "/order":
        request.call("auth", "GET", f"/session?user={user}")
        request.work(0.4)
        content = request.call("catalog", "POST", f"/order?user={user}&item={arguments['item']}",
                               b"pay=card")
    else:
        request.call("auth", "GET", f"/session?user={user}")
        content = request.call("catalog", "GET", path)
        request.work(0.6)
    return "text/html", b"<html><pre>" + content + b"</pre></html>\n"


def auth(request, _method, path, arguments):
    user = int(arguments["user"])
    request.work(0.3)
    answer = {"user": user, "session": str(request.call("redis", "GET", f"session:{user}"))}
    if path == "/profile":
        answer["profile"] = str(request.call("redis", "HGETALL", f"profile:{user}"))
    request.work(0.2)
    return "application/json", json.dumps(answer).encode()


def catalog(request, _method, path, arguments):
    def sql(text):
        return request.call("postgres", text)

    request.work(0.3)
    if path == "/offers":
        answer = sql("SELECT id, name, price FROM item WHERE offer ORDER BY price LIMIT 8")
    elif path == "/search":
        word = int(arguments["q"])
        if request.caller == request.shop.slow_caller:
            time.sleep(request.shop.slow_ms / 1000)
        answer = sql(f"SELECT count(*) FROM item WHERE word = {word}")
        answer += sql(f"SELECT id, name, price FROM item WHERE word = {word} ORDER BY price LIMIT 10")
    elif path == "/orders":
        answer = sql(f"SELECT id, item FROM orders WHERE person = {int(arguments['user'])} LIMIT 10")
    elif path == "/order":
        item, user = int(arguments["item"]), int(arguments["user"])
        sql("BEGIN")
        sql(f"INSERT INTO orders (person, item) VALUES ({user}, {item})")
        sql("COMMIT")
        answer = request.call("redis", "DEL", f"item:{item}")
    else:
        item = int(path.rsplit("/", 1)[1])
        answer = request.call("redis", "GET", f"item:{item}")
        if answer is None:
            answer = sql(f"SELECT id, name, price FROM item WHERE id = {item}")
            request.call("redis", "SET", f"item:{item}", json.dumps(answer))
        else:
            answer = answer.decode()
    request.work(0.2)
    return "application/json", json.dumps(answer).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # a header and a short body leave together
    disable_nagle_algorithm = True

    def do_GET(self):
        start = time.time_ns()
        shop = self.server.shop
        request = Request(shop, self)
        url = urllib.parse.urlsplit(self.path)
        arguments = dict(urllib.parse.parse_qsl(url.query))
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            kind, content = shop.serve(request, self.command, url.path, arguments)
        except Exception as error:  # pylint: disable=broad-except
            print(f"{shop.name}: {self.path}: {error}", file=sys.stderr)
            self.send_error(500)
            return
        end = time.time_ns()
        self.answer(url.path, kind, content)
        shop.log.add("served", request.span, request.caller, shop.name, start, end)

    do_POST = do_HEAD = do_GET

    def answer(self, path, kind, content):
        """Answers come in all the forms that HTTP/1.1 has for them."""
        if self.headers.get("If-None-Match") == '"1"':
            self.send_response(304)
            self.send_header("ETag", '"1"')
            self.end_headers()
            return
        self.send_response(201 if self.command == "POST" else 200)
        self.send_header("Content-Type", kind)
        if path == "/search" and self.command == "GET":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            half = len(content) // 2
            for part in (content[:half], content[half:], b""):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.flush()
            return
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


PORTS = {"auth": 8000, "catalog": 8000, "redis": 6379, "postgres": 5432}
OPENERS = {"auth": Http, "catalog": Http, "redis": Redis, "postgres": Postgres}
SERVES = {"web": web, "auth": auth, "catalog": catalog}
CALLS = {"web": ["auth", "catalog"], "auth": ["redis"], "catalog": ["redis", "postgres"]}


def fill(shop):
    """The shop's goods and its customers, before anybody measures."""
    if shop.kind == "auth":
        for user in range(50):
            shop.pools["redis"].call(None, "SET", f"session:{user}", f"{user:032x}")
            shop.pools["redis"].call(None, "HSET", f"profile:{user}", "name", f"user {user}",
                                     "since", 1990 + user % 30, "town", f"town {user % 7}")
    if shop.kind == "catalog":
        shop.pools["postgres"].call(None, """
            CREATE TABLE item AS
              SELECT n AS id, 'item ' || n AS name, n * 37 % 1000 AS price,
                     n % 50 AS word, n % 97 = 0 AS offer
              FROM generate_series(1, 2000) n;
            CREATE INDEX ON item (id); CREATE INDEX ON item (word); ANALYZE item;
            CREATE TABLE orders (id serial, person int, item int);
            CREATE INDEX ON orders (person)""")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("kind", choices=sorted(SERVES))
    parser.add_argument("--name", required=True, help="node name")
    parser.add_argument("--nodes", required=True, help="ADDRESS NAME lines")
    parser.add_argument("--log", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pool", type=int, default=8, help="connections to each server called")
    parser.add_argument("--slow-caller", default="", help="node that searches slowly")
    parser.add_argument("--slow-ms", type=float, default=0)
    shop = parser.parse_args()

    with open(shop.nodes, encoding="ascii") as file:
        shop.names = dict(line.split() for line in file if not line.startswith("#"))
    addresses = {name: address for address, name in shop.names.items()}
    shop.log = Log(shop.log)
    shop.serve = SERVES[shop.kind]
    shop.pools = {callee: Pool(OPENERS[callee], addresses[callee], PORTS[callee], shop.pool)
                  for callee in CALLS[shop.kind]}
    fill(shop)
    server = Server((addresses[shop.name], 8000), Handler)
    server.shop = shop
    server.serve_forever()


if __name__ == "__main__":
    main()
