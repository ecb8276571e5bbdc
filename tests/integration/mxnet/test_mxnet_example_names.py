#!/usr/bin/env python3
# test_mxnet_example_names.py: what the models of examples/mxnet have in memory, by name.
#
# walk_model.py, which uses MXNet and not memledger, computes the expected values.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import json
import os

import harness
from harness import balanced, check, equal, plain, report, run
from mxnet_run import IS_2, python

EXAMPLES = os.environ["MXNET_EXAMPLES"]
WALK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "walk_model.py")
SMALL = ["--steps", 3, "--batch", 4]
NAMED_PERCENT = {"threaded": 97, "naive": 99}
NO_OPERATORS = ("", "ImperativeBulk", "unnamed")  # what says nothing
CATEGORIES = {"in_arg": "parameter", "arg_grad": "gradient", "aux_state": "buffer",
              "optimizer_state": "optimizer_state"}
os.environ["OMP_NUM_THREADS"] = "1"  # the models are tiny: more threads wait for each other


@functools.lru_cache(maxsize=None)
def walk(name, options):
    """{(label, category): bytes} and {tag: bytes}"""
    done = plain(python(), WALK, os.path.join(EXAMPLES, name), *SMALL, *options)
    equal(done.returncode, 0, f"exit code of the walk of {name}", done.stderr)
    entries = json.loads(done.stdout)
    return ({label_of(entry["tag"]): entry["bytes"] for entry in entries},
            {entry["tag"]: entry["bytes"] for entry in entries})


def label_of(tag):
    """The label and the category of a block with this tag."""
    kind, *slots, name = tag.split(":")
    return ".".join([name, *slots]), CATEGORIES[kind]


def record(name, engine, options, recorder=()):
    result = run(python(), os.path.join(EXAMPLES, name), *SMALL, "--engine", engine, *options,
                 options=["-qf", *recorder])
    equal(result.code, 0, "exit code", result)
    check("memledger:" not in result.err, "the recorder has something to say", result)
    trace = result.dump(events=True)
    balanced(trace)
    return result.trace, trace


def at_peak(file, *keys):
    return report("table", file, f"--by={','.join(keys)}", "--top=100000")["groups"]


def tags_at_peak(file):
    run, = report("groups", file, "--dictionary=mxnet", "--top=100000")["runs"]
    return {e["tag"]: (e["bytes"], e["count"])
            for g in run["dictionaries"][0]["groups"] for e in g["entries"]}


def check_model(model, file, what):
    """Each thing of the model is there once, in its category, with its bytes, and nothing
    else is called so. A Module has copies of what its executor reads."""
    labels, tags = model
    groups = at_peak(file, "label", "category")
    found = {(g["label"], g["category"]): (g["bytes"], g["blocks"]) for g in groups
             if g["label"] and g["category"] in CATEGORIES.values()}
    equal(found, {name: sizes(name[1], size, what) for name, size in labels.items()},
          f"labels of {what}")
    found = {tag: size for tag, size in tags_at_peak(file).items()
             if tag.startswith(tuple(f"{kind}:" for kind in CATEGORIES))}
    equal(found, {tag: sizes(label_of(tag)[1], size, what) for tag, size in tags.items()},
          f"tags of {what}")


def sizes(category, size, what):
    """Bytes and blocks."""
    copies = 2 if category in ("parameter", "buffer") and is_module(what) else 1
    return copies * size, copies


def is_module(what):
    return what.startswith("lstm.py") or "--module" in what


def named_by(group):
    if group["label"]:
        return "label"
    if group["module"]:
        return "module"
    operator = (group["scope"] or "").split(" > ")[-1]
    return "nothing" if operator in NO_OPERATORS else "operator"


def check_named(groups, engine, what):
    """Of the bytes at the peak."""
    shares = dict.fromkeys(("label", "module", "operator", "nothing"), 0)
    total = sum(g["bytes"] for g in groups)
    for group in groups:
        shares[named_by(group)] += 100 * group["bytes"] / total
    print(what, {key: round(share, 1) for key, share in shares.items()})
    check(100 - shares["nothing"] >= NAMED_PERCENT[engine], f"named of {what}", shares)


def check_scopes(trace, what):
    """C and Python both know of phases and of graphs. A graph is called as its last node."""
    for scope in {e["scope"] for e in trace["events"] if e["kind"] == "push"}:
        parts = scope.split(" > ")
        for first, second, then in zip(parts, parts[1:], [*parts[2:], "SoftmaxOutput"]):
            check(first != second or "SoftmaxOutput" in then, f"scopes twice in {what}", scope)


def check_workspaces(file, what):
    """What operators keep for themselves; an LSTM in MXNet's graphs does."""
    tags = plain(harness.MEMLEDGER, "export", file, "--format=mxnet-csv", "--output=-").stdout
    if what.startswith("lstm.py"):
        check("\nworkspace:RNN," in tags, f"the workspace of {what}", tags)
    check("\nunknown:ImperativeBulk," not in tags, f"unknown in {what}", tags)
    check("node_" not in tags.replace("head_grad:node_", ""), f"numbers in {what}", tags)


def check_example(name, *options):
    for engine in NAMED_PERCENT:
        what = " ".join((name, *options, engine))
        file, trace = record(name, engine, options)
        check_model(walk(name, options), file, what)
        check_named(at_peak(file, "label", "module", "scope"), engine, what)
        check_scopes(trace, what)
        check_workspaces(file, what)


def test_lstm():
    if not IS_2:  # has no Module
        check_example("lstm.py")


def test_seq2seq():
    check_example("seq2seq.py")


def test_seq2seq_hybrid():
    check_example("seq2seq.py", "--hybridize")


def test_resnet():
    check_example("resnet.py")


def test_resnet_hybrid():
    check_example("resnet.py", "--hybridize")


def test_resnet_module():
    if not IS_2:
        check_example("resnet.py", "--module")


harness.main(globals())
