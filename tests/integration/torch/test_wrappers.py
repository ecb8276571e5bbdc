#!/usr/bin/env python3
# test_wrappers.py: modules that wrap another, in unmodified programs (wrapped.py), are in no path.
# A run with them has the modules of a run without.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import tempfile

import harness
from harness import check, equal, report, run
from torch_support import PYTHON, need_torch

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrapped.py")
KINDS = ["ddp", "part", "checkpoints", "all"]
LAYERS = 5  # of the model, that have parameters
HELD = ("parameter", "gradient", "optimizer_state")
FOLDER = tempfile.TemporaryDirectory()  # traces for all of the functions below


@functools.cache
def recorded(kind):
    need_torch()
    trace = os.path.join(FOLDER.name, f"{kind}.mled")
    result = run(PYTHON, PROGRAM, kind, trace=trace, options=["-qf", "--sample-hz", "0"])
    equal(result.code, 0, "exit code", result)
    return trace


def modules(kind):
    """Each module with its class and what it holds when the last step ends."""
    rows = report("tree", recorded(kind), "--at", "step:2:end")["rows"]
    return {row["module"]: (row["class"], *(row["by_category"][c] for c in HELD))
            for row in rows if any(row["by_category"][c] for c in HELD)}


def test_same_modules():
    wanted = modules("none")
    check("Net > first.layers.0" in wanted, "the model has no layers", sorted(wanted))
    for kind in KINDS:
        equal(modules(kind), wanted, f"modules of {kind}")


def test_compare_layer_by_layer():
    """Only the wrappers' own memory makes a difference, such as the buckets of DDP."""
    for kind in KINDS:
        view = report("compare", recorded("none"), recorded(kind), "--by", "module,category",
                      "--at", "step:2:end", "-n", "100")["view"]
        entries = [row for row in view["entries"] if row["category"] in HELD]
        equal(len(entries), len(HELD) * LAYERS, f"entries of {kind}")
        changed = [row for row in entries if row["runs"][1]["bytes_difference"]]
        check(not changed, f"{kind} differs from a plain run", changed)


def test_no_scope_of_a_wrapper():
    for kind in KINDS:
        scopes = [row["scope"] for row in report("summary", recorded(kind))["by_scope"]]
        for word in ("DistributedDataParallel", "CheckpointWrapper", "module", "_wrapped"):
            check(not any(word in scope for scope in scopes), f"{kind}: a scope has {word}", scopes)
        repeated = [scope for scope in scopes for name in ("Net", "first", "second")
                    if scope.split(" > ").count(name) > 1]
        check(not repeated, f"{kind}: wrapper and module are two scopes", repeated)


if __name__ == "__main__":
    harness.main(globals())
