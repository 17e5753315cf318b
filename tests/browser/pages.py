#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""pages.py RAVEL SOURCE: the pages of ravel report, ravel diff and ravel trend in a real browser.

In an empty directory, where it leaves what it made; make check-long STEPS=browser runs it. Where
AXE is the path of axe-core's axe.min.js, the pages are checked with that as well. TAP.
"""

import json
import os
import sqlite3
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from chromium import Chromium  # pylint: disable=wrong-import-position

ravel, source = map(os.path.abspath, sys.argv[1:])
n = bad = 0


def result(name, problem=None):
    """problem: None or "" or [] where all is well."""
    global n, bad
    n += 1
    print(f"{'not ' if problem else ''}ok {n} - {name}", flush=True)
    if problem:
        bad = 1
        print("#", str(problem)[:2000].replace("\n", "\n# "))


def differs(found, expected):
    return None if found == expected else f"found {found}\nexpected {expected}"


def make(*arguments):
    subprocess.run([ravel, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def duration(ns):
    """As the page writes it."""
    size, sign = abs(ns), "\u2212" if ns < 0 else ""
    if size < 999.5:
        return f"{sign}{round(size)}\u00a0ns"
    for scale, unit in ((1e3, "us"), (1e6, "ms"), (1e9, "s")):
        value = size / scale
        digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
        if value < 999.5 or unit == "s":
            return f"{sign}{value:.{digits}f}\u00a0{unit}"
    return None


def rate(a_second):
    return f"{a_second:.3g}/s" if a_second < 99.95 else f"{round(a_second):,}/s"


def edges_of(path):
    """Of each edge: calls, the share of errors (None: not seen), of calls without an answer, the latencies of the others."""
    edges = {}
    for caller, callee, outcome, label, continues, latency in sqlite3.connect(path).execute(
            "SELECT a.name, b.name, outcome, label, continues, coalesce(ret_recv, ret_sent) - coalesce(call_sent, call_recv) FROM call JOIN node a ON a.id = caller JOIN node b ON b.id = callee"):
        e = edges.setdefault(f"{caller} > {callee}", {"calls": 0, "errors": 0, "seen": False, "unanswered": 0, "latencies": []})
        e["calls"] += 1
        e["errors"] += outcome is not None
        e["seen"] |= outcome is not None or label is not None
        e["unanswered"] += continues == "no answer"
        if continues != "no answer":
            e["latencies"].append(latency)
    return edges


SIDEWAYS = """[...document.querySelectorAll('body *')].filter((e) => e.scrollWidth > e.clientWidth + 1 &&
    ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)).map((e) => `${e.tagName}.${e.className} ${e.scrollWidth}`)"""
LABELS = """[...document.querySelectorAll('svg')].flatMap((s) => { const t = [...s.querySelectorAll('text')].map((e) => [e.getBoundingClientRect(), e.textContent]);
    return t.flatMap(([a, x], i) => t.slice(i + 1).filter(([b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4).map(([, y]) => `${x} / ${y}`)); })"""
COLLISIONS = """[...document.querySelectorAll('.grid .row, .lanes .lane')].flatMap((row) => {
    const cells = [...row.children].map((e) => e.getBoundingClientRect()).filter((r) => r.width > 0);
    return cells.filter((a, i) => cells.some((b, j) => j > i && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)).map(() => row.textContent.slice(0, 40)); })"""


def rows_of(browser):
    """All rows of the list, however few of them exist at a time: [id, [text of each cell]...]"""
    return browser.run("""(async () => {
        const body = document.querySelector('.grid .body'), found = new Map();
        const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        for (body.scrollTop = 0; ; body.scrollTop += body.clientHeight) {
            await frame();
            for (const row of body.querySelectorAll('.row[data-id]'))
                found.set(Number(row.getAttribute('aria-rowindex')), [row.dataset.id, [...row.children].map((c) => c.textContent)]);
            if (body.scrollTop + body.clientHeight >= body.scrollHeight - 1) break;
        }
        body.scrollTop = 0;
        await frame();
        return [...found].sort((a, b) => a[0] - b[0]).map((r) => r[1]);
    })()""")


AXE = os.environ.get("AXE", "")


def axe(browser, name):
    if not AXE:
        global n
        n += 1
        print(f"ok {n} - {name}: axe-core # SKIP axe-core is not there")
        return
    with open(AXE, encoding="utf-8") as file:
        browser.run(file.read() + ";0")
    found = browser.run("""axe.run(document).then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact))
        .map((v) => `${v.id} (${v.impact}): ` + v.nodes.slice(0, 4).map((n) => n.html + ' ' + n.any.concat(n.all).map((c) => c.message).join('; ')).join(' | ')))""")
    result(f"{name}: no serious finding of axe-core", "\n".join(found))


# --- the bundled capture -----------------------------------------------------

make("capture", "-r", f"{source}/demo/shop.pcap.zst", "--nodes", f"{source}/demo/shop.nodes", "-w", "shop.trace")
make("nesting", "-o", "shop.sqlite", "shop.trace")
make("report", "-o", "shop.html", "shop.sqlite")
store = sqlite3.connect("shop.sqlite")
COLUMNS = "hash, count, total, mean, p50, p99, deviation"
stored = store.execute(f"SELECT {COLUMNS} FROM pattern ORDER BY total DESC, signature").fetchall()


def expected_row(row):
    return [row[0], f"{row[1]:,}", *(duration(t) for t in row[2:])]


def shown(rows):
    return [[r[0], r[1][3], r[1][4], *r[1][6:10]] for r in rows]


def ids(rows):
    return [r[0] for r in rows]


with Chromium() as b:
    b.open("shop.html")
    result("the bundled capture: no error", b.problems)
    WORDS = "document.body.innerText.match(/.*\\b(NaN|undefined|null|false|true|Infinity|object)\\b.*/g)"
    result("nothing that only a program would say", b.run(WORDS))
    result("no request but for the file", [u for u in b.requests if not u.endswith("/shop.html")] or differs(len(b.requests), 1))
    rows = rows_of(b)
    result("rows equal to the store's", differs(shown(rows), [expected_row(r) for r in stored]))
    result("the facts", differs(b.run("document.querySelector('.facts').innerText.split('\\n').slice(0, 6)"),
                                ["paths", "1,500", "patterns", f"{len(stored)}", "messages", "17,174"]))

    # --- the map ---
    told = json.loads(subprocess.run([ravel, "show", "--format", "map-json", "shop.sqlite"], check=True, stdout=subprocess.PIPE).stdout)
    names = b.run("JSON.parse(document.getElementById('data').textContent).nodes")
    calls = [f"{names.index(e['caller'])}>{names.index(e['callee'])}" for e in told["edges"]]
    result("map: all nodes and edges", differs(sorted(b.run("[...document.querySelectorAll('.map [data-map]')].map((e) => e.dataset.map)")), sorted(calls + [str(names.index(e["name"])) for e in told["nodes"]])))
    result("map: the probabilities of the store", differs(sorted(b.run("[...document.querySelectorAll('.map .label')].map((e) => parseInt(e.textContent))")), sorted(round(100 * e["probability"]) for e in told["edges"])))
    result("map: abstract paths", None if f"{told['patterns']} patterns with 99\u00a0% of the requests, {told['abstract_paths']} abstract paths" in b.run("document.querySelector('#map h2').textContent") else told["patterns"])
    result("map: one place that Tab leads to", differs(b.run("document.querySelectorAll('.map [tabindex=\"0\"]').length"), 1))
    b.run("document.querySelector('.map [tabindex=\"0\"]').focus()")
    walk = []
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        b.key(key)
        walk.append(b.run("document.activeElement.dataset.map").split(">"))
    result("map: arrows go along edges, and beside", differs([[names[int(n)] for n in at] for at in walk[:3]] + [len(at) for at in walk[3:]], [["client", "lb"], ["lb"], ["lb", walk[2][1] and names[int(walk[2][1])]], 2, 1, 1, 2]))
    caller, callee = (names[int(n)] for n in walk[-1])
    per_second = f"{float(format(next(e['rate'] for e in told['edges'] if (e['caller'], e['callee']) == (caller, callee)), '.3g')):g}/s"
    text = b.run("document.getElementById('map-figures').textContent")
    result("map: the figures of the edge", None if text.startswith(f"{caller} > {callee}: ") and per_second in text and "p99" in text else text)
    b.key("Enter")
    result("map: Enter on an edge finds its paths", differs([b.run("document.getElementById('search').value"), len(rows_of(b))], [f"{caller}>{callee}", store.execute("SELECT count(DISTINCT p.id) FROM pattern_node c "
           "JOIN pattern_node n ON n.pattern = c.pattern AND n.place = c.parent JOIN pattern p ON p.id = c.pattern JOIN node a ON a.id = n.node JOIN node e ON e.id = c.node WHERE a.name = ? AND e.name = ?", (caller, callee)).fetchone()[0]]))
    result("map: what these paths have not is dim", None if 0 < b.run("document.querySelectorAll('.map .dim').length") < len(calls) else "none or all")
    b.run("document.getElementById('search').focus()")
    b.key("Escape")
    b.click(f".map [data-map='{names.index('catalog')}']")
    result("map: a click on a node leads to it", differs(b.run("[document.getElementById('node-name').textContent.slice(0, 7), document.getElementById('node').getBoundingClientRect().top < innerHeight]"), ["catalog", True]))
    states = [s for s in told["states"] if s["node"] == "catalog"]
    b.run(f"document.querySelector('.map [data-map=\"{names.index('catalog')}\"]').dispatchEvent(new PointerEvent('pointerenter'))")
    result("map: how a node behaves by its callers and operations", differs(b.run("document.querySelectorAll('#map-figures .quiet').length"), len(states)) if len(states) > 1 else "one state")
    b.media("print")
    b.frame()
    result("map: it fits on paper", differs(b.run("(() => { const s = document.querySelector('.map svg').getBoundingClientRect(); return s.left >= 0 && s.right <= innerWidth; })()"), True))
    b.media()
    b.open("shop.html")

    for key, column in (("p99", "p99"), ("count", "count"), ("deviation", "deviation")):
        for direction in ("DESC", "ASC"):
            b.click(f"[data-sort={key}]")
            values = [r[0] for r in store.execute(f"SELECT {column} FROM pattern ORDER BY {column} {direction}")]
            by_id = dict(store.execute(f"SELECT hash, {column} FROM pattern"))
            result(f"sorted by {key} {direction.lower()}ending", differs([by_id[i] for i in ids(rows_of(b))], values))
    result("and says so", differs(b.run("[...document.querySelectorAll('[aria-sort]')].filter((h) => h.ariaSort !== 'none').map((h) => h.ariaSort + h.textContent)"),
                                  ["ascendingDev. \u25b4"]))
    b.click("[data-sort=rank]")

    for query, condition in (("web2 redis", "signature LIKE '%web2%' AND signature LIKE '%redis%'"),
                             ("web2>catalog", "signature LIKE '%web2(%catalog%'"), ("POSTGRES", "signature LIKE '%postgres%'"),
                             ("nosuchnode", "0")):
        b.run("document.getElementById('search').focus(); document.getElementById('search').select()")
        b.type(query)
        where = f"FROM pattern WHERE {condition}"
        expected = [r[0] for r in store.execute(f"SELECT hash {where} ORDER BY total DESC, signature")]
        result(f"search: {query}", differs(ids(rows_of(b)), expected))
        count, paths, part = store.execute(f"SELECT count(*), coalesce(sum(count), 0), coalesce(sum(total), 0) * 100.0 / (SELECT sum(total) FROM pattern) {where}").fetchone()
        result("with its share of the total latency", differs(b.run("document.getElementById('matched').textContent"),
               f"{count} of {len(stored)} patterns, {paths:,} paths, {part:.0f}\u00a0% of the total latency"))
    b.run("document.getElementById('search').focus()")
    b.key("Escape")
    result("Escape empties the search", differs([b.run("document.getElementById('search').value"), len(rows_of(b))], ["", len(stored)]))

    # What a click on a row and on a node shows.
    row = stored[1]
    b.click(f".grid .row[data-id='{row[0]}']")
    signature = store.execute("SELECT signature FROM pattern WHERE hash = ?", (row[0],)).fetchone()[0]
    result("a click on a row chooses its pattern", differs(b.run("document.getElementById('signature').textContent"), signature))
    HISTOGRAM = "[...document.querySelectorAll('#distribution .hist')].map((r) => [r.getAttribute('x'), Number(r.dataset.count)])"
    before, name = b.run(HISTOGRAM), b.run("document.getElementById('node-name').textContent")
    b.click(".tree [data-name^='redis']")
    after = b.run(HISTOGRAM)
    result("a click on a node changes the histogram", None if before != after and b.run("document.getElementById('node-name').textContent").startswith("redis") and not name.startswith("redis") else name)
    result("each histogram has all paths", differs([sum(r[1] for r in before), sum(r[1] for r in after)], [row[1], row[1]]))
    stats = store.execute("SELECT latency_mean, latency_p99 FROM pattern_node JOIN node ON node.id = node WHERE node.name = 'redis' AND pattern = "
                          "(SELECT id FROM pattern WHERE hash = ?)", (row[0],)).fetchone()
    text = b.run("document.querySelector('#node .bar-row').textContent")
    result("its mean and p99 are the store's", None if f"mean {duration(stats[0])}" in text and f"p99 {duration(stats[1])}" in text else text)
    beside = b.run("document.querySelectorAll('#beside tbody tr').length")
    result("and beside it are other patterns", None if beside > 3 else beside)
    b.click(".tree [data-name^='web2']")
    after = b.run(HISTOGRAM)
    b.click("#node [data-value=own]")
    result("own time has another histogram", None if b.run(HISTOGRAM) != after or b.run("document.querySelector('#node [data-value=own]').ariaPressed") != "true" else "the same")

    # --- the timeline ---
    b.click(f".grid .row[data-id='{stored[0][0]}']")
    BARS = """Object.fromEntries([...document.querySelectorAll('.lanes rect.wait')].map((r) =>
        [r.dataset.place, [parseFloat(r.getAttribute('x')), parseFloat(r.getAttribute('width'))]]))"""
    OWN = """[...document.querySelectorAll('.lanes rect.own')].map((r) => [Number(r.dataset.place), parseFloat(r.getAttribute('width'))])"""
    places = store.execute("SELECT place, parent, call_delay_mean, latency_mean FROM pattern_node WHERE pattern = "
                           "(SELECT id FROM pattern WHERE hash = ?) ORDER BY place", (stored[0][0],)).fetchall()
    starts = {}
    for place, parent, delay, latency in places:
        starts[place] = starts[parent] + delay if parent is not None else 0

    def geometry(expected, what):
        bars = b.run(BARS)
        scale = bars["0"][1] / expected[0][1]  # percent of the width a ns
        wrong = [(p, bars.get(str(p)), [s * scale, w * scale]) for p, (s, w) in expected.items()
                 if str(p) not in bars or abs(bars[str(p)][0] - s * scale) > 0.01 or abs(bars[str(p)][1] - max(w * scale, 0.05)) > 0.01]
        result(f"{what}: the bars are where the calls are", wrong)
        return scale

    geometry({p: (starts[p], latency) for p, _, _, latency in places}, "the mean")
    b.click("#timeline [data-value=slowest]")
    path, latency = store.execute("SELECT id, latency FROM path WHERE pattern = (SELECT id FROM pattern WHERE hash = ?) ORDER BY latency DESC LIMIT 1",
                                  (stored[0][0],)).fetchone()
    calls = store.execute("SELECT place, coalesce(call_sent, call_recv) - (SELECT start FROM path WHERE id = path), "
                          "coalesce(ret_recv, ret_sent) - coalesce(call_sent, call_recv), own FROM call WHERE path = ?", (path,)).fetchall()
    scale = geometry({c[0]: (c[1], c[2]) for c in calls}, "the slowest path")
    own = {}
    for place, width in b.run(OWN):
        own[place] = own.get(place, 0) + width
    result("the critical path: each call's part is its own time", [(c[0], own.get(c[0], 0), c[3] * scale) for c in calls if abs(own.get(c[0], 0) - c[3] * scale) > 0.01])
    result("and adds up to the latency", differs(round(sum(own.values()), 1), round(latency * scale, 1)))
    lines = b.run("document.querySelectorAll('.lanes line.critical').length")
    result("it is drawn from call to call", None if lines >= 4 else lines)
    b.click("#timeline [data-value=fastest]")
    fastest = store.execute("SELECT min FROM pattern WHERE hash = ?", (stored[0][0],)).fetchone()[0]
    result("the fastest path", None if f"Fastest {duration(fastest)}" in b.run("document.querySelector('#timeline [data-value=fastest]').textContent") else "another")
    b.click("#timeline .twist")
    result("repeated calls apart", differs(b.run("document.querySelectorAll('.lanes .lane').length"), 1 + len(places)))

    # --- state, keys ---
    fragment = b.run("location.hash")
    b.click(".tree [data-name^='web2']")
    fragment = b.run("location.hash")
    chosen = b.run("[document.getElementById('signature').textContent, document.getElementById('node-name').textContent, document.querySelector('#timeline [aria-pressed=true]').dataset.value]")
    b.open("shop.html", fragment)
    result(f"the state is in the address: {fragment}", differs(
        b.run("[document.getElementById('signature').textContent, document.getElementById('node-name').textContent, document.querySelector('#timeline [aria-pressed=true]').dataset.value]"), chosen))
    b.run("location.hash = '#q=auth&s=-count'")
    b.frame()
    result("and may be changed there", differs(ids(rows_of(b)), [r[0] for r in store.execute(
        "SELECT hash FROM pattern WHERE signature LIKE '%auth%' ORDER BY count DESC, total DESC")]))

    b.open("shop.html")
    SIGNATURE = "document.getElementById('signature').textContent"
    signatures = [r[0] for r in store.execute("SELECT signature FROM pattern ORDER BY total DESC, signature")]
    b.key("j")
    b.key("j")
    b.key("k")
    result("keys: j j k", differs(b.run(SIGNATURE), signatures[1]))
    for _ in range(120):
        if b.run("document.activeElement.getAttribute('role')") == "row":
            break
        b.key("Tab")
    result("keys: Tab reaches the list", differs(b.run("document.activeElement.getAttribute('aria-selected')"), "true"))
    b.key("End")
    result("keys: End", differs(b.run(SIGNATURE), signatures[-1]))
    result("and the row is in sight", differs(b.run("""(() => { const r = document.querySelector('.row[aria-selected=true]').getBoundingClientRect(), g = document.querySelector('.grid .body').getBoundingClientRect();
        return r.top >= g.top - 1 && r.bottom <= g.bottom + 1 && document.activeElement === document.querySelector('.row[aria-selected=true]'); })()"""), True))
    b.key("Home")
    b.run("document.querySelector('[data-sort=total]').focus()")
    b.key("ArrowRight")
    b.key("ArrowRight")
    b.key("Enter")
    means = [r[1][6] for r in rows_of(b)]
    result("keys: the heading's Enter sorts by mean, and keeps the focus", differs(
        [b.run("[document.querySelector('[aria-sort=descending] button').dataset.sort, document.activeElement.dataset.sort]"), means],
        [["mean", "mean"], [duration(m) for (m,) in store.execute("SELECT mean FROM pattern ORDER BY mean DESC")]]))
    result("keys: every heading in sight is reached by Tab", b.run("[...document.querySelectorAll('.grid .head button')].filter((e) => e.offsetParent && e.tabIndex !== 0).length"))
    b.key("ArrowDown")
    result("keys: from the headings down to the rows", differs(b.run("document.activeElement.getAttribute('role')"), "row"))
    b.run("document.querySelector('[data-sort=rank]').click()")
    b.key("Home")
    b.key("n")
    first = b.run("document.getElementById('node-name').textContent")
    b.key("n")
    result("keys: n goes on to another node", None if b.run("document.getElementById('node-name').textContent") != first else first)
    b.key("5")
    result("keys: 5 shows the slowest path", differs(b.run("document.querySelector('#timeline [aria-pressed=true]').dataset.value"), "slowest"))
    b.key("/")
    result("keys: / goes to the search", differs(b.run("document.activeElement.id"), "search"))
    b.key("Escape")
    b.key("?")
    result("keys: ? lists the keys", differs(b.run("document.querySelector('dialog').open"), True))
    b.key("Escape")
    b.run("document.querySelector('.tree [data-vertex=\"1\"]').focus()")
    b.key("Enter")
    result("keys: Enter on a node of the tree", differs(b.run("[document.getElementById('node').dataset.vertex, document.activeElement.dataset.vertex]"), ["1", "1"]))

    b.key("m")
    merged = rows_of(b)
    result("replicas merged: fewer rows, the same paths", None if len(merged) * 2 == len(stored) and sum(int(r[1][3].replace(",", "")) for r in merged) == 1500
           and all("web*" in r[1][1] for r in merged) else merged)
    b.key("m")
    result("and apart again", differs(len(rows_of(b)), len(stored)))
    result("still no error", b.problems)

    for width, dark in ((1400, False), (1400, True), (700, False), (700, True), (400, False)):
        b.size(width, 1000)
        b.media(dark=dark)
        b.frame()
        axe(b, f"report, {width} pixels, {'dark' if dark else 'light'}")
        b.screenshot(f"report-{width}-{'dark' if dark else 'light'}.png")
        result(f"{width} pixels: nothing is wider than the window", differs(b.run("document.documentElement.scrollWidth <= innerWidth"), True))
        if width == 400:
            result("400 pixels: nothing scrolls sideways", b.run(SIDEWAYS))
            result("400 pixels: no two cells of a row collide", b.run(COLLISIONS))
            result("400 pixels: no two labels of a drawing collide", b.run(LABELS))
    b.size(1400, 1000)
    b.media("print")
    b.frame()
    axe(b, "report, printed")
    b.run("dispatchEvent(new Event('beforeprint'))")
    b.frame()
    result("printed: every row, and how it was made", differs(b.run("[document.querySelectorAll('.grid .body .row').length, [...document.querySelectorAll('details.made')].every((e) => e.open)]"), [len(stored), True]))
    result("printed: no row is hidden, none over another", b.run("""(() => { const r = [...document.querySelectorAll('.grid .body .row')].map((e) => e.getBoundingClientRect());
        const g = document.querySelector('.grid .body').getBoundingClientRect();
        return r.filter((x, i) => x.bottom > g.bottom + 1 || (i && x.top < r[i - 1].bottom - 1)).length; })()"""))
    b.run("dispatchEvent(new Event('afterprint'))")
    result("and after that few of them, as before", differs(b.run("document.querySelector('details.made').open"), False))
    b.media()

    # --- what slow requests have ---
    def part(answer):
        """Of a verb's TSV: rows by heading."""
        lines = [line.split("\t") for line in answer.stdout.splitlines()]
        return [dict(zip(lines[0], line)) for line in lines[1:]]

    def ask(*arguments):
        return subprocess.run([ravel, *arguments], check=True, capture_output=True, text=True)

    def percent(number):
        return f"{chr(0x2212) if number < -0.005 else ''}{int(100 * abs(number) + 0.5)}\u00a0%"

    b.open("shop.html")
    result("operations: a column, as the store has them", differs(
        [r[1][2] for r in rows_of(b)], [r[0] for r in store.execute("SELECT label FROM pattern ORDER BY total DESC, signature")]))
    LIST = """[...document.querySelectorAll('#slowest-list tbody tr')].map((r) => [Number(r.dataset.request), ...[...r.cells].slice(2, 7).map((c) => c.textContent)])"""
    slow = store.execute("SELECT path.id, label, path.latency, path.start FROM path JOIN pattern ON pattern.id = pattern ORDER BY path.latency DESC, path.id LIMIT 10").fetchall()
    listed = b.run(LIST)
    result("the slowest requests, with operation and latency", differs([r[:3] for r in listed], [[i, label, duration(t)] for i, label, t, _ in slow]))
    told = part(ask("why", "--format", "tsv", "--slowest", "10", "shop.sqlite"))
    most = {}
    for line in told:
        most.setdefault(int(line["request"]), line)
    expected = [f"{line['node']} +{duration(int(line['own']) - int(line['usual']))}" for line in most.values()]
    result("the most unusual node is that of ravel why", differs([r[4] for r in listed], expected))
    filters = ask("why", "--packets", "--slowest", "3", "shop.sqlite").stdout.splitlines()[1::3]
    b.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    for k, text in enumerate(filters):
        b.click(f"#slowest-list tr:nth-child({k + 1}) .copy")
        result("a click copies the display filter that ravel why prints", differs("wireshark: " + b.run("navigator.clipboard.readText()"), text))
    b.click("#slowest-list tbody tr:nth-child(2) button")
    TREE = "[...document.querySelectorAll('#request-tree .lane:not(.head)')].map((r) => [r.querySelector('.call .plain').textContent, r.children[1].textContent, r.children[3].textContent])"

    def stored_calls(request):
        return [[name, duration(t), duration(own)] for name, t, own in store.execute(
            "SELECT written, coalesce(ret_recv, ret_sent) - coalesce(call_sent, call_recv), own FROM call JOIN node ON node.id = +callee WHERE path = ? ORDER BY call.id", (request,))]
    result("a click opens its calls", differs(b.run(TREE), stored_calls(slow[1][0])))
    places = [line for line in told if line["request"] == str(slow[1][0])][:4]
    result("with what it spent more than usual", differs(
        b.run("[...document.querySelectorAll('#unusual tbody tr')].map((r) => [r.cells[1].textContent, r.cells[2].textContent])"),
        [[duration(int(line["own"])), duration(int(line["usual"]))] for line in places]))
    b.run("document.querySelector('#slowest-list tbody tr:nth-child(2) button').focus()")
    b.key("ArrowDown")
    b.key("Enter")
    result("keys: the next request, and Enter opens it", differs(b.run(TREE), stored_calls(slow[2][0])))
    result("and the focus stays", differs(b.run("document.activeElement.textContent"), str(slow[2][0])))
    fragment = b.run("location.hash")
    b.open("shop.html", fragment)
    result("and it is in the address", differs(b.run("document.getElementById('request-name').textContent"), f"Request {slow[2][0]}"))
    b.run("document.querySelector('#request-tree .lane:nth-child(3) .call .plain').focus()")
    b.key("Enter")
    result("keys: Enter on one of its calls", differs(b.run("[document.querySelectorAll('#request-tree .lane.chosen').length, document.activeElement.dataset.focus]"), [1, "lane-1"]))
    b.run("[...document.querySelectorAll('#request button')].find((e) => e.textContent === 'Close').focus()")
    b.key("Enter")
    result("keys: and closed again", differs(b.run("[document.querySelectorAll('#request-tree').length, document.activeElement.textContent]"), [0, str(slow[2][0])]))

    # --- a stretch of time ---
    first, last = store.execute("SELECT min(start), max(start) FROM path").fetchone()

    def of_buckets(low, high):
        return store.execute("SELECT id FROM path WHERE (start - ?) * 180 / (? - ? + 1) BETWEEN ? AND ? ORDER BY latency DESC, id", (first, last, first, low, high)).fetchall()

    def chosen_buckets():
        return b.run("[...document.querySelectorAll('#over-time-all .handle')].map((e) => Number(e.getAttribute('aria-valuenow')))")

    def brushed(what):
        low, high = chosen_buckets()
        inside = [r[0] for r in of_buckets(low, high - 1)]
        shown_now = [r[0] for r in b.run(LIST)]
        status = b.run("document.getElementById('slowest-status').textContent")
        result(f"{what}: the slowest of that time, {low} to {high}", None if shown_now == inside[:len(shown_now)] and len(shown_now) >= min(10, len(inside))
               and (f"of {len(inside):,}" in status or f" {len(inside):,} request" in status) else f"{shown_now}\n{inside}\n{status}")

    def drag(selector, start, end):
        box = b.run(f"(() => {{ const e = document.querySelector('{selector} svg'); e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; }})()")
        x = [box[0] + 62 + (box[2] - 72) * part_of for part_of in (start, end)]
        y = box[1] + box[3] / 2
        b.call("Input.dispatchMouseEvent", type="mousePressed", x=x[0], y=y, button="left", clickCount=1)
        for k in range(1, 5):
            b.call("Input.dispatchMouseEvent", type="mouseMoved", x=x[0] + (x[1] - x[0]) * k / 4, y=y, button="left", buttons=1)
        b.call("Input.dispatchMouseEvent", type="mouseReleased", x=x[1], y=y, button="left", clickCount=1)
        b.frame()

    for width in (1400, 400):
        b.size(width, 1000)
        b.open("shop.html")
        drag("#over-time-all", 0.25, 0.5)
        low, high = chosen_buckets()
        result(f"{width} pixels: dragged from a quarter to the half", None if abs(low - 45) <= 1 and abs(high - 91) <= 1 else (low, high))
        brushed(f"{width} pixels: the mouse")
        result("the other chart has it, too", differs(b.run("[...document.querySelectorAll('#over-time .handle')].map((e) => Number(e.getAttribute('aria-valuenow')))"), [low, high]))
        b.run("document.querySelector('#over-time-all [data-end=begins]').focus()")
        for name in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
            b.key(name)
        result("keys: the beginning", differs(chosen_buckets(), [low + 2, high]))
        b.run("document.querySelector('#over-time-all [data-end=ends]').focus()")
        b.key("Home")
        b.key("ArrowRight")
        result("keys: the end", differs(chosen_buckets(), [low + 2, low + 4]))
        result("keys: and the focus stays", differs(b.run("document.activeElement.dataset.end"), "ends"))
        brushed(f"{width} pixels: the keys")
        fragment = b.run("location.hash")
        b.open("shop.html", fragment)
        result("and it is in the address", differs(chosen_buckets(), [low + 2, low + 4]))
        b.run("document.querySelector('#over-time-all [data-end=ends]').focus()")
        b.key("Escape")
        result("keys: Escape takes all times", differs([chosen_buckets(), b.run("location.hash")], [[0, 180], ""]))
        drag("#over-time", 0.75, 0.5)
        result("dragged the other way, in the pattern's chart", None if abs(chosen_buckets()[0] - 90) <= 1 and abs(chosen_buckets()[1] - 136) <= 1 else chosen_buckets())
        b.click("#clear-brush")
        result("a button takes all times", differs(chosen_buckets(), [0, 180]))

    # --- the heat map ---
    heat = {}
    for at, latency in store.execute("SELECT (start - ?) * 180 / (? - ? + 1), latency FROM path", (first, last, first)):
        key = (at, max(latency, 1).bit_length() - 1)
        heat[key] = heat.get(key, 0) + 1
    CELLS = "[...document.querySelectorAll('.heat')].map((e) => [Number(e.dataset.from), Number(e.dataset.to), Number(e.dataset.octave), Number(e.dataset.count)])"

    def of_cell(low, high, octave):
        return store.execute("SELECT id FROM path WHERE (start - ?) * 180 / (? - ? + 1) BETWEEN ? AND ? AND latency >= ? AND latency < ? ORDER BY latency DESC, id", (first, last, first, low, high, 2 ** octave, 2 ** (octave + 1))).fetchall()

    for width in (1400, 400):
        b.size(width, 1000)
        b.open("shop.html")
        wrong = [c for c in b.run(CELLS) if c[3] != sum(k for (at, octave), k in heat.items() if c[0] <= at <= c[1] and octave == c[2])]
        result(f"heat map, {width} pixels: requests by time and octave", wrong or differs(sum(c[3] for c in b.run(CELLS)), 1500))
        cell = next(c for c in b.run(CELLS) if c[2] == 24 and c[0] > 20)
        b.click(f".heat[data-from='{cell[0]}'][data-octave='24']")
        inside = [r[0] for r in of_cell(cell[0], cell[1], 24)]
        listed = [r[0] for r in b.run(LIST)]
        result(f"heat map, {width} pixels: a click lists the requests of a cell", differs(listed[0], inside[0]) or [i for i in listed if i not in inside] or differs(b.run("document.getElementById('slowest').getBoundingClientRect().top < innerHeight / 2"), True))
        fragment = b.run("location.hash")
        b.open("shop.html", fragment)
        result("and it is in the address", differs([r[0] for r in b.run(LIST)], listed))
        result("a bar says what follows, and what does not", None if "everything else is of all requests" in b.run("document.getElementById('range').textContent") else b.run("document.getElementById('range').textContent"))
        axe(b, f"heat map, {width} pixels")
        result(f"heat map, {width} pixels: nothing is wider than the window", differs(b.run("document.documentElement.scrollWidth <= innerWidth"), True))
        b.click("#clear-brush")
        result("a button shows all", differs([b.run("[document.getElementById('range').hidden, location.hash]"), [r[0] for r in b.run(LIST)]], [[True, ""], [i for i, *_ in slow]]))
    b.size(1400, 1000)
    b.run("document.getElementById('octave').focus()")
    b.key("ArrowDown")
    b.key("ArrowDown")
    octave = int(b.run("document.getElementById('octave').value"))
    listed = [r[0] for r in b.run(LIST)]
    result("keys: a latency", differs(listed, [r[0] for r in of_cell(0, 180, octave)][:len(listed)]) if listed else "nothing")
    b.key("Home")
    result("keys: any latency", differs(b.run("location.hash"), ""))

    # --- the requests that were there at that moment ---
    CALL = "coalesce(call_recv, call_sent), coalesce(ret_sent, ret_recv)"
    for request in (slow[0][0], slow[4][0]):
        callee, came, _ = store.execute(f"SELECT callee, {CALL} FROM call WHERE path = ? ORDER BY own DESC, id LIMIT 1", (request,)).fetchone()
        there = store.execute("SELECT DISTINCT path FROM call WHERE callee = ? AND path <> ? AND coalesce(call_recv, call_sent) <= ? AND coalesce(ret_sent, ret_recv) > ?", (callee, request, came, came)).fetchall()
        b.open("shop.html", f"#r={request}")
        text = b.run("document.getElementById('beside-request').textContent")
        found = [int(i) for i in b.run("[...document.querySelectorAll('#beside-request .mono')].map((e) => e.textContent)")]
        result(f"request {request}: the others in its node at that moment", [i for i in found if (i,) not in there] or differs(len(found), min(5, len(there))) or
               (None if (f"{len(there)} other request" if there else "No other request") in text else text))

    # --- clicks lead to what they open; paths are cut in the middle ---
    b.open("shop.html")
    IN_SIGHT = "(() => {{ const r = document.querySelector('{}').getBoundingClientRect(); return r.top >= 0 && r.top < innerHeight / 2; }})()"
    b.click("#slowest-list tbody tr:nth-child(3) button")
    result("a click on a request scrolls to it", differs(b.run(IN_SIGHT.format("#request")), True))
    b.click("#edge-list tbody tr:nth-child(2) button")
    result("a click on an edge scrolls to its paths", differs(b.run(IN_SIGHT.format(".panel:has(.grid)")), True))
    b.click(".grid .row[data-id]")
    result("a click on a path scrolls to it", differs(b.run(IN_SIGHT.format("#pattern")), True))
    b.size(700, 1000)
    b.open("shop.html")
    result("paths are cut in the middle: the end stays", b.run("""[...document.querySelectorAll('.grid .path .cut')].filter((e) => { const [, tail] = e.children, cell = e.closest('.cell').getBoundingClientRect();
        const last = document.createRange(); last.selectNodeContents(tail.lastChild); return last.getBoundingClientRect().right > cell.right + 1; }).map((e) => e.textContent)""") or
           (None if b.run("[...document.querySelectorAll('.grid .path .cut > :first-child')].filter((e) => e.scrollWidth > e.clientWidth).length") > 2 else "none is cut"))
    b.size(1400, 1000)

    # --- the first screen ---
    LINES = "[...document.querySelectorAll('#page > .quality li, #more-notes > summary')].filter((e) => e.compareDocumentPosition(document.getElementById('map')) & Node.DOCUMENT_POSITION_FOLLOWING).map((e) => e.textContent)"
    shared = next(k for k in json.loads(ask("why", "--format", "json", "shop.sqlite").stdout)["kinds"] if k["shared"])
    value = shared["shared"][0]
    lines = b.run(LINES)
    result("first screen: five lines at most", None if 1 < len(lines) <= 5 else lines)
    result("first screen: what slow requests share", [] if f"The slow requests share: {shared['operation']}: {value['kind']} {value['value']}: {value['slow']} of the {value['slowest']} slowest" in lines[0] else lines)

    # --- slow against fast ---
    b.open("shop.html")
    b.click(".bar-row [data-value=compared]")
    hash_, pattern, n_paths = store.execute("SELECT hash, id, count FROM pattern ORDER BY total DESC, signature LIMIT 1").fetchone()
    order = [r[0] for r in store.execute("SELECT id FROM path WHERE pattern = ? ORDER BY latency, id", (pattern,))]
    groups = order[n_paths + -n_paths // 100:], order[n_paths // 5 * 2:n_paths - n_paths // 5 * 2]

    def spent(paths):
        return dict(store.execute(f"SELECT written, sum(own) / {len(paths)} FROM call JOIN node ON node.id = +callee WHERE path IN ({','.join(map(str, paths))}) GROUP BY written").fetchall())
    slow_own, middle_own = (spent(g) for g in groups)
    found = {r[0].split("\u00a0")[0].split(" \u00d7")[0]: r[1:3] for r in b.run("[...document.querySelectorAll('#compared tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")}
    result("slow against fast: each node's own time", differs(found, {name: [duration(slow_own[name]), duration(middle_own[name])] for name in slow_own}))
    boxes = b.run("[...document.querySelectorAll('#pattern .tree .box[data-vertex]')].map((g) => [g.dataset.name.split(' ')[0], g.querySelectorAll('text')[g.querySelectorAll('text').length - 2].textContent, getComputedStyle(g.querySelector('rect')).fill])")
    result("the tree says it, too, in words and colours", [box for box in boxes if ("\u25b2" in box[1]) != (slow_own[box[0]] > middle_own[box[0]])] or differs(len({box[2] for box in boxes}) > 2, True))
    fragment = b.run("location.hash")
    b.open("shop.html", fragment)
    result("and it is in the address", differs(b.run("document.querySelectorAll('#compared').length"), 1))
    b.run("document.querySelector('.bar-row [data-value=mean]').focus()")
    b.key("Enter")
    result("keys: Enter goes back to the mean, and keeps the focus", differs(b.run("[document.querySelectorAll('#compared').length, document.activeElement.dataset.value]"), [0, "mean"]))

    # --- variance and load ---
    shares = part(ask("variance", "--format", "tsv", "shop.sqlite"))
    entry = shares[0]
    SHARES = "[...document.querySelectorAll('#variance-list tbody tr')].map((r) => [r.cells[0].textContent, r.cells[1].textContent])"

    def shares_of(label):
        return [[line["where"], percent(float(line["all"]))] for line in shares if line["label"] == label][:16]
    result("variance: the shares of ravel variance", differs(b.run(SHARES)[:3], shares_of(entry["label"])[:3]))
    b.run("document.getElementById('entry').focus()")
    b.key("ArrowDown")
    label = b.run("document.getElementById('entry').value").rsplit(" ", 1)[0]
    result(f"keys: another entry, {label}", differs(b.run(SHARES)[:2], shares_of(label)[:2]))
    events = []
    for node, enter, reply in store.execute("SELECT written, coalesce(call_recv, call_sent), coalesce(ret_sent, ret_recv) FROM call JOIN node ON node.id = +callee"):
        events += [(enter, 1, node), (max(enter, reply), 0, node)]
    open_, seen = {}, {}
    for _, come, node in sorted(events):
        if come:
            seen.setdefault(node, []).append(open_.get(node, 0) + 1)
        open_[node] = open_.get(node, 0) + (1 if come else -1)
    loads = {node: [f"{len(k):,}", *(str(sorted(k)[max(-(-len(k) * q // 100), 1) - 1]) for q in (50, 95)), str(max(k))] for node, k in seen.items()}
    result("load: calls that a node is serving when one comes", differs(
        {r[0]: r[1:5] for r in b.run("[...document.querySelectorAll('#load-list tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")}, loads))

    # --- all of it, wide and narrow, dark and printed ---
    for width, dark in ((1400, False), (1400, True), (400, False), (400, True)):
        b.size(width, 1000)
        b.media(dark=dark)
        b.open("shop.html", f"#r={slow[0][0]}&t=20-120&d=1")
        axe(b, f"report's causes, {width} pixels, {'dark' if dark else 'light'}")
        b.screenshot(f"causes-{width}-{'dark' if dark else 'light'}.png")
        result(f"causes, {width} pixels: nothing is wider than the window", differs(b.run("document.documentElement.scrollWidth <= innerWidth"), True))
        result(f"causes, {width} pixels: nothing scrolls sideways", b.run(SIDEWAYS))
        result(f"causes, {width} pixels: nothing that only a program would say", b.run(WORDS))
        if width == 400:
            result("causes, 400 pixels: every cell says what it is", b.run("[...document.querySelectorAll('.cards td')].filter((e) => !e.dataset.label && e.colSpan < 2).length"))
            result("causes, 400 pixels: no two cells of a row collide", b.run(COLLISIONS))
            result("causes, 400 pixels: no two labels of a drawing collide", b.run(LABELS))
    b.size(1100, 1000)
    b.media("print")
    b.frame()
    result("causes, printed: all of it is there, and no button", differs(b.run("""[['#slowest-list', '#request-tree', '#variance-list', '#load-list', '#compared'].every((s) => document.querySelector(s).getBoundingClientRect().height > 20),
        [...document.querySelectorAll('.copy, .handle, #clear-brush')].filter((e) => e.getBoundingClientRect().width > 0).length, document.documentElement.scrollWidth <= innerWidth]"""), [True, 0, True]))
    b.screenshot("causes-printed.png")
    b.media()
    b.size(1400, 1000)
    result("causes: no error", b.problems)

    # --- edges, causes on the way, calls without an answer, requests that failed ---
    def cells(selector):
        return b.run(f"[...document.querySelectorAll('{selector} tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")

    def looks_well(name):
        for width in (1200, 400):
            b.size(width, 1000)
            b.frame()
            axe(b, f"{name}, {width} pixels")
            b.screenshot(f"{name}-{width}.png")
            result(f"{name}, {width} pixels: nothing is wider than the window", differs(b.run("document.documentElement.scrollWidth <= innerWidth"), True))
            result(f"{name}, {width} pixels: nothing scrolls sideways", b.run(SIDEWAYS))
            result(f"{name}, {width} pixels: no two cells of a row collide", b.run(COLLISIONS))
        b.size(1400, 1000)
        result(f"{name}: no error, nothing that only a program would say", b.problems or b.run(WORDS))

    def edges_agree(name):
        """Rates, errors and durations of the page against the calls of the store."""
        first, last = sqlite3.connect(f"{name}.sqlite").execute("SELECT first, last FROM run").fetchone()
        shares = [h for h in ("Errors", "No answer") if h in b.run("[...document.querySelectorAll('#edge-list th')].map((h) => h.textContent)")]
        wrong = []
        for row in cells("#edge-list"):
            e = edges_of(f"{name}.sqlite")[row[0]]
            of = {"Errors": e["errors"], "No answer": e["unanswered"]}
            expected = [f"{e['calls']:,}", rate(e["calls"] * 1e9 / (last - first)), *("\u2013" if h == "Errors" and not e["seen"] else f"{int(100 * of[h] / e['calls'] + 0.5)}\u00a0%" if of[h] else "0" for h in shares)]
            wrong += [] if row[1:1 + len(expected)] == expected else [(row, expected)]
            for quantile, text in zip((50, 99), row[-2:]):
                number, unit = text.split("\u00a0")
                true = sorted(e["latencies"])[max(-(-len(e["latencies"]) * quantile // 100), 1) - 1]
                wrong += [] if abs(float(number) * {"us": 1e3, "ms": 1e6, "s": 1e9}[unit] / true - 1) < 0.02 else [(row, quantile, true)]
        result(f"{name}: rates, errors and durations by edge", wrong)

    def open_capture(name, nodes):
        make("capture", "-r", f"{name}.pcap", "--nodes", nodes, "-w", f"{name}.trace")
        make("nesting", "-o", f"{name}.sqlite", f"{name}.trace")
        make("report", "-o", f"{name}.html", f"{name}.sqlite")
        b.open(f"{name}.html")

    with open("held.trace", "w", encoding="utf-8") as file:
        subprocess.run([sys.executable, f"{source}/tests/scripts/make-held.py", "one-holder"], check=True, stdout=file)
    make("nesting", "-o", "held.sqlite", "held.trace")
    make("report", "-o", "held.html", "held.sqlite")
    b.open("held.html")
    held = b.run("document.querySelector('ul.quality li').textContent")
    result("held: who held the lock, first of all", None if "SELECT accounts: 6 of 439 calls waited at mysql" in held and "for batch: SELECT accounts, UPDATE accounts" in held else held)
    result("held: it is on the first screen", differs(b.run("document.querySelector('ul.quality li').getBoundingClientRect().bottom < innerHeight"), True))
    statements = sqlite3.connect("held.sqlite").execute("SELECT node || ': ' || statement, coalesce(iif(entry = node, client, entry_label), entry), calls, per_request, latency_mean, time, share, errors FROM statements").fetchall()
    result("held: statements", differs(cells("#statement-list"), [[*r[:2], f"{r[2]:,}", f"{r[3]:.2f}", duration(r[4]), duration(r[5]), b.run(f"({r[6]} * 100 >= 0.5) ? Math.round({r[6]} * 100) + '\\u00a0%' : '<1\\u00a0%'"), f"{r[7]:,}"] for r in statements]))
    looks_well("held")

    subprocess.run([sys.executable, f"{source}/tests/scripts/make-causes.py", ".", "nagle-1", "upload-1", "download-2"], check=True)
    for name in ("nagle-1", "upload-1", "download-2"):
        with open("truth.tsv", encoding="utf-8") as file:
            _, way, each, late, requests, web, db = next(r for r in map(str.split, (line.replace(" ", "_") for line in file)) if r[0] == name)
        way = way.replace("_", " ")
        open_capture(name, "nodes.txt")
        lost = float(each) * int(late)
        for table, many in (("#blame-all", 1), ("#blame", int(requests))):
            found = {r[0]: r[2] for r in cells(table)}
            number, unit = found[way].split("\u00a0")
            result(f"{name}: {way}, in {table}", None if list(found)[0] == way and abs(float(number) * {"ms": 1, "s": 1000}[unit] * many / lost - 1) < 0.02 else found)
        b.click("#timeline [data-value=slowest]")
        own = {r[0].split()[0]: r[1] for r in b.run("[...document.querySelectorAll('.lanes .lane:not(.head)')].map((r) => [r.children[0].textContent, r.children[3].textContent])")}
        result(f"{name}: own times of the slowest are the nodes'", None if all(abs(float(own[node].split("\u00a0")[0]) / float(true) - 1) < 0.6 for node, true in (("web", web), ("db", db))) else (own, web, db))
        edges_agree(name)
    looks_well("nagle-1")
    b.open("nagle-1.html")
    result("a remedy", differs(b.run("document.querySelector('.remedy').textContent"), "web > db (delayed ACK): the sender writes in several pieces: TCP_NODELAY, or one write."))
    b.click("[data-value=compared]")
    result("slow against fast: the way first", differs(cells("#compared")[0][0], "web > db (delayed ACK)"))

    with open("missed.nodes", "w", encoding="utf-8") as file:
        file.write("10.0.0.1 client\n10.0.0.2 web\n10.0.1.1 db\n10.0.1.2 db2\n")
    for name, mark, words in (("silent", "!", "gave no answer for "), ("hedge", "*", "answered after ")):
        subprocess.run([sys.executable, f"{source}/tests/scripts/missed.py", "make", f"{name}.pcap", "truth", name, "http", "wait=10"], check=True)
        open_capture(name, "missed.nodes")
        marked = sqlite3.connect(f"{name}.sqlite").execute("SELECT hash, signature FROM pattern WHERE instr(signature, ?)", (f"db{mark}",)).fetchall()
        b.click("#search")
        b.type(f"db{mark}")
        result(f"{name}: the mark is searched for", differs(ids(rows_of(b)), [m[0] for m in marked]))
        b.open(f"{name}.html", f"#p={marked[0][0]}")
        result(f"{name}: the mark, in signature, tree and timeline", differs(b.run("""[document.getElementById('signature').textContent, document.querySelector('.tree [data-name^="db"]').dataset.name,
            [...document.querySelectorAll('.lanes .call .plain')].map((e) => e.textContent).includes('db' + '""" + mark + """'), document.querySelector('.missed').textContent.slice(0, """ + str(len(words) + 4) + """)]"""), [marked[0][1], f"db{mark}", True, f"db{mark} {words}"]))
        own, = sqlite3.connect(f"{name}.sqlite").execute(f"SELECT own_mean FROM pattern_node JOIN pattern ON pattern.id = pattern WHERE hash = '{marked[0][0]}' AND continues IS NOT NULL").fetchone()
        b.click("#timeline [data-value=median]")
        drawn = b.run("[...document.querySelectorAll('.lanes .lane:not(.head)')].map((r) => [r.children[0].textContent, r.children[3].textContent])")
        number = float(next(r[1] for r in drawn if r[0].startswith(f"db{mark}")).split("\u00a0")[0])
        result(f"{name}: the caller waits until it goes on", None if abs(number / (own / 1e6) - 1) < 0.2 else (drawn, own))
        edges_agree(name)
        looks_well(name)

    subprocess.run([sys.executable, f"{source}/tests/scripts/failures.py", "make", "all", "failed.trace", "truth"], check=True)
    make("nesting", "-o", "failed.sqlite", "failed.trace")
    make("report", "-o", "failed.html", "failed.sqlite")
    b.open("failed.html")
    failed = dict(sqlite3.connect("failed.sqlite").execute("SELECT hash, failed FROM pattern"))
    column = b.run("[...document.querySelectorAll('.head [role=columnheader]')].findIndex((h) => h.textContent === 'Failed')")
    rows = rows_of(b)
    result("failed: a column of the list", differs({r[0]: r[1][column] for r in rows}, {h: f"{k:,}" if k else "" for h, k in failed.items()}))
    b.click("[data-sort=failed]")
    result("failed: sorted by it", differs([failed[i] for i in ids(rows_of(b))], sorted(failed.values(), reverse=True)))
    b.click("#search")
    b.type("failed")
    result("failed: searched for", differs(sorted(ids(rows_of(b))), sorted(h for h, k in failed.items() if k)))
    edges_agree("failed")
    looks_well("failed")

    # --- errors ---
    why_failed = json.loads(ask("why", "--failed", "--format", "json", "failed.sqlite").stdout)
    b.size(1400, 1000)
    b.open("failed.html")
    result("errors: culprits as ravel why has them", differs([[r[0], r[1], r[2], r[3], r[5]] for r in cells("#error-list")], [[f["where"], f["outcome"], f["operation"] or "", f"{f['count']:,}", str(f["request"])] for f in why_failed["failures"]]))
    result("errors: on the first screen", None if f"{why_failed['failed']} of 300 requests failed" in b.run("document.querySelector('.quality').textContent") else b.run("document.querySelector('.quality').textContent"))
    b.click("#error-list tbody tr:nth-child(2) button")
    culprits = dict(sqlite3.connect("failed.sqlite").execute("SELECT path.id, coalesce(c.outcome, '') FROM path LEFT JOIN call c ON c.id = path.culprit"))
    found = b.run("[...document.querySelectorAll('#slowest-list tbody tr')].map((r) => Number(r.dataset.request))")
    result("errors: a click lists requests with that culprit", differs({culprits[i] for i in found}, {why_failed["failures"][1]["outcome"]}) or differs(b.run("document.getElementById('slowest').getBoundingClientRect().top < innerHeight / 2"), True))
    times = [t for (t,) in sqlite3.connect("failed.sqlite").execute("SELECT start FROM path ORDER BY start")]
    failing = {i for (i,) in sqlite3.connect("failed.sqlite").execute("SELECT id FROM path WHERE culprit IS NOT NULL")}
    begin = {i: t for i, t in sqlite3.connect("failed.sqlite").execute("SELECT id, start FROM path")}
    b.open("failed.html#t=0-59")
    early = [i for i, t in begin.items() if (t - times[0]) * 180 // (times[-1] - times[0] + 1) < 60 and i in failing]
    result("errors: they follow the time", differs(sum(int(r[3]) for r in cells("#error-list")), len(early)))
    b.open("failed.html#x=1")
    result("errors: and are in the address", differs(b.run("document.querySelectorAll('#error-list tr.chosen').length"), 1))

    # --- pauses ---
    with open("stall.conf", "w", encoding="utf-8") as file:
        file.write("""[maketrace]
seed=3
messages=16000
[tracelet page]
parallel=20000
count=4000
think=uniform(0s,40s)
path=client > WEB( exp(2ms) DB( exp(1ms) ) exp(2ms) )
[node WEB]
servers=8
stall=60ms every exp(4s)
""")
    make("maketrace", "-w", "stall.trace", "stall.conf")
    make("nesting", "-o", "stall.sqlite", "stall.trace")
    make("report", "-o", "stall.html", "stall.sqlite")
    b.open("stall.html")
    pause = json.loads(ask("why", "--format", "json", "stall.sqlite").stdout)["pauses"][0]
    result("pauses: marks on the heat map", differs(b.run("document.querySelectorAll('.pause').length"), len(pause["times"])) if len(pause["times"]) > 4 else pause)
    result("pauses: on the first screen, and in words", differs([b.run("document.querySelector('.quality li').textContent").startswith(f"\u25b2found: WEB stood still {pause['count']} times"), b.run("document.getElementById('pauses').textContent")], [True, f"\u25be WEB stood still {pause['count']} times"]))
    starts = b.run("[...document.querySelectorAll('.pause rect')].map((e) => Number(e.getAttribute('x')))")
    spans = [int(t["from"]) for t in pause["times"]]
    scale = (starts[-1] - starts[0]) / (spans[-1] - spans[0])
    result("pauses: where they were", [(x, t) for x, t in zip(starts, spans) if abs(x - starts[0] - (t - spans[0]) * scale) > 0.5])
    looks_well("stall")
    latencies = {}
    for pattern, culprit, latency in sqlite3.connect("failed.sqlite").execute(
            "SELECT hash, path.culprit, path.latency FROM path JOIN pattern ON pattern.id = path.pattern"):
        latencies.setdefault(pattern, ([], []))[culprit is not None].append(latency)
    wrong = []
    for pattern, (good, bad) in latencies.items():
        b.open(f"failed.html#p={pattern}")
        tiles = dict(b.run("[...document.querySelectorAll('#pattern .tiles > div')].map((e) => [...e.children].map((c) => c.textContent))"))
        blamed = b.run("[...document.querySelector('#blame tbody tr').children].map((e) => e.textContent)")
        listed = {r[0]: r[1] for r in rows_of(b)}[pattern]
        wrong += [(pattern, listed, blamed)] if f"{blamed[0]} {blamed[3]}" not in listed else []
        told, median = tiles.get("p50 of good"), sorted(good)[(len(good) - 1) // 2] if good and bad else None
        # Medians of the store are at most 0.8 % off, and written with three digits.
        near = told and median and abs(float(told.replace("\u00a0ms", "")) * 1e6 / median - 1) < 0.015
        wrong += [(pattern, told, median)] if not near and (told or median) else []
    result("failed: the node with most time in the list is that of the pattern, and the good ones have a median of their own", wrong)

    with open("replica.conf", "w", encoding="utf-8") as file:
        file.write("[maketrace]\nseed=5\nmessages=5616\n" + "".join(
            f"[tracelet {app}{ms}]\nparallel={k}\ncount={k}\nthink=uniform(0s,60s)\npath=client > lb( 1ms~0.2ms {app}( {ms}ms~1ms ) )\n"
            for app, ms, k in (("app1", 3, 700), ("app2", 3, 690), ("app2", 60, 14))))
    make("maketrace", "-w", "replica.trace", "replica.conf")
    make("nesting", "-o", "replica.sqlite", "replica.trace")
    make("report", "-o", "replica.html", "replica.sqlite")
    b.open("replica.html")
    row = json.loads(subprocess.run([ravel, "variance", "--format", "json", "replica.sqlite"], check=True, stdout=subprocess.PIPE).stdout)["entries"][0]["rows"][0]
    result("the replica that varies is named", differs(cells("#variance-list")[0][0], f"app1|app2 (app2 has {round(100 * row['replica_share'])}\u00a0%)"))
    result("and the one of each slow request", differs({r[4].split(" +")[0] for r in cells("#slowest-list")}, {"app2"}))

    # --- a node with a queue before workers ---
    result("without a queue before workers nothing is hatched", differs(b.run("[document.querySelectorAll('.waiting, .queued-words').length, /Hatched|workers/.test(document.body.innerText)]"), [0, False]))
    with open("workers.conf", "w", encoding="utf-8") as file:
        file.write("""[maketrace]
seed=5
network=0.05ms~0.01ms
stamps=both

[tracelet page]
parallel=1500
count=1500
think=uniform(0ms,3500ms)
path=client > web( 1ms db( lognormal(3ms,0.5) ) lognormal(2ms,0.6) )

[tracelet two]
parallel=500
count=500
think=uniform(0ms,3500ms)
path=client > web( 1ms db( lognormal(2ms,0.5) ) 1ms~0.2ms db( exp(2ms) ) exp(1ms) )

[node web]
servers=4
""")
    make("maketrace", "-w", "workers.trace", "workers.conf")
    make("nesting", "-o", "workers.sqlite", "workers.trace")
    make("report", "-o", "workers.html", "workers.sqlite")
    workers = sqlite3.connect("workers.sqlite")
    b.open("workers.html")
    result("workers: no error, nothing that only a program would say", b.problems or b.run(WORDS))
    BARS_OF = "[...document.querySelectorAll('%s tbody tr')].map((r) => [r.cells[0].textContent, [...r.querySelectorAll('.queued-words')].map((e) => e.textContent).join(), [...r.querySelectorAll('.meter i')].map((i) => [i.className, i.getBoundingClientRect().width])])"

    def hatched(selector, own, queued):
        found = {r[0]: r[1:] for r in b.run(BARS_OF % selector)}
        words, bars = found.pop("web")
        result(f"workers: what waited, in words, in {selector}", differs(words, f"queued {duration(queued)} of {duration(own)}, 4 workers"))
        result(f"workers: and in the bar, the hatched first, in {selector}", None if [x[0] for x in bars] == ["waiting", ""]
               and abs(bars[0][1] / (bars[0][1] + bars[1][1]) - queued / own) < 0.01 else bars)
        result(f"workers: no other node waits, in {selector}", [r for r in found.items() if r[1][0] or any(x[0] for x in r[1][1])])
    own, queued = workers.execute("SELECT sum(own_mean * count), sum(own_queued_mean * count) FROM pattern_node JOIN pattern ON pattern.id = pattern "
                                  "JOIN node ON node.id = node WHERE node.name = 'web'").fetchone()
    hatched("#blame-all", own, queued)
    pattern, = workers.execute("SELECT id FROM pattern ORDER BY total DESC LIMIT 1").fetchone()
    own, queued = workers.execute("SELECT own_mean, own_queued_mean FROM pattern_node WHERE pattern = ? AND place = 0", (pattern,)).fetchone()
    hatched("#blame", own, queued)
    node, n_workers, calls, served = workers.execute("SELECT name, workers, calls, served FROM worker JOIN node ON node.id = node").fetchone()
    first, last = workers.execute("SELECT first, last FROM run").fetchone()
    result("workers: how many, how busy, full at", differs(b.run(f"[...document.querySelectorAll('#load-list tbody tr')].filter((r) => r.cells[0].textContent === '{node}').map((r) => [...r.cells].slice(-4).map((c) => c.textContent))"),
                                                           [[str(n_workers), f"{round(100 * served / n_workers / (last - first))}\u00a0%", rate(calls * 1e9 / (last - first)), rate(1e9 * calls * n_workers / served)]]))
    result("workers: a line in the call tree", differs(b.run("[...document.querySelectorAll('.tree .box')].map((g) => [...g.querySelectorAll('text')].slice(3).map((t) => t.textContent))"),
                                                      [[], [f"queued {duration(queued)}, 4 workers"], []]))
    b.click("#timeline [data-value=slowest]")
    path, latency = workers.execute("SELECT id, latency FROM path WHERE pattern = ? ORDER BY latency DESC, id LIMIT 1", (pattern,)).fetchone()
    own, queued = workers.execute("SELECT own, own_queued FROM call WHERE path = ? AND own_queued IS NOT NULL", (path,)).fetchone()
    WAITED = "['.own.waiting', '.own:not(.waiting)'].map((s) => [...document.querySelectorAll(`#timeline .lanes ${s}[data-place=\"0\"]`)].reduce((sum, r) => sum + parseFloat(r.getAttribute('width')), 0))"
    scale = b.run(BARS)["0"][1] / latency
    drawn = b.run(WAITED)
    result("workers: in the timeline of a path", None if abs(drawn[0] - queued * scale) < 0.01 and abs(drawn[1] - (own - queued) * scale) < 0.01 else (drawn, queued * scale, own * scale))
    b.click("#node [data-value=waited]")
    result("workers: the distribution of what waited, by the mouse", differs([sum(r[1] for r in b.run(HISTOGRAM)), b.run("document.querySelector('#node [aria-pressed=true]').textContent")],
           [workers.execute("SELECT count FROM pattern WHERE id = ?", (pattern,)).fetchone()[0], "Queued"]))
    b.run("document.querySelector('#node [data-value=own]').focus()")
    b.key("Enter")
    b.key("Tab")
    b.key("Tab")
    b.key("Enter")
    result("workers: and by the keyboard", differs(b.run("[document.querySelector('#node [aria-pressed=true]').textContent, document.activeElement.dataset.value]"), ["Queued", "waited"]))
    for width, dark in ((1400, False), (1400, True), (400, False), (400, True)):
        b.size(width, 1000)
        b.media(dark=dark)
        b.frame()
        axe(b, f"workers, {width} pixels, {'dark' if dark else 'light'}")
        b.screenshot(f"workers-{width}-{'dark' if dark else 'light'}.png")
        result(f"workers, {width} pixels: nothing is wider than the window", differs(b.run("document.documentElement.scrollWidth <= innerWidth"), True))
        result(f"workers, {width} pixels: nothing scrolls sideways", b.run(SIDEWAYS))
        result(f"workers, {width} pixels: no line of a box is wider than it", b.run("""[...document.querySelectorAll('.tree .box')].flatMap((g) => { const r = g.querySelector('rect').getBoundingClientRect();
            return [...g.querySelectorAll('text')].filter((t) => { const q = t.getBoundingClientRect(); return q.left < r.left || q.right > r.right || q.top < r.top - 1 || q.bottom > r.bottom + 1; }).map((t) => t.textContent); })"""))
    b.size(1100, 1000)
    b.media("print")
    b.frame()
    result("workers, printed: words and hatching", differs(b.run("[[...document.querySelectorAll('.queued-words')].every((e) => e.getBoundingClientRect().height > 5), getComputedStyle(document.querySelector('#blame .waiting')).backgroundImage.startsWith('repeating')]"), [True, True]))
    b.screenshot("workers-printed.png")
    b.media()
    b.size(1400, 1000)
    result("workers: no error", b.problems)

    # --- rare patterns that are probably misassigned ---
    with open("rare.conf", "w", encoding="utf-8") as file:
        file.write("""[maketrace]
seed=3
network=0.05ms~0.01ms
stamps=both

[tracelet page]
parallel=40
count=700
think=exp(10ms)
path=client > web( exp(2ms) auth( exp(3ms) ) exp(2ms) shop( exp(2ms) db( exp(3ms) ) db( exp(2ms) ) ) exp(1ms) )

[tracelet list]
parallel=30
count=500
think=exp(10ms)
path=client > web( exp(2ms) shop( exp(1ms) db( exp(4ms) ) exp(1ms) ) exp(1ms) )
""")
    make("maketrace", "-w", "rare.trace", "rare.conf")
    make("nesting", "-o", "rare.sqlite", "rare.trace")
    make("report", "-o", "rare.html", "rare.sqlite")
    rare = sqlite3.connect("rare.sqlite")

    # Most of these paths are wrong, so that the list is by drawings.
    def of_rare(condition, order="mean * drawn DESC, signature"):
        return [r[0] for r in rare.execute(f"SELECT hash FROM pattern WHERE {condition} ORDER BY {order}")]

    n_rare, by_drawings, variance = rare.execute("SELECT count(*), sum(drawn), sum(drawn_error * drawn_error) FROM pattern WHERE misassigned").fetchone()
    paths = f"{int(by_drawings + 0.5):,} \u00b1{int(variance**0.5 + 0.5):,}"
    certain, wrong = of_rare("NOT misassigned"), of_rare("misassigned")
    b.open("rare.html")
    result("rare: no error, nothing that only a program would say", b.problems or b.run(WORDS))
    result("rare: the list without them", differs(ids(rows_of(b)), certain))
    b.run("document.querySelector('.grid .body .row[tabindex=\"0\"]').focus()")
    b.key("End")
    GROUP = "(() => { const g = document.querySelector('.grid .group'); return [g.querySelector('button').textContent, g.querySelector('.of-count').textContent, g.querySelector('button').ariaExpanded, document.activeElement === g.querySelector('button'), g.getBoundingClientRect().bottom <= document.querySelector('.grid .body').getBoundingClientRect().bottom + 1]; })()"

    def group(opened, focused=True, sign=None):
        return [f"{sign or (chr(0x25be) if opened else chr(0x25b8))} {n_rare} patterns of 5 paths or fewer, probably misassigned", paths, str(opened).lower(), focused, True]
    result("rare: End goes to the one row of them, and it is in sight", differs(b.run(GROUP), group(False)))
    result("rare: the pattern stays", differs(b.run(SIGNATURE), rare.execute("SELECT signature FROM pattern WHERE NOT misassigned ORDER BY mean * drawn DESC, signature LIMIT 1").fetchone()[0]))
    b.key("Enter")
    result("rare: Enter opens it", differs(b.run(GROUP), group(True)))
    result("rare: and they are below it", differs(ids(rows_of(b)), certain + wrong))
    b.key("ArrowDown")
    result("rare: the arrow goes on to the first of them", differs(b.run("[document.activeElement.dataset.id, document.activeElement.ariaSelected]"), [wrong[0], "true"]))
    fragment = b.run("location.hash")
    b.open("rare.html", fragment)
    result("rare: and it is in the address, open", differs([ids(rows_of(b)), b.run("document.querySelector('.grid .row[aria-selected=true]')?.dataset.id ?? document.querySelector('#pattern .hint').textContent.split(' ').pop()")], [certain + wrong, wrong[0]]))
    b.run("document.querySelector('.grid .body').scrollTop = 300")
    b.frame()
    b.run("document.querySelector('.grid .row[aria-selected=true]').focus()")
    b.key("ArrowUp")
    b.key(" ")
    result("rare: up again, and the space bar closes it", differs([b.run(GROUP), ids(rows_of(b))], [group(False), certain]))
    b.key("ArrowUp")
    result("rare: up to the last of the others", differs(b.run("[document.activeElement.dataset.id, document.activeElement.ariaSelected]"), [certain[-1], "true"]))
    b.run("document.activeElement.blur()")
    b.key("j")
    result("rare: j passes it over", differs(b.run("document.querySelector('.grid .row[aria-selected=true]').dataset.id"), certain[-1]))
    b.run("document.querySelector('.grid .body').scrollTop = 1e9; document.querySelector('.grid').scrollIntoView({block: 'center'})")
    b.frame()
    b.click(".grid .group .of-total")
    result("rare: a click opens it", differs([b.run(GROUP), ids(rows_of(b))], [group(True), certain + wrong]))
    b.run("document.querySelector('.grid .body').scrollTop = 1e9; document.querySelector('.grid').scrollIntoView({block: 'center'})")
    b.frame()
    b.click(".grid .rare:last-child")
    b.run("document.querySelector('.grid .body').scrollTop = 324")
    b.frame()
    result("the list stays where it is scrolled to while a row has the focus", differs(b.run("[document.querySelector('.grid .body').scrollTop, document.querySelector('.grid .body').contains(document.activeElement)]"), [324, True]))
    result("rare: a click chooses one of them", differs(b.run("document.getElementById('signature').textContent"), rare.execute("SELECT signature FROM pattern WHERE hash = ?", (wrong[-1],)).fetchone()[0]))
    b.click("[data-sort=count]")
    result("rare: at the end in any order", differs([r[0] in wrong for r in rows_of(b)], [False] * len(certain) + [True] * len(wrong)))
    b.run("document.querySelector('.grid .body').scrollTop = 0")
    b.run("document.getElementById('search').focus()")
    b.type("auth>")
    b.type("db")
    result("rare: a search for what is not there", differs(b.run("[document.getElementById('matched').textContent.split(',')[0], document.querySelectorAll('.grid .group').length]"), [f"0 of {len(certain) + n_rare} patterns", 0]))
    b.key("Escape")
    for width, dark in ((1400, False), (1400, True), (400, False), (400, True)):
        b.size(width, 1000)
        b.media(dark=dark)
        b.open("rare.html")
        b.run("document.querySelector('.grid .body .row[tabindex=\"0\"]').focus()")
        b.key("End")
        axe(b, f"rare, {width} pixels, {'dark' if dark else 'light'}, closed")
        b.key("Enter")
        axe(b, f"rare, {width} pixels, {'dark' if dark else 'light'}, open")
        b.screenshot(f"rare-{width}-{'dark' if dark else 'light'}.png")
        result(f"rare, {width} pixels: open, and in sight", differs(b.run(GROUP), group(True)))
        result(f"rare, {width} pixels: nothing is wider than the window", differs(b.run("document.documentElement.scrollWidth <= innerWidth"), True))
        result(f"rare, {width} pixels: nothing scrolls sideways", b.run(SIDEWAYS))
        result(f"rare, {width} pixels: no two cells of a row collide", b.run(COLLISIONS))
        result(f"rare, {width} pixels: its words are not cut", b.run("(() => { const e = document.querySelector('.rare-group'); return e.scrollWidth > e.clientWidth + 1; })()"))
    b.size(1100, 1000)
    b.media("print")
    b.open("rare.html")
    b.run("dispatchEvent(new Event('beforeprint'))")
    b.frame()
    result("rare, printed: one row where it is closed", differs(b.run("[document.querySelectorAll('.grid .body .row').length, document.querySelector('.grid .body').lastChild.textContent.includes('probably misassigned')]"), [len(certain) + 1, True]))
    b.screenshot("rare-printed.png")
    b.run("dispatchEvent(new Event('afterprint'))")
    b.media()
    b.size(1400, 1000)
    result("rare: no error", b.problems)

    # --- counts by drawings ---
    with open(f"{source}/examples/multi-tier.conf", encoding="utf-8") as file:
        text = file.read().replace("messages=200000", "messages=8000").replace("parallel=20", "parallel=600")
    with open("drawn.conf", "w", encoding="utf-8") as file:
        file.write(text)
    make("maketrace", "-w", "drawn.trace", "drawn.conf")
    make("nesting", "-o", "drawn.sqlite", "drawn.trace")
    make("report", "-o", "drawn.html", "drawn.sqlite")
    drawn = sqlite3.connect("drawn.sqlite")

    def by(order):
        return [r[0] for r in drawn.execute(f"SELECT hash FROM pattern WHERE NOT misassigned ORDER BY {order}, mean * drawn DESC, signature")]

    b.open("drawn.html")
    result("drawn: no error, nothing that only a program would say", b.problems or b.run(WORDS))
    result("drawn: it says which counts to believe, and why", "believe these" not in b.run("document.getElementById('trust-in-counts').textContent"))
    found = rows_of(b)
    result("drawn: the list by them", differs(ids(found), by("mean * drawn DESC")))
    stored = dict(drawn.execute("SELECT hash, printf('%,d \u00b1%,d', round(drawn), round(drawn_error)) FROM pattern"))
    result("drawn: counts with their errors", differs([[r[0], r[1][2]] for r in found], [[r[0], stored[r[0]]] for r in found]))
    for key in ("count", "found"):
        b.run(f"document.querySelector('[data-sort={key}]').focus()")
        b.key("Enter")
        column, of = {"count": (2, "drawn"), "found": (3, "count")}[key]
        result(f"drawn: sorted by {key} by the keyboard", differs([ids(rows_of(b)), b.run(f"document.querySelector('.of-{key}').ariaSort")], [by(f"{of} DESC"), "descending"]))
    for width, dark in ((1400, False), (1400, True), (1000, False), (800, False), (400, False), (400, True)):
        b.size(width, 1000)
        b.media(dark=dark)
        b.open("drawn.html")
        axe(b, f"drawn, {width} pixels, {'dark' if dark else 'light'}")
        b.run("document.getElementById('trust-in-counts').scrollIntoView()")
        b.screenshot(f"drawn-{width}-{'dark' if dark else 'light'}.png")
        result(f"drawn, {width} pixels: nothing is wider than the window", differs(b.run("document.documentElement.scrollWidth <= innerWidth"), True))
        result(f"drawn, {width} pixels: nothing scrolls sideways", width in (1400, 400) and b.run(SIDEWAYS))
        result(f"drawn, {width} pixels: no two cells of a row collide", b.run(COLLISIONS))
        result(f"drawn, {width} pixels: no count is cut", b.run("[...document.querySelectorAll('.grid .of-count, .grid .of-found')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"))
    b.size(700, 1000)
    b.media("print")
    b.open("drawn.html")
    b.run("dispatchEvent(new Event('beforeprint'))")
    b.frame()
    result("drawn, printed: all rows, and their counts are whole", differs(b.run("[document.querySelectorAll('.grid .body .row').length, [...document.querySelectorAll('.grid .of-count, .grid .of-found')].filter((e) => e.scrollWidth > e.clientWidth + 1).length]"), [len(found) + 1, 0]))
    result("drawn, printed: no two cells of a row collide", b.run(COLLISIONS))
    b.screenshot("drawn-printed.png")
    b.run("dispatchEvent(new Event('afterprint'))")
    b.media()
    b.size(1400, 1000)
    result("drawn: no error", b.problems)

    # --- names of strangers ---
    make("nesting", "-o", "hostile.sqlite", f"{source}/tests/data/hostile-names.trace")
    make("report", "-o", "hostile.html", "hostile.sqlite")
    b.open("hostile.html")
    b.run("window.alert = () => { throw new Error('alert'); }; 0")
    for vertex in range(8):
        b.key("n")
    names = [r[0].replace("\u202e", "<U+202E>") for r in sqlite3.connect("hostile.sqlite").execute("SELECT written FROM node")]
    text = b.run("document.body.innerText")
    result("hostile names are shown as text", [name for name in names if name not in text])
    result("and are nothing else", differs(b.run("[document.images.length, document.title, document.querySelectorAll('script').length, document.querySelectorAll('b, iframe, object').length]"),
                                          [0, "hostile.sqlite: ravel report", 2, 0]))
    result("nothing of them runs, nothing is loaded", b.problems or [u for u in b.requests if not u.endswith("/hostile.html")])
    b.run("""document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="document.title = 1">'); 0""")
    b.frame()
    result("even markup that got in could not run", differs([b.run("document.title"), any("Content Security Policy" in p for p in b.problems)], ["hostile.sqlite: ravel report", True]))
    b.problems.clear()

    # --- parallel calls ---
    make("nesting", "-o", "parallel.sqlite", f"{source}/tests/data/parallel.trace")
    make("report", "-o", "parallel.html", "parallel.sqlite")
    b.open("parallel.html")
    bars = [v for v in b.run(BARS).values()]
    overlap = [1 for i, x in enumerate(bars[1:]) for y in bars[i + 2:] if min(x[0] + x[1], y[0] + y[1]) > max(x[0], y[0]) + 0.1]
    result("parallel calls overlap, and are marked", None if overlap and b.run("document.querySelectorAll('.lanes .parallel').length") >= 2 else bars)

    # --- stores without single paths; convolution's graphs ---
    make("nesting", "--no-requests", "-o", "patterns.sqlite", "shop.trace")
    make("report", "-o", "patterns.html", "patterns.sqlite")
    b.open("patterns.html")
    result("patterns only: no error, and nothing over time", b.problems or b.run(WORDS) or differs(
        b.run("[document.querySelectorAll('#over-time, #over-time-all, #timeline .segments').length, document.querySelectorAll('.lanes rect.wait').length > 0]"), [0, True]))
    make("maketrace", "-w", "events.trace", f"{source}/examples/publish-subscribe.conf")
    make("convolution", "-o", "events.sqlite", "events.trace")
    make("report", "-o", "events.html", "events.sqlite")
    b.open("events.html")
    result("convolution: no error", b.problems or b.run(WORDS))
    events = sqlite3.connect("events.sqlite")
    for root, name in events.execute("SELECT vertex.id, written FROM vertex JOIN node ON node.id = node WHERE parent IS NULL").fetchall():
        b.run(f"[...document.querySelectorAll('#graphs .segments button')].find((e) => e.textContent === {json.dumps(name)}).click()")
        vertices = events.execute("WITH RECURSIVE below(id) AS (VALUES (?) UNION ALL SELECT vertex.id FROM vertex JOIN below ON parent = below.id) "
                                  "SELECT written, count FROM below JOIN vertex USING (id) JOIN node ON node.id = node", (root,)).fetchall()
        result(f"convolution: the graph from {name}", differs(
            sorted(b.run("[...document.querySelectorAll('#graphs .box')].map((g) => [...g.querySelectorAll('text')].slice(0, 2).map((t) => t.textContent))")),
            sorted([v[0], f"{v[1]:,} messages"] for v in vertices)))
    result("convolution: paths as it writes them", differs(b.run("document.getElementById('signature').textContent"),
                                                          events.execute("SELECT signature FROM pattern ORDER BY total DESC, signature LIMIT 1").fetchone()[0]))
    axe(b, "convolution")

    # --- ten thousand patterns ---
    with open("many.trace", "w", encoding="utf-8") as file:
        for i in range(30000):
            p, prev, lines = i % 10000, "client", []
            for depth, node in enumerate((f"s{p % 10}", f"a{p // 10 % 10}", f"b{p // 100 % 10}", f"c{p // 1000}")):
                lines += [(i + 0.1 * depth, f"CALL_SENT\t{prev}\t{node}\t{depth}\n"), (i + 0.9 - 0.1 * depth, f"RET_SENT\t{node}\t{prev}\t{depth}\n")]
                prev = node
            file.writelines(f"{t:.6f}\t{rest}" for t, rest in sorted(lines))
    make("nesting", "-o", "many.sqlite", "many.trace")
    make("report", "-o", "many.html", "many.sqlite")
    result("10,000 patterns: under 5 MB", None if os.path.getsize("many.html") < 5e6 else os.path.getsize("many.html"))
    took = []
    for _ in range(3):
        b.open("many.html")
        took.append(b.run("performance.getEntriesByType('navigation')[0].loadEventEnd"))
    result(f"interactive in under 1 s ({min(took):.0f} ms)", None if min(took) < 1000 else took)
    result("the list has 10,000 rows, of which few exist", differs(b.run("[document.getElementById('patterns').getAttribute('aria-rowcount'), document.querySelectorAll('.grid .body .row').length < 60]"), ["10001", True]))
    for what, code in (("sort", "document.querySelector('[data-sort=p99]').click()"),
                       ("search", "document.getElementById('search').value = 'a7>b3'; document.getElementById('search').dispatchEvent(new Event('input'))"),
                       ("merge", "document.getElementById('merge').click()")):
        ms = b.run(f"(() => {{ const t = performance.now(); {code}; document.body.offsetHeight; return performance.now() - t; }})()")
        result(f"{what} in under 1 s ({ms:.0f} ms)", None if ms < 1000 else ms)
    result("no error with 10,000 patterns", b.problems)

    # --- a map of 50 nodes and 300 edges ---
    with open("town.conf", "w", encoding="utf-8") as file:
        file.write("[maketrace]\nseed=3\nmessages=60000\nparallel=20\nthink=uniform(100ms,500ms)\n")
        tiers = [[f"{tier}{chr(97 + i)}" for i in range(k)] for tier, k in (("front", 12), ("service", 18), ("data", 12), ("disk", 7))]

        def below(tier, i):  # the calls of a node
            if tier == 3:
                return "1ms~0.1ms"
            some = [(i * 5 + k) % len(tiers[tier + 1]) for k in range((8, 8, 4)[tier])]
            return "1ms~0.1ms " + " ".join(f"{tiers[tier + 1][k]}?0.2( {below(tier + 1, k)} )" for k in some)

        for i, name in enumerate(tiers[0]):
            file.write(f"[tracelet {name}]\nweight=1\npath=client > gate( 1ms~0.1ms {name}( {below(0, i)} ) )\n")
    make("maketrace", "-w", "town.trace", "town.conf")
    make("nesting", "--method", "oracle", "-o", "town.sqlite", "town.trace")
    make("report", "-o", "town.html", "town.sqlite")
    b.open("town.html")
    n_calls = b.run("document.querySelectorAll('.map .call').length")
    result(f"map of {n_calls} edges: all nodes", None if n_calls >= 290 and b.run("document.querySelectorAll('.map .box').length") == 51 else n_calls)
    APART = """(() => {
        const all = [...document.querySelectorAll('.map .box rect')].map((e) => e.getBoundingClientRect());
        return all.filter((a, i) => all.some((c, k) => k < i && a.left < c.right && c.left < a.right && a.top < c.bottom && c.top < a.bottom)).length;
    })()"""
    CUT = "[...document.querySelectorAll('.map .box')].filter((g) => { const r = g.querySelector('rect').getBoundingClientRect(); return [...g.querySelectorAll('text')].some((t) => t.getBoundingClientRect().left < r.left || t.getBoundingClientRect().right > r.right); }).length"
    for width, dark in ((1400, False), (400, True)):
        b.size(width, 1000)
        b.media(dark=dark)
        b.frame()
        b.frame()
        axe(b, f"map, {width} pixels, {'dark' if dark else 'light'}")
        b.screenshot(f"town-{width}.png")
        result(f"map, {width} pixels: no node over another, no text out of its node, nothing wider than the window", differs([b.run(APART), b.run(CUT), b.run("document.documentElement.scrollWidth <= innerWidth")], [0, 0, True]))
    b.size(1400, 1000)
    b.media()
    b.frame()
    b.run("document.querySelector('.map .box:not(.client)').focus()")
    b.key("ArrowRight")
    b.key("ArrowLeft")
    result("map: of many edges those of the chosen node have labels", None if 0 < b.run("[...document.querySelectorAll('.map .label')].filter((e) => getComputedStyle(e).display !== 'none').length") < 20 else "none or all")
    result("map: no error", b.problems)

    # --- diff ---
    for name, conf in (("a", "multi-tier"), ("b", "multi-tier-added-delay")):
        with open(f"{source}/examples/{conf}.conf", encoding="utf-8") as file, open("conf", "w", encoding="utf-8") as to:
            to.write(file.read().replace("messages=200000", "messages=60000"))
        make("maketrace", "-w", f"{name}.trace", "conf")
        make("nesting", "-o", f"{name}.sqlite", f"{name}.trace")
    make("diff", "--format", "html", "-o", "diff.html", "a.sqlite", "b.sqlite")
    make("diff", "--format", "html", "-o", "same.html", "a.sqlite", "a.sqlite")
    make("report", "-o", "slow.html", "b.sqlite")
    rows = [line.split("\t") for line in subprocess.run([ravel, "diff", "--format", "tsv", "a.sqlite", "b.sqlite"], check=True, capture_output=True, text=True).stdout.splitlines()[1:]]
    b.open("diff.html")
    result("diff: nothing that only a program would say", b.run(WORDS))
    result("diff: no error, no request but for the file", b.problems or differs(len(b.requests), 1))
    ws2 = next(r for r in rows if r[0] == "own" and r[1] == "-" and r[2] == "WS2" and r[4] == "p50")
    change = duration(int(ws2[8]) - int(ws2[7]))
    verdict = b.run("document.getElementById('verdict').textContent")
    result(f"diff: {verdict}", None if f"WS2 slower by {change}" in verdict and 190e6 < int(ws2[8]) - int(ws2[7]) < 212e6 else verdict)
    cells = b.run("[...document.querySelector('#nodes tbody tr').children].map((c) => c.textContent)")
    result("diff: the first node is WS2, with the same numbers as TSV", differs([cells[0], cells[5], cells[6]], ["WS2", duration(int(ws2[7])), duration(int(ws2[8]))]))
    edges = {r[2].replace(">", " > ") + (f" ({r[13]})" if r[0] == "cause" else ""): r for r in rows if r[0] in ("edge", "cause") and r[4] == "p50"}
    cells = b.run("[...document.querySelectorAll('#edges tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")
    result("diff: a row for each edge and cause, as TSV has it", differs({r[0]: r[1:3] + r[5:7] for r in cells}, {
        name: [f"{int(r[5]):,}", f"{int(r[6]):,}", duration(int(r[7])), duration(int(r[8]))] for name, r in edges.items() if int(r[5]) + int(r[6]) > 0}))
    changed = {r[1] for r in rows if r[11] == "1" and r[1] != "-"}
    result("diff: the patterns that changed", differs(set(b.run("[...document.querySelectorAll('#patterns tbody tr')].map((r) => r.dataset.id)")), changed))
    tree = b.run("[...document.querySelectorAll('.tree .box.changed')].map((g) => [g.querySelector('title').textContent, getComputedStyle(g.querySelector('rect')).fill])")
    result("diff: WS2 is orange in the tree, and signed", None if len(tree) == 1 and tree[0][0].startswith("WS2") and "\u25b2 +" in tree[0][0] else tree)
    b.click("#patterns tbody tr:nth-child(3) button")
    result("diff: a click on a pattern", differs(b.run("document.getElementById('signature').textContent"), b.run("document.querySelector('#patterns tbody tr:nth-child(3) button').textContent")))
    fragment = b.run("location.hash")
    chosen = b.run("document.getElementById('signature').textContent")
    b.open("diff.html", fragment)
    result("diff: and its address", differs(b.run("document.getElementById('signature').textContent"), chosen))
    for width, dark in ((1400, False), (700, True), (400, False)):
        b.size(width, 1000)
        b.media(dark=dark)
        b.frame()
        axe(b, f"diff, {width} pixels, {'dark' if dark else 'light'}")
        b.screenshot(f"diff-{width}-{'dark' if dark else 'light'}.png")
        result(f"diff, {width} pixels: nothing is wider than the window", differs(b.run("document.documentElement.scrollWidth <= innerWidth"), True))
        if width == 400:
            result("diff, 400 pixels: nothing scrolls sideways", b.run(SIDEWAYS))
            result("diff, 400 pixels: every cell says what it is", b.run("[...document.querySelectorAll('.cards td')].filter((e) => !e.dataset.label && e.colSpan < 2).length"))
    b.size(1400, 1000)
    b.media()
    b.open("same.html")
    result("diff of a run and itself: no change", differs(b.run("document.getElementById('verdict').textContent"), "No change beyond chance."))
    # Jobs in a list of Redis, which wait ten times as long in one of the runs.
    for name, longer in (("soon", 1), ("late", 10)):
        with open(f"{name}.trace", "w", encoding="utf-8") as file:
            file.write("# ravel trace 1\n# clocks: one\n")
            for i in range(600):
                at = 1700000000 + i / 10
                waits = (0.001 + i * 7 % 13 / 10000) * longer
                for after, line in ((0, f"CALL_SENT\tclient\tweb\ta.{i}"), (0.002, f"CALL_SENT\tweb\tredis\tb.{i}\tlink=b.{i}"), (0.003, f"RET_SENT\tredis\tweb\tb.{i}"), (0.004, f"RET_SENT\tweb\tclient\ta.{i}"),
                                    (0.004 + waits, f"MSG_SENT\tredis\tworker\tc.{i}\tlink=b.{i}"), (0.006 + waits, f"CALL_SENT\tworker\tpg\td.{i}"), (0.008 + waits, f"RET_SENT\tpg\tworker\td.{i}")):
                    file.write(f"{at + after:.6f}\t{line}\n")
        make("nesting", "-o", f"{name}.sqlite", f"{name}.trace")
    make("diff", "--format", "html", "-o", "queues.html", "soon.sqlite", "late.sqlite")
    told = {r["node"]: r for r in part(ask("diff", "--format", "tsv", "soon.sqlite", "late.sqlite")) if r["kind"] == "queued" and r["quantile"] == "p50"}
    b.open("queues.html")
    result("diff of queues: no error, nothing that only a program would say", b.problems or b.run(WORDS))
    cells = b.run("[...document.querySelectorAll('#nodes tbody tr')].map((r) => [...r.cells].map((c) => c.textContent)).filter((r) => r[0].startsWith('('))")
    result("diff of queues: a row for each, as TSV has it", differs([r[:3] + r[5:7] for r in cells],
           [[f"(queued for {node})", r["count_a"], r["count_b"], duration(int(r["a"])), duration(int(r["b"]))] for node, r in told.items()]) or (None if len(told) == 1 else told))
    result("diff of queues: it is slower", differs(b.run("[...document.querySelectorAll('#nodes tbody tr')].filter((r) => r.querySelector('.slower')).map((r) => r.cells[0].textContent)"), ["(queued for worker)"]))
    change = duration(int(told["worker"]["b"]) - int(told["worker"]["a"]))
    result("diff of queues: the verdict", differs(b.run("document.getElementById('verdict').textContent"), f"Time in queues, median: before worker longer by {change}."))
    for width in (1400, 400):
        b.size(width, 1000)
        b.frame()
        b.screenshot(f"queues-{width}.png")
        result(f"diff of queues, {width} pixels: nothing is wider than the window", differs(b.run("document.documentElement.scrollWidth <= innerWidth"), True))
    b.size(1400, 1000)
    b.open("slow.html", "#q=ws2")
    first = b.run("[...document.querySelector('#blame tbody tr').children].map((c) => c.textContent)")
    calm = sqlite3.connect("a.sqlite").execute("SELECT own_mean FROM pattern_node JOIN pattern ON pattern.id = pattern WHERE place = 0 AND signature LIKE '%>WS2(%AP%AUTH%' ORDER BY count DESC LIMIT 1").fetchone()[0]
    result(f"the blame table of the slow run names WS2 ({first[2]}, {duration(calm)} without the delay)", None if first[0] == "WS2" and first[2].endswith("ms") and 180 < float(first[2].split("\u00a0")[0]) - calm / 1e6 < 240 else first)
    result("no error at all", b.problems)

    # --- trend ---
    os.mkdir("trend")
    subprocess.run([sys.executable, f"{source}/tests/scripts/trend-stores.py", ravel, f"{source}/examples/multi-tier.conf", "7", "creep", "12", "24000"], check=True, cwd="trend")
    make("trend", "-o", "trend.html", "trend")
    b.open("trend.html")
    result("trend: nothing that only a program would say", b.run(WORDS))
    result("trend: no error, no request but for the file", b.problems or differs(len(b.requests), 1))
    verdict = b.run("document.getElementById('verdict').textContent")
    result(f"trend: {verdict}", None if verdict.startswith("2 series changed: AP") and verdict.count("creeps") == 2 else verdict)
    result("trend: a line for each of them", differs(b.run("[document.querySelectorAll('#list tbody tr').length, document.querySelectorAll('#list .course svg .fit').length]"), [2, 2]))
    b.run("document.querySelector('#list tbody tr:nth-child(2) button').focus()")
    b.key("Enter")
    b.frame()
    title = b.run("document.getElementById('title').textContent")
    result("trend: Enter chooses a series, and keeps the focus", differs(b.run("document.activeElement.textContent"), title))
    result("trend: with its twelve values", differs(b.run("document.querySelectorAll('#values tbody tr').length"), 12))
    fragment = b.run("location.hash")
    b.open("trend.html", fragment)
    result("trend: and its address", differs(b.run("document.getElementById('title').textContent"), title))
    b.click("#all")
    result("trend: those without a change, too", None if b.run("document.querySelectorAll('#list tbody tr').length") > 40 else "fewer")
    for width, dark in ((1400, False), (700, True), (400, False)):
        b.size(width, 1000)
        b.media(dark=dark)
        b.frame()
        axe(b, f"trend, {width} pixels, {'dark' if dark else 'light'}")
        b.screenshot(f"trend-{width}-{'dark' if dark else 'light'}.png")
        result(f"trend, {width} pixels: nothing is wider than the window", differs(b.run("document.documentElement.scrollWidth <= innerWidth"), True))
        if width == 400:
            result("trend, 400 pixels: nothing scrolls sideways", b.run(SIDEWAYS))
            result("trend, 400 pixels: every cell says what it is", b.run("[...document.querySelectorAll('.cards td')].filter((e) => !e.dataset.label && e.colSpan < 2).length"))
    result("trend: no error at all", b.problems)

print(f"1..{n}")
sys.exit(bad)
