# SPDX-License-Identifier: BSD-2-Clause
"""The paper's evaluation of the convolution algorithm: Figures 13, 16 and 23, section 7.5.7
and the right half of Table 1. Traces are messages and no more; prefixes.py keeps their truth."""

import configuration as conf
import mail_configuration
import mail_headers
import measure
import prefixes
from measure import CONVOLUTION_METHODS as METHODS
from measure import SEEDS, mean
from tables import OUT, chosen, figure, in_order, percent, point, values
from tables import write_plot, write_table, write_tsv

SECOND = 10**9
MS = 10**6

# The paper's algorithm finds most where the quantum is about as long as delays vary, so it is
# given some, and lags that go far enough for a background. --method auto goes by its defaults.
QUANTA_OF_PAPER = {"5 ms": ["--quantum", "5ms", "--max-delay", "500ms"],
                   "10 ms": ["--quantum", "10ms", "--max-delay", "2s"]}


def variants():
    """A name, a method and its options."""
    for method in METHODS:
        if method == "paper":
            for quantum, options in QUANTA_OF_PAPER.items():
                yield f"paper, {quantum}", method, options
        else:
            yield method, method, []


def of_mail(method, quantum):
    if method == "paper":
        return ["--quantum", f"{quantum}s", "--max-delay", f"{max(3600, 100 * quantum)}s"]
    return ["--quantum", f"{quantum}s"]



def messages_of(lab, text, seed, stamp=1, **disturbances):
    """A trace of the configuration as messages, and its truth."""
    made, _ = lab.trace(text, seed, "made")
    with open(made) as lines:
        messages = prefixes.disturbed(
            prefixes.caused_messages(lines), seed=seed, **disturbances
        )
    trace = lab.file("messages")
    with open(trace, "w") as out:
        prefixes.write(messages, out, stamp)
    for m in messages:
        m.time = m.time // stamp * stamp
    return trace, prefixes.Truth(messages)


VERTICES = """
    SELECT v.id, v.parent, node.name, v.count FROM vertex v JOIN node ON node.id = v.node
    ORDER BY v.id"""
DELAYS = "SELECT vertex, delay, count FROM vertex_delay ORDER BY vertex, count DESC, delay"


def found_prefixes(lab, trace, method, *options):
    """What is found, by prefix: the number of messages, and the delays with theirs."""
    store = lab.file("found.sqlite")
    lab.run("convolution", "--method", method, *options, "-n", 1, "-o", store, trace)
    delays = {}
    for vertex, delay, count in measure.query(store, DELAYS):
        delays.setdefault(vertex, []).append((delay, count))
    paths, found = {}, {}
    for vertex, parent, name, count in measure.query(store, VERTICES):
        paths[vertex] = paths.get(parent, ()) + (name,)
        if parent:
            found[paths[vertex]] = (count, delays.get(vertex, [(0, count)]))
    return found


# --- figure 13 ------------------------------------------------------------------


def edge_delays(of_prefix, weigh):
    """The mean ms that a node waits before it sends to another, by this edge, over prefixes;
    weigh gives the messages of one and the sum of their delays."""
    sums = {}
    for prefix, value in of_prefix.items():
        if len(prefix) > 2:
            n, total = weigh(value)
            known = sums.setdefault(prefix[-2:], [0, 0])
            known[0] += n
            known[1] += total
    return {edge: total / n / MS for edge, (n, total) in sums.items() if n}


def figure_13(lab):
    rows = []
    for seed in SEEDS:
        for name in ("multi-tier", "multi-tier-added-delay"):
            text = conf.replaced(conf.load(name), "parallel", 4)
            text = conf.replaced(text, "think", "uniform(0ms,20ms)")
            trace, true = messages_of(lab, text, seed)
            of = {"true": edge_delays(true.delays, lambda d: (len(d), sum(d)))}
            for variant, method, options in variants():
                found = found_prefixes(lab, trace, method, *options)
                right = {p: v for p, v in found.items() if p in true.count}
                of[variant] = edge_delays(
                    right, lambda v: (sum(n for _, n in v[1]), sum(d * n for d, n in v[1]))
                )
            for method, delays in of.items():
                for edge, ms in delays.items():
                    rows.append(
                        {"trace": name, "seed": seed, "method": method, "edge": ">".join(edge), "ms": ms}
                    )
    write_tsv("figure-13", rows)
    edges = sorted(in_order(chosen(rows, method="true"), "edge"))
    lines, panels = [], []
    for method in in_order(rows, "method"):
        points = []
        for x, edge in enumerate(edges, 1):
            added = []
            for seed in SEEDS:
                both = chosen(rows, method=method, edge=edge, seed=seed)
                if len(both) == 2:
                    added.append({"ms": both[1]["ms"] - both[0]["ms"]})
            if added:
                points.append(point(x, added, "ms", 1))
            if edge[:2] == "WS" and edge[4:6] == "AP":
                normal, slow = (
                    chosen(rows, method=method, edge=edge, trace=t)
                    for t in ("multi-tier", "multi-tier-added-delay")
                )
                cells = [figure(r, "ms") if r else "-" for r in (normal, slow, added)]
                lines.append([method, edge, *cells])
        panels.append((method, [("edges", points, "points pt 7 ps 0.6")]))
    write_table(
        "figure-13",
        ["method", "edge", "normal, ms", "added delay, ms", "difference, ms"],
        lines,
    )
    write_plot(
        "figure-13",
        panels,
        f"edge, of {len(edges)}",
        "added delay found, ms",
        settings="set yrange [-20:220]\nunset key",
    )


