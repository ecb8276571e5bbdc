#!/usr/bin/env python3
# test_building.py: models that are built, converted, copied and loaded by unmodified programs
# (building.py): each byte of them has a name, and each layer has what PyTorch says.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import tempfile

import harness
from block_story import NEVER, Story
from harness import check, equal, report, run
from torch_support import PYTHON, need_torch, said

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "building.py")
CASES = ["never_called", "converted", "materialised", "swapped", "loaded", "averaged", "in_method",
         "dropped", "after_another", "grown"]
IN_FILES = ["from_mapped_file", "mapped_and_used", "from_safetensors", "table_in_file"]
MARKER_BYTES = 1004
COUNTERS_BYTES = 3 * 8  # num_batches_tracked of three layers: to(dtype) converts no integers
ENOUGH = 0.99
FOLDER = tempfile.TemporaryDirectory()  # traces for all of the functions below


class Record:
    def __init__(self, case):
        need_torch()
        self.trace = os.path.join(FOLDER.name, f"{case}.mled")
        result = run(PYTHON, PROGRAM, case, trace=self.trace, options=["-qf", "--sample-hz", "0"])
        equal(result.code, 0, "exit code", result)
        self.held = said(result.out, result)
        if "skip" in self.held:
            raise harness.Skip(self.held["skip"], machine=True)
        events = report("events", self.trace)["events"]
        self.story = Story(events)
        self.moment, marker = [(i, e) for i, e in enumerate(events)
                               if e["kind"] == "alloc" and e["bytes"] == MARKER_BYTES][-1]
        self.time = f"{marker['time_ns'] / 1e9:.9f}s"


recorded = functools.cache(Record)


def are_named(blocks, what):
    total = sum(b.bytes for b in blocks)
    nameless = [(b.bytes, b.path) for b in blocks if b.label is None and not b.path]
    share = 1 - sum(size for size, _ in nameless) / total
    check(share >= ENOUGH, f"only {share:.2%} of {what} have a name", nameless[:5])


def test_everything_has_a_name():
    """At the peak, and when the model is ready. One that is gone had its names too."""
    for case in CASES:
        story = recorded(case).story
        are_named(story.peak("cpu"), f"the bytes at the peak of {case}")
        are_named(story.at(recorded(case).moment, "cpu"), f"the bytes at the end of {case}")


def check_layers(case):
    record = recorded(case)
    layers = report("layers", record.trace, "--at", record.time)
    rows = {row["module"]: row["by_category"] for row in layers["layers"]}
    found = {title: {kind: row[kind] for kind in ("parameter", "buffer")}
             for title, row in rows.items() if row["parameter"] or row["buffer"]}
    equal(found, record.held, f"what the layers of {case} hold")
    return layers


def test_layers_hold_what_pytorch_says():
    for case in [*CASES, "shared"]:
        check_layers(case)


def size_of(held):
    return sum(size for row in held.values() for size in row.values())


def test_weights_in_mapped_files_have_a_line():
    """And a device, so that the host's own memory is as it was."""
    for case in IN_FILES:
        try:
            layers = check_layers(case)
        except harness.Skip as reason:
            print(f"  {case}: skipped: {reason}", flush=True)
            continue
        record = recorded(case)
        in_files = {"mapped_and_used": COUNTERS_BYTES, "table_in_file": 4000 * 64 * 4}.get(
            case, size_of(record.held))
        equal(layers.get("mapped_file_bytes", 0), in_files, f"bytes of {case} in files")
        devices = {row["device"]: row for row in report("summary", record.trace)["by_device"]}
        files = devices["mapped files"]
        check(files["peak_bytes"] >= in_files and files["peak_bytes"] > 0, f"{case}", files)
        equal(files["never_freed_bytes"], 0, f"bytes of {case} that stay mapped")


def test_a_replaced_parameter_had_a_name():
    """Both weights of the decoder: its own, and the one that it shares."""
    labels = {(b.label, b.died == NEVER) for b in recorded("never_called").story.blocks}
    check(any(label == "decoder.weight" for label, _ in labels), "no decoder.weight", labels)


def test_a_dropped_model_had_names():
    story = recorded("dropped").story
    labels = {b.label for b in story.peak("cpu")}
    check("unused.Conv2d.weight" in labels, "no name of a dropped weight", labels)


def test_weights_from_a_file_are_told_apart():
    blocks = [b for b in recorded("loaded").story.blocks if (b.label or "").startswith("loading.")]
    names = {b.label for b in blocks}
    check("loading.layers.0.conv.weight" in names, "no name of a weight in the file", names)
    check(all(b.path == ["loading: loaded"] for b in blocks), "allocated elsewhere",
          {tuple(b.path) for b in blocks})


def test_layers_are_below_a_model_that_is_not_called():
    paths = {tuple(b.path) for b in recorded("in_method").story.blocks if b.path}
    # Functions: one takes a mean between two layers, the others make the model.
    paths -= {("in_method",), ("main",), ("ResNet.__init__",), ("Block.__init__",), ("__init__",)}
    check(all(path[0] == "ResNet" for path in paths), "a layer outside its model", paths)
    equal(len(paths), 10, "modules of the model", paths)


harness.main(globals())
