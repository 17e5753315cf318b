#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks what `ravel why` says. A line on standard output says what is wrong; none: nothing.

why.py planted RAVEL STORE PLACE...   the three slowest requests name one of PLACE first, or the queue before it
why.py none RAVEL STORE               no place stands out, and there is no burst
why.py again RAVEL STORE              requests by a second, obvious computation; web1 and web2 are replicas
why.py waiting RAVEL STORE TRACE NODE K  who held the K workers of NODE, which serve in turn
why.py pauses RAVEL STORE TRACE NODE PROBE  prints how many pauses of NODE had calls to serve, how many of
                                      these are found, and how many others; PROBE: the same pauses, dense calls
why.py packets RAVEL STORE PCAP       the filter of each request finds the packets of all its calls
why.py cut RAVEL STORE PCAP           ravel cut copies the packets that have the ports and times of a request's calls
"""
import bisect
import collections
import json
import math
import re
import sqlite3
import struct
import subprocess
import sys

MILLISECOND = 10**6
RAVEL, STORE = sys.argv[2:4]


def why(*arguments):
    command = [RAVEL, "why", "--format", "json", STORE, *arguments]
    return [json.loads(line) for line in subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()]


def planted(places):
    for request in why("--slowest", "3"):
        first = request["places"][0]["place"]
        if first.removesuffix(" (queue)").replace(" ", "") not in places:
            print(f"request {request['request']}: {first}, expected one of {places}")


def none():
    (answer,) = why()
    if answer["burst"]:
        print("a burst:", answer["burst"])
    for kind in answer["kinds"]:
        for place in kind["places"]:
            if place["place"] != "web1|web2" and place["share"] > 0.5:
                print("stands out:", place)


def median(values):
    return sorted(values)[(len(values) + 1) // 2 - 1]


def check_shared(shared, n, time):
    """Counts nodes and operations of the n slowest again, and Fisher's exact test."""
    slowest = sorted(time, key=lambda request: (-time[request], request))[:n]
    db = sqlite3.connect(STORE)
    tests = set()
    for s in shared:
        where = {"node": "node.written", "operation": "label.name"}[s["kind"]]
        having = {path for path, in db.execute(f"""SELECT DISTINCT path FROM call JOIN node ON node.id = +callee
            LEFT JOIN label ON label.id = label WHERE {where} = ?""", (s["value"],))}
        slow = len(having.intersection(slowest))
        if (s["slow"], s["slowest"], s["all"], s["requests"]) != (slow, n, len(having), len(time)):
            print(f"{s['value']}: another number of requests")
        p = sum(math.comb(len(having), k) * math.comb(len(time) - len(having), n - k)
                for k in range(slow, min(n, len(having)) + 1)) / math.comb(len(time), n)
        tests.add(round(s["chance"] / p, 1))
        if s["chance"] > 0.01:
            print(f"{s['value']}: by chance")
    if len(tests) != 1 or tests.pop() % 1:
        print("shared: another chance")


def again():
    """Kinds are operations; the slot of a call is the names from the root on, its web being any."""
    store = sqlite3.connect(STORE)
    rows = store.execute(
        "SELECT request, id, parent, node, own, network, enter, reply, entry_label, request_latency FROM hop ORDER BY id"
    ).fetchall()
    chain, nodes = {}, collections.defaultdict(list)
    own = collections.defaultdict(lambda: collections.defaultdict(int))
    most, kind, time = {}, {}, {}
    for request, call, parent, node, busy, network, enter, reply, label, latency in rows:
        name = "web1|web2" if node in ("web1", "web2") else node
        chain[call] = chain[parent] + (name,) if parent else (name,)
        nodes[node].append((enter, reply))
        own[request][chain[call]] += busy
        own[request]["(network)",] += network
        key = request, chain[call]
        if key not in most or busy > most[key][0]:
            most[key] = busy, node, enter
        kind[request], time[request] = label, latency
    members = collections.defaultdict(list)
    for request, label in kind.items():
        members[label].append(request)
    enters = {node: sorted(e for e, _ in spans) for node, spans in nodes.items()}
    replies = {node: sorted(r for _, r in spans) for node, spans in nodes.items()}
    *answers, last = why("--slowest", "60")
    check_shared(last["shared"], 60, time)
    for r in answers:
        request = r["request"]
        alike = members[kind[request]]
        if (int(r["time"]), int(r["usual"]), r["alike"]) != (time[request], median([time[m] for m in alike]), len(alike)):
            print(f"request {request}: another time")
        for p in r["places"]:
            path = tuple(p["place"].split(" / "))
            path = path if path in (("lb",), ("(network)",)) else ("lb", *path)
            usual = median([own[m].get(path, 0) for m in alike])
            load = 0
            if (request, path) in most:
                _, node, enter = most[request, path]
                load = bisect.bisect_left(enters[node], enter) - bisect.bisect_right(replies[node], enter)
            found = int(p["own"]), int(p["usual"]), p["load"]
            if found != (own[request].get(path, 0), usual, load):
                print(f"request {request}, {p['place']}: {found}, expected {own[request].get(path, 0), usual, load}")
        missing = set(own[request]) - {("lb", *p["place"].split(" / ")) for p in r["places"]} - {("lb",), ("(network)",)}
        if missing:
            print(f"request {request}: nothing of {missing}")
    if len(answers) != 60:
        print(f"{len(answers)} requests, expected 60")


