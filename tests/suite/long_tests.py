# long_tests.py: tests of a minute or more. `make test` leaves one out while the files that it covers
# are those with which it last passed; `make test-nightly` runs all of them.
#
# long_tests.txt says which files each one covers, long_tests_passed.txt with which of them it passed:
# a digest that a run writes, and that is committed with the change.
#
# SPDX-License-Identifier: Apache-2.0
import hashlib
import os
import subprocess

from folders import SOURCE

COVERED = os.path.join(SOURCE, "tests", "suite", "long_tests.txt")
PASSED = os.path.join(SOURCE, "tests", "suite", "long_tests_passed.txt")

HEAD = """\
# The files with which each long test last passed, as a digest. `make test` and `make test-nightly` write
# this file; commit it with your change. If lines conflict, take either: a wrong one only runs the test.
"""


def lines_of(path):
    """The words of each line, without comments."""
    try:
        with open(path, encoding="utf-8") as file:
            return [line.split() for line in file if line.strip() and not line.startswith("#")]
    except FileNotFoundError:
        return []


def covered():
    """@return name -> the paths that it covers"""
    paths = {}
    for words in lines_of(COVERED):
        colon = words.index(":")
        paths |= dict.fromkeys(words[:colon], words[colon + 1:])
    return paths


def files_below(paths):
    """Those that are or could be committed; None outside of a clone."""
    done = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard", "--", *paths], cwd=SOURCE,
                          capture_output=True, text=True)
    if done.returncode:
        return None
    return sorted({name for name in done.stdout.split("\0") if name})


def digest(paths):
    """Of the files' names and contents, as they are now; "" if that is unknown."""
    files = files_below(paths)
    if not files:
        return ""
    sums = hashlib.sha256()
    for name in files:
        path = os.path.join(SOURCE, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                sums.update(f"{name}\0{hashlib.sha256(file.read()).hexdigest()}\n".encode())
    return sums.hexdigest()[:16]


def digests():
    """@return name -> the digest of the files that it covers"""
    return {name: digest(paths) for name, paths in covered().items()}


def left_out(now):
    """The names of those that have passed with these files."""
    passed = dict(lines_of(PASSED))
    return {name for name, known in now.items() if known and passed.get(name) == known}


def keep(now, names):
    """These have passed with these files. @return whether that was unknown"""
    before = dict(lines_of(PASSED))
    after = {name: known for name, known in before.items() if name in now}
    after |= {name: now[name] for name in names if now.get(name)}
    if after == before:
        return False
    with open(PASSED, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(f"{name} {known}\n" for name, known in sorted(after.items())))
    return True
