# SPDX-License-Identifier: BSD-2-Clause
"""Configurations of `ravel maketrace`, as text: those in examples/ and beside this
file, with some of their lines changed."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"


def load(name):
    """NAME.conf, from beside this file or from examples/."""
    path = HERE / (name + ".conf")
    return (path if path.exists() else EXAMPLES / (name + ".conf")).read_text()


def replaced(text, key, value):
    """Every line that sets key sets value now. There must be one."""
    text, times = re.subn(rf"^{key}=.*", f"{key}={value}", text, flags=re.M)
    assert times, f"no {key}= to replace"
    return text


def _each_delay(text, change):
    """change() made of every mean~deviation of the paths, both numbers of ms."""

    def write(match):
        return "%gms~%gms" % change(float(match[1]), float(match[2]))

    return re.sub(
        r"^path\d*=.*",
        lambda line: re.sub(r"([\d.]+)ms~([\d.]+)ms", write, line[0]),
        text,
        flags=re.M,
    )


def with_deviation(text, share):
    """All delays of nodes have this deviation, as a share of their mean."""
    return _each_delay(text, lambda mean, _: (mean, mean * share))


def slower(text, factor):
    """All delays of nodes, and their deviations, are that many times as long."""
    return _each_delay(text, lambda mean, deviation: (mean * factor, deviation * factor))


def without_optional(text):
    """What is called with a probability of at most a half is never called, the rest is
    always."""

    def certain(match):
        return match[0].replace(match[1], "") if float(match[2]) > 0.5 else ""

    return re.sub(r"\[[^]]*\](\?([\d.]+))\([^()]*\) ?", certain, text)


def each_sequences(text, n):
    """n sequences of each tracelet, which chose among them before."""
    text = re.sub(r"^parallel=.*\n", "", text, flags=re.M)
    return re.sub(r"^weight=.*", f"parallel={n}", text, flags=re.M)


def with_sniffer(text, rate, queue=64):
    """Captured by a sniffer that manages rate messages a second."""
    return f"{text}\n[sniffer]\nrate={rate}/s\nqueue={queue}\n"
