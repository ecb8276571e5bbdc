# changed.py: the tests of what was changed, for `make check`.
#
# SPDX-License-Identifier: Apache-2.0
import fnmatch
import os
import re
import subprocess

from folders import SOURCE

COVERS = os.path.join(SOURCE, "tests", "suite", "covers.txt")


def git(*words):
    done = subprocess.run(["git", *words], cwd=SOURCE, capture_output=True, text=True)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else None


def changed_files():
    """Those that are not committed, or not pushed; if there are none, those of the last commit.
    @return the files, and what they are in words"""
    files = git("diff", "--name-only", "HEAD")
    if files is None:
        raise SystemExit("make check finds what was changed with git, and this is not a clone: use make test")
    files += git("ls-files", "--others", "--exclude-standard")
    files += git("diff", "--name-only", "@{upstream}...HEAD") or []
    if files:
        return sorted(set(files)), "changed files"
    return git("diff", "--name-only", "HEAD~1", "HEAD") or [], "files of the last commit"


def covering():
    """@return (path, names of tests), the longest path first"""
    with open(COVERS, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return sorted(((path, names) for path, *names in lines), key=lambda line: -len(line[0]))


def own_files(test):
    """The sources that a test is made of: its script, or the C file of its program."""
    name = os.path.basename(test["cmd"][0])
    paths = [os.path.relpath(os.path.normpath(word), SOURCE) for word in test["cmd"] if os.sep in word]
    return {path for path in paths if path.endswith(".py")} | {
        f"tests/{room}/{name}.c" for room in ("unit", "fuzz", "sanitize")}


def included_by(path):
    """The names of the headers that a C file includes."""
    try:
        with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
            return set(re.findall(r'^#include "([^"]+)"', file.read(), re.M))
    except OSError:
        return set()


def distance(test, files, lines):
    """How far a test is from what was changed: 0 is the test itself, None is out of reach."""
    own = own_files(test)
    if own & set(files):
        return 0
    headers = {os.path.splitext(os.path.basename(path))[0] + ".h" for path in files
               if path.startswith("src/") and path.endswith((".c", ".h"))}
    if any(headers & {os.path.basename(h) for h in included_by(path)} for path in own):
        return 1
    if "layout" in test["suite"]:
        return 1
    for path in files:
        names = next((names for beginning, names in lines if path.startswith(beginning)), [])
        for place, pattern in enumerate(names):
            if fnmatch.fnmatch(test["name"], pattern):
                return 2 + place
    return None


def select(tests, known, seconds, cores=None, files=None):
    """The nearest tests that fit into so many seconds. @return them, and a sentence"""
    cores = cores or len(os.sched_getaffinity(0))
    what = "files"
    if files is None:
        files, what = changed_files()
    lines = covering()
    near = [(distance(test, files, lines), test) for test in tests]
    near = sorted(((d, known.get(("plain", test["name"]), (5, 5)), test)
                   for d, test in near if d is not None), key=lambda entry: entry[:2])
    chosen, left, cpu_seconds = [], [], 0
    for _, (long, cpu), test in near:
        if long <= seconds and cpu_seconds + cpu <= seconds * cores * 0.8:
            cpu_seconds += cpu
            chosen.append(test)
        else:
            left.append(test["name"])
    note = f"{len(chosen)} tests of {len(files)} {what}"
    if left:
        note += f"; make test also runs {', '.join(left)}"
    return chosen, note
