#!/usr/bin/env python3
# test_precision.py: `oom` says how much fewer bits would free, from the types of the numbers in
# each block, which the program (precision.py) computes on its own.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
from harness import check, contains, equal, plain, report, run
from torch_support import PYTHON, need_torch, said

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "precision.py")


def bfloat16_of(kind, *options):
    need_torch()
    result = run(PYTHON, PROGRAM, kind, options=["-qf", "--sample-hz", "0", *options])
    equal(result.code, 0, "exit code", result)
    refusals = report("oom", result.trace)["verdicts"]
    equal(len(refusals), 1, "refusals", refusals)
    changes = [c for c in refusals[0]["changes"] if c["change"] == "bfloat16"]
    return result, said(result.out, result), changes


def test_float32():
    for options in ((), ("--stacks=python",)):
        result, own, changes = bfloat16_of("float32", *options)
        full = own["parameters"] + own["activations"]
        check(own["activations"] > 0, "no activation in float32", own)
        equal([(c["bytes"], c["of_bytes"], c["of"]) for c in changes],
              [(full // 2, full, "parameters and activations")], "the change")
        contains(plain(harness.MEMLEDGER, "oom", result.trace).stdout,
                 "parameters and activations in bf16 instead of fp32", "the sentence")


def test_lower_precision():
    """It is there already; autocast leaves the parameters in float32."""
    for kind in ("bfloat16", "autocast"):
        _, own, changes = bfloat16_of(kind)
        equal(changes, [], f"changes of {kind}", own)


if __name__ == "__main__":
    harness.main(globals())
