#!/usr/bin/env python3
# test_docs_code.py: the files and functions that the pages about the code name exist.
#
# A page names a function as `file.c`: `function`, or several as `file.c`: `one`, `two`.
# Files are named without their folder, since file names are unique in the tree.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import pathlib
import re

import harness
from harness import check

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "docs" / name for name in ("architecture.md", "life-of-an-event.md", "names-of-blocks.md")]
FILE = re.compile(r"`(\w+\.(?:c|h|py))`")
FUNCTIONS = re.compile(r"`(\w+\.(?:c|h|py))`: ((?:`\w+`(?:, )?)+)")


@functools.lru_cache(maxsize=None)
def files():
    """name -> the paths of that name in src/ and python/"""
    found = {}
    for folder in ("src", "python"):
        for path in (ROOT / folder).rglob("*.*"):
            found.setdefault(path.name, []).append(path)
    return found


def defines(text, suffix, function):
    """Whether the source text has a definition of the function, not only a declaration."""
    if suffix == ".py":
        return re.search(rf"^ *def {function}\(", text, re.MULTILINE) is not None
    definition = rf"^\w[^;{{}}()\n]*\b{function}\([^;{{}}]*\)\n{{"
    return re.search(definition, text, re.MULTILINE) is not None


def named_functions(page):
    for name, functions in FUNCTIONS.findall(page.read_text()):
        for function in re.findall(r"`(\w+)`", functions):
            yield name, function


def test_files_exist():
    failures = []
    for page in PAGES:
        names = set(FILE.findall(page.read_text()))
        check(len(names) > 20, "few files are named", page.name, names)
        for name in sorted(names):
            places = files().get(name, [])
            if len(places) != 1:
                failures.append(f"{page.name}: {name}: {len(places)} files of that name")
    check(not failures, "a page names files that do not exist, or not once", *failures)


def test_functions_are_defined():
    failures, count = [], 0
    for page in PAGES:
        for name, function in named_functions(page):
            count += 1
            for path in files().get(name, []):
                if not defines(path.read_text(), path.suffix, function):
                    failures.append(f"{page.name}: {name} does not define {function}")
    check(not failures, "a page names functions that do not exist", *failures)
    check(count > 80, "few functions are named", count)


def test_definitions_are_told_from_declarations():
    check(defines("static int add(int a,\n               int b)\n{\n", ".c", "add"), "definition")
    check(not defines("int add(int a);\n", ".c", "add"), "declaration")
    check(not defines("    return add(1);\n}\n", ".c", "add"), "call")
    check(not defines("static int add_all(int a)\n{\n", ".c", "add"), "another name")
    check(defines("def add(a):\n", ".py", "add"), "definition in Python")


harness.main(globals())
