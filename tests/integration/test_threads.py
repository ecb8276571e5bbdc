#!/usr/bin/env python3
# test_threads.py: threads by the hundred, short-lived ones by the thousand, and
# threads that are cancelled: nothing is lost, each is in the trace by its name.
#
# SPDX-License-Identifier: Apache-2.0
import harness
from harness import check, equal, program, run


def check_threads(total, at_once):
    result = run(program("threads"), total, at_once, options=["-f"])
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    harness.balanced(trace)
    check(trace["has_index"], "no footer")
    equal(trace["kinds"]["alloc"], 10 * total, "allocations")
    equal(trace["kinds"]["free"], 10 * total, "frees")
    workers = [t for t in trace["threads"] if t["name"].startswith("worker ")]
    equal(sorted(int(t["name"].split()[1]) for t in workers), list(range(total)),
          "names of threads")
    for thread in workers:
        equal(thread["kinds"], {"alloc": 10, "free": 10, "thread_end": 1},
              f"events of {thread['name']}")


def test_thousand_short_lived():
    check_threads(1000, 1)


def test_thousand_by_hundreds():
    check_threads(1000, 100)


def test_three_hundred_at_once():
    """More than fit into four ring sets."""
    check_threads(300, 300)


def test_cancelled():
    result = run(program("cancelled"), 100)
    equal(result.code, 0, "exit code", result)
    trace = result.dump()
    made = int(result.out)
    # A thread may be cancelled between the event and the count.
    check(made <= trace["kinds"]["alloc"] + trace["lost"] <= made + 100, "events",
          made, trace["kinds"])
    equal(trace["lost"], 0, "lost")
    equal(trace["replaced"], 0, "replaced")


harness.main(globals())
