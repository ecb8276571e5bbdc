#!/usr/bin/env python3
# test_heap_python.py: the Python frames of malloc equal those that Python reports, alone and joined
# with the native ones, with every installed CPython.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

import harness
from harness import check, contains, equal, plain, report, run
from python_versions import interpreters

CASES = os.path.join(HERE, "heap_python_cases.py")
ENDS = os.path.join(HERE, "heap_python_ends.py")
FRAMES = 64  # of one stack; those beyond are left out
OPTIONS = ["-q", "-f", "--heap", "--sample-hz=0", "--symbols=off"]
LOOP = "_PyEval_EvalFrameDefault"


def read(path):
    with open(path) as f:
        return {int(size): found for size, found in json.load(f).items()}


def is_python(frame):
    return "offset" not in frame


@functools.cache
def recorded(python, stacks):
    """What Python said, {size: {what, stack}}, and the stacks of the trace by size."""
    told = os.path.abspath("told.json")
    result = run(python, CASES, told, options=[*OPTIONS, "--stacks", stacks], trace=f"{stacks}.mled")
    equal(result.code, 0, f"exit code with {python}", result)
    said = {**read(told), **read(told + ".child")}
    found = {}
    for event in report("events", result.trace, "--kind=alloc", "--min-size=100000")["events"]:
        found.setdefault(event["bytes"], event.get("stack", []))
    return said, found


def same(said, frames):
    return [[f.get("function"), f.get("file"), f.get("line")] for f in frames] == said


def test_python_frames():
    for python in interpreters().values():
        said, found = recorded(python, "python")
        for size, wanted in said.items():
            check(same(wanted["stack"][:FRAMES], found.get(size, [])),
                  f"{wanted['what']} with {python}: {wanted['stack']}", found.get(size))


def test_joined_frames():
    """The same among native frames, and none of the interpreter's loop is left."""
    for python in interpreters().values():
        said, found = recorded(python, "all")
        for size, wanted in said.items():
            stack = found.get(size, [])
            frames = [f for f in stack if is_python(f)]
            complete = stack and not is_python(stack[-1])
            check(same(wanted["stack"] if complete else wanted["stack"][:len(frames)], frames) and frames,
                  f"{wanted['what']} with {python}: {wanted['stack']}", stack)
            check(not complete or not any(f.get("function") == LOOP for f in stack),
                  f"a frame of the loop is left in {wanted['what']} with {python}", stack)


def functions(python, what):
    said, found = recorded(python, "all")
    size = next(size for size, told in said.items() if told["what"] == what)
    return [f.get("function") or "" for f in found[size]], [is_python(f) for f in found[size]]


def test_order():
    """Native callers are between the Python functions that they are called by and call."""
    for version, python in interpreters().items():
        names, _ = functions(python, "sorted")
        inner = next(i for i, name in enumerate(names) if name.endswith("<lambda>"))
        outer = names.index("through_c")
        check("builtin_sorted" in names[inner:outer] or len(names[inner:outer]) > 1,
              f"nothing is between the key and its caller with {python}", names)
        names, are_python = functions(python, "deep")
        check(not are_python[0] and not are_python[-1] and "_start" in names,
              f"the ends of a stack with {python}", names)
        if version >= (3, 11):
            first = names.index("block")
            check(all(are_python[first:names.index("main")]),
                  f"a native frame between Python functions with {python}", names)


def test_reports():
    """Tables, trees and flame graphs name Python functions and their files."""
    result = run(sys.executable, CASES, os.path.abspath("told.json"),
                 options=[*OPTIONS, "--stacks", "python"])
    wanted = sum({**read("told.json"), **read("told.json.child")})
    rows = report("table", result.trace, "--by=function", "--of=allocated")["groups"]
    made = [row["allocated_bytes"] for row in rows if row["function"] == "block"]
    equal(len(made), 1, "rows of the function", rows[:9])
    at_exit = 110_000  # at most: one more block
    check(wanted < made[0] < wanted + at_exit, f"{made} of {wanted} bytes in the function", rows[:9])
    rows = report("table", result.trace, "--by=file", "--of=allocated")["groups"]
    check(any((row["file"] or "").endswith("heap_python_cases.py") for row in rows), "no row of the file")
    tree = report("tree", result.trace, "--by=callees", "--of=allocated")
    contains(json.dumps(tree), "generated", "the tree")
    done = plain(harness.MEMLEDGER, "plot", result.trace, "--kind=flame", "--by=stack",
                 "--of=allocated", "-o", "flame.svg")
    equal(done.returncode, 0, "exit code of plot", done)
    with open("flame.svg") as f:
        contains(f.read(), "generated (", "the flame graph")


def test_end_of_the_interpreter():
    for python in interpreters().values():
        for stacks in ("python", "all"):
            result = run(python, ENDS, options=[*OPTIONS, "--stacks", stacks])
            equal((result.code, result.out), (0, "done\n"), f"the end of {python} --stacks {stacks}",
                  result)


def test_samples_and_other_programs():
    python = list(interpreters().values())[-1]
    for heap in ("sample:4KiB", "large:50000", "all"):
        result = run(python, "-c", "x = [bytearray(60000) for _ in range(100)]; print(len(x))",
                     options=["-q", "-f", f"--heap={heap}", "--stacks=python", "--sample-hz=0"])
        equal((result.code, result.out), (0, "100\n"), f"the end with {heap}", result)
        stacks = [e.get("stack", []) for e in report("events", result.trace, "--kind=alloc")["events"]]
        check(any(f.get("file") == "<string>" for stack in stacks for f in stack),
              f"no stack has a line of the program with --heap={heap}", stacks[-3:])
    result = run("/bin/echo", "hello", options=[*OPTIONS, "--stacks", "python"])
    equal((result.code, result.out), (0, "hello\n"), "a program without Python", result)


if __name__ == "__main__":
    sys.exit(harness.main(globals()))
