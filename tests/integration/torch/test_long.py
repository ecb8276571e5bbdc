#!/usr/bin/env python3
# test_long.py: how much of the program's memory a long recording uses. The run of 10,000 steps
# is in tests/gpu; a shorter one shows what grows.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os

import harness
from harness import check, equal, plain, run
from torch_record import PYTHON, need_torch

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "long_run.py")
STEPS = 2000
MOST_EXTRA = 64 << 20
MOST_GROWN = 8 << 20


def test_memory_of_a_long_run():
    need_torch()
    alone = json.loads(plain(PYTHON, PROGRAM, STEPS).stdout)
    for options in ((), ("--stacks=python",)):
        result = run(PYTHON, PROGRAM, STEPS, options=("-qf", *options))
        equal(result.code, 0, "exit code", result)
        told = json.loads(result.out)
        print(f"  {options}: {told['pss'] - alone['pss']} bytes more, {told['grown']} of them "
              f"after the first tenth; alone {alone['grown']}", flush=True)
        for kind in ("rss", "pss"):
            extra = told[kind] - alone[kind]
            check(extra <= MOST_EXTRA, f"{options}: {extra} bytes more than alone by {kind}")
        grown = told["grown"] - alone["grown"]
        check(grown <= MOST_GROWN, f"{options}: {grown} bytes came with time")


if __name__ == "__main__":
    harness.main(globals())
