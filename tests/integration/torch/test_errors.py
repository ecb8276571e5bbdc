#!/usr/bin/env python3
# test_errors.py: errors in a training program end as they do without memledger, and
# leave a good trace: training.py.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal

import harness
from harness import balanced, check, contains, equal, report, run
from torch_record import PROGRAM, PYTHON, alone, each, recorded

HALF_INSTALLED = os.path.join(os.path.dirname(harness.__file__), "half_installed.py")
WAYS = ((), ("--stacks=python",), ("--ops",))
EVERY_WAY = ("errors", "error_in_backward", "exception", "interrupt")
REFUSED = 1 << 50
ENDS = {"exception": 1, "exit": 3, "interrupt": -signal.SIGINT, "oom": 1}
CAUGHT = ("errors", "error_in_backward", "generator", "lbfgs", "checkpoint_reentrant")


def scopes_end(trace):
    """Every scope that was entered was left."""
    equal(trace["kinds"].get("push"), trace["kinds"].get("pop"), "scopes entered and left")
    check(trace["kinds"].get("push"), "no scope was entered", trace["kinds"])


def ways(name):
    return WAYS if name in EVERY_WAY else WAYS[:1]


def caught(case):
    for options in ways(case):
        record = recorded(case, *options)
        trace = harness.dump(record.trace)
        balanced(trace)
        scopes_end(trace)


def test_caught():
    """The program prints the same, and no scope stays."""
    each(CAUGHT, caught)


def test_refused():
    record = recorded("errors")
    sizes = [e["bytes"] for e in report("events", record.trace, "--kind=oom")["events"]]
    equal(sizes, [REFUSED], "allocations that were refused")


def test_names_are_all_there_or_none():
    """A change that fails half-way is reported once and undone; the program goes on."""
    whole = run(PYTHON, HALF_INSTALLED, "torch", options=("-qf",))
    contains(whole.out, "torch.nn.Module.__call__", "what stands in front")
    half = run(PYTHON, HALF_INSTALLED, "torch", "_watch_optimizers", options=("-qf",))
    equal((half.code, half.out.strip()), (0, "[]"), "what is left of it", half)
    equal(half.err.count("cannot hook torch: module names are off"), 1, "the number of messages", half)
    balanced(half.dump())


def ends(how):
    without = alone(f"end={how}")
    equal(without.returncode, ENDS[how], "exit code without memledger", without.stderr)
    for options in ways(how):
        result = run(PYTHON, PROGRAM, f"end={how}", options=("-qf", *options))
        equal(result.code, without.returncode, f"exit code {options}", result)
        equal(result.out, without.stdout, f"what it prints {options}")
        equal(result.err, without.stderr, f"what the error says {options}")
        trace = result.dump()
        balanced(trace)
        scopes_end(trace)


def test_ends():
    """Exit code, words and traceback of what nobody catches."""
    each(ENDS, ends)


if __name__ == "__main__":
    harness.main(globals())
