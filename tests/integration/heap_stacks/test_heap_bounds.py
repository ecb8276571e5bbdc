#!/usr/bin/env python3
# test_heap_bounds.py: more stacks than the recorder has room for, and plugins that come and go: no
# stack is lost, none is another's, and the memory of the program stays where it was.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import check, equal, report, run

MANY = harness.program("heap_stacks/many_stacks")
TWINS = [harness.program(f"heap_stacks/lib{name}_twin.so") for name in ("first", "second")]
OPTIONS = ["-q", "-f", "--heap", "--stacks=native", "--sample-hz=0"]
LEVELS = 20
GROWTH_KIB = 8 << 10


def recorded(*arguments, least=1000):
    """What the program allocated: (size, functions of its stack) -> number of times, of blocks of
    at least this size."""
    result = run(MANY, *arguments, options=OPTIONS)
    equal(result.code, 0, "the program's exit code", result)
    memory = json.loads(result.out)
    check(memory["after_kib"] - memory["before_kib"] < GROWTH_KIB, "the program has grown", memory)
    check("lost" not in result.err and "no room" not in result.err, "losses", result.err)
    equal(result.dump()["lost"], 0, "events lost")
    found = collections.Counter()
    for event in report("events", result.trace, "--kind", "alloc",
                        "--min-size", str(least))["events"]:
        names = tuple(f.get("function") for f in event.get("stack", []))
        if "main" in names:
            found[event["bytes"], names] += 1
    return found


def path(number):
    """The functions that many_stacks.c goes through, innermost first."""
    names = ["allocates"]
    for level in range(LEVELS):
        names += ["descend", "left" if number >> level & 1 else "right"]
    return tuple(names + ["descend", "run_paths", "main"])


def test_more_stacks_than_numbers():
    """A thread has 65,536 numbers: in the second round every stack is announced again."""
    stacks, rounds, least = 90_000, 2, 1095
    found = collections.Counter()
    for (size, names), times in recorded(stacks, rounds, least=least).items():
        found[size, names[:names.index("main") + 1]] += times
    expected = collections.Counter({(1000 + i % 100, path(i)): rounds for i in range(stacks)
                                    if 1000 + i % 100 >= least})
    wrong = (expected - found) + (found - expected)
    wrong = {key: n for key, n in wrong.items() if "run_paths" in key[1]}
    equal(len(wrong), 0, "stacks with another number of calls", list(wrong.items())[:3])


def test_plugins_come_and_go():
    turns = 400
    found = recorded(turns, *TWINS)
    for i, name in enumerate(("first", "second")):
        calls = sum(times for (_, names), times in found.items()
                    if names[:4] == (f"{name}_twin", "plugin_allocates", "load_plugins", "main"))
        equal(calls, turns // 2, f"allocations of the {name} plugin")


def test_old_kernel():
    """A child that forks after the table of stacks was replaced, where the recorder clears its own
    memory in the child."""
    result = run(MANY + "_old_kernel", 20000, 1, options=OPTIONS)
    equal(result.code, 0, "exit codes of the program and its child", result)


harness.main(globals())
