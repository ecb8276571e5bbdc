#!/usr/bin/env python3
# test_mxnet_names.py: parameters, gradients, states, blocks and phases of MXNet programs
# that know nothing of memledger, by name.
#
# What is expected is what the programs find when they walk their models: shapes and types.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import functools
import os

import harness
import mxnet_run
from harness import check, equal, report
from mxnet_run import IS_2, NAIVE, events

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mxnet_models.py")
STEPS = 3  # as in mxnet_models.py
ENGINES = {"threaded": {}, "naive": NAIVE}
CATEGORIES = {"in_arg": "parameter", "arg_grad": "gradient", "aux_state": "buffer",
              "optimizer_state": "optimizer_state"}
NAMED_PERCENT = {"threaded": 97, "naive": 99}

record = functools.partial(mxnet_run.record, MODELS)
alone = functools.partial(mxnet_run.alone, MODELS)
run_recorded = functools.partial(mxnet_run.run_recorded, MODELS)


class Block:
    """A block's life: from and to are numbers of events."""

    def __init__(self, at, event):
        self.begin, self.end = at, None
        self.size, self.scope, self.labels = event["size"], event["scope"], []


def blocks_of(trace):
    live, found = {}, []
    for at, e in enumerate(events(trace, "alloc", "label", "free")):
        if e["kind"] == "alloc":
            live[e["addr"]] = Block(at, e)
            found.append(live[e["addr"]])
        elif e["kind"] == "free":
            live.pop(e["addr"]).end = at
        elif e["addr"] in live:
            live[e["addr"]].labels.append(e["label"])
    return found


def labelled(trace):
    """How many blocks had (label, bytes) at any time."""
    return collections.Counter((label, block.size) for block in blocks_of(trace)
                               for label in set(block.labels))


def named_percent(trace):
    """Of the bytes live at the peak: with a label or a scope, be it an operator's."""
    blocks = blocks_of(trace)
    changes = sorted([(b.begin, b.size) for b in blocks] + [(b.end, -b.size) for b in blocks
                                                           if b.end is not None])
    live = peak = when = 0
    for at, change in changes:
        live += change
        if live > peak:
            peak, when = live, at
    there = [b for b in blocks if b.begin <= when and (b.end is None or b.end > when)]
    return 100 * sum(b.size for b in there if b.labels or b.scope) / peak


def check_model(case, engine):
    """Each thing that the model has is a block of that name, category and size."""
    env = ENGINES[engine]
    told, result = run_recorded(case, env=env)
    trace = result.dump(events=True)
    harness.balanced(trace)
    found = labelled(trace)
    for kind, name, size in told["has"]:
        if name is None:
            check(any(label.startswith(kind + ":") and n == size for label, n in found),
                  f"{case}, {engine}: no {kind} of {size} bytes", sorted(found))
        else:
            check(found[f"{kind}:{name}", size], f"{case}, {engine}: no {kind}:{name} of {size}",
                  sorted(found))
    check_categories(result.trace, told["has"])
    percent = named_percent(trace)
    check(percent >= NAMED_PERCENT[engine], f"{case}, {engine}: {percent} % of the peak named")
    scopes = {e["scope"].split(" > ")[-1] for e in trace["events"] if e["kind"] == "push"}
    check(set(told["scopes"]) <= scopes, f"{case}: blocks", sorted(scopes))
    if engine == "naive":
        equal(told, alone(case, env), f"{case}: what the program said")
    return trace, result


def check_categories(trace_file, has):
    """The peak of a category is what the model has of it, at least: a Module has copies."""
    expected = collections.Counter()
    for kind, _, size in has:
        expected[CATEGORIES[kind.split(":")[0]]] += size
    peaks = {c["category"]: c["peak_bytes"] for c in report("summary", trace_file)["by_category"]}
    for category, size in expected.items():
        check(peaks.get(category, 0) >= size, f"{category}: {peaks} of {size}", has)


def test_cnn():
    for engine in ENGINES:
        check_model("cnn", engine)


def test_cnn_hybrid():
    for engine in ENGINES:
        check_model("cnn_hybrid", engine)


def test_lstm():
    for engine in ENGINES:
        check_model("lstm", engine)


def test_optimizers():
    for engine in ENGINES:
        check_model("optimizers", engine)


def test_half_precision():
    check_model("half", "naive")


def test_module():
    if IS_2:
        return  # has no Module
    for engine in ENGINES:
        check_model("module", engine)


def test_executor():
    for engine in ENGINES:
        check_model("executor", engine)


harness.main(globals())
