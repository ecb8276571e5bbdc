# long_tests.py: the tests of the suite `long`, which take long and seldom notice a change. `make test` leaves
# one out while the files that it covers are those with which it last passed; `make test-nightly` runs all.
#
# It covers its own files, and those of each line of covers.txt that names it. long_tests_passed.txt has
# a digest of the files with which it passed, and of the kind of machine: a run writes it, and it is
# committed with the change.
#
# SPDX-License-Identifier: Apache-2.0
import fnmatch
import hashlib
import os
import re

import covers
import machine
import times
from folders import SOURCE

PASSED = os.path.join(SOURCE, "tests", "suite", "long_tests_passed.txt")
A_SKIPPED_CASE = re.compile(r"^test_\w+: skipped", re.M)

HEAD = """\
# The files with which each long test last passed, and the kind of machine, as a digest. `make test` and
# `make test-nightly` write this file; commit it with your change. If lines conflict, take either: a wrong
# one only runs the test.
"""


def all_files():
    """Those that are or could be committed; none outside of a clone."""
    return covers.git("ls-files", "--cached", "--others", "--exclude-standard") or []


def covered(test, files):
    """Without the files that a run itself writes."""
    files = set(files) - {os.path.relpath(path, SOURCE) for path in (PASSED, times.TABLE)}
    own = covers.main_files(test) | covers.helper_files(test)
    paths = [path for path, patterns in covers.lines()
             if any(fnmatch.fnmatch(test["name"], pattern) for pattern in patterns)]
    return [file for file in files if file in own or any(covers.is_below(file, path) for path in paths)]


def digest(files):
    """Of the files' names and contents, as they are now, and of the kind of machine; "" if there are
    no files."""
    sums = hashlib.sha256(machine.kind().encode())
    for name in sorted(set(files)):
        path = os.path.join(SOURCE, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                sums.update(f"{name}\0{hashlib.sha256(file.read()).hexdigest()}\n".encode())
    return sums.hexdigest()[:16] if files else ""


def digests(tests):
    """@return name -> the digest of what it covers, for those of the suite `long`"""
    files = all_files()
    return {test["name"]: digest(covered(test, files)) for test in tests if "long" in test["suite"]}


def passed():
    """@return name -> digest, without lines that are no such pair, as a conflict of two branches leaves
    them"""
    try:
        with open(PASSED, encoding="utf-8") as file:
            found = (re.fullmatch(r"(\S+) ([0-9a-f]{16})\n?", line) for line in file)
            return dict(match.groups() for match in found if match)
    except OSError:
        return {}


def left_out(now):
    """The names of those that have passed with these files."""
    before = passed()
    return {name for name, known in now.items() if known and before.get(name) == known}


def is_whole(log):
    """Whether no case of the test was skipped."""
    with open(log, encoding="utf-8", errors="replace") as file:
        return not A_SKIPPED_CASE.search(file.read())


def keep(before, after, names, failed):
    """@names have passed. @before, @after  the digests at the beginning and at the end of the run: of a
    file that has changed meanwhile, it is not known which one was tested
    @return whether the file of digests has changed"""
    known = passed()
    kept = known | {name: after[name] for name in names if after.get(name) and before.get(name) == after[name]}
    kept = {name: digest for name, digest in kept.items() if name not in failed}
    if kept == known:
        return False
    try:
        with open(PASSED, "w", encoding="utf-8") as file:
            file.write(HEAD + "".join(f"{name} {value}\n" for name, value in sorted(kept.items())))
    except OSError:
        return False  # a source that cannot be written to
    return True
