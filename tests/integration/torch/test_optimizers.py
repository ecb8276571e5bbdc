#!/usr/bin/env python3
# test_optimizers.py: the state of optimizers (optimizers.py) has the names of its parameters, or
# that of the optimizer where it belongs to all of them, to the byte.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import tempfile

import harness
from harness import check, equal, report, run
from torch_support import PYTHON, need_torch, said

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "optimizers.py")
FOLDER = tempfile.TemporaryDirectory(prefix="memledger-optimizers-")


@functools.cache
def recorded():
    """What the program said, and {label: bytes} of all optimizer state at its end."""
    need_torch()
    trace = os.path.join(FOLDER.name, "optimizers.mled")
    result = run(PYTHON, PROGRAM, trace=trace, options=("-qf",))
    equal(result.code, 0, "exit code", result)
    rows = report("table", trace, "--by", "label,category", "--at", "end", "--top",
                  "1000000")["groups"]
    return said(result.out, result), {row["label"]: row["bytes"] for row in rows
                                      if row["category"] == "optimizer_state"}


def test_state_has_the_names_of_parameters_or_optimizers():
    told, labels = recorded()
    check({"adagrad", "rprop", "lbfgs", "momenta"} <= told.keys(), "optimizers", told.keys())
    expected = {label: size for held in told.values() for label, size in held.items()}
    equal({label: size for label, size in labels.items() if label in expected}, expected,
          "bytes by label")


def test_all_state_has_a_name():
    told, labels = recorded()
    known = {label for held in told.values() for label in held}
    equal(labels.keys() - known, set(), "state that no optimizer keeps, or without a label")


harness.main(globals())
