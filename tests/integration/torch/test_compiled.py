#!/usr/bin/env python3
# test_compiled.py: programs that use torch.compile (compiled.py): each byte has a layer, forward
# and backward, each layer has what PyTorch says, and the program computes and compiles the same.
#
# A run without memledger compiles: the recorded run finds all of its code in PyTorch's cache, as it
# does for a user who has run the program before. One case is compiled while it is recorded.
# TEST_COMPILED=all adds the cases that take long to compile; TEST_COMPILED_CACHE keeps the cache.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import re
import tempfile

import harness
from compiled_blocks import QUERY, CompiledBlocks, layers_in, share_in_layers
from harness import check, equal, plain, report, run
from torch_support import PYTHON, need_torch, said, version

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compiled.py")
ENOUGH = 0.99
FIRST = (2, 15)  # the only version that was tried
NUMBER = re.compile(r"#\d+")  # of a model: the programs make several of a class
FOLDER = tempfile.TemporaryDirectory(prefix="memledger-compiled-")
CACHE = os.environ.get("TEST_COMPILED_CACHE") or os.path.join(FOLDER.name, "cache")

CAPTURED = {  # the backward pass is a graph; layers whose intermediate gradients it allocates
    "autograd": ["GPT > blocks.0.mlp.3", "GPT > blocks.1.mlp.3"],
    "captured": ["Sequential > 2"],
    "captured_calls": ["GPT > blocks.0.mlp.3", "GPT > blocks.1.mlp.3", "GPT > head"],
    "captured_encoder": ["TransformerEncoder > layers.0.self_attn",
                         "TransformerEncoder > layers.1.linear2"],
}
CASES = ["sequential", "gpt", "resnet", "in_place", "function", "nested", "optimizer", *CAPTURED]
if os.environ.get("TEST_COMPILED") == "all":
    CASES += ["encoder", "graphs", "blocks", "submodule", "train_step", "gpt2"]


def need_compiler():
    need_torch()
    if version() < FIRST:
        raise harness.Skip(f"PyTorch {version()} is older than {FIRST}", machine=True)


@functools.cache
def alone():
    """The program without memledger, and without the cache of graphs that memledger passes over:
    compiled autograd captures one call less of a graph from that cache."""
    need_compiler()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = CACHE
    result = plain(PYTHON, PROGRAM, *CASES,
                   env=os.environ | {"TORCHINDUCTOR_AUTOGRAD_CACHE": "0"})
    equal(result.returncode, 0, "exit code without memledger", result.stderr)
    return said(result.stdout, result)


def trace_of(name):
    return os.path.join(FOLDER.name, f"{name}.mled")


def record(name, *cases):
    """What the program said, and its blocks."""
    trace = trace_of(name)
    result = run(PYTHON, PROGRAM, *cases, trace=trace, options=["-qf", "--sample-hz", "0"])
    equal(result.code, 0, "exit code", result)
    return said(result.out, result), CompiledBlocks(report("sql", trace, QUERY)["rows"], cases)


@functools.cache
def recorded():
    alone()
    return record("warm", *CASES)


def test_results_and_compilations_are_the_same():
    for case in CASES:
        for what in ("losses", "counters"):
            equal(recorded()[0][case][what], alone()[case][what], f"{what} of {case}")


def test_layers_hold_what_pytorch_says():
    told, blocks = recorded()
    for case in CASES:
        rows = report("layers", trace_of("warm"), "--at", blocks.end(case))["layers"]
        equal(layers_in(rows), told[case]["layers"], f"layers of {case}")


def are_in_layers(blocks, what):
    share, worst = share_in_layers(blocks)
    check(share >= ENOUGH, f"only {share:.2%} of {what} have a layer and a category", worst)


def test_everything_is_in_a_layer():
    for case in CASES:
        are_in_layers(recorded()[1].at_peak(case), f"the peak of {case}")
        are_in_layers(recorded()[1].in_backward(case), f"backward of {case}")


def test_activations_are_in_their_layers():
    modules = {b.module for b in recorded()[1].of("gpt") if b.category == "activation"}
    for layer in ("blocks.0.qkv", "blocks.0.mlp.1", "blocks.1.qkv", "blocks.1.mlp.1", "head"):
        check(f"GPT > {layer}" in modules, f"none in {layer}", modules)


def names(blocks, case):
    """After the first step, in which the compiler allocates, too."""
    blocks = blocks.of(case)
    begin = min(b.born for b in blocks if b.phase == "optimizer")
    return {(b.phase, NUMBER.sub("", b.module), b.category, b.bytes) for b in blocks
            if b.module and b.born > begin}


def test_backward_of_a_function_is_in_its_model():
    """As if the model had been compiled, and not in the function that made the batch."""
    function, model = ({name for name in names(recorded()[1], case) if name[0] == "backward"}
                       for case in ("function", "gpt"))
    equal(function, model, "layers, categories and sizes")


def test_captured_passes_are_in_layers():
    """Not all in the model as a whole."""
    for case, layers in CAPTURED.items():
        blocks = [b for b in recorded()[1].of(case) if b.phase == "backward"]
        inner = sum(b.bytes for b in blocks if " > " in (b.module or ""))
        check(2 * inner > sum(b.bytes for b in blocks) > 0,
              f"only {inner} bytes in layers of {case}", blocks[:5])
        found = {NUMBER.sub("", b.module or "") for b in blocks
                 if b.category == "intermediate_gradient"}
        check(found.issuperset(layers), f"{case}: no intermediate gradients in one of {layers}",
              found)


def test_no_path_shows_the_wrapper():
    paths = {b.scope for b in recorded()[1].blocks}
    check(not any("_orig_mod" in path or "OptimizedModule" in path for path in paths),
          "a wrapper in a path", paths)


LATE = """
import torch, memledger
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 64)
model = torch.compile(Net())
for number in range(2):
    memledger.start(f"{number}.mled")
    memledger.stop()
"""


def test_a_recording_that_begins_later_has_names():
    """A compiled module does not always say whether it is true, or how long."""
    need_compiler()
    result = plain(PYTHON, "-c", LATE,
                   env=os.environ | {"PYTHONPATH": os.environ["TEST_PACKAGE"]})
    equal((result.returncode, result.stderr), (0, ""), "exit code and complaints")


def test_names_do_not_depend_on_the_cache():
    warm = recorded()[1]
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(FOLDER.name, "cold")
    _, cold = record("cold", "sequential")
    equal(names(cold, "sequential"), names(warm, "sequential"), "layers, categories and sizes")


harness.main(globals())
