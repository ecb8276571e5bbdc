# torch_switched.py: the cost of recording, measured within one process, which switches it on and
# off between blocks of steps: programs differ from one another by more than recording costs.
#
#   torch_switched.py [--turns N] [--device cpu|cuda]
#
# Its last line is JSON: for each way to record, quantiles of a step without and with it.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import statistics
import tempfile
import time

import torch
from torch import nn

import memledger

LAYERS, WIDTH, BATCH = 24, 64, 32
COLD_STEPS, STEPS = 3, 12
WAYS = {"names": None, "names and Python lines": "python"}
QUANTILES = (5, 25, 50)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(),
                                 nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Steps:
    """A training with many small blocks, whose time is all in Python and the allocator."""

    def __init__(self, device):
        self.device = device
        self.model = nn.Sequential(*(Layer() for _ in range(LAYERS))).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def one(self):
        batch = torch.randn(BATCH, WIDTH, device=self.device)
        self.optimizer.zero_grad()
        self.model(batch).square().mean().backward()
        self.optimizer.step()

    def times(self):
        """Milliseconds of each step of a block, without the first ones."""
        taken = []
        for number in range(COLD_STEPS + STEPS):
            began = time.perf_counter()
            self.one()
            if self.device == "cuda":
                torch.cuda.synchronize()
            if number >= COLD_STEPS:
                taken.append(1e3 * (time.perf_counter() - began))
        return taken


def quantiles(times):
    cuts = statistics.quantiles(times, n=100)
    return {str(q): cuts[q - 1] for q in QUANTILES}


def switch(steps, turns, stacks, folder):
    """Times of the steps off and on, in alternating order."""
    off, on = [], []
    for turn in range(turns):
        for recorded in ((False, True) if turn % 2 else (True, False)):
            if recorded:
                memledger.start(os.path.join(folder, "switched.mled"), force=True, stacks=stacks)
            (on if recorded else off).extend(steps.times())
            if recorded:
                memledger.stop()
    return off, on


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    steps = Steps(options.device)
    steps.times()
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        switch(steps, 2, None, folder)  # loads what recording needs
        for name, stacks in WAYS.items():
            off, on = switch(steps, options.turns, stacks, folder)
            said[name] = {"off_ms": quantiles(off), "on_ms": quantiles(on), "steps": len(on)}
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
