#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of a transformer with many small blocks, timed.

Its layers are small, so that the processor is busier with asking the allocator and
starting kernels than anybody with computing. 16 layers on a GPU make about 3,200
allocations and frees a step. Prints one line of JSON; with --dump a second one.

PyTorch's own recorders can watch: its memory history without stacks, with Python's,
with all; torch.profiler with memory and stacks.
"""
import argparse
import contextlib
import os
import statistics
import sys
import time

import torch
from torch import nn

from steps_on_call import on_call, say, timed

HISTORY = {
    "history": {"context": None},
    "history-python": {"context": "all", "stacks": "python"},
    "history-all": {"context": "all", "stacks": "all"},
}
WATCHES = ["none", *HISTORY, "profiler"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--watch", choices=WATCHES, default="none")
    parser.add_argument("--dump", metavar="FILE", help="where the history goes at the end")
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--in-turn", action="store_true", help="run as many steps as each line of "
                        "the input says, and print their times, until it ends")
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=64)
    return parser.parse_args()


def build(options):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(options.width, 4, 4 * options.width, batch_first=True)
    model = nn.TransformerEncoder(layer, options.layers, enable_nested_tensor=False)
    model = model.to(options.device)
    # One parameter after the other, as with a list of tensors it would be a few large blocks.
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    x = torch.randn(options.batch, options.length, options.width, device=options.device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(x).square().mean().backward()
        optimizer.step()
        if options.device != "cpu":
            torch.cuda.synchronize()

    return step


@contextlib.contextmanager
def watched(options):
    """Around the steps that are timed."""
    if options.watch != "profiler":
        yield
        return
    profile = torch.profiler.profile(profile_memory=True, with_stack=True)
    profile.start()
    yield
    # Putting its data in order takes longer than all steps, and is not timed.
    if options.dump:
        profile.stop()
        profile.export_chrome_trace(options.dump)


def block_events(options):
    """Allocations and frees so far, where PyTorch counts them."""
    if options.device == "cpu":
        return None
    stats = torch.cuda.memory_stats()
    return stats["allocation.all.allocated"] + stats["allocation.all.freed"]


def dump_history(path):
    began = time.perf_counter()
    torch.cuda.memory._dump_snapshot(path)
    seconds = time.perf_counter() - began
    entries = sum(map(len, torch.cuda.memory._snapshot()["device_traces"]))
    say(dump_bytes=os.path.getsize(path), dump_entries=entries, dump_s=seconds)


def main():
    options = parse_arguments()
    if options.device == "cpu":
        torch.set_num_threads(1)
    if options.watch in HISTORY:
        torch.cuda.memory._record_memory_history("all", max_entries=sys.maxsize,
                                                 **HISTORY[options.watch])
    step = build(options)
    timed(step, options.warm_up)
    before = block_events(options)
    with watched(options):
        turns = on_call(step) if options.in_turn else timed(step, options.steps)
        after = block_events(options)
    times, cpu, steps = [wall for wall, _ in turns], [cpu for _, cpu in turns], len(turns)
    say(median_ms=statistics.median(times), fastest_ms=min(times),
        cpu_ms=statistics.fmean(cpu), steps=steps,
        events_a_step=(after - before) / steps if after is not None else None,
        events=after, self_cpu_ns=time.process_time_ns(), end_ns=time.monotonic_ns())
    if options.dump and options.watch in HISTORY:
        dump_history(options.dump)
    # Nothing is torn down: the profiler would now put its data in order.
    sys.stdout.flush()
    os._exit(0)


main()
