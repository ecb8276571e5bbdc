# torch_switched.py: the cost of recording, measured within one process, which switches it on and
# off between blocks of steps: programs differ from one another by more than recording costs.
#
#   torch_switched.py [--turns N] [--steps N] [--device cpu|cuda] [--model NAME]... [--way NAME]...
#
# Two models: one of tiny layers, whose step is all Python and allocator, and one of ordinary layers.
# A turn is two neighbouring blocks of steps, without and with recording, in changing order. Its
# ratios at each quantile form a pair, so that what disturbs both blocks cancels out. The cost is the
# median over all turns; turns drawn at random give its confidence interval. One way to "record"
# records nothing: it shows what chance does on this machine. The first steps of a block are not
# counted; by how much the beginning of a recording makes them longer is a figure of its own.
#
# On the processor the clock is the CPU time of the thread: others may run beside it. Prints a table,
# and as its last line JSON: for each model and way, quantiles of a step without and with recording,
# the cost at each with its interval, and the number of steps.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import json
import os
import random
import statistics
import tempfile
import time

import torch
from torch import nn

import memledger

# (layers, width, rows of a batch)
MODELS = {"24 tiny layers": (24, 64, 32), "12 ordinary layers": (12, 1024, 2048)}
COLD_STEPS = 45  # in the first ones blocks get their names, and rings their memory
# Options of start(); None: no recording.
WAYS = {"off again": None, "names": {}, "names, no samples": {"sample_hz": 0},
        "names and Python lines": {"stacks": "python"}}
QUANTILES = (5, 25, 50, 75)
DRAWS, INTERVAL = 1000, 0.95


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
        self.clock = time.perf_counter if device == "cuda" else time.thread_time
        self.model = nn.Sequential(*(Layer(width) for _ in range(layers))).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def one(self):
        batch = torch.randn(*self.shape, device=self.device)
        self.optimizer.zero_grad()
        self.model(batch).square().mean().backward()
        self.optimizer.step()

    def times(self, count):
        """Milliseconds of each step of a block, the cold ones too."""
        taken = []
        for _ in range(COLD_STEPS + count):
            began = self.clock()
            self.one()
            if self.device == "cuda":
                torch.cuda.synchronize()
            taken.append(1e3 * (self.clock() - began))
        return taken


def quantiles(times):
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return {q: cuts[q - 1] for q in QUANTILES}


def block(steps, count, how, folder):
    """Times of a block of steps; how: options of start(), None: unrecorded."""
    if how is None:
        return steps.times(count)
    memledger.start(os.path.join(folder, "switched.mled"), force=True, **how)
    try:
        return steps.times(count)
    finally:
        memledger.stop()


def switch(steps, turns, count, how, folder):
    """Pairs of blocks, without and with recording."""
    pairs = []
    for turn in range(turns):
        taken = {}
        for recorded in ((False, True) if turn % 2 else (True, False)):
            taken[recorded] = block(steps, count, how if recorded else None, folder)
        pairs.append((taken[False], taken[True]))
    return pairs


def interval(ratios):
    """The median, and between which values it lies when turns are drawn at random."""
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    out = round(DRAWS * (1 - INTERVAL) / 2)
    return {"over": statistics.median(ratios), "low": medians[out], "high": medians[-1 - out]}


def weigh(pairs):
    warm = [(off[COLD_STEPS:], on[COLD_STEPS:]) for off, on in pairs]
    by_block = [(quantiles(off), quantiles(on)) for off, on in warm]
    off, on = (quantiles([*itertools.chain(*blocks)]) for blocks in zip(*warm))
    return {"off_ms": off, "on_ms": on, "steps": sum(len(times) for _, times in warm),
            "turns": len(pairs),
            "beginning_ms": statistics.median(sum(on[:COLD_STEPS]) - sum(off[:COLD_STEPS])
                                              for off, on in pairs),
            "cost": {q: interval([b[q] / a[q] - 1 for a, b in by_block]) for q in QUANTILES}}


def show(name, found):
    print(f"{name}: {found['turns']} turns, {found['steps']} steps each way; the first "
          f"{COLD_STEPS} steps of a block take {found['beginning_ms']:+.1f} ms in all")
    for q, cost in found["cost"].items():
        print(f"  {q:2} of 100: {found['off_ms'][q]:9.3f} {found['on_ms'][q]:9.3f} ms  "
              f"{cost['over']:+7.2%}  ({cost['low']:+.2%} to {cost['high']:+.2%})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=24)
    parser.add_argument("--steps", type=int, default=40, help="in a block")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--model", action="append", choices=MODELS, help="may be repeated")
    parser.add_argument("--way", action="append", choices=WAYS, help="may be repeated")
    options = parser.parse_args()
    if options.device == "cpu":
        torch.set_num_threads(1)  # whose CPU time is that of the step
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        for model, way in itertools.product(options.model or MODELS, options.way or WAYS):
            steps = Steps(options.device, *MODELS[model])
            # Loads what recording needs, and keeps the table of live blocks from then on.
            switch(steps, 1, options.steps, WAYS["names and Python lines"], folder)
            name = f"{model}, {way}"
            said[name] = weigh(switch(steps, options.turns, options.steps, WAYS[way], folder))
            show(name, said[name])
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
