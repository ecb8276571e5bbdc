# covers.py: which tests a file belongs to: those that are made of it, and those that covers.txt names.
#
# SPDX-License-Identifier: Apache-2.0
import fnmatch
import functools
import os
import re
import subprocess

from folders import SOURCE

TABLE = os.path.join(SOURCE, "tests", "suite", "covers.txt")
PROGRAM_ROOMS = ("unit", "fuzz", "sanitize", "vgg19")


def git(*words):
    """The names that git prints; None outside of a clone."""
    done = subprocess.run(["git", *words, "-z"], cwd=SOURCE, capture_output=True, text=True)
    return done.stdout.split("\0")[:-1] if done.returncode == 0 else None


def lines():
    """@return (path, patterns of tests), the longest path first, those with * last"""
    with open(TABLE, encoding="utf-8") as file:
        words = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return sorted(((path, patterns) for path, *patterns in words),
                  key=lambda line: ("*" in line[0], -len(line[0])))


def is_below(file, path):
    """@path is a path, the beginning of one, or contains *."""
    return file.startswith(path) or fnmatch.fnmatch(file, path)


def read(path):
    try:
        with open(os.path.join(SOURCE, path), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


INCLUDE = re.compile(r'^#include "(?:.*/)?([^"/]+)"', re.M)

# ---- What a test is made of ------------------------------------------------


@functools.cache
def test_files():
    """file name without its extension -> the files of that name below tests/"""
    found = {}
    for folder, _, names in os.walk(os.path.join(SOURCE, "tests")):
        for name in names:
            stem, end = os.path.splitext(name)
            if end in (".c", ".cc", ".h", ".py", ".cu"):
                found.setdefault(stem, set()).add(os.path.relpath(os.path.join(folder, name), SOURCE))
    return found


@functools.cache
def named_in(path):
    """The files below tests/ that a file of the tests includes, imports, or names in quotes: a helper, or
    a program that it starts."""
    text = read(path)
    if path.endswith(".py"):
        names = re.findall(r"^\s*(?:import|from) +(\w+)", text, re.M) + re.findall(r'"([\w.-]+)"', text)
    else:
        names = INCLUDE.findall(text)
    stems = {re.sub(r"\.(?:py|c|cc|h)$", "", name) for name in names}
    return {file for stem in stems for file in test_files().get(stem, ())}


def main_files(test):
    """Its script, or the C file of its program, whether that exists or not."""
    paths = {os.path.relpath(os.path.normpath(word), SOURCE) for word in test["cmd"] if os.sep in word}
    name = os.path.basename(test["cmd"][0])
    return {path for path in paths if path.endswith(".py")} | {
        f"tests/{room}/{name}.c" for room in PROGRAM_ROOMS}


def helper_files(test):
    """Those that its own files name, and those that these name."""
    own = main_files(test)
    found, new = set(), own
    while new:
        new = {file for path in new for file in named_in(path)} - found - own
        found |= new
    return found


def included_headers(test):
    """The names of the headers that its own files include."""
    return {name for path in main_files(test) for name in INCLUDE.findall(read(path))}