# --- figure 16 and section 7.5.7 ----------------------------------------------------


def mail_trace(lab, seed):
    """Stamps of whole seconds, as Received headers have them."""
    return messages_of(lab, mail_configuration.configuration(seed), seed, stamp=SECOND)


def secondary(true, share=0.1):
    """Of each frequent prefix the delays from 8 to 17 s that a share of its messages have,
    10 or 15 s: those on which some relay holds mail."""
    modes = {}
    for prefix in true.frequent():
        delays = true.delays.get(prefix, [])
        for seconds in (10, 15):
            held = sum(abs(d / SECOND - seconds - 1.5) <= 1.5 for d in delays)
            if delays and held >= share * len(delays):
                modes.setdefault(prefix, []).append(seconds)
    return modes


def secondary_found(true, found, quantum):
    """How many of the true secondary delays were found, of how many; and how many delays of
    4 s and more that were found, for a twentieth of the edge's messages, no message had."""
    modes = secondary(true)
    hits = invented = 0
    for prefix, seconds in modes.items():
        delays = [d / SECOND for d, _ in found.get(prefix, (0, []))[1]]
        hits += sum(any(d > 0 and abs(d - s - 1.5) <= 1.5 + quantum for d in delays) for s in seconds)
    for prefix in true.frequent():
        count, delays = found.get(prefix, (0, []))
        for delay, n in delays:
            near = [d for d in true.delays.get(prefix, []) if abs(d - delay) <= quantum * SECOND]
            if delay >= 4 * SECOND and n >= count / 20 and len(near) * 100 < count:
                invented += 1
    return hits, sum(map(len, modes.values())), invented


def figure_16(lab):
    rows = []
    for seed in SEEDS:
        trace, true = mail_trace(lab, seed)
        for method in METHODS:
            for quantum in (1, 5, 30):
                found = found_prefixes(lab, trace, method, *of_mail(method, quantum))
                score = prefixes.Score(true, found)
                hits, modes, invented = secondary_found(true, found, quantum)
                rows.append(
                    {
                        "seed": seed,
                        "method": method,
                        "quantum": quantum,
                        "messages": sum(true.count.values()),
                        "frequent": score.frequent,
                        "missed": len(score.missed),
                        "false": len(score.often_false),
                        "derived": len(score.often_derived),
                        "zero": sum(d[0][0] == 0 for _, d in found.values()) / len(found),
                        "modes": modes,
                        "hits": hits,
                        "invented": invented,
                        "count": measure.median(score.count_errors),
                    }
                )
                if seed == SEEDS[0] and method == METHODS[-1] and quantum == 5:
                    picture = [*of_mail(method, 5), "--sort", "count", "-n", 4, "--format", "svg"]
                    lab.run(
                        "convolution", "--method", method, *picture, "-w", OUT / "figure-16.svg", trace
                    )
    write_tsv("figure-16", rows)
    lines = []
    for method in METHODS:
        for quantum in in_order(rows, "quantum"):
            mine = chosen(rows, method=method, quantum=quantum)
            total = {c: sum(values(mine, c)) for c in mine[0] if c not in ("method", "seed")}
            lines.append(
                [method, quantum]
                + [f"{total[c]} of {total['frequent']}" if c == "missed" else total[c]
                   for c in ("missed", "false", "derived")]
                + [percent(mine, "zero"), f"{total['hits']} of {total['modes']}"]
                + [total["invented"], percent(mine, "count")]
            )
    write_table(
        "figure-16",
        ["method", "quantum, s", "missed", "false", "derived", "main delay 0, %"]
        + ["secondary delays found", "invented", "error of counts, %"],
        lines,
    )


