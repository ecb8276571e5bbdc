#!/usr/bin/env python3
# test_workspaces.py: memory that PyTorch gives to NVIDIA's libraries is theirs, not the layer's.
# With doubles in the place of both; tests/gpu has the real ones.
#
# SPDX-License-Identifier: Apache-2.0
import harness
from harness import equal, plain, program, report, run, with_standin


def test_labels():
    alone = plain(program("uses_workspaces"))
    result = run(program("uses_workspaces"), options=["-qf"], env=with_standin())
    equal((result.code, result.out), (0, alone.stdout), "exit code and output", result)
    groups = report("table", result.trace, "--by", "label,category,module", "--at", "end")["groups"]
    found = {(g["label"], g["category"], g["module"]): g["bytes"] for g in groups}
    equal(found, {
        ("cuBLAS (shared)", "workspace", None): 1000,
        ("cuBLASLt (shared)", "workspace", None): 30,
        ("cuDNN (shared)", "workspace", None): 50,
        (None, "activation", "net"): 200,
    }, "blocks at the end")
    ever = report("table", result.trace, "--by", "label,module", "--at", "peak")["groups"]
    equal([(g["label"], g["module"], g["bytes"]) for g in ever if g["label"] == "cuDNN"],
          [("cuDNN", "net", 4)], "a workspace of one call")


harness.main(globals())
