#!/usr/bin/env python3
# test_torch_modules.py: tree, layers, table and steps of a training script: the memory of each
# module, as PyTorch itself counts it.
#
# PyTorch is the system's; TORCH_PYTHON names an interpreter that has another.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import json
import os
import sys
import tempfile

import harness
from harness import check, equal, plain, report, run

PYTHON = os.environ.get("TORCH_PYTHON", sys.executable)
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_model.py")
FOLDER = tempfile.TemporaryDirectory()  # the trace is for all of the functions below
KEPT = ("parameter", "buffer", "gradient", "optimizer_state")


@functools.cache
def recorded():
    """What the script says of its modules, and its trace."""
    if plain(PYTHON, "-c", "import torch").returncode:
        raise harness.Skip(f"{PYTHON} has no PyTorch; scripts/setup.sh test installs it")
    trace = os.path.join(FOLDER.name, "model.mled")
    result = run(PYTHON, MODEL, trace=trace, options=["-qf", "--sample-hz", "0"])
    equal(result.code, 0, "exit code", result)
    return json.loads(result.out.splitlines()[-1]), trace


def title(name):
    return f"Net > {name}" if name else "Net"


def test_modules_hold_what_pytorch_says():
    said, trace = recorded()
    layers = {row["module"]: row for row in report("layers", trace, "--at", "step:2:end")["layers"]}
    for name, held in said.items():
        row = layers.get(title(name), {"by_category": dict.fromkeys(KEPT, 0)})
        equal({k: row["by_category"][k] for k in KEPT}, held, f"what {title(name)} holds")
    equal(layers["Net > blocks.0.mlp.0"]["class"], "Linear", "a class")


def test_layers_are_in_the_order_of_calls():
    said, trace = recorded()
    rows = [row["module"] for row in report("layers", trace, "--at", "step:2:end")["layers"]]
    known = [title(name) for name in said]
    wanted = [name for name in known if name in rows]
    equal([name for name in rows if name in known], wanted, "the order")


def test_recompute_belongs_to_the_module_that_is_recomputed():
    _, trace = recorded()
    table = report("table", trace, "--by", "phase,module", "--top", "1000")
    modules = {(g["phase"], g["module"]) for g in table["groups"]}
    check(("forward", "Net > blocks.0.mlp.0") in modules, "forward of another block", modules)
    for phase, module in modules:
        check(phase != "recompute" or module.startswith("Net > blocks.1"), "recompute", module)


def test_reports_agree():
    _, trace = recorded()
    steps = report("steps", trace)["steps"]
    check(len(steps) >= 3, "steps", steps)
    for step in steps:
        at = f"step:{step['step']}"
        tree, table = report("tree", trace, "--at", at), report("table", trace, "--at", at)
        equal(tree["bytes"], step["peak_bytes"], f"bytes at {at}")
        equal(sum(r["bytes"] for r in tree["rows"] if r["depth"] == 1), tree["bytes"], "the tree")
        equal(sum(g["bytes"] for g in table["groups"]) + table["rest"]["bytes"], tree["bytes"],
              "the table")


harness.main(globals())
