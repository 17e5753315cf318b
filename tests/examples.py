# SPDX-License-Identifier: BSD-2-Clause
"""The examples of manual pages: what they print is what the page says. TAP.

    examples.py [--update] RAVEL SOURCE PAGE...

In a block of literal text, "$ COMMAND" is run, in a copy of demo/, and what follows is
compared with all that it prints. Of ravel-tutorial(7) that is every command; of another
page those that ask the trace and the store of the tutorial and show an answer. --update
writes the answers anew into the pages: read the diff.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile


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


def run(command, work):
    answer = subprocess.run(['sh', '-c', command], cwd=work, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return [literal(line) for line in answer.stdout.splitlines()]


def main():
    update = sys.argv[1] == '--update'
    ravel, source, *pages = sys.argv[2 if update else 1:]
    number, bad = 0, 0
    with tempfile.TemporaryDirectory(prefix='ravel-examples.') as scratch:
        os.mkdir(scratch + '/bin')
        shutil.copy(ravel, scratch + '/bin/ravel')
        os.environ.update(PATH=scratch + '/bin:' + os.environ['PATH'], LC_ALL='C.UTF-8', TZ='UTC')
        os.environ.pop('COLUMNS', None)
        work = scratch + '/demo'
        shutil.copytree(source + '/demo', work)
        for name in pages:
            path = f'{source}/docs/{name}'
            with open(path, encoding='utf-8') as page:
                lines = page.read().split('\n')
            changes = []
            for command, start, end in examples(lines):
                expected = lines[start:end]
                if 'tutorial' not in name and not (expected and 'ravel query' in command
                                                   or 'folded | grep' in command):
                    continue
                found = run(command, work)
                changes.append((start, end, found))
                number += 1
                wrong = found != expected and not update
                bad += wrong
                first = command.split('\n')[0]
                print(f"{'not ok' if wrong else 'ok'} {number} - {name}: {first}")
                if wrong:
                    for line in difflib.unified_diff(expected, found, 'the page', 'the program',
                                                     lineterm=''):
                        print('#', line)
            if update:
                for start, end, found in reversed(changes):
                    lines[start:end] = found
                with open(path, 'w', encoding='utf-8') as page:
                    page.write('\n'.join(lines))
    print(f'1..{number}')
    return bad > 0


sys.exit(main())
