#!/usr/bin/env python3
# test_mxnet_leaks.py: a leak of MXNet's own: the operator RNN of 2.0.0b1 keeps three
# blocks for each training step.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
from harness import equal, report, run
from mxnet_run import python

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rnn_steps.py")


def test_rnn_keeps_three_blocks_a_step():
    result = run(python(), PROGRAM, options=["-qf"],
                 env=dict(os.environ, OMP_NUM_THREADS="1"))
    equal(result.code, 0, "exit code", result)
    found = report("leaks", result.trace, "--by", "module")
    grown = [(x["module"], x["sign"], x["blocks_per_step"]) for x in found["leaks"]
             if x["sign"] == "steady"]
    equal(grown, [("LSTM", "steady", 3)], "what grows", found["leaks"])


harness.main(globals())
