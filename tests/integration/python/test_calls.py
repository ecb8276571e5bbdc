#!/usr/bin/env python3
# test_calls.py: the callables that wrap a module's call and a trainer's step, with exceptions,
# interrupts, recursion, generators, threads and greenlets: call_cases.py.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import json
import os
import sys

import harness
import pypi
from harness import equal, report, run

REQUIREMENTS = os.path.join(os.environ["TEST_SOURCE"], "scripts", "requirements-greenlet.txt")
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "call_cases.py")


def record(case, python=sys.executable):
    """What the program said, and how often each scope was entered."""
    result = run(python, CASES, case, options=("-qf", "--sample-hz", "0"))
    equal(result.code, 0, "exit code", result)
    kinds = result.dump()["kinds"]
    equal(kinds.get("push"), kinds.get("pop"), "scopes entered and left")
    pushes = report("events", result.trace, "--kind", "push", "--limit", "100000")["events"]
    return json.loads(result.out), collections.Counter(e["scope"] for e in pushes)


def test_exceptions():
    told, scopes = record("exceptions")
    equal(told["raised"], ["ZeroDivisionError"] * 3, "what the program caught")
    equal(scopes, {"outer": 3, "outer.inner": 3}, "scopes")


def test_interrupts():
    told, scopes = record("interrupts")
    equal(told["raised"], ["KeyboardInterrupt"] * 3, "what the program caught")
    equal(told["calls"], [1, 3], "what was called in the end")
    equal(scopes, {"late": 1, "optimizer": 1, "optimizer: SGD": 1}, "scopes")


def test_recursion():
    told, scopes = record("recursion")
    equal(told["parts"], [0, 1, 2], "what the generator gave")
    paths = [" > ".join(["recursive"] * n) for n in range(1, 5)]
    equal(scopes, dict.fromkeys([*paths, "lazy"], 1), "scopes")


def test_threads():
    told, scopes = record("threads")
    paths = ["model", "model.a", "model.b", "model.b.c"]
    equal(scopes, dict.fromkeys(paths, told["rounds"]), "scopes")


def test_greenlets():
    folder = pypi.environment(REQUIREMENTS, os.path.join(os.environ["PYPI_FOLDER"], "greenlet"))
    told, scopes = record("greenlets", os.path.join(folder, "bin", "python"))
    equal(told["ended"], [True, True], "greenlets that ended")
    equal(scopes, {"first": 2, "first.Block": 1}, "scopes")


def test_refused():
    told, _ = record("refused")
    equal(told, {"raised": "TypeError", "put_back": True}, "what is left")


def test_phases_in_greenlets():
    folder = pypi.environment(REQUIREMENTS, os.path.join(os.environ["PYPI_FOLDER"], "greenlet"))
    told, scopes = record("phases", os.path.join(folder, "bin", "python"))
    equal(told["ended"], [True, True], "greenlets that ended")
    equal(sum(n for scope, n in scopes.items() if scope.endswith("first")), 2, "calls of the first")


harness.main(globals())
