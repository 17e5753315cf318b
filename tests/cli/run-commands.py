#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run-commands.py DIR LIST GOLDEN [NAME...]: the commands of LIST, for golden.sh, which says what they are.

Each runs in DIR/work, a copy of DIR/data. What a command changed there is put back after it, which is less work than a
new copy. With NAMEs these are written to GOLDEN, "--all" all of them; else they are compared with what is there. TAP.
"""

import difflib
import os
import shutil
import signal
import stat
import subprocess
import sys

here, listed, golden, *update = sys.argv[1:]
data, work = os.path.join(here, "data"), os.path.join(here, "work")


def state(path):
    """What changes with any write to it or to what is in it."""
    of = os.lstat(path)
    if stat.S_ISDIR(of.st_mode) and not os.access(path, os.R_OK | os.X_OK):
        return None  # no longer what it was
    within = sorted(os.listdir(path)) if stat.S_ISDIR(of.st_mode) else []
    return (of.st_ino, of.st_mode, of.st_uid, of.st_size, of.st_mtime_ns, of.st_ctime_ns,
            [(name, state(os.path.join(path, name))) for name in within])


def put(name):
    original, there = os.path.join(data, name), os.path.join(work, name)
    if os.path.isdir(original) and not os.path.islink(original):
        shutil.copytree(original, there, symlinks=True)
    else:
        shutil.copy2(original, there, follow_symlinks=False)
    was[name] = state(there)


def restore():
    mode = os.stat(work).st_mode & 0o7777
    if mode != 0o755:
        os.chmod(work, 0o755)
    left = set(was)
    with os.scandir(work) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, folder in found:
        path = os.path.join(work, name)
        if name in was and was[name] == state(path):
            left.discard(name)
        elif folder:
            subprocess.run(["chmod", "-R", "u+rwx", path], check=True)
            shutil.rmtree(path)
        else:
            os.unlink(path)
    for name in left:
        put(name)


def run(command):
    """Everything that is kept."""
    with open(os.path.join(here, "out"), "w+b") as out, open(os.path.join(here, "err"), "w+b") as err:
        with subprocess.Popen(["sh", "-c", command], cwd=work, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                              start_new_session=True) as process:
            try:
                status = process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                status = 124
        out.seek(0)
        err.seek(0)
        restore()
        return b"$ %s\n%s--- standard error\n%s--- status %d\n" % (
            command.encode(), out.read(), err.read(), status if status >= 0 else 128 - status)


def result(ok, name):
    global n, bad
    n += 1
    bad = bad or not ok
    print(f"{'' if ok else 'not '}ok {n} - {name}", flush=True)


with open(listed, encoding="utf-8") as file:
    commands = [line.split(None, 1) for line in file if line.strip() and line[0] != "#"]
n, bad, was = 0, False, {}
os.makedirs(golden, exist_ok=True)
os.mkdir(work, 0o755)
for name in os.listdir(data):
    put(name)
for name, command in commands:
    kept = os.path.join(golden, name)
    command = command.strip()
    if update:
        if "--all" in update or name in update:
            found = run(command)
            with open(kept, "wb") as file:
                file.write(found)
        continue
    if "anybody" in command and os.getuid() == 0 and not shutil.which("setpriv"):
        result(True, f"{name} # SKIP setpriv is not installed")
        continue
    found = run(command)
    expected = b""
    if os.path.exists(kept):
        with open(kept, "rb") as file:
            expected = file.read()
    result(found == expected, name)
    if found != expected:
        lines = (text.decode(errors="backslashreplace").split("\n") for text in (expected, found))
        for line in difflib.unified_diff(*lines, "expected", "found", lineterm=""):
            print("# " + line)
if not update:
    stray = set(os.listdir(golden)) - {name for name, _ in commands}
    for name in sorted(stray):
        print(f"# {name} is not in tests/cli/TESTLIST")
    result(not stray, "every kept output has its line")
    print(f"1..{n}")
sys.exit(bad)
