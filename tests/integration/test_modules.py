#!/usr/bin/env python3
# test_modules.py: tree, layers, table and steps of a real recording: the memory of each module,
# and that all of them add up to the same bytes.
#
# SPDX-License-Identifier: Apache-2.0
import csv
import io

import harness
from harness import contains, equal, plain, program, report, run

LAYERS = 12
KIB = 1024


def record():
    result = run(program("trains"), LAYERS, options=["-q", "--sample-hz", "0"])
    equal(result.code, 0, "exit code", result)
    return result.trace


def test_the_peak_by_module():
    trace = record()
    # The peak: all outputs are alive, and backward of the last layer has begun.
    layer = dict(parameter=100 * KIB, gradient=100 * KIB, optimizer_state=100 * KIB,
                 activation=30 * KIB)
    peak = LAYERS * sum(layer.values()) + 30 * KIB
    tree = report("tree", trace, "--min", "0")
    equal(tree["bytes"], peak, "the peak")
    rows = {row["module"]: row for row in tree["rows"]}
    equal(rows["Net"]["bytes"], peak, "bytes of the model")
    equal(rows["Net"]["own_bytes"], 0, "its own")
    for i in range(LAYERS):
        below = rows[f"Net > layers.{i}"]
        own = rows[f"Net > layers.{i}.fc"]
        equal(below["bytes"], own["own_bytes"], f"bytes below layer {i}")
        equal(own["name"], "fc", "what it adds to its parent's path")
        wanted = dict(layer, intermediate_gradient=30 * KIB if i == LAYERS - 1 else 0)
        got = {k: v for k, v in own["own_by_category"].items() if v}
        equal(got, {k: v for k, v in wanted.items() if v}, f"categories of layer {i}")


def test_all_reports_add_up():
    trace = record()
    for at in ("peak", "end", "step:0", "step:2", "step:0:end", "0"):
        tree = report("tree", trace, "--at", at)
        layers = report("layers", trace, "--at", at)
        table = report("table", trace, "--at", at, "--top", "5")
        equal({tree["bytes"], layers["bytes"], table["bytes"]}, {tree["bytes"]}, f"bytes at {at}")
        equal(sum(r["bytes"] for r in tree["rows"] if r["depth"] == 1), tree["bytes"],
              f"rows of the tree at {at}")
        equal(sum(r["bytes"] for r in layers["layers"]), tree["bytes"], f"layers at {at}")
        equal(sum(g["bytes"] for g in table["groups"]) + table["rest"]["bytes"], tree["bytes"],
              f"groups at {at}")


def test_layers_are_in_model_order():
    trace = record()
    modules = [row["module"] for row in report("layers", trace)["layers"]]
    equal(modules, [f"Net > layers.{i}.fc" for i in range(LAYERS)], "layers")
    done = plain(harness.MEMLEDGER, "layers", "--csv", trace)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    equal([row["module"] for row in rows], modules, "layers of the CSV")
    equal(sum(int(row["total"]) for row in rows), report("layers", trace)["bytes"], "its sum")


def test_steps():
    trace = record()
    steps = report("steps", trace)["steps"]
    equal([s["step"] for s in steps], [0, 1, 2], "steps")
    for step in steps:
        at_peak = report("tree", trace, "--at", f"step:{step['step']}")
        equal(at_peak["bytes"], step["peak_bytes"], f"peak of step {step['step']}")
        equal(at_peak["at_ns"], step["peak_time_ns"], "its time")
        categories = {c["category"]: c["at_peak_bytes"] for c in step["by_category"]}
        equal({k: v for k, v in at_peak["by_category"].items() if v}, categories, "categories")
        at_end = report("table", trace, "--at", f"step:{step['step']}:end")
        equal(at_end["bytes"], step["end_bytes"], f"end of step {step['step']}")
    # The first step ends with more than it ever had before: the optimizer's state.
    equal(steps[0]["peak_bytes"], LAYERS * 300 * KIB, "peak of the first step")
    equal(steps[1]["peak_bytes"], (LAYERS * 330 + 30) * KIB, "peak of the second")


def test_what_is_not_there():
    trace = record()
    done = plain(harness.MEMLEDGER, "tree", "--at", "step:7", trace)
    equal(done.returncode, 1, "exit code")
    contains(done.stderr, "there is no step 7: the trace has steps 0 to 2", "the message")
    done = plain(harness.MEMLEDGER, "table", "--device", "cuda:0", trace)
    contains(done.stderr, "there is no device 'cuda:0' in this trace; there is cpu", "the message")


harness.main(globals())
