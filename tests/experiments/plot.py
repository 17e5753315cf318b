# SPDX-License-Identifier: BSD-2-Clause
"""Plots by gnuplot, as SVG."""

import re
import shutil
import subprocess

COLOURS = ["#0060ad", "#d95319", "#238b45", "#7e2f8e", "#8c6d31", "#555555"]


def available():
    return shutil.which("gnuplot") is not None


def plot(path, panels, x, y, settings="", columns=3):
    """
    panels: (title, curves), as many columns side by side; a curve is (label, points) or
    (label, points, style), a point (x, mean, lowest, highest). A curve without a style is a
    line of means in a band from the lowest to the highest. x, y: labels of the axes;
    settings: more lines for gnuplot.
    """
    columns = min(len(panels), columns)
    rows = (len(panels) + columns - 1) // columns
    width, height = (560, 360) if columns == 1 else (320 * columns, 280 * rows)
    lines = [
        f"set terminal svg size {width},{height} dynamic font 'sans-serif,12' background 'white'",
        f"set xlabel '{x}'",
        f"set ylabel '{y}'",
        "set border 3",
        "set tics nomirror out",
        "set key top left Left reverse samplen 2",
        settings,
    ]
    for p, (_, curves) in enumerate(panels):
        for c, curve in enumerate(curves):
            lines += [f"$data{p}_{c} << END"]
            lines += ["%.6g %.6g %.6g %.6g" % point for point in curve[1]]
            lines += ["END"]
    lines += [f"set multiplot layout {rows},{columns}"]
    for p, (title, curves) in enumerate(panels):
        parts = []
        for c, (label, _, *style) in enumerate(curves):
            data = f"$data{p}_{c}"
            colour = f"lc rgb '{COLOURS[c % len(COLOURS)]}'"
            if not style:
                band = f"{data} using 1:3:4 with filledcurves fs transparent solid 0.2 noborder"
                parts += [f"{band} {colour} notitle"]
            how = style[0] if style else "lines"
            parts += [f"{data} using 1:2 with {how} lw 1.5 {colour} title '{label}'"]
        lines += [f"set title '{title}'", "plot " + ", ".join(parts)]
    drawn = subprocess.run(
        ["gnuplot"], input="\n".join(lines) + "\n", text=True, check=True, stdout=subprocess.PIPE
    ).stdout
    path.write_text(smaller(drawn))


def smaller(svg):
    """The same picture in a third of the bytes: without what nothing shows, and with what
    gnuplot says again at each tick said once."""
    svg = re.sub(r"<defs>.*?</defs>\n?", STYLE + _used_symbols(svg), svg, count=1, flags=re.S)
    times = 1
    while times:
        svg, times = re.subn(r"<g [^<>]*>\s*</g>\s*", "", svg)
    text = r'stroke="none" fill="black" font-family="sans-serif" font-size="12.00"\s*'
    svg = re.sub(text, 'class="t" ', svg)
    for width, name in (("1.00", "l"), ("1.50", "l b")):
        line = rf'<g fill="none" color="black" stroke="currentColor" stroke-width="{width}"[^>]*>'
        svg = re.sub(line, f'<g class="{name}">', svg)
    svg = re.sub(r'<tspan font-family="sans-serif" >(.*?)</tspan>', r"\1", svg)
    return re.sub(r"\s*\n\s*", "\n", svg)


STYLE = (
    "<style>.t{stroke:none;fill:black;font:12px sans-serif}"
    ".l{fill:none;stroke:black}.b{stroke-width:1.5}</style>\n"
)


def _used_symbols(svg):
    """The definition of the one symbol that plots use, where this one does."""
    symbol = '<circle id="gpPt6" r="1" fill="currentColor" stroke="none"/>'
    return f"<defs>{symbol}</defs>\n" if "#gpPt6" in svg.split("</defs>")[1] else ""
