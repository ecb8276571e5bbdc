#!/usr/bin/env python3
# test_kv_pools.py: key-value pools of SGLang (kv_pools.py) have the category kv_cache, by layer.
#
# SPDX-License-Identifier: Apache-2.0
import os
import tempfile

import harness
from harness import equal, plain, report, run
from torch_support import PYTHON, need_torch, said

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kv_pools.py")
IMPORT = "import sglang.srt.mem_cache.memory_pool"
PATIENCE_S = 240
FOLDER = tempfile.TemporaryDirectory(prefix="memledger-kv-pools-")


def label_of(layer, names):
    """Keys and values may share a storage."""
    return f"layer {layer}." + (names[0] if len(names) == 1 else f"({names[0]} to {names[-1]})")


def test_pools_of_sglang():
    need_torch()
    if plain(PYTHON, "-c", IMPORT, timeout=PATIENCE_S).returncode:
        raise harness.Skip(f"{PYTHON} has no SGLang; set TORCH_PYTHON to one that has",
                           machine=True)
    trace = os.path.join(FOLDER.name, "pools.mled")
    result = run(PYTHON, PROGRAM, trace=trace, options=("-qf",), timeout=PATIENCE_S)
    equal(result.code, 0, "exit code", result)
    rows = report("table", trace, "--by", "label,category", "--at", "end", "--top",
                  "1000000")["groups"]
    equal({row["label"]: row["bytes"] for row in rows if row["category"] == "kv_cache"},
          {label_of(layer, names): size for layer, names, size in said(result.out, result)},
          "bytes by label")


harness.main(globals())
