#!/usr/bin/env python3
# test_scripted.py: TorchScript compiles the same programs with and without memledger.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
from harness import equal, plain, run
from torch_support import PYTHON, need_torch

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripted.py")


def test_results_are_the_same():
    need_torch()
    alone = plain(PYTHON, PROGRAM)
    equal(alone.returncode, 0, "exit code without memledger", alone.stderr)
    result = run(PYTHON, PROGRAM, options=["-qf", "--sample-hz", "0"])
    equal((result.code, result.out), (0, alone.stdout), "the end of the program", result)


harness.main(globals())
