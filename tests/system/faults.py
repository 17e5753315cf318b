#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Servers, a client and a link whose faults are planted: see faults.sh.

    faults.py serve NODES NAME [POOL]         what `web` and `db` do is said by the path of a request
    faults.py load ADDRESS:PORT LOG [-c N] ROUNDS PATH...
                                              asks for all paths in turn, so often, with N clients at a time
    faults.py link BRIDGE BRIDGE DELAY_MS SHARE WORD...
                                              joins the bridges: frames come later, and to the second one a
                                              share of them never, nor every other with a word in it
    faults.py watch INTERFACE                 a line "TIME ADDRESS:PORT ADDRESS:PORT SEQUENCE" for each packet
                                              with data, ns since the epoch; of HTTP/2, with a header or a message

The load writes a line "PATH START END STATUS" for each request, in ns since the epoch.
"""
import fcntl
import http.client
import http.server
import os
import queue
import random
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

from service import Postgres, Redis, connect


GRPC_NODE = "10.88.0.80:8000"


class Pool:
    """Connections to one server, opened when they are needed, at most `size` of them."""

    def __init__(self, opener, size):
        self.opener = opener
        self.free = queue.LifoQueue()
        for _ in range(size):
            self.free.put(None)

    def call(self, *arguments):
        connection = self.free.get()
        try:
            connection = connection or self.opener()
            return connection.call(*arguments)
        except (OSError, EOFError):
            connection = None
            raise
        finally:
            self.free.put(connection)


class Http:
    """A connection on which a request may be written in two pieces."""

    def __init__(self, address, port, nagle=False):
        self.sock = socket.create_connection((address, port), 20)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, not nagle)
        self.file = self.sock.makefile("rb")

    def call(self, path, *pieces):
        head = f"POST {path} HTTP/1.1\r\nHost: db\r\nContent-Length: {sum(map(len, pieces))}\r\n\r\n".encode()
        if len(pieces) < 2:
            self.sock.sendall(b"".join((head,) + pieces))
        else:
            for piece in (head,) + pieces:
                self.sock.sendall(piece)
        line = self.file.readline()
        if not line:
            raise EOFError
        length = 0
        while (field := self.file.readline()) != b"\r\n":
            if field.lower().startswith(b"content-length:"):
                length = int(field.split(b":")[1])
        self.file.read(length)
        return int(line.split()[1])


def ask_name(server, name, patience):
    """One query of DNS, sent again until it is answered."""
    query = struct.pack("!6H", random.randrange(65536), 0x100, 1, 0, 0, 0)
    query += b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((server, 53))
        sock.settimeout(patience)
        for _ in range(3):
            sock.send(query)
            try:
                return sock.recv(512)[3] & 15
            except TimeoutError:
                pass
    raise TimeoutError(name)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server = self.server
        time.sleep(0.003)
        if server.name.startswith("db"):
            status, size = self.be_db(path)
        else:
            status, size = server.be_web(path)
            time.sleep(0.001)
        self.send_response(status)
        self.send_header("Content-Length", str(size))
        if server.name == "db" and path == "/reply":
            self.send_header("X-Lost", "reply")
        self.end_headers()
        self.wfile.write(b"x" * size)

    do_POST = do_GET

    def be_db(self, path):
        if path == "/die" and self.server.name == "db":  # in the middle of a reply
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Len")
            self.wfile.flush()
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        if path == "/late" and self.server.name == "db":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + b"x" * 40000)
            self.wfile.flush()
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        if path == "/refuse":  # twice, then not
            with self.server.lock:
                self.server.refused += 1
                if self.server.refused % 3:
                    return 503, 10
        if path.startswith("/hold"):
            time.sleep(0.017)
        return 200, 20

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True

    def __init__(self, addresses, name, pool):
        self.name = name
        self.lock = threading.Lock()
        self.refused = 0
        self.addresses = addresses
        db = addresses.get("db")
        self.pools = {
            "db": Pool(lambda: Http(db, 8000), pool),
            "nagle": Pool(lambda: Http(db, 8000, True), pool),
            "postgres": Pool(lambda: Postgres(addresses["postgres"], 5432), pool),
            "redis": Pool(lambda: Redis(addresses["redis"], 6379), pool),
        }
        self.stock = None
        super().__init__((addresses[name], 8000), Handler)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # of who gave up
            super().handle_error(request, client_address)

    def be_web(self, path):
        """Calls others; the status and the size of the answer."""
        kind, _, rest = path[1:].partition("-")
        try:
            if kind == "upload":
                return 200, 20
            if kind == "download":
                return 200, 100000
            if kind == "pieces":
                return self.pools["nagle"].call(path, b"a" * 100, b"b" * 100), 20
            if kind == "syn":
                return Http(self.addresses["db"], 8000).call(path, b"x"), 20
            if kind == "sql":
                self.pools["postgres"].call(None, STATEMENTS[rest])
                return 200, 20
            if kind == "redis":
                self.pools["redis"].call(None, *COMMANDS[rest])
                return 200, 20
            if kind == "dns":
                return (500 if ask_name(self.addresses["dns"], f"{rest}.test", 0.5) else 200), 20
            if kind == "grpc":
                return self.ask_stock(rest), 20
            return self.pools["db"].call(path, b"x"), 20
        except (RuntimeError, OSError, EOFError) as error:
            print(path, error, file=sys.stderr)
            return 500, 20

    def ask_stock(self, what):
        """A call of gRPC with a deadline of 200 ms."""
        import grpc  # pylint: disable=import-outside-toplevel,import-error
        with self.lock:
            if not self.stock:
                channel = grpc.insecure_channel(f"{self.addresses['grpc']}:8000")
                self.stock = channel.unary_unary("/shop.Stock/Get")
        try:
            self.stock(what.encode(), timeout=0.2)
            return 200
        except grpc.RpcError as error:
            return 504 if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED else 500


def serve_grpc(address):
    """Takes 3 ms, or answers after 50 that it was too late itself."""
    import concurrent.futures  # pylint: disable=import-outside-toplevel
    import grpc  # pylint: disable=import-outside-toplevel,import-error

    def get(request, context):
        time.sleep(0.05 if request == b"expire" else 0.003)
        if request == b"expire":
            context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "its own database is late")
        return b"x" * 20

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    handlers = {"Get": grpc.unary_unary_rpc_method_handler(get)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("shop.Stock", handlers)])
    server.add_insecure_port(f"{address}:8000")
    server.start()
    server.wait_for_termination()


STATEMENTS = {
    "make": "CREATE TABLE item (id int PRIMARY KEY); INSERT INTO item VALUES (1)",
    "good": "SELECT count(*) FROM item",
    "slow": "SELECT pg_sleep(1)",
    "twice": "INSERT INTO item VALUES (1)",
}
COMMANDS = {
    "loading": ("GET", "key"),
    "get": ("GET", "key"),
    "set": ("SET", "big", "x" * 10000),
}


def serve(nodes, name, pool="8"):
    with open(nodes, encoding="ascii") as file:
        addresses = {name: address for address, name in map(str.split, file)}
    if name == "grpc":
        serve_grpc(addresses[name])
    else:
        Server(addresses, name, int(pool)).serve_forever()


def ask(target, paths, lines):
    """All paths in their order, each after a short pause."""
    address, port = target.split(":")
    connection = http.client.HTTPConnection(address, int(port), timeout=20)
    for path in paths:
        time.sleep(0.004)
        if not connection.sock:
            connection.sock = socket.socket()
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            connection.sock.connect((address, int(port)))
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start = time.time_ns()
        try:
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)  # head and body in one packet
            connection.request("POST", path, body=b"x" * (100000 if path == "/upload" else 10))
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
            response = connection.getresponse()
            status = response.status
            response.read()
        except (http.client.HTTPException, OSError):
            status = 0
            connection.close()
        lines.append(f"{path} {start} {time.time_ns()} {status}\n")


def load(target, log, *arguments):
    clients = 1
    if arguments[0] == "-c":
        clients, arguments = int(arguments[1]), arguments[2:]
    connect(*target.split(":")).close()
    lines, paths = [], [f"/{path}" for path in arguments[1:]] * int(arguments[0])
    threads = [threading.Thread(target=ask, args=(target, paths, lines)) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open(log, "a", encoding="ascii") as file:
        file.writelines(lines)


def open_tap(bridge, name):
    """One end of a cable that is a file: IFF_TAP | IFF_NO_PI."""
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, 0x400454ca, struct.pack("16sH", name.encode(), 0x1002))  # TUNSETIFF
    subprocess.run(["ip", "link", "set", name, "master", bridge, "up"], check=True)
    return tap


def link(one, other, delay_ms, share, *words):
    taps = [open_tap(one, f"{other}a"), open_tap(other, f"{other}b")]
    words = [word.encode().decode("unicode_escape").encode("latin-1") for word in words]
    dice, seen, waiting = random.Random(1), dict.fromkeys(words, 0), []

    def lost(frame):
        for word in words:
            if word in frame:
                seen[word] += 1
                return seen[word] % 2
        return dice.random() < float(share)

    with selectors.DefaultSelector() as selector:
        for n in range(2):
            selector.register(taps[n], selectors.EVENT_READ, n)
        while True:
            pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
            for key, _ in selector.select(pause):
                frame = os.read(taps[key.data], 65536)
                if key.data or not lost(frame):
                    waiting.append((time.monotonic() + float(delay_ms) / 1000, taps[1 - key.data], frame))
            while waiting and waiting[0][0] <= time.monotonic():
                _, tap, frame = waiting.pop(0)
                os.write(tap, frame)


def is_control(data):
    """Whether it has frames of HTTP/2 that say nothing of a request."""
    kinds = []
    while len(data) >= 9 and int.from_bytes(data[:3], "big") < 65536:
        kinds.append(data[3])
        data = data[9 + int.from_bytes(data[:3], "big"):]
    return not {0, 1} & set(kinds)


def find_data(frame):
    """The ends of a packet of TCP or UDP with data, as one writes them, and what a copy has in common with it; None:
    it is another one."""
    if len(frame) < 42 or frame[12:14] != b"\x08\0" or frame[23] not in (6, 17):
        return None
    at = 14 + (frame[14] & 15) * 4
    ports = struct.unpack("!2H", frame[at:at + 4])
    data = at + (frame[at + 12] >> 4) * 4 if frame[23] == 6 else at + 8
    if struct.unpack("!H", frame[16:18])[0] + 14 <= data:
        return None
    ends = [f"{socket.inet_ntoa(frame[26 + 4 * n:30 + 4 * n])}:{ports[n]}" for n in range(2)]
    sequence = frame[at + 4:at + 8] if frame[23] == 6 else frame[18:20] + frame[data:data + 2]
    return None if GRPC_NODE in ends and is_control(frame[data:]) else (*ends, sequence.hex())


def watch(interface):
    """The stamps are the kernel's, which each program that captures gets."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as sock:
        sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
        sock.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        sock.bind((interface, 0))
        sock.setsockopt(263, 1, struct.pack("iHH8s", socket.if_nametoindex(interface), 1, 0, b""))  # PACKET_MR_PROMISC
        signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
        while True:
            frame, extra, _, _ = sock.recvmsg(65536, 64)
            data = find_data(frame)
            if data:
                seconds, ns = struct.unpack("qq", extra[0][2])
                print(seconds * 10**9 + ns, *data, flush=True)


if __name__ == "__main__":
    {"serve": serve, "load": load, "link": link, "watch": watch}[sys.argv[1]](*sys.argv[2:])
