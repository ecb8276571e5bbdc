#!/usr/bin/env python3
# test_many_modules.py: modules, tensors and optimizers that come and go leave nothing behind, and
# are not taken for those that were in their place.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
from harness import check, equal, plain, report, run
from torch_support import PYTHON, need_torch, said

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM_KIB, COLLECTOR_KIB = 2048, 8192  # by which they may grow


def grows_little(*arguments):
    need_torch()
    command = PYTHON, os.path.join(HERE, "many_modules.py"), *arguments
    alone = plain(*command)
    result = run(*command, options=["-qf"])
    equal(result.code, 0, "exit code", result)
    without, = said(alone.stdout, alone.stderr)
    program, collector = said(result.out, result)
    check(program <= without + PROGRAM_KIB, f"the program grew by {program} KiB, {without} alone")
    check(collector <= COLLECTOR_KIB, f"the collector grew by {collector} KiB")


def test_a_hundred_thousand_modules():
    """Neither do names become ever more: numbers of models that are gone are given again."""
    grows_little(100000)


def test_no_step_between_them():
    """What is tracked is looked through when it grows, not at steps alone."""
    grows_little(20000, "optimizer")


def test_optimizer_where_another_was():
    need_torch()
    result = run(PYTHON, os.path.join(HERE, "optimizer_again.py"), options=["-qf"])
    equal((result.code, result.out), (0, "True\n"), "exit code and output", result)
    # One of the first, and one each time that both others made theirs.
    equal(len(report("steps", result.trace)["steps"]), 1 + 3, "steps")


harness.main(globals())
