# SPDX-License-Identifier: BSD-2-Clause
"""speedscope.py INDEX.HTML FILE: speedscope loads the trace events of FILE, without an error
and without another request, and finds in the first lane the calls that are there, with
their times."""

import collections
import json
import re
import sys

from chromium import Chromium


def times_of_first_lane(path):
    """Of each name (total, self) in us: with what lies below it, counted once where it lies
    below itself, and alone."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    total, alone, stack = collections.Counter(), collections.Counter(), []
    for event in sorted((e for e in events if e["tid"] == 1 and e["ph"] != "M"), key=lambda e: e["ts"]):
        if event["ph"] == "B":
            stack.append([event["name"], event["ts"], 0])
            continue
        name, start, below = stack.pop()
        lasted = event["ts"] - start
        if name not in (other[0] for other in stack):
            total[name] += lasted
        alone[name] += lasted - below
        if stack:
            stack[-1][2] += lasted
    return {" ".join(name.split()): (total[name], alone[name]) for name in alone}


def microseconds(text):
    """"39.60ms (0.37%)", which has four digits"""
    number, unit = re.match(r"([0-9.]+)(ns|µs|ms|s)", text.strip()).groups()
    return float(number) * {"ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6}[unit]


def rows_of(browser):
    """Of each name the texts of total and self, in the table of all frames."""
    rows = browser.run("[...document.querySelectorAll('table tr')].map((row) => row.innerText)")
    found = {}
    for row in rows:
        cells = [cell.strip() for cell in re.split(r"[\t\n]+", row) if cell.strip()]
        # A row that begins otherwise is of another lane, to be chosen.
        if len(cells) > 2 and all(re.match(r"[0-9]", cell) for cell in cells[:2]):
            found[" ".join(cells[2:])] = cells[:2]
    return found


def main():
    page, path = sys.argv[1:]
    wrong = []
    with Chromium() as browser:
        browser.open(page)
        browser.wait("document.querySelector('input[type=file]') !== null", 30)
        file_input = browser.call("Runtime.evaluate", expression="document.querySelector('input[type=file]')")
        browser.call("DOM.setFileInputFiles", objectId=file_input["result"]["objectId"], files=[path])
        if not browser.wait("/Sandwich[^]*lane 1/.test(document.body.innerText)", 30):
            wrong.append(browser.run("document.body.innerText"))
        browser.key("3")  # the table of all frames
        browser.wait("document.querySelector('table tr') !== null", 30)
        found, expected = rows_of(browser), times_of_first_lane(path)
        if found.keys() != expected.keys():
            wrong.append(f"frames {sorted(found)}, expected {sorted(expected)}")
        for name in found.keys() & expected.keys():
            for text, time in zip(found[name], expected[name]):
                if abs(microseconds(text) - time) > 0.006 * time + 0.001:
                    wrong.append(f"{name}: {text}, expected {time} us")
        # The browser draws in software; and the end of a call has arguments that its begin has not.
        usual = re.compile(r"WebGL|on the top of the stack\. Ending")
        wrong += [problem for problem in browser.problems if not usual.search(problem)]
        wrong += [url for url in browser.requests if not re.match("(file|data|blob):", url)]
    print(*wrong, sep="\n")
    return bool(wrong)


sys.exit(main())
