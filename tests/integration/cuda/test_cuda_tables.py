#!/usr/bin/env python3
# test_cuda_tables.py: what the book of the CUDA driver has no room for is counted, and every
# report says so. The driver is the stand-in (docs/testing.md).
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import MEMLEDGER, check, contains, equal, plain, program, report, with_standin

POOLS, BLOCKS = 256, 3 << 16  # as in cuda_state.h and cuda_blocks.c
EACH = 16  # blocks that are made at a time


def lost(*script):
    """Blocks and objects that were not followed."""
    result = harness.run(program("cuda_steps_dlsym"), "init", "retain", *script,
                         options=("-qf",), env=with_standin(STANDIN_TOTAL_MIB=8000000))
    equal(result.code, 0, "exit code", result)
    check('"result": 0' in result.out.splitlines()[-1], "the driver refused", result)
    summary = plain(MEMLEDGER, "summary", result.trace)
    contains(summary.stdout, "not followed to", "what the summary says")
    return report("summary", result.trace)["health"]["lost_not_followed"]


def test_pools():
    script = [step for i in range(300) for step in ("pool", f"from-pool:4K:{1 + 2 * i}")]
    equal(lost(*script), 300 - POOLS, "pools")


def test_blocks():
    rounds = BLOCKS // EACH + 1
    equal(lost(*EACH * ["alloc:4K"], f"again:{rounds - 1}"), rounds * EACH - BLOCKS, "blocks")


harness.main(globals())
