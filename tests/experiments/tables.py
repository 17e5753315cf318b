# SPDX-License-Identifier: BSD-2-Clause
"""What an experiment leaves behind: its runs, its table and its plot."""

import pathlib

import plot
from measure import mean

OUT = pathlib.Path("experiments")


def write_tsv(name, rows):
    def cell(value):
        if value is None:
            return "-"
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    lines = ["\t".join(rows[0])] + ["\t".join(map(cell, row.values())) for row in rows]
    (OUT / f"{name}.tsv").write_text("\n".join(lines) + "\n")


def write_table(name, head, lines):
    text = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    text += ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]
    (OUT / f"{name}.md").write_text("\n".join(text) + "\n")


def write_plot(name, *arguments, **settings):
    if plot.available():
        plot.plot(OUT / f"{name}.svg", *arguments, **settings)


def chosen(rows, **keys):
    """The rows in which these columns have these values."""
    return [r for r in rows if all(r[k] == v for k, v in keys.items())]


def values(rows, column):
    """Without those where there was none."""
    return [r[column] for r in rows if r[column] is not None]


def percent(rows, column):
    """The mean of a share, for a table."""
    v = values(rows, column)
    return f"{100 * mean(v):.1f}" if v else "-"


def figure(rows, column, digits=2):
    v = values(rows, column)
    return f"{mean(v):.{digits}f}"


def point(x, rows, column, factor=100):
    v = values(rows, column)
    return x, factor * mean(v), factor * min(v), factor * max(v)


def in_order(rows, column):
    return list(dict.fromkeys(r[column] for r in rows))