def charge(calls, workers):
    """The time that callers waited while others were served. A call is (caller, enter, start, reply)."""
    held = collections.Counter()
    for waiting, enter, start, _ in calls:
        for holding, _, begin, end in calls:
            if enter < start and begin < start and enter < end:
                held[waiting, holding] += max(0, min(start, end) - max(enter, begin)) / workers
    return held


def served_in_turn(trace, node, workers):
    """The calls into a node whose workers take them first come, first served; by the ids of messages."""
    enters, replies = {}, {}
    for time, op, sender, receiver, call in messages(trace):
        if op == "CALL_SENT" and receiver == node:
            enters[call] = (time, sender)
        elif op == "RET_SENT" and sender == node:
            replies[call] = time
    calls = sorted((enter, replies[call], caller) for call, (enter, caller) in enters.items())
    done = sorted(replies.values())
    begins = [max(enter, done[i - workers] if i >= workers else enter) for i, (enter, _, _) in enumerate(calls)]
    return [(caller, enter, begin, reply) for (enter, reply, caller), begin in zip(calls, begins)]


def waiting(trace, node, workers):
    """Shares within 3 points of the truth, and times to the nanosecond of those by the store's own waits."""
    (answer,) = why("--waiting")
    client = {"app(db)": "alone"}
    named = [[client.get(w[side], w[side].split(" > ")[0]) for side in ("waiting", "holding")] for w in answer["waits"]]
    said = dict(zip(map(tuple, named), answer["waits"]))
    store = sqlite3.connect(STORE)
    rows = store.execute(
        "SELECT caller.name, call_recv, call_sent, wait, ret_sent, ret_recv FROM call JOIN node ON node.id = +callee "
        "JOIN node AS caller ON caller.id = +caller WHERE node.name = ?",
        (node,),
    )
    stored = [(c, recv or sent, (recv or sent) + wait, left or back) for c, recv, sent, wait, left, back in rows]
    for held, least in ((charge(served_in_turn(trace, node, workers), workers), 0.03), (charge(stored, workers), 2e-4)):
        total = collections.Counter()
        for (kind, _), time in held.items():
            total[kind] += time
        if not total or {w for w, _ in said} != set(total):
            print("waiting:", sorted(said), "expected", sorted(total))
        for pair in sorted(set(held) | set(said)):
            share = held[pair] / total[pair[0]]
            found = said[pair]["share"] if pair in said else 0
            if not abs(found - share) < least:
                print(f"{pair[0]} behind {pair[1]}: {found:.4f}, expected {share:.4f}")


def messages(trace):
    with open(trace) as lines:
        for line in lines:
            if line[0] != "#":
                time, *fields = line.split()
                yield int(time.replace(".", "")), *fields[:4]


def planted_pauses(probe):
    """(begin, end) of each: the calls of the probe that came in it are served at its end."""
    enters, pauses = {}, []
    for time, op, _, _, call in messages(probe):
        if op == "CALL_SENT":
            enters[call] = time
        elif time - enters[call] > MILLISECOND and (not pauses or enters[call] > pauses[-1][1]):
            pauses.append((enters[call], time))
    return pauses


def served(trace, node):
    """(from, to): stretches of time in which the node has calls that wait for no callee."""
    running, since = 0, 0
    for time, op, sender, receiver, _ in messages(trace):
        change = (receiver == node) - (sender == node)
        running, before = running + change, running
        if before == 0 < running:
            since = time
        elif running == 0 < before:
            yield since, time


def pauses(trace, node, probe):
    (answer,) = why()
    found = [(p["nodes"], int(t["from"]), int(t["to"])) for p in answer["pauses"] for t in p["times"]]
    planted, work = planted_pauses(probe), list(served(trace, node))
    with_work = [
        (begin, end)
        for begin, end in planted
        if any(since < end - 10 * MILLISECOND and end < until for since, until in work)
    ]
    hit = [(b, e) for b, e in with_work if any(n == node and since < e and b < until for n, since, until in found)]
    wrong = [f for f in found if f[0] != node or not any(f[1] < e and b < f[2] for b, e in planted)]
    print(len(with_work), len(hit), len(wrong))


