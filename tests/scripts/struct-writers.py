#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""struct-writers.py MOST FOLDER...: fields of shared structs that more than MOST files write, a line each.

A file is its name without the ending; the kinds of evidence count as one, as the table of them does. A write is an assignment, an increment or a decrement through
a variable whose type is declared in the same file; what an initializer sets does not count, as it
makes the struct. What cannot be resolved is left out: this finds habits, and proves nothing.
"""

import glob
import re
import sys

LVALUE = r"(?:\[[^\]]*\])*"
CHAIN = rf"(\w+{LVALUE}(?:(?:->|\.)\w+{LVALUE})+)"
WRITES = [re.compile(CHAIN + r"\s*(?:=(?!=)|[-+*/|&^%]=|<<=|>>=|\+\+|--)"), re.compile(r"(?:\+\+|--)" + CHAIN)]


def read(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def find_structs(text):
    """Name, {field: type}; those within others are taken apart into fields of the outer one."""
    for start in re.finditer(r"\b(?:struct|union)\s*(\w*)\s*\{", text):
        end, depth = start.end(), 1
        while depth > 0 and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        name = re.match(r"\s*(\w*)", text[end:]).group(1) or start.group(1)
        fields = {}
        for statement in re.split(r"[;{}]", text[start.end():end - 1]):
            statement = re.sub(r"\[[^\]]*\]|\b(?:const|struct|volatile)\b", " ", statement)
            words = re.findall(r"\w+", statement.split(",")[0])
            for part in statement.split(","):
                name_of = re.findall(r"\w+", part.split(":")[0])
                if words and name_of and "(" not in part:
                    fields[name_of[-1]] = words[0]
        yield name, fields


def find_variables(text, structs):
    """Where variables of these types are declared: {variable: [(position, type)]}, in order."""
    found = {}
    for match in re.finditer(r"\b([A-Z]\w+)\s+(?:const\s+)?\**\s*((?:const\s+)?\w+(?:, ?\**\w+)*)", text):
        if match.group(1) in structs:
            for variable in re.findall(r"\w+", match.group(2)):
                found.setdefault(variable, []).append((match.start(), match.group(1)))
    return found


def written(chain, variables, position, structs):
    """The struct that a chain such as a->b[i].c ends in a field of, or None."""
    names = re.sub(r"\[[^\]]*\]", "", chain).replace("->", ".").split(".")
    of = None
    for place, declared in variables.get(names[0], ()):
        of = declared if place < position else of
    for name in names[1:-1]:
        of = structs.get(of, {}).get(name)
    return of if names[-1] in structs.get(of, {}) else None


def main():
    most, folders = int(sys.argv[1]), sys.argv[2:]
    sources = {path: read(path) for folder in folders for path in sorted(glob.glob(folder + "/**/*.[ch]", recursive=True))}
    shared, own = {}, {}
    for path, text in sources.items():
        for name, fields in find_structs(text):
            (shared if path.endswith(".h") else own.setdefault(path, {})).setdefault(name, {}).update(fields)
    writers = {}
    for path, text in sources.items():
        structs = {**shared, **own.get(path, {})}
        variables = find_variables(text, structs)
        for pattern in WRITES:
            for match in pattern.finditer(text):
                of = written(match.group(1), variables, match.start(), structs)
                if of in shared and of not in own.get(path, {}):
                    field = re.findall(r"\w+", re.sub(r"\[[^\]]*\]", "", match.group(1)))[-1]
                    file = re.sub(r"/evidence-\w+", "/evidence", path[:-2])
                    writers.setdefault(f"{of}.{field}", set()).add(file)
    for name, files in sorted(writers.items()):
        if len(files) > most:
            print(f"{name}: {' '.join(sorted(files))}")


main()
