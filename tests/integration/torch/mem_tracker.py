#!/usr/bin/env python3
# mem_tracker.py: the categories of memory at the peak of training, by PyTorch's MemTracker
# (torch.distributed._tools.mem_tracker, PyTorch 2.4 and later) and by memledger for the same
# program without MemTracker.
#
#     mem_tracker.py --memledger PROGRAM --folder DIR [--device cuda] [--times N] [MODEL...]
#
# Ends with 1 if a category differs by more than 1 % of the peak, with 77 if this
# PyTorch has no MemTracker. docs/pytorch.md says where the two count differently.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import subprocess
import sys

STEPS = 3
MOST = 0.01
# memledger's categories, and MemTracker's for the same.
COMPARED = {"parameter": "Parameter", "gradient": "Gradient", "optimizer_state": "Optstate",
            "activation": "Activation"}
SHOWN = {**COMPARED, "buffer": "Buffer", "input": "Other"}
UNSEEN = ("temporary", "other")
NAMES = ("mlp", "cnn", "transformer", "lstm")


# ---- The program that is looked at ----------------------------------------------------


def warm_up(device):
    """cuBLAS gets its workspace here, where it is in no module."""
    import torch

    for _ in range(2):
        w = torch.ones(8, 8, device=device, requires_grad=True)
        (w @ w).sum().backward()


def steps(model, data, optimizer, before_each=lambda: None):
    from torch import nn

    criterion = nn.CrossEntropyLoss()
    x, y = data
    for _ in range(STEPS):
        before_each()
        optimizer.zero_grad(set_to_none=True)
        criterion(model(x), y).backward()
        optimizer.step()


def program(name, device, times, tracked):
    import torch

    import models

    torch.set_num_threads(1)
    warm_up(device)
    model, data = models.build(name, device, times)
    batch = data()
    # One parameter after the other: with temporaries for all at once the peak would
    # be in the optimizer, where there are no activations to compare.
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    if not tracked:
        return steps(model, batch, optimizer)
    from torch.distributed._tools.mem_tracker import MemTracker

    tracker = MemTracker()
    tracker.track_external(model, optimizer, *batch)
    with tracker:
        steps(model, batch, optimizer, tracker.reset_mod_stats)
    peak = tracker.get_tracker_snapshot("peak")[batch[0].device]
    print(json.dumps({getattr(key, "value", key): size for key, size in peak.items()}))


# ---- Both, side by side -----------------------------------------------------------------


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-3000:]}")
    return done.stdout


def has_mem_tracker():
    code = "import torch.distributed._tools.mem_tracker"
    return subprocess.run([sys.executable, "-c", code], capture_output=True,
                          check=False).returncode == 0


def ours(options, name):
    """memledger's categories when the device holds most of what MemTracker knows of: it
    sees tensors that Python code was given, not what a library takes in between."""
    trace = os.path.join(options.folder, f"tracked-{name}.mled")
    call([options.memledger, "run", "-q", "-f", "-o", trace, "--", *itself(options, name, "plain")])
    when = moment(trace, options)
    table = json.loads(call([options.memledger, "table", "--json", "--by", "category",
                             "--at", f"{when}ns", "--device", device_name(options), trace]))
    rows = {row["category"]: row["bytes"] for row in table["groups"]}
    return {**rows, "total": sum(rows.values())}


def device_name(options):
    return "cuda:0" if options.device == "cuda" else options.device


def moment(trace, options):
    """The time in nanoseconds at which most bytes of tensors are alive."""
    sys.path.insert(0, os.path.join(os.path.dirname(options.memledger), "..", "..", "python"))
    import memledger

    changes = []
    for row in memledger.read(trace).allocations:
        if (row["device"] == device_name(options) and row["level"] == "block"
                and row["category"] not in UNSEEN):
            changes.append((row["time_ns"], row["bytes"]))
            if row["free_ns"] is not None:
                changes.append((row["free_ns"], -row["bytes"]))
    live = most = when = 0
    for time, size in sorted(changes):
        live += size
        if live > most:
            most, when = live, time
    return when


def itself(options, name, how):
    return [sys.executable, os.path.abspath(__file__), "--device", options.device, "--times",
            str(options.times), "--" + how, name]


def compare(options, name):
    """Prints the table of one model; the largest difference, as a share of the peak."""
    theirs = json.loads(call(itself(options, name, "tracked")).strip().splitlines()[-1])
    mine = ours(options, name)
    print(f"{name}: peak {mine['total']:,} bytes, by MemTracker {theirs['Total']:,}")
    worst = 0.0
    for category, word in SHOWN.items():
        got, wanted = mine.get(category, 0), theirs[word]
        share = (got - wanted) / theirs["Total"]
        counts = category in COMPARED
        worst = max(worst, abs(share)) if counts else worst
        note = "" if counts else "  (not compared)"
        print(f"  {category:16} {got:>13,}  {word:10} {wanted:>13,}  {share:+8.3%}{note}")
    print(flush=True)
    return worst


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memledger")
    parser.add_argument("--folder")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--times", type=int, default=8, help="larger batches than in the tests: "
                        "one weight's gradient shall be little beside the peak")
    parser.add_argument("models", nargs="*", default=NAMES, help="all if none is named")
    parser.add_argument("--plain", metavar="MODEL")
    parser.add_argument("--tracked", metavar="MODEL")
    return parser.parse_args()


def main():
    options = parse_arguments()
    name = options.plain or options.tracked
    if name:
        program(name, options.device, options.times, bool(options.tracked))
        return 0
    if not has_mem_tracker():
        print("this PyTorch has no torch.distributed._tools.mem_tracker")
        return 77
    worst = max(compare(options, name) for name in options.models)
    print(f"the largest difference is {worst:.3%} of the peak, {MOST:.0%} is allowed")
    return 1 if worst > MOST else 0


sys.exit(main())