# How far the clocks of hosts are off, s, and of how many. Other seeds than those that
# import/mail-clocks.c was chosen on.
CLOCKS = ((0, 0), (3, 1), (30, 0.3), (300, 0.1))
MAIL_SEEDS = (301, 302, 303)


def made_mail(lab, seed, off, share):
    """Mails, the names of their hosts, and the truth of their ways."""
    made, _ = lab.trace(mail_configuration.configuration(seed), seed, "made")
    with open(made) as lines:
        messages = prefixes.caused_messages(lines)
    for m in messages:
        m.sender, m.receiver = (f"{n}.{mail_headers.DOMAIN}" for n in (m.sender, m.receiver))
    corpus = mail_headers.corpus(made, seed, off, share)
    mails, hosts = lab.file("mails"), lab.file("hosts")
    mail_headers.write_mbox(corpus.mails(), mails)
    mail_headers.write_hosts(corpus.hosts, hosts)
    return mails, hosts, prefixes.Truth(messages)


def mail_clocks(lab):
    rows = []
    for off, share in CLOCKS:
        for seed in MAIL_SEEDS:
            mails, hosts, true = made_mail(lab, seed, off, share)
            for clocks, options in (("put right", []), ("as they are", ["--one-clock"])):
                trace = lab.file("imported")
                lab.run("import", *options, "--nodes", hosts, mails, output=trace)
                found = found_prefixes(lab, trace, "auto")
                score = prefixes.Score(true, found)
                with open(trace) as lines:
                    n = sum(not line.startswith("#") for line in lines)
                rows.append(
                    {
                        "off": off,
                        "share": share,
                        "seed": seed,
                        "clocks": clocks,
                        "messages": n,
                        "of": sum(true.count.values()),
                        "frequent": score.frequent,
                        "missed": len(score.missed),
                        "false": len(score.false),
                        "often": len(score.often_false),
                        "derived": len(score.derived),
                        "count": measure.median(score.count_errors),
                    }
                )
    write_tsv("mail-clocks", rows)
    lines = []
    for off, share in CLOCKS:
        for clocks in in_order(rows, "clocks"):
            mine = chosen(rows, off=off, clocks=clocks)
            total = {c: sum(values(mine, c)) for c in mine[0] if c != "clocks"}
            lines.append(
                [f"{off} s, {100 * share:.0f} %", clocks]
                + [f"{100 * total['messages'] / total['of']:.0f}", total["frequent"], total["missed"]]
                + [f"{total['false']} ({total['often']})", percent(mine, "count")]
            )
    write_table(
        "mail-clocks",
        ["clocks off by, hosts", "clocks", "messages found, %", "frequent", "missed"]
        + ["false (frequent)", "error of counts, %"],
        lines,
    )


QUANTA = (1, 5, 15, 30, 60, 120, 360, 720)


def section_7_5_7(lab):
    rows = []
    for seed in SEEDS:
        trace, true = mail_trace(lab, seed)
        for method in METHODS:
            for quantum in QUANTA:
                found = found_prefixes(lab, trace, method, *of_mail(method, quantum))
                score = prefixes.Score(true, found)
                wrong = score.false + score.derived
                many = [p for p in found if found[p][0] >= 100]
                rows.append(
                    {
                        "seed": seed,
                        "method": method,
                        "step": quantum,
                        "reported": len(found),
                        "fp": len(wrong) / len(found),
                        "fp_100": sum(found[p][0] >= 100 for p in wrong) / max(len(many), 1),
                        "fn": len(score.missed) / score.frequent,
                    }
                )
    write_tsv("section-7-5-7", rows)
    lines = []
    for method in METHODS:
        for quantum in QUANTA:
            mine = chosen(rows, method=method, step=quantum)
            lines.append(
                [method, quantum, f"{mean(values(mine, 'reported')):.0f}"]
                + [percent(mine, c) for c in ("fp", "fp_100", "fn")]
            )
    write_table(
        "section-7-5-7",
        ["method", "quantum, s", "paths reported", "false positives, %"]
        + ["of 100 messages or more, %", "frequent paths missed, %"],
        lines,
    )
    panels = []
    for title, column in (
        ("false positives", "fp"),
        ("false positives of 100 messages or more", "fp_100"),
        ("frequent paths missed", "fn"),
    ):
        curves = [
            (m, [point(q, chosen(rows, method=m, step=q), column) for q in QUANTA])
            for m in METHODS
        ]
        panels.append((title, curves))
    write_plot(
        "section-7-5-7",
        panels,
        "quantum, s",
        "%",
        settings="set logscale x\nset yrange [0:105]",
    )


