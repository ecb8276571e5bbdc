#!/usr/bin/env python3
# test_categories.py: the categories of memory in unmodified programs: training.py. Compares
# `memledger summary` with the programs' own counts.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os

import harness
from harness import check, contains, equal, plain, report
from torch_record import CASES, PYTHON, each, need_torch, recorded

HERE = os.path.dirname(os.path.abspath(__file__))
AGREEMENT = os.path.join(HERE, "mem_tracker.py")
NO_MEM_TRACKER = 77
MOST_OTHER = 0.01
ALWAYS_LABELLED = ("parameter", "buffer", "gradient", "optimizer_state")


def live_of(case):
    record = recorded(case)
    rows = record.categories()
    for category in ALWAYS_LABELLED:
        wanted = sum(size for _, size in record.told[category])
        equal(rows.get(category, {"live_bytes": 0})["live_bytes"], wanted, f"{category} at the end")


def test_at_the_end():
    """Parameters, buffers, gradients and optimizer state, to the byte."""
    each(CASES, live_of)


def peak_of(case):
    record = recorded(case)
    rows = record.categories()
    peak = sum(b.bytes for b in record.story.peak("cpu"))
    equal(sum(row["at_peak_bytes"] for row in rows.values()), peak, "all categories at the peak")
    for category in ("parameter", "buffer"):
        wanted = sum(size for _, size in record.told[category])
        got = rows.get(category, {"at_peak_bytes": 0})["at_peak_bytes"]
        equal(got, wanted, f"{category} at the peak")
    other = rows.get("other", {"at_peak_bytes": 0})["at_peak_bytes"]
    check(other <= MOST_OTHER * peak, f"{other} of {peak} bytes are for nothing known")


def test_at_the_peak():
    """All bytes have a category; parameters count from their birth."""
    each(["mlp", "cnn", "transformer", "lstm"], peak_of)


def test_layers():
    """Children of nn.Sequential have numbers for names: their classes say what they are."""
    [run] = report("groups", recorded("cnn").trace, "-d", "layers")["runs"]
    [grouping] = run["dictionaries"]
    shares = {group["category"]: group["percent"] for group in grouping["groups"]}
    for category in ("Convolution", "Normalization", "Activation", "Fully connected"):
        check(shares.get(category), f"nothing is {category}", shares)
    check(shares.get("Others", 0) < 20, "too much has no layer", shares)
    text = plain(harness.MEMLEDGER, "groups", recorded("cnn").trace).stdout
    contains(text, "parameter:features.3.weight", "a tag in PyTorch's words")
    check("in_arg" not in text, "MXNet's words for PyTorch's memory", text)


def test_inference():
    rows = recorded("inference").categories()
    for category in ("gradient", "intermediate_gradient", "optimizer_state"):
        check(category not in rows or not rows[category]["allocations"],
              f"there is a {category} without a backward pass", rows.get(category))


def trained(case):
    rows = recorded(case).categories()
    for category in ("activation", "intermediate_gradient", "input", "temporary"):
        check(category in rows and rows[category]["peak_bytes"], f"there is no {category}",
              sorted(rows))


def test_training_has_all():
    each(["mlp", "cnn", "transformer", "lstm"], trained)


def test_activations():
    """They are not fewer than what autograd saves for the backward pass."""
    for name in ("mlp", "cnn", "transformer", "lstm"):
        record = recorded(name)
        saved = json.loads(plain(PYTHON, os.path.join(HERE, "saved.py"), name).stdout)
        most = record.categories()["activation"]["peak_bytes"]
        print(f"  {name}: {saved} bytes are saved, activations are {most} at most", flush=True)
        check(most >= saved, f"{name}: of {saved} bytes that are saved only {most} count")


def steps_of(case):
    record = recorded(case)
    if not record.told.get("steps"):
        return
    # The first begins with the first forward, each step of the optimizer begins the next.
    last = record.told["steps"] - (1 if case == "inference" else 0)
    equal(sorted(record.story.steps), list(range(last + 1)), "steps")


def test_steps():
    each(CASES, steps_of)


def test_stacks_and_operators_change_nothing():
    """The same blocks are for the same, with Python stacks and with operators."""
    wanted = figures(recorded("transformer"))
    for option in ("--stacks=python", "--ops"):
        equal(figures(recorded("transformer", option)), wanted, f"categories with {option}")


def figures(record):
    return {c: (row["at_peak_bytes"], row["allocations"], row["live_bytes"])
            for c, row in record.categories().items()}


def test_mem_tracker():
    """PyTorch's own MemTracker says the same, within 1 % of the peak."""
    need_torch()
    done = plain(PYTHON, AGREEMENT, "--memledger", harness.MEMLEDGER, "--folder", ".")
    if done.returncode == NO_MEM_TRACKER:
        raise harness.Skip(done.stdout.strip(), machine=True)
    print(done.stdout, flush=True)
    equal(done.returncode, 0, "agreement with MemTracker", done.stdout, done.stderr)


if __name__ == "__main__":
    harness.main(globals())
