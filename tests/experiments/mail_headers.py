#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
mail_headers.py [--seed N] [--off SECONDS] [--share P] [--maildir] [--hosts FILE] TRACE OUT

The mails whose way a trace of `ravel maketrace` tells, as they lie in a mailbox in the end: each has
a Received header of every host that took it, in that host's style, zone and time, in whole seconds. TRACE is
of one-way messages with path=. A mail that was sent twice is there twice, with the same Message-ID. A share of
the hosts has a clock that is off by up to SECONDS; others are off by 20 ms at most. What mails
have besides, to stumble over: filters on the same host, headers without a host or a date, headers within
bodies, mails without any.

OUT is an mbox, or a maildir; FILE names the addresses, for --nodes.
"""

import argparse
import collections
import os
import random
import time

STYLES = ["sendmail", "postfix", "exim", "exchange", "qmail"]
ZONES = [0, 0, 60, 120, -300, -480, 330]
DOMAIN = "example.com"
START = 1049155200  # of the trace's time 0: 2003-04-01


class Hop:
    __slots__ = ("time", "sender", "receiver", "children")

    def __init__(self, when, sender, receiver):
        self.time, self.sender, self.receiver, self.children = when, sender, receiver, []


def hops(lines, start=START):
    """The first of each mail."""
    known, roots = {}, []
    for line in lines:
        if line.startswith("#"):
            continue
        field = line.split()
        whole, _, fraction = field[0].partition(".")
        hop = Hop((start + int(whole)) * 10**9 + int(fraction.ljust(9, "0")), field[2], field[3])
        position = field[5][len("path=") :]
        known[position] = hop
        above = position.rpartition(".")[0]
        if above:
            known[above].children.append(hop)
        else:
            roots.append(hop)
    return roots


class Host:
    def __init__(self, chance, name, number, off, share):
        self.name = name
        self.style = chance.choice(STYLES)
        self.zone = chance.choice(ZONES)
        self.ahead = chance.uniform(-off, off) if chance.random() < share else chance.uniform(-0.02, 0.02)
        self.address = f"10.{number // 256}.{number % 256}.25"
        self.filters = chance.random() < 0.2
        self.forgets = chance.random() < 0.1  # to say who it is when it sends
        self.count = 0

    def full(self):
        return f"{self.name}.{DOMAIN}"

    def stamp(self, ns, zone_name=True):
        shown = int((ns / 1e9 + self.ahead) // 1) + 60 * self.zone
        sign = "-" if self.zone < 0 else "+"
        zone = f"{sign}{abs(self.zone) // 60:02d}{abs(self.zone) % 60:02d}"
        text = time.strftime("%a, %d %b %Y %H:%M:%S", time.gmtime(shown))
        return f"{text} {zone}" + (" (here)" if zone_name and self.zone else "")

    def queue(self):
        self.count += 1
        return f"{self.name.upper()}{self.count:07X}"

    def filtered(self, ns):
        return (
            f"from localhost (localhost [127.0.0.1])\n\tby {self.full()} (Postfix) with ESMTP id {self.queue()}"
            f"\n\tfor <someone@{DOMAIN}>; {self.stamp(ns)}"
        )

    def received(self, sender, ns, chance):
        helo = "mail" if sender.forgets else sender.full()
        name, by, queue = sender.full(), self.full(), self.queue()
        if self.style == "sendmail":
            return (
                f"from {helo} ({name} [{sender.address}])\n\tby {by} (8.17.1/8.17.1) with ESMTP id {queue}"
                f"\n\tfor <someone@{DOMAIN}>; {self.stamp(ns)}"
            )
        if self.style == "postfix":
            return (
                f"from {helo} ({name} [{sender.address}])\n\t(using TLSv1.3 with cipher TLS_AES_256_GCM_SHA384"
                f" (256/256 bits)\n\t key-exchange X25519; no client certificate)\n\tby {by} (Postfix) with"
                f" ESMTPS id {queue}\n\tfor <someone@{DOMAIN}>; {self.stamp(ns)}"
            )
        if self.style == "exim":
            return (
                f"from {name} ([{sender.address}] helo={helo})\n\tby {by} with esmtps (TLS1.3) tls"
                f" TLS_AES_256_GCM_SHA384\n\t(Exim 4.96)\n\t(envelope-from <a@{DOMAIN}>)\n\tid {queue}"
                f"\n\tfor someone@{DOMAIN}; {self.stamp(ns, False)}"
            )
        if self.style == "exchange":
            return (
                f"from {helo.upper()} ({sender.address}) by\n {by.upper()} ({self.address}) with Microsoft SMTP"
                f" Server\n (version=TLS1_2, cipher=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384) id\n"
                f" 15.1.2507.{self.count}; {self.stamp(ns, False)}"
            )
        date = time.strftime("%d %b %Y %H:%M:%S -0000", time.gmtime(int((ns / 1e9 + self.ahead) // 1)))
        return (
            f"from {name} (HELO {helo}) ({sender.address})\n  by {by} with ESMTPS"
            f" (ECDHE-RSA-AES256-GCM-SHA384 encrypted); {date}"
        )


class Corpus:
    def __init__(self, roots, seed, off, share):
        self.chance = random.Random(seed)
        names = set()
        todo = list(roots)
        while todo:
            hop = todo.pop()
            names |= {hop.sender, hop.receiver}
            todo += hop.children
        self.hosts = {
            name: Host(self.chance, name, number, off, share)
            for number, name in enumerate(sorted(names), 1)
        }
        self.roots = roots
        self.counts = collections.Counter()

    def of(self, hop):
        """The headers that its receiver adds, the last first."""
        host = self.hosts[hop.receiver]
        headers = [host.received(self.hosts[hop.sender], hop.time, self.chance)]
        if host.style == "qmail":
            headers.insert(0, f"(qmail {self.chance.randrange(99999)} invoked from network); 1 Jan 2020 00:00:00 -0000")
        elif host.filters:
            headers.insert(0, host.filtered(hop.time + 10**8))
        return headers

    def ways(self, hop, below):
        headers = self.of(hop) + below
        if not hop.children:
            yield headers
        for child in hop.children:
            yield from self.ways(child, headers)

    def mail(self, number, headers):
        sender = self.hosts[self.roots[number].sender]
        text = [f"Return-Path: <a@{DOMAIN}>", f"Delivered-To: someone@{DOMAIN}"]
        text += ["Received: " + h for h in headers]
        text += [f"Message-ID: <{number}.{sender.count}@{sender.full()}>", "From: a", "Subject: secret subject", ""]
        text += ["secret body", "", ">From here it goes on: 12:00 2003", ""]
        text += ["Received: from nowhere by elsewhere; Tue, 1 Apr 2003 12:00:00 +0000", ""]
        return "\n".join(text) + "\n"

    def mails(self):
        for number, root in enumerate(self.roots):
            for headers in self.ways(root, []):
                yield root, self.mail(number, headers)


def write_mbox(mails, path):
    with open(path, "w", encoding="utf-8") as out:
        for root, text in mails:
            date = time.asctime(time.gmtime(root.time // 10**9))
            out.write(f"From a@{DOMAIN} {date}\n{text}\n")


def write_maildir(mails, path):
    for folder in ("cur", "new", "tmp"):
        os.makedirs(os.path.join(path, folder), exist_ok=True)
    with open(os.path.join(path, "dovecot-uidlist"), "w", encoding="utf-8") as out:
        out.write("3 V1 N1\n")
    for number, (root, text) in enumerate(mails):
        folder = ("cur", "new")[number % 10 == 0]
        name = f"{root.time // 10**9}.M{number}P1.{DOMAIN}" + (":2,S" if folder == "cur" else "")
        with open(os.path.join(path, folder, name), "w", encoding="utf-8") as out:
            out.write(text.replace("\n", "\r\n") if number % 7 == 0 else text)


def write_hosts(hosts, path):
    with open(path, "w", encoding="utf-8") as out:
        for host in hosts.values():
            print(host.address, host.full(), file=out)


def corpus(trace, seed, off, share):
    with open(trace, encoding="utf-8") as lines:
        return Corpus(hops(lines), seed, off, share)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--off", type=float, default=0.0)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--maildir", action="store_true")
    parser.add_argument("--hosts")
    parser.add_argument("trace")
    parser.add_argument("out")
    options = parser.parse_args()
    made = corpus(options.trace, options.seed, options.off, options.share)
    if options.hosts:
        write_hosts(made.hosts, options.hosts)
    (write_maildir if options.maildir else write_mbox)(made.mails(), options.out)
