# torch_switched.py: the cost of recording, measured within one process, which switches it on and
# off between blocks of steps: programs differ from one another by more than recording costs.
#
#   torch_switched.py [--turns N] [--device cpu|cuda]
#
# Two models: one of tiny layers, whose step is all Python and allocator, and one of ordinary layers.
# Its last line is JSON: for each model and way to record, quantiles of a step without and with it.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import json
import os
import statistics
import tempfile
import time

import torch
from torch import nn

import memledger

# (layers, width, rows of a batch)
MODELS = {"24 tiny layers": (24, 64, 32), "12 ordinary layers": (12, 1024, 2048)}
COLD_STEPS, STEPS = 5, 40
# Options of start().
WAYS = {"names": {}, "names, no samples": {"sample_hz": 0},
        "names and Python lines": {"stacks": "python"}}
QUANTILES = (5, 25, 50)


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(),
                                 nn.Linear(2 * width, width))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Steps:
    def __init__(self, device, layers, width, rows):
        self.device, self.shape = device, (rows, width)
        self.model = nn.Sequential(*(Layer(width) for _ in range(layers))).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def one(self):
        batch = torch.randn(*self.shape, device=self.device)
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


def switch(steps, turns, how, folder):
    """Times of the steps off and on, in alternating order."""
    off, on = [], []
    for turn in range(turns):
        for recorded in ((False, True) if turn % 2 else (True, False)):
            if recorded:
                memledger.start(os.path.join(folder, "switched.mled"), force=True, **how)
            (on if recorded else off).extend(steps.times())
            if recorded:
                memledger.stop()
    return off, on


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        for model, way in itertools.product(MODELS, WAYS):
            steps = Steps(options.device, *MODELS[model])
            switch(steps, 2, WAYS[way], folder)  # loads what recording needs
            off, on = switch(steps, options.turns, WAYS[way], folder)
            said[f"{model}, {way}"] = {"off_ms": quantiles(off), "on_ms": quantiles(on), "steps": len(on)}
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
