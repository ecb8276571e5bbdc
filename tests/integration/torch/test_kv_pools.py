#!/usr/bin/env python3
# test_kv_pools.py: key-value pools of SGLang (kv_pools.py) and vLLM (vllm_pools.py) have the category
# kv_cache, by layer.
#
# SPDX-License-Identifier: Apache-2.0
import os
import tempfile

import harness
from harness import equal, plain, report, run
from torch_support import PYTHON, need_torch, said

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = tempfile.TemporaryDirectory(prefix="memledger-kv-pools-")


def label_of(layer, names):
    """Keys and values may share a storage."""
    return f"layer {layer}." + (names[0] if len(names) == 1 else f"({names[0]} to {names[-1]})")


def pools_of(library, module, program):
    """The bytes by label in kv_cache at the end, and what the program says."""
    need_torch()
    if plain(PYTHON, "-c", f"import {module}").returncode:
        raise harness.Skip(f"{PYTHON} has no {library}; set TORCH_PYTHON to one that has",
                           machine=True)
    trace = os.path.join(FOLDER.name, f"{library}.mled")
    result = run(PYTHON, os.path.join(HERE, program), trace=trace, options=("-qf",))
    equal(result.code, 0, "exit code", result)
    rows = report("table", trace, "--by", "label,category", "--at", "end", "--top",
                  "1000000")["groups"]
    return ({row["label"]: row["bytes"] for row in rows if row["category"] == "kv_cache"},
            said(result.out, result))


def test_pools_of_sglang():
    found, told = pools_of("SGLang", "sglang.srt.mem_cache.memory_pool", "kv_pools.py")
    equal(found, {label_of(layer, names): size for layer, names, size in told}, "bytes by label")


def test_pool_of_vllm():
    """All layers share one allocation."""
    found, (layers, size) = pools_of("vLLM", "vllm.v1.worker.utils", "vllm_pools.py")
    last = len(layers) - 1
    equal(found, {f"model.layers.(0 to {last}).self_attn.attn.kv_cache": size}, "bytes by label")


harness.main(globals())
