#!/usr/bin/env python3
# test_batches.py: batches from workers (batches.py) are inputs in the process that trains, on a
# device of their own, as long as it has them.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
from harness import check, equal, report, run
from torch_support import PYTHON, need_torch, said

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "batches.py")
DEVICE = "shared memory"
MARKER_BYTES = 1004


def check_batches(strategy):
    need_torch()
    result = run(PYTHON, PROGRAM, strategy, options=["-qf", "--sample-hz", "0"])
    equal(result.code, 0, "exit code", result)
    sizes = said(result.out, result)
    count = sizes.pop("batches")
    events = report("events", result.trace)["events"]
    made = [e for e in events if e["kind"] == "alloc" and e["device"] == DEVICE]
    trainer = {e["pid"] for e in events if e["kind"] == "alloc" and e["bytes"] == MARKER_BYTES}
    equal({e["pid"] for e in made}, trainer, "processes that have batches")
    equal(len(made), 2 * count, "blocks of batches")
    labels = {e["label"] for e in events if e["kind"] == "label" and e["device"] == DEVICE}
    equal(labels, {f"DataLoader.{name}" for name in sizes}, "names of batches")
    check_last(result.trace, events, sizes)


def instant_of_marker(events):
    marker = [e for e in events if e["kind"] == "alloc" and e["bytes"] == MARKER_BYTES][-1]
    return f"{marker['time_ns'] / 1e9:.9f}s"


def check_last(trace, events, sizes):
    """What is left when only the last batch is there, and what never ends."""
    at = instant_of_marker(events)
    groups = report("table", trace, "--at", at, "--device", DEVICE, "--by", "label,category")
    found = {(group["label"], group["category"]): group["bytes"] for group in groups["groups"]}
    equal(found, {(f"DataLoader.{name}", "input"): size for name, size in sizes.items()},
          "the last batch")
    summary = report("summary", trace)
    shared = [row for row in summary["by_device"] if row["device"] == DEVICE]
    check(shared and shared[0]["peak_bytes"] >= sum(sizes.values()), "the peak", shared)
    equal(summary["health"]["unknown_frees"], 0, "frees without an allocation")


def test_batches_in_shared_files():
    check_batches("file_system")


def test_batches_by_descriptor():
    check_batches("file_descriptor")


def test_objects_with_tensors():
    need_torch()
    result = run(PYTHON, os.path.join(HERE, "batch_objects.py"),
                 options=["-qf", "--sample-hz", "0"])
    equal(result.code, 0, "exit code", result)
    at = instant_of_marker(report("events", result.trace)["events"])
    groups = report("table", result.trace, "--at", at, "--by", "label,category")["groups"]
    found = {g["label"]: g["bytes"] for g in groups if g["category"] == "input"}
    equal(found, said(result.out, result), "inputs")


harness.main(globals())
