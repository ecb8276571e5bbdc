#!/usr/bin/env python3
# test_traced.py: under torch.compile the graphs of traced.py's programs are the same with and
# without memledger: as many, with as many operators, with the same breaks and recompilations.
#
# TEST_TRACED names the cases to run instead of all.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os

import harness
from harness import check, equal, plain, run
from torch_support import PYTHON, need_torch, said, version

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "traced.py")
BACKEND = "eager"  # runs the graphs as they are
CASES = os.environ.get("TEST_TRACED", "").split()
FIRST = (2, 0)


def need_compiler():
    need_torch()
    if version() < FIRST:
        raise harness.Skip(f"PyTorch {version()} has no torch.compile", machine=True)


@functools.cache
def alone():
    need_compiler()
    result = plain(PYTHON, PROGRAM, BACKEND, *CASES)
    equal(result.returncode, 0, "exit code without memledger", result.stderr)
    return said(result.stdout, result)


@functools.cache
def recorded():
    need_compiler()
    result = run(PYTHON, PROGRAM, BACKEND, *CASES, options=["-qf", "--sample-hz", "0"])
    equal(result.code, 0, "exit code", result)
    return said(result.out, result)


def test_graphs_are_the_same():
    equal(recorded().keys(), alone().keys(), "cases")
    for case, told in alone().items():
        equal(recorded()[case]["counters"], told["counters"], f"what {case} counts")
    compiled = [case for case, told in alone().items() if told["counters"]["stats"]]
    check(2 * len(compiled) > len(alone()), "most programs compile nothing", compiled)


def test_results_are_the_same():
    for case, told in alone().items():
        equal(recorded()[case]["losses"], told["losses"], f"losses of {case}")


LATE = """
import torch, torch._dynamo, memledger
class Scaled(torch.nn.Linear):
    def __call__(self, x):
        return 2 * super().__call__(x)
memledger.start("late.mled")
model = torch.compile(torch.nn.Sequential(Scaled(4, 4), torch.nn.ReLU()), backend="eager",
                      fullgraph=True)
model(torch.ones(4))
memledger.stop()
"""


def test_a_recording_that_begins_after_the_compiler():
    need_compiler()
    result = plain(PYTHON, "-c", LATE,
                   env=os.environ | {"PYTHONPATH": os.environ["TEST_PACKAGE"],
                                     "PYTHONWARNINGS": "ignore"})  # about Python 3.13.0
    equal((result.returncode, result.stderr), (0, ""), "exit code and complaints")


harness.main(globals())