# --- figure 23 and the right half of table 1 ------------------------------------------

# The paper's way of correlating, which takes minutes, of one seed and the longer quanta.
WHOLE = "paper, whole transforms"
WAYS = {WHOLE: ["paper", "--correlate", "whole"]}


def ways():
    return {**WAYS, **{m: [m] for m in METHODS}}


def cost(trace, way, *options):
    """MB and CPU seconds."""
    return measure.usage("convolution", "--method", *way, "-j", 1, *options, "-n", 1, trace)


def figure_23(lab):
    rows = []
    for seed in SEEDS:
        trace, _ = mail_trace(lab, seed)
        for name, way in ways().items():
            for quantum in (1, 2, 5, 10, 20, 50, 100, 200, 500):
                if name == WHOLE and (seed > SEEDS[0] or quantum < 5):
                    continue
                options = ["--quantum", f"{quantum}s", "--max-delay", f"{100 * quantum}s"]
                mb, seconds = cost(trace, way, *options)
                rows.append(
                    {"seed": seed, "way": name, "quantum": quantum, "mb": mb, "seconds": seconds}
                )
    write_tsv("figure-23", rows)
    lines, curves = [], []
    for name in ways():
        mine = chosen(rows, way=name)
        quanta = in_order(mine, "quantum")
        curves.append((name, [point(q, chosen(mine, quantum=q), "seconds", 1) for q in quanta]))
        for quantum in quanta:
            at = chosen(mine, quantum=quantum)
            lines.append([name, quantum, figure(at, "seconds", 3), figure(at, "mb", 1)])
    write_table("figure-23", ["method", "quantum, s", "CPU s", "MB"], lines)
    write_plot(
        "figure-23",
        [("mail, 80,000 messages in 5,000,000 s", curves)],
        "quantum, s",
        "CPU s",
        settings="set logscale xy\nset format y '%g'",
    )


def table_1(lab):
    rows = []
    multi = [
        ("multi-tier normal", "10ms", 6684, 0.2, conf.load("multi-tier")),
        ("multi-tier added delay", "10ms", 6709, 0.2, conf.load("multi-tier-added-delay")),
    ]
    mail = [("email headers", "5s", 2106, 131), ("email headers", "30s", 338, 36)]
    for seed in SEEDS:
        for name, quantum, paper, mb_paper, text in multi:
            text = conf.replaced(conf.replaced(text, "parallel", 4), "think", "uniform(0ms,20ms)")
            trace, true = messages_of(lab, text, seed)
            # Most of what is found at this quantum is derived; the graph is kept small.
            few = ["--min-messages", 1000]
            rows += costs(name, seed, quantum, paper, mb_paper, trace, true, *few)
        trace, true = mail_trace(lab, seed)
        for name, quantum, paper, mb_paper in mail:
            rows += costs(name, seed, quantum, paper, mb_paper, trace, true)
    write_tsv("table-1-convolution", rows)
    lines = []
    for name, quantum in dict.fromkeys((r["trace"], r["quantum"]) for r in rows):
        line = [name, quantum]
        for way in ways():
            mine = chosen(rows, trace=name, quantum=quantum, way=way)
            if way == WHOLE:
                line += [mine[0]["paper"], mine[0]["mb_paper"]]
            line += [figure(mine, "seconds"), figure(mine, "mb", 0)]
        lines.append(line)
    head = ["trace", "quantum", "the paper's CPU s", "MB"]
    for way in ways():
        head += [f"{way}: CPU s", "MB"]
    write_table("table-1-convolution", head, lines)


def costs(name, seed, quantum, paper, mb_paper, trace, true, *options):
    for way, arguments in ways().items():
        if way == WHOLE and seed > SEEDS[0]:
            continue
        mb, seconds = cost(trace, arguments, "--quantum", quantum, *options)
        yield {
            "trace": name,
            "seed": seed,
            "quantum": quantum,
            "paper": paper,
            "mb_paper": mb_paper,
            "messages": sum(true.count.values()),
            "way": way,
            "mb": mb,
            "seconds": seconds,
        }


EXPERIMENTS = {
    "figure-13": figure_13,
    "figure-16": figure_16,
    "section-7-5-7": section_7_5_7,
    "mail-clocks": mail_clocks,
    "figure-23": figure_23,
    "table-1-convolution": table_1,
}
