#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""trend-stores.py RAVEL CONF SEED CASE N MESSAGES [NESTING-OPTION...]: s1.sqlite to sN.sqlite here.

Stores of N runs of examples/multi-tier.conf, CONF. CASE is what changes from one to the next: none,
creep (both application servers take 0.4 % longer in each), step (authentication takes 3 % longer
from store 7 on), new (from store 8 on one request in ten of WS1 goes without authentication), rate
(from store 7 on WS1 is asked half as often), odd (AP1 is twice as slow in store 5 alone), mix (from
store 7 on WS1 asks a database less often, which is slower for no node).
"""

import re
import subprocess
import sys

ravel, conf, seed, case, n, messages, *options = sys.argv[1:]
with open(conf, encoding="utf-8") as file:
    original = file.read()


def milliseconds(text, factor):
    """Every duration in text, and its deviation, longer by factor."""
    return re.sub(r"([0-9.]+)ms", lambda m: f"{float(m[1]) * factor:.6f}ms", text)


def application(text, factor):
    return re.sub(r"(\[AP1 AP2\]\( )(\S+)( .*? \) )(\S+)( \) 5ms~1ms \))",
                  lambda m: m[1] + milliseconds(m[2], factor) + m[3] + milliseconds(m[4], factor) + m[5], text)


def change(text, i):
    """The configuration of store i, from 1."""
    if case == "creep":
        return application(text, 1 + 0.004 * (i - 1))
    if case == "odd" and i == 5:
        return application(text, 2)
    if case == "step" and i >= 7:
        return text.replace("AUTH( 5ms~1ms", "AUTH( 5.15ms~1ms").replace("2ms~0.4ms", "2.06ms~0.4ms")
    if case == "new" and i >= 8:
        return re.sub(r"\[tracelet by WS1\]\nweight=1\n(path=.*)", lambda m: f"[tracelet by WS1]\nweight=0.9\n{m[1]}\n\n"
                      "[tracelet without]\nweight=0.1\n" + re.sub(r"AUTH\(.*?0\.4ms \) ", "", m[1]), text)
    if case == "rate" and i >= 7:
        return text.replace("[tracelet by WS1]\nweight=1\n", "[tracelet by WS1]\nweight=0.5\n")
    if case == "mix" and i >= 7:
        head, rest = text.split("[tracelet by WS1]")
        one, two = rest.split("[tracelet by WS2]")
        return head + "[tracelet by WS1]" + one.replace("?0.8", "?0.4") + "[tracelet by WS2]" + two
    return text


for i in range(1, int(n) + 1):
    text = change(original, i)
    text = re.sub("(?m)^seed=.*", f"seed={1000 * int(seed) + i}", text)
    text = re.sub("(?m)^messages=.*", f"messages={messages}", text)
    with open("conf", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([ravel, "maketrace", "-w", "trace", "conf"], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([ravel, "nesting", "--no-requests", "-n", "1", "-o", f"s{i}.sqlite", *options, "trace"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
