#!/usr/bin/env python3
# conditions.py [CONDITION]... [-- OPTION...]: run the suite once under each condition, and print a table
# of times and results. Without a condition: all of them. The options are those of run_tests.py; long
# tests are left out unless --long asks for them, so that the times can be compared.
#
#     alone      nothing else runs
#     hogs       beside one busy process for each core
#     nice       at the lowest priority
#     one-core   on one core
#     fresh      the last commit, in a root that has only git and make before (scripts/fresh-root.sh)
#
# All but the last use this clone and what is built in it.
#
# What a run printed is in build/test-conditions/. The last column names every test that failed, also
# one that passed when it was tried again.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import re
import shutil
import subprocess
import sys
import time

from folders import SOURCE
from progress import minutes

LOGS = os.path.join(SOURCE, "build", "test-conditions")
FRESH_ROOT = os.path.join(LOGS, "fresh")
CONDITIONS = {"alone": [], "hogs": [], "nice": ["nice", "-n", "19"],
              "one-core": ["taskset", "-c", str(min(os.sched_getaffinity(0)))],
              "fresh": [os.path.join(SOURCE, "scripts", "fresh-root.sh"), FRESH_ROOT]}
SPINNING = [sys.executable, "-c",
            "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"]
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
FAILED = re.compile(r"^(?:\[.*?\] .*?  )?(\S+(?: \(\w+\))?) FAILED after", re.M)


@contextlib.contextmanager
def busy_cores(condition):
    hogs = [subprocess.Popen(SPINNING) for _ in os.sched_getaffinity(0)] if condition == "hogs" else []
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def row_of(condition, took, printed):
    """A line of the table: every test that failed is named, also if it passed the second time."""
    counts = COUNTS.findall(printed)
    passed, failed, skipped = counts[-1] if counts else ("-", "-", "-")
    names = ", ".join(dict.fromkeys(FAILED.findall(printed)))
    return f"| {condition} | {minutes(took)} | {passed} | {failed} | {skipped or 0} | {names} |"


def run(number, condition, options):
    """@return a line of the table, and whether nothing failed"""
    log = os.path.join(LOGS, f"{number}-{condition}.txt")
    command = [*CONDITIONS[condition], "make", "test", f"TEST_ARGS={' '.join(['--long=none', *options])}"]
    if condition == "fresh":
        shutil.rmtree(FRESH_ROOT, ignore_errors=True)
    began = time.monotonic()
    with busy_cores(condition), open(log, "w", encoding="utf-8") as output:
        done = subprocess.run(command, cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                              env=os.environ | {"TERM": "dumb", "CI": "1"})
    with open(log, encoding="utf-8", errors="replace") as file:
        return row_of(condition, time.monotonic() - began, file.read()), done.returncode == 0


def main():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    conditions, options = words[:at] or list(CONDITIONS), words[at + 1:]
    for condition in conditions:
        if condition not in CONDITIONS:
            sys.exit(f"conditions.py: unknown condition {condition!r}; known: {' '.join(CONDITIONS)}")
    os.makedirs(LOGS, exist_ok=True)
    print("| condition | time | passed | failed | skipped | failed on the first run |\n|---|---|---|---|---|---|", flush=True)
    status = 0
    for number, condition in enumerate(conditions, 1):
        row, ok = run(number, condition, options)
        print(row, flush=True)
        status = status if ok else 1
    return status


if __name__ == "__main__":
    sys.exit(main())
