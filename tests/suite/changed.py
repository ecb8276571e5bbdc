# changed.py: the tests of what was changed, for `make check`.
#
# SPDX-License-Identifier: Apache-2.0
import fnmatch
import os

import covers
import machine
import times

MOST_NAMED = 3  # files
ITSELF, PART, TREE, ROOM = range(4)  # and more than ROOM: the later in its line of covers.txt


def changed_files():
    """Those that are not committed, or not pushed; if there are none, those of the last commit.
    @return the files, and where they were changed, in words"""
    files = covers.git("diff", "--name-only", "HEAD")
    if files is None:
        raise SystemExit("make check finds what was changed with git, and this is not a clone: use make test")
    files += covers.git("ls-files", "--others", "--exclude-standard")
    for upstream in ("@{upstream}", "origin/HEAD", "origin/main"):
        unpushed = covers.git("diff", "--name-only", f"{upstream}...HEAD")
        if unpushed is not None:
            files += unpushed
            break
    if files:
        return sorted(set(files)), ""
    files = covers.git("diff", "--name-only", "HEAD~1", "HEAD")
    if files is None:
        raise SystemExit("nothing is changed, and this clone does not have the commit before the last: "
                         "use make test")
    return files, " in the last commit"


def distance(test, files, lines):
    """How far a test is from what was changed; None is out of reach."""
    if covers.main_files(test) & set(files):
        return ITSELF
    headers = {os.path.splitext(os.path.basename(path))[0] + ".h" for path in files
               if path.startswith(("src/", "tests/")) and path.endswith((".c", ".h"))}
    if headers & covers.included_headers(test) or covers.helper_files(test) & set(files):
        return PART
    if "layout" in test["suite"]:
        return TREE
    for path in files:
        patterns = next((patterns for beginning, patterns in lines if covers.is_below(path, beginning)), [])
        for place, pattern in enumerate(patterns):
            if fnmatch.fnmatch(test["name"], pattern):
                return ROOM + place
    return None


def number_of(things, word):
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def select(tests, known, seconds, cores=None, files=None):
    """The changed tests, and the nearest others that fit into so many seconds, without those of the
    suite `long`.
    @return them, and a sentence"""
    cores = cores or machine.cores()
    where = ""
    if files is None:
        files, where = changed_files()
    lines = covers.lines()
    near = [(distance(test, files, lines), test) for test in tests]
    near = sorted(((d, known.get(("plain", test["name"]), times.UNKNOWN), test)
                   for d, test in near if d is not None), key=lambda entry: entry[:2])
    chosen, left, cpu_seconds = [], [], 0
    for how_far, (long, cpu), test in near:
        fits = long <= seconds and cpu_seconds + cpu <= seconds * cores * 0.8
        if "long" not in test["suite"] and (how_far == ITSELF or fits):
            cpu_seconds += cpu
            chosen.append(test)
        else:
            left.append(test["name"])
    named = ", ".join(files) if 0 < len(files) <= MOST_NAMED else number_of(files, "changed file")
    note = f"{number_of(chosen, 'test')} for {named}{where}"
    if left:
        note += f"; left to make test: {', '.join(left)}"
    if all(how_far == TREE for how_far, *_ in near):
        note += "; only whole-tree checks apply: tests/suite/covers.txt has no line for these files"
    return chosen, note
