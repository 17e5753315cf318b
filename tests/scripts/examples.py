# SPDX-License-Identifier: BSD-2-Clause
"""The examples of manual pages and documents: what they print is what is said. TAP.

    examples.py [--update] RAVEL SOURCE PAGE...

In a block of literal text, "$ COMMAND" is run, in a copy of demo/, and what follows is
compared with all that it prints. Of ravel-tutorial(7) that is every command; of another
page those that ask the trace and the store of the tutorial and show an answer. The documents of
MARKDOWN have commands and the beginning of their answers after four blanks; where that is "...", the
answer is shown from the line after it. There each command succeeds. --update writes the answers anew
into the pages: read the diff.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

MARKDOWN = ('README.md', 'docs/paths.md', 'docs/recipes.md')


def is_whole(command):
    """or it goes on in the next line"""
    return command.count("'") % 2 == 0 and command.count('"') % 2 == 0 and command[-1] not in '\\|'


def plain(line):
    return re.sub(r'\\&', '', line).replace('\\e', '\\')


def literal(line):
    line = line.replace('\\', '\\e')
    return '\\&' + line if line[:1] in ("'", '.') else line


def examples(lines):
    """(command, start, end): the answer is lines[start:end]"""
    i, inside = 0, False
    while i < len(lines):
        line = lines[i]
        i += 1
        if line.startswith('.Bd -literal') or line == '.Ed':
            inside = line != '.Ed'
        elif inside and line.startswith('$ '):
            command = plain(line[2:])
            while not is_whole(command):
                command += '\n' + plain(lines[i])
                i += 1
            start = i
            while lines[i] != '.Ed' and not lines[i].startswith('$ '):
                i += 1
            yield command, start, i


def markdown_examples(lines):
    for i, line in enumerate(lines):
        if line.startswith('    $ '):
            end = i + 1
            while lines[end].startswith('    ') and not lines[end].startswith('    $ ') or (
                    lines[end] == '' and lines[end + 1].startswith('    ')):
                end += 1
            yield line[6:], i + 1, end


def run(command, work):
    answer = subprocess.run(['sh', '-c', command], cwd=work, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return answer.stdout.splitlines() + [f'status {answer.returncode}'] * (answer.returncode != 0)


class Results:
    number = bad = 0

    def add(self, page, command, expected, found):
        self.number += 1
        self.bad += expected != found
        first = command.split('\n')[0]
        print(f"{'ok' if expected == found else 'not ok'} {self.number} - {page}: {first}")
        for line in difflib.unified_diff(expected, found, page, 'the program', lineterm=''):
            print('#', line)


def read(path):
    with open(path, encoding='utf-8') as page:
        return page.read().split('\n')


def is_checked(page, command, answer):
    return 'tutorial' in page or (answer and ('ravel query' in command
                                              or 'ravel variance' in command or 'ravel advise' in command or 'ravel whatif' in command or 'ravel why' in command
                                              or 'folded | grep' in command))


def check_page(results, source, page, work, update):
    path = f'{source}/docs/{page}'
    lines = read(path)
    changes = []
    for command, start, end in examples(lines):
        if not is_checked(page, command, lines[start:end]):
            continue
        found = [literal(line) for line in run(command, work)]
        changes.append((start, end, found))
        results.add(page, command, found if update else lines[start:end], found)
    if update:
        for start, end, found in reversed(changes):
            lines[start:end] = found
        with open(path, 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines))


def shown(expected, found):
    """What of an answer there is room for: its beginning, or where "..." leaves off."""
    failed = found[-1:] if found[-1:] != expected[-1:] and found[-1:] and found[-1].startswith('status ') else []
    if expected[:1] == ['...'] and expected[1] in found:
        found = ['...'] + found[found.index(expected[1]):]
    return found[:len(expected)] + failed


def check_markdown(results, source, page, work):
    lines = read(f'{source}/{page}')
    for command, start, end in markdown_examples(lines):
        expected = [line[4:] for line in lines[start:end]]
        results.add(page, command, expected, shown(expected, run(command, work)))


def main():
    update = sys.argv[1] == '--update'
    ravel, source, *pages = sys.argv[2 if update else 1:]
    results = Results()
    with tempfile.TemporaryDirectory(prefix='ravel-examples.') as scratch:
        os.mkdir(scratch + '/bin')
        os.symlink(os.path.realpath(ravel), scratch + '/bin/ravel')
        os.environ.update(PATH=scratch + '/bin:' + os.environ['PATH'], LC_ALL='C.UTF-8', TZ='UTC')
        os.environ.pop('COLUMNS', None)
        for folder in ('demo', 'examples', 'tests/scripts'):
            shutil.copytree(f'{source}/{folder}', f'{scratch}/{folder}')
        for page in pages:
            check_page(results, source, page, scratch + '/demo', update)
        for page in MARKDOWN:
            check_markdown(results, source, page, scratch)
    print(f'1..{results.number}')
    return results.bad > 0


sys.exit(main())
