# torch_switched.py: the cost of recording, measured within one process, which switches it on and
# off between blocks of steps: programs differ from one another by more than recording costs.
#
#   torch_switched.py [--turns N] [--steps N] [--cold N] [--seconds N] [--device cpu|cuda]
#                     [--by-pauses] [--model NAME]... [--way NAME]...
#
# Two models: one of tiny layers, whose step is all Python and allocator, and one of ordinary layers.
# Blocks of steps without and with recording alternate, and each block with recording, a turn, is
# compared with the two around it: what changes slowly cancels out. The cost is the median over all
# turns; turns drawn at random give its confidence interval. The ratio of each recorded step to the
# median of the steps around its block shows how the steps spread. One way to "record" records
# nothing: it shows what chance does on this machine. The first steps of a block are not counted; by
# how much the beginning of a recording makes them longer is a figure of its own.
#
# On a machine whose speed changes from one second to the next such blocks are too long. With
# --by-pauses one recording is paused and resumed instead, around blocks of a few steps: hundreds of
# turns in the same time. A paused recording still keeps its table of live blocks, as the process
# does after stop().
#
# On the processor the clock is the CPU time of the thread: others may run beside it. Prints a table,
# and as its last line JSON: for each model and way, quantiles of a step without and with recording,
# the cost at each with its interval, quantiles of the ratios, and the number of steps.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import gc
import itertools
import json
import os
import random
import statistics
import subprocess
import tempfile
import threading
import time

import torch
from torch import nn

import memledger
from memledger._library import COMMANDS, first

# (layers, width, rows of a batch)
MODELS = {"24 tiny layers": (24, 64, 32), "12 ordinary layers": (12, 1024, 2048)}
# In the first steps of a recording blocks get their names, and rings their memory. State of the
# optimizer is looked at again in the steps 32 and 64.
COLD_STEPS = 33
COLD_STEPS_OFF = 8
PAUSED_STEPS, PAUSED_COLD_STEPS = 4, 2  # with --by-pauses
# Options of start(); None: no recording.
WAYS = {"off again": None, "names": {}, "names, no samples": {"sample_hz": 0},
        "names and Python lines": {"stacks": "python"}}
QUANTILES = (5, 25, 50, 75, 95)
LEAST_TURNS = 3
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
        """Milliseconds of each of the next steps."""
        taken = []
        for _ in range(count):
            began = self.clock()
            self.one()
            if self.device == "cuda":
                torch.cuda.synchronize()
            taken.append(1e3 * (self.clock() - began))
        return taken


def quantiles(times):
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return {q: cuts[q - 1] for q in QUANTILES}


def from_second_thread():
    """Records a block of another thread, as a backward pass on a GPU does: from then on the recorder
    keeps the records of several threads in order."""
    thread = threading.Thread(target=torch.empty, args=(1,))
    thread.start()
    thread.join()


def block(steps, cold, count, how, folder):
    """Times of a block of steps, and of those before that do not count; how: options of start(),
    None: unrecorded."""
    gc.collect()  # Python's own collections would come at different steps of each block
    if how is None:
        return steps.times(COLD_STEPS_OFF), steps.times(count)
    memledger.start(os.path.join(folder, "switched.mled"), force=True, **how)
    try:
        if steps.device == "cpu":
            from_second_thread()
        return steps.times(cold), steps.times(count)
    finally:
        memledger.stop()


def switch(steps, turns, seconds, cold, count, how, folder):
    """Blocks without recording, and one with it between each two of them."""
    gc.collect()
    gc.disable()
    end = time.monotonic() + seconds
    off, on = [block(steps, cold, count, None, folder)], []
    while len(on) < turns and (len(on) < LEAST_TURNS or time.monotonic() < end):
        on.append(block(steps, cold, count, how, folder))
        off.append(block(steps, cold, count, None, folder))
    gc.enable()
    return off, on


def switch_by_pauses(steps, seconds, how, folder):
    """The same with one recording. Without any, it stays paused."""
    program = first(COMMANDS, "memledger", os.X_OK)

    def turn(verb):
        subprocess.run([program, verb, str(os.getpid())], check=True, capture_output=True)
        return steps.times(PAUSED_COLD_STEPS), steps.times(PAUSED_STEPS)

    gc.collect()
    gc.disable()
    memledger.start(os.path.join(folder, "switched.mled"), force=True, **(how or {}))
    steps.times(COLD_STEPS)
    off, on = [turn("pause")], []
    end = time.monotonic() + seconds
    while len(on) < LEAST_TURNS or time.monotonic() < end:
        on.append(turn("pause" if how is None else "resume"))
        off.append(turn("pause"))
    memledger.stop()
    gc.enable()
    return off, on


def interval(ratios):
    """The median, and between which values it lies when turns are drawn at random."""
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    out = round(DRAWS * (1 - INTERVAL) / 2)
    return {"over": statistics.median(ratios), "low": medians[out], "high": medians[-1 - out]}


def costs(off, on):
    """At each quantile of a block: the recorded ones beside the mean of their neighbours."""
    off, on = ([quantiles(times) for _, times in blocks] for blocks in (off, on))
    return {q: interval([2 * b[q] / (a[q] + c[q]) - 1 for a, b, c in zip(off, on, off[1:])])
            for q in QUANTILES}


def ratios(off, on):
    """Quantiles over all recorded steps, each beside the median of the steps around its block."""
    return quantiles([time / statistics.median(before + after)
                      for (_, before), (_, times), (_, after) in zip(off, on, off[1:])
                      for time in times])


def beginning(off, on):
    """Milliseconds by which the first steps of a recording take longer."""
    return statistics.median(sum(cold) - len(cold) * statistics.median(before)
                             for (_, before), (cold, _) in zip(off, on))


def weigh(off, on):
    return {"off_ms": quantiles([time for _, times in off for time in times]),
            "on_ms": quantiles([time for _, times in on for time in times]),
            "steps": sum(len(times) for _, times in on), "turns": len(on), "cold": len(on[0][0]),
            "beginning_ms": beginning(off, on), "ratio": ratios(off, on), "cost": costs(off, on)}


def show(name, found):
    print(f"{name}: {found['turns']} turns, {found['steps']} recorded steps; the first "
          f"{found['cold']} steps of a recording take {found['beginning_ms']:+.1f} ms in all")
    for q, cost in found["cost"].items():
        print(f"  {q:2} of 100: {found['off_ms'][q]:9.3f} {found['on_ms'][q]:9.3f} ms  "
              f"{cost['over']:+7.2%}  ({cost['low']:+.2%} to {cost['high']:+.2%})  "
              f"steps {found['ratio'][q] - 1:+7.2%}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=40, help="at most")
    parser.add_argument("--seconds", type=float, default=40, help="of a model and way, about")
    parser.add_argument("--steps", type=int, default=30, help="in a block")
    parser.add_argument("--cold", type=int, default=COLD_STEPS,
                        help="first steps of a recording that do not count")
    parser.add_argument("--by-pauses", action="store_true", help="in short blocks of one recording")
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
            switch(steps, 1, 0, COLD_STEPS, options.steps, WAYS["names and Python lines"], folder)
            name = f"{model}, {way}"
            if options.by_pauses:
                blocks = switch_by_pauses(steps, options.seconds, WAYS[way], folder)
            else:
                blocks = switch(steps, options.turns, options.seconds, options.cold, options.steps,
                                WAYS[way], folder)
            said[name] = weigh(*blocks)
            show(name, said[name])
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