def packets(capture):
    """The first packet of each call, by port and sequence number, and the last before the answer."""
    fields = "frame.time_epoch tcp.srcport tcp.dstport tcp.seq_raw tcp.len".split()
    command = ["tshark", "-r", capture, "-T", "fields", *(w for f in fields for w in ("-e", f)), "tcp.len > 0"]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    by_port = collections.defaultdict(list)
    for line in text.splitlines():
        at, source, target, sequence, length = line.split("\t")
        seconds, rest = at.split(".")
        packet = int(seconds) * 10**9 + int(rest.ljust(9, "0")), source, int(sequence), int(length)
        by_port[source].append(packet)
        by_port[target].append(packet)
    for there in by_port.values():
        there.sort()
    store = sqlite3.connect(STORE)
    calls = collections.defaultdict(list)
    for row in store.execute("SELECT path, trace_id, ret_sent FROM call"):
        calls[row[0]].append(row[1:])
    answer = subprocess.run([RAVEL, "why", "--packets", "--slowest", "100000000", STORE], check=True,
                            stdout=subprocess.PIPE, text=True).stdout.splitlines()
    term = re.compile(r"\(\(tcp\.port == (\d+) \|\| udp\.port == (\d+)\) && frame\.time_epoch >= (\d+)\.(\d{9}) && "
                      r"frame\.time_epoch <= (\d+)\.(\d{9})\)")
    n = 0
    for i in range(0, len(answer), 3):
        request = int(answer[i].split()[1])
        shown, captured = answer[i + 1], answer[i + 2].removeprefix("tcpdump: ").split(" or ")
        if term.sub("", shown.removeprefix("wireshark: ")).replace(" || ", ""):
            print(f"request {request}: more than terms in {shown}")
        found = set()
        for port, _, s, ns, t, nt in term.findall(shown):
            there = by_port[port]
            for at, source, sequence, length in there[bisect.bisect_left(there, (int(s + ns),)) :]:
                if at > int(t + nt):
                    break
                found.add((port, "call", sequence, length) if source == port else (port, "end", at))
            if f"port {port}" not in captured:
                print(f"request {request}: tcpdump's filter lacks port {port}")
        begins = collections.defaultdict(list)
        for entry in found:
            if entry[1] == "call":
                begins[entry[0]].append(entry[2:])
        for identity, end in calls[request]:
            port, sequence = (int(word, 16) for word in identity.split("."))
            n += 1
            if not any((sequence - first) % 2**32 < length for first, length in begins[str(port)]):
                print(f"request {request}: the call {identity} is not found")
            if (str(port), "end", end) not in found:
                print(f"request {request}: the end of {identity} is not found")
    if n != sum(map(len, calls.values())):
        print(f"{n} calls, expected {sum(map(len, calls.values()))}")


def read_pcap(path):
    """(time, bytes) of each packet, of a file with stamps of nanoseconds."""
    data = open(path, "rb").read()
    at = 24
    while at < len(data):
        seconds, ns, n, _ = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + ns, data[at + 16 : at + 16 + n]
        at += 16 + n


def read_pcapng(data):
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            high, low, n = struct.unpack_from("<III", data, at + 12)
            yield high << 32 | low, data[at + 28 : at + 28 + n]
        at += length


def cut(capture):
    captured = list(read_pcap(capture))
    store = sqlite3.connect(STORE)
    rows = "SELECT trace_id, coalesce(call_sent, call_recv), coalesce(ret_recv, ret_sent), connect, coalesce(connecting, 0) FROM call WHERE path = ?"
    (n,) = store.execute("SELECT count(*) FROM request").fetchone()
    for request in [*range(1, n, n // 12)]:
        calls = [(int(i.split(".")[0], 16), s - (c if w else 0), e) for i, s, e, c, w in store.execute(rows, (request,))]
        expected = []
        for time, frame in captured:
            ports = struct.unpack_from(">HH", frame, 14 + 4 * (frame[14] & 15))  # Ethernet, IPv4
            if any(port in ports and start <= time <= end for port, start, end in calls):
                expected.append((time, frame))
        command = [RAVEL, "cut", STORE, str(request), "-r", capture]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if list(read_pcapng(run.stdout)) != expected or len(expected) < 2 * len(calls):
            print(f"request {request}: other packets than the {len(expected)} expected")
        again = [RAVEL, "capture", "-r", "-"]
        trace = subprocess.run(again, check=True, input=run.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.decode()
        for identity, *_ in store.execute(rows, (request,)):
            if trace.count(f"\t{identity}\t") != 2:
                print(f"request {request}: no call {identity} in its packets")


{
    "planted": lambda: planted(sys.argv[4:]),
    "none": none,
    "again": again,
    "waiting": lambda: waiting(sys.argv[4], sys.argv[5], int(sys.argv[6])),
    "pauses": lambda: pauses(*sys.argv[4:7]),
    "packets": lambda: packets(sys.argv[4]),
    "cut": lambda: cut(sys.argv[4]),
}[sys.argv[1]]()
