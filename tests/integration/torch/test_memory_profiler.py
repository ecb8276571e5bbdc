#!/usr/bin/env python3
# test_memory_profiler.py: MemoryProfiler with checkpoints, optimizers and layers, and under the
# names of tbd-tools.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import glob
import os

import harness
from harness import check, equal, plain
from torch_support import PYTHON, need_torch, said, version

PACKAGE = os.environ["TEST_PACKAGE"]
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "profiler_cases.py")


def environment(**more):
    # Many threads of OpenMP on a busy machine wait for each other.
    return os.environ | {"PYTHONPATH": PACKAGE, "OMP_NUM_THREADS": "1"} | more


@functools.cache
def all_cases():
    done = plain(PYTHON, "-W", "ignore", CASES, env=environment())
    equal(done.returncode, 0, "exit code", done.stdout, done.stderr)
    return said(done.stdout, done.stderr)


def found(name):
    need_torch()
    return all_cases()[name]


# The lines of tbd-tools' README, and two profilers within a second.
SCRIPT = """
import torch
import sys
sys.path.append('{folder}')
from pytorch_mem_profiler import *

for _ in range(2):
    profiler = memory_profiler(torch.nn.Linear(10, 10), print_period=5, csv=True)
"""


def test_import_of_tbd_tools():
    need_torch()
    done = plain(PYTHON, "-m", "memledger.tbd_tools", env=environment())
    folder = done.stdout.strip()
    equal(folder, os.path.join(os.path.realpath(PACKAGE), "memledger", "tbd_tools"), "the folder",
          done.stderr)
    with open("script.py", "w") as file:
        file.write(SCRIPT.format(folder=folder))
    done = plain(PYTHON, "script.py", env=environment(PYTHONPATH=""))
    equal(done.returncode, 0, "exit code", done.stderr)
    files = sorted(glob.glob("./memory_csv_data/*.csv"))
    equal(len(files), 2, "files of two profilers", files)
    equal(sorted(done.stdout.split("\n")[:2]), sorted(f"Logging data in {path}" for path in files),
          "what they say")


def test_checkpoints():
    """Recomputed blocks are feature maps, not gradients: the whole model is recomputed, so both
    rows are as without checkpoints. A reentrant one keeps the gradient of the output, 200,000
    bytes, during the inner backward; of two segments the first is recomputed. From 2.1 on PyTorch
    ends a recomputation before the output, of 200,000 bytes, unless it is reentrant."""
    told = found("checkpoints")
    without = told["none"]
    maps = 400000 + 400000 + 200000
    for name, more in (("none", 0), ("other", 0), ("reentrant", 200000)):
        output = 0 if name == "other" and version() >= (2, 1) else 200000
        equal(told[name]["layers"] | {"(outside layers)": 0},
              without["layers"] | {"4": output, "(outside layers)": 0}, f"by layer, {name}")
        check(abs(told[name]["feature maps"] - maps + 200000 - output) < 1000,
              f"feature maps, {name}", told[name])
        check(abs(told[name]["intermediate"] - without["intermediate"] - more) < 1000,
              f"intermediate gradients, {name}", told[name], without)
    equal([told["none"]["layers"][name] for name in "01234"], [0, 400000, 0, 400000, 200000],
          "feature maps by layer")
    check(abs(told["sequential"]["feature maps"] - maps) < 1000, "segments", told["sequential"])


def test_checkpointed_blocks():
    """Each block's input, 65,536 bytes, is kept; one block at a time is recomputed."""
    told = found("transformers")
    maps, gradients = told["none"]
    for name in ("reentrant", "other"):
        checkpointed, intermediate = told[name]
        check(maps / 4 < checkpointed < maps / 4 + 5 * 65536, f"feature maps, {name}", told)
        check(intermediate < gradients * 1.3, f"intermediate gradients, {name}", told)


def test_resnet():
    """Adam keeps two tensors of each parameter's size and a step count of 4 bytes."""
    told = found("resnet")
    measured = told["found"]
    layers = measured["layers"]
    conv1 = 4 * 16 * 32 * 32 * 4
    equal([layers["conv1"], layers["bn1"] - conv1, layers["relu"]], [conv1, 2 * 16 * 4, 0],
          "feature maps of the first layers; a batch norm keeps mean and variance")
    equal(layers["maxpool"], conv1 // 4 * 3, "of the pooling, with 8-byte indices")
    equal(sum(layers.values()), measured["feature maps"], "their sum")
    equal(measured["all states"], 2 * told["parameters"] + 4 * len(measured["states"]),
          "optimizer state")
    equal(measured["states"]["fc.weight"], 2 * 32 * 10 * 4 + 4, "that of one parameter")
    equal(told["later"]["0.weight"], 125 * 250 * 4, "momentum of an optimizer made later")


def test_optimizers():
    for name, states in found("optimizers").items():
        equal(states["0.weight"], 125 * 250 * 4, f"state of the {name} optimizer", states)


def test_threads():
    """A layer that ends in one thread does not end those of another."""
    equal(found("threads")["first"], 400 * 125 * 4, "feature maps of the first layer")


harness.main(globals())
