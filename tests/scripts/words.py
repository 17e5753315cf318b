#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How long the sentences of comments and documents are.

    words.py SOURCE

A line for each folder with C files, of its comments, and for each document: its name; the words of a
sentence, 90th percentile and most; and what should not be there. That is, in comments, the phrases of
IDIOMS; in documents, lines over COLUMNS. The manual pages are one document. The last line has the words
of all documents. A sentence ends at a full stop, a blank line, a list item, and where its comment ends;
those of fewer than FEWEST words are not counted. Code is left out: what is indented by four columns or
more, and in comments lines with fewer letters than other characters."""

import pathlib
import re
import sys

IDIOMS = re.compile(r"\b(so many|that many|those that|of it|as before)\b", re.I)
COLUMNS = 110
FEWEST = 4

# Strings and characters come first, so that a comment in one is none.
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*(.*?)\*/|//([^\n]*)', re.S)
END = re.compile(r"(?<!e\.g)(?<!i\.e)[.!?][\"')\]*_`]*\s+")
ITEM = re.compile(r"^\s*([-*+]|\d+[.)])\s+")

# Macros of mdoc(7) whose arguments are text, that can stand among arguments, too.
INLINE = set("Ad An Ao Ac Aq Ar Bo Bc Bq Bro Brc Brq Cd Cm Do Dc Dq Dv Em Er Ev Fa Fl Fn Ft Ic In Li Lk Ms "
             "Mt Nd Nm No Ns Nx Oo Oc Op Pa Pf Po Pc Pq Ql Qo Qc Qq So Sc Sq Sx Sy Tn Ux Va Vt Xr".split())


def paragraphs(lines):
    """The text of each: lines up to a blank one (or None) or an item."""
    text = []
    for line in [*lines, None]:
        ends = not line or not line.strip()
        if (ends or ITEM.match(line)) and text:
            yield " ".join(text)
            text = []
        if not ends:
            text.append(ITEM.sub("", line, 1).strip())


def lengths(lines):
    """The words of each sentence."""
    for paragraph in paragraphs(lines):
        for sentence in END.split(paragraph + " "):
            words = sum(any(map(str.isalnum, word)) for word in sentence.split())
            if words >= FEWEST:
                yield words


def comment_lines(text):
    """The lines of all comments, without their stars; None between two."""
    for block, line in COMMENT.findall(text):
        for row in (block or line).split("\n"):
            row = re.sub(r"^\s*\* ?", "", row) if block else row
            letters = sum(map(str.isalpha, row))
            is_code = row.startswith("    ") or 2 * letters < len(row.replace(" ", ""))
            if "SPDX-License" not in row:
                yield None if is_code else row
        yield None


def prose_of_markdown(text):
    """Its lines without code, tables, headings and addresses; and which of them are too long."""
    lines, long, fenced = [], 0, False
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        if fenced or line.startswith(("|", "    ", "```", "#", "<!--", "![")):
            lines.append(None)
            continue
        long += len(line) > COLUMNS and not re.search(r"https?://|\]\(", line)
        lines.append(re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", line)))
    return lines, long


def prose_of_mdoc(text):
    """The same of a manual page; the synopsis, references, displays and columns are left out."""
    lines, long, skipped, section = [], 0, [], ""
    for line in text.split("\n"):
        macro, *arguments = line[1:].split() or [""]
        if line.startswith('.\\"') or line.startswith("'"):
            continue
        if not line.startswith("."):
            macro, arguments = "", line.split()
        if macro in ("Bd", "Bl"):
            skipped.append(bool({"-literal", "-unfilled", "-column"} & set(arguments)))
        elif macro in ("Ed", "El") and skipped:
            skipped.pop()
        elif macro == "Sh":
            section = " ".join(arguments)
        if any(skipped) or section in ("NAME", "SYNOPSIS", "SEE ALSO") or macro and macro not in INLINE:
            lines.append(None)
            continue
        long += len(line) > COLUMNS
        words = (re.sub(r"\\f.|\\\(..|\\\[[^]]*\]|\\&", "", word) for word in arguments if word not in INLINE)
        lines.append(re.sub(r" ([.,:;!?)])", r"\1", " ".join(words)))
    return lines, long


def row(name, sentences, count):
    sentences = sorted(sentences) or [0]
    return f"{name}\t{sentences[-(-9 * len(sentences) // 10) - 1]}\t{sentences[-1]}\t{count}"


def folders(source):
    """Those with C files, but for what was built."""
    for folder in sorted(p for p in source.iterdir() if p.is_dir() and p.name[0] not in "._"):
        files = sorted(folder.rglob("*.[ch]")) if not (folder / "config.status").exists() else []
        if files:
            yield folder.name, files


def main(source):
    for name, files in folders(source):
        lines = [line for file in files for line in comment_lines(file.read_text())]
        text = "\n".join(paragraphs(lines))
        print(row(name, lengths(lines), len(IDIOMS.findall(text))))
    total, pages = 0, [[], 0]
    documents = sorted(source.glob("docs/*.md")) + [source / "README.md", source / "NEWS"]
    for document in [d for d in documents if d.exists()]:
        text = document.read_text()
        lines, long = prose_of_markdown(text)
        total += len(text.split())
        print(row(document.relative_to(source), lengths(lines), long))
    for page in sorted(source.glob("docs/*.[1-8]")) + sorted(source.glob("docs/*.[1-8].in")):
        text = page.read_text()
        lines, long = prose_of_mdoc(text)
        total += len(text.split())
        pages = [pages[0] + list(lengths(lines)), pages[1] + long]
    print(row("manual", *pages))
    print(f"words\t{total}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
