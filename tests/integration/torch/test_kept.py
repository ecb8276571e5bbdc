#!/usr/bin/env python3
# test_kept.py: tensors that models keep outside of parameters and buffers (kept.py) have names.
#
# SPDX-License-Identifier: Apache-2.0
import os
import tempfile

import harness
from harness import equal, report, run
from torch_support import PYTHON, need_torch, said, version

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = tempfile.TemporaryDirectory(prefix="memledger-kept-")


def named_as_told(case):
    need_torch()
    trace = os.path.join(FOLDER.name, f"{case}.mled")
    result = run(PYTHON, os.path.join(HERE, "kept.py"), case, trace=trace, options=("-qf",))
    equal(result.code, 0, "exit code", result)
    wanted = {(label, category): size for label, category, size in said(result.out, result)}
    rows = report("table", trace, "--by", "label,category", "--at", "end", "--device", "cpu",
                  "--top", "1000000")["groups"]
    found = {(row["label"], row["category"]): row["bytes"] for row in rows}
    equal({key: found.get(key) for key in wanted}, wanted, "bytes by label and category")


def test_cache_written_in_place():
    named_as_told("in_place")


def test_cache_that_grows():
    named_as_told("growing")


def test_cache_in_a_module_of_its_own():
    named_as_told("registered")


def test_pool_for_all_layers():
    named_as_told("pool")


def test_weight_of_several_tensors():
    need_torch()
    if version() < (2, 1):
        raise harness.Skip("this PyTorch has no such tensors", machine=True)
    named_as_told("quantized")


harness.main(globals())
