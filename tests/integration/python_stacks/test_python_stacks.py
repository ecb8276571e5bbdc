#!/usr/bin/env python3
# test_python_stacks.py: the Python stack of a block equals the one that Python reports, with
# every installed CPython.
#
# SPDX-License-Identifier: Apache-2.0
import itertools
import json
import os
import re
import sys

import harness
from harness import check, contains, equal, plain, report, run
from python_versions import interpreters

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "python_cases.py")
MANY = os.path.join(HERE, "python_many.py")
LIBRARY = harness.program("python_stacks/libpython_asks.so")
INTERPRETER = re.compile(r"(lib)?python3[.0-9]*(\.so.*)?$")
FRAMES = 64  # of one stack; those beyond are left out
NAME_BYTES = 1023  # a longer one is cut


def record(python, case, *options):
    """{(pid, address): stack} of what Python said, and of what is in the trace."""
    folder = os.path.abspath(f"told-{case}")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith(".json"):
            os.unlink(os.path.join(folder, name))
    result = run(python, CASES, LIBRARY, folder, case, options=["-qf", *options])
    equal(result.code, 0, f"exit code of {case} with {python}", result)
    said = {}
    for name in os.listdir(folder):
        if name.endswith(".json"):
            with open(os.path.join(folder, name)) as f:
                said.update({(int(name[:-5]), int(a)): s for a, s in json.load(f).items()})
    return said, {(e["pid"], int(e["address"], 16)): e.get("stack", [])
                  for e in report("events", result.trace, "--kind=alloc")["events"]
                  if e["space"] == "torch"}


def cut(text):
    return text.encode()[:NAME_BYTES].decode(errors="ignore") or None


def compare(case):
    for version, python in interpreters().items():
        said, found = record(python, case, "--stacks", "python")
        check(said, "Python said nothing")
        for key, wanted in said.items():
            stack = [[f.get("function"), f.get("file"), f.get("line")] for f in found[key]]
            equal(stack, [[cut(name), cut(file), line] for name, file, line in wanted],
                  f"stack at {key} with Python {version}")


def test_versions():
    check(interpreters(), "no CPython from 3.9 on is here")


def test_one_process():
    compare("plain,made,deep,threads,asyncio,traced,strangers")


def test_processes():
    compare("processes")


def test_subinterpreters():
    compare("subinterpreters")


def test_end():
    """Threads that ask while the interpreter ends: only that nothing breaks."""
    for version, python in interpreters().items():
        result = run(python, CASES, LIBRARY, ".", "end", options=["-qf", "--stacks", "python"])
        equal(result.code, 0, f"exit code with Python {version}", result)
        check(report("summary", result.trace)["allocations"] > 1000, "allocations")


def test_none():
    """Without the option no block has a stack."""
    said, found = record(sys.executable, "deep")
    equal([found[key] for key in said], [[]] * len(said), "stacks")


def split(stack):
    """Native frames, and Python ones as Python says them."""
    native = [f for f in stack if "offset" in f]
    return native, [[f.get("function"), f.get("file"), f.get("line")] for f in stack[len(native):]]


def joined(case):
    for version, python in interpreters().items():
        said, found = record(python, case, "--stacks", "all")
        check(said, "Python said nothing")
        for key, wanted in said.items():
            native, lines = split(found[key])
            what = f"at {key} with Python {version}"
            check("ffi_call" in [f["function"] for f in native], f"what called {what}", native)
            equal([f for f in native if INTERPRETER.match(os.path.basename(f["library"]))], [],
                  f"frames of the interpreter {what}")
            wanted = [[cut(name), cut(file), line] for name, file, line in wanted]
            # Functions that were inlined have the place of the one around them.
            recorded = len(list(itertools.groupby(native, lambda f: (f["library"], f["offset"]))))
            equal(lines, wanted[:FRAMES - recorded], f"lines {what}")


def test_joined():
    """Native frames up to the interpreter, then Python's."""
    joined("plain,made,deep,threads")
    joined("processes")


def many(room_kib, blocks, stacks):
    """The stacks of the blocks, and how many of them had no room, as every report says."""
    result = run(sys.executable, MANY, LIBRARY, room_kib, blocks, options=["-qf", "--stacks", stacks])
    equal((result.code, result.out), (0, f"{blocks} blocks\n"), "code and output", result)
    found = [e.get("stack", []) for e in report("events", result.trace, "--kind=alloc")["events"]
             if e["space"] == "torch"]
    equal(len(found), blocks, "recorded blocks")
    lost = report("summary", result.trace)["health"].get("details_lost", 0)
    if lost:
        text = f"{lost:,} stack"
        contains(result.err, text, "the note of the run")
        contains(plain(harness.MEMLEDGER, "summary", result.trace).stdout, text, "the summary")
    return found, lost


def test_frames_without_room():
    """The tables are shorter in little address space, so that fewer lines fill them."""
    found, lost = many(1 << 20, 600, "python")
    equal({(len(s), lost) for s in found}, {(7, 0)}, "frames of each stack, stacks without room")
    found, lost = many(20000, 600, "python")
    bare = sum(not stack for stack in found)
    check(0 < bare < 600, f"{bare} of 600 blocks have no stack")
    equal(lost, bare, "stacks without room")


def test_no_room_for_libraries():
    """Room for lines of Python, but not for the table of libraries."""
    equal(many(900, 1, "all"), ([[]], 1), "stacks, and stacks without room")


def test_choices():
    done = plain(harness.MEMLEDGER, "run", "--stacks", "some", "--", "true")
    equal(done.returncode, 2, "exit code")
    contains(done.stderr, "none, python, native, all", "what can be asked for")


harness.main(globals())
