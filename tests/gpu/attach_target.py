# attach_target.py: trains a model on the GPU until standard input ends, for the check attach_cuda.
# For each line that it reads it stops between two steps, prints what PyTorch has allocated, in
# bytes and block by block, and the median time of a step since the last line, and goes on at the
# next line.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import statistics
import sys
import time

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))

from line_reader import Lines


def blocks():
    """Address and size of each."""
    found = []
    for segment in torch.cuda.memory_snapshot():
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                found.append((address, block["size"]))
            address += block["size"]
    return found


def answer(steps_ms, lines):
    print(json.dumps({"allocated": torch.cuda.memory_allocated(), "blocks": blocks(),
                      "steps": len(steps_ms),
                      "step_ms": statistics.median(steps_ms) if steps_ms else 0}), flush=True)
    steps_ms.clear()
    return lines.next()


def main():
    model = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 1024), nn.GELU()) for _ in range(12)])
    model = model.cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    steps_ms = []
    lines = Lines()
    while True:
        begin = time.perf_counter()
        batch = torch.randn(512, 1024, device="cuda")
        optimizer.zero_grad()
        model(batch).pow(2).mean().backward()
        optimizer.step()
        torch.cuda.synchronize()
        steps_ms.append(1000 * (time.perf_counter() - begin))
        line = lines.poll()
        if line == "" or line and not answer(steps_ms, lines):
            return


main()
