#!/usr/bin/env python3
# test_python_names.py: threads and processes are called as Python calls them: name_cases.py.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import harness
from harness import check, equal, report, run

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "name_cases.py")


def record(case, *options):
    result = run(sys.executable, CASES, case, options=("-qf", "--sample-hz", "0", *options))
    equal(result.code, 0, "exit code", result)
    return result


def test_threads():
    """Also where malloc is recorded, and a thread has its ring before its name."""
    for options in [], ["--heap"]:
        result = record("threads", *options)
        threads = report("stats", result.trace, "--top", "100")["threads"]
        names = {t["name"] for t in threads}
        wanted = {"loader", "renamed", "pool_0"}
        check(wanted <= names, "names are missing", names)
        check(any(name.startswith("Thread-") for name in names), "no name of Python's own", names)
        main, = [t["name"] for t in threads if t["pid"] == t["tid"]]
        check(main != "MainThread", "the main thread lost the program's name", names)


def roles(case):
    processes = report("summary", record(case).trace)["processes"]
    return [process.get("role") for process in processes]


def test_processes():
    for method in "fork", "spawn":
        told = roles(method)
        check("multiprocessing loader" in told, f"the worker of {method} has no role", told)
        check("main" in told, "nor has the main process", told)


def test_one_process():
    equal(roles("threads"), [None], "roles of a process that is alone")


harness.main(globals())
