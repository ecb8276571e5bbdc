#!/usr/bin/env python3
# test_names.py: modules, parameters and gradients by name, in unmodified programs: training.py.
#
# SPDX-License-Identifier: Apache-2.0
import harness
from block_story import share_named
from harness import check, equal, report
from torch_record import CASES, each, recorded

ENOUGH = 0.99
MARKER_BYTES = 4 * 251  # training.py's blocks outside of all modules


def enough_named(record, blocks, what):
    share, nameless = share_named(blocks, record.modules)
    print(f"  {record.case}: {share:.2%} of {what}", flush=True)
    check(blocks, f"there is nothing at {what}")
    check(share >= ENOUGH, f"only {share:.2%} of {what} have a name", *nameless)


def without_modules(record):
    return record.told.get("bare") or record.told.get("inlined")


def names_of(case):
    record = recorded(case)
    if without_modules(record) or record.told.get("replaced"):
        return
    enough_named(record, record.story.peak("cpu"), "the bytes at the peak")
    if case != "inference":
        enough_named(record, record.story.born_in("backward", "cpu"),
                     "the bytes allocated in backward")


def test_enough_names():
    """99 % of the bytes at the peak, and of those allocated in backward."""
    each(CASES, names_of)


def modules_of(case):
    record = recorded(case)
    if without_modules(record):
        return
    missing = record.modules - record.story.pushed
    check(record.modules, "PyTorch's hooks tell of no module")
    check(not missing, f"modules that are not in the trace: {missing}", record.story.pushed)


def test_every_module():
    """Each module that is called is a scope, under its dotted path."""
    each(CASES, modules_of)


def inner_of(path):
    """Without what a module that is computed again was needed for."""
    return path[path.index("recompute") + 1:] if "recompute" in path else path


def chain_of(case):
    """In a path a module stands below those that its own path goes through."""
    record = recorded(case)
    paths = {tuple(inner_of(b.path)) for b in record.story.blocks}
    chains = [[name for name in path if name in record.modules] for path in paths]
    check(any("." in name for chain in chains for name in chain),
          "no module with a dotted path has a block")
    for chain in chains:
        for outer, inner in zip(chain, chain[1:]):
            outermost = outer[0].isupper()  # a class
            check(outermost or inner.startswith(outer + "."), f"{inner} is not inside {outer}",
                  chain)


def test_chains():
    each(["mlp", "cnn", "transformer", "data_parallel", "checkpoint"], chain_of)


def layer_of_backward(case):
    """What a layer's forward keeps, its backward allocates for: the same name."""
    record = recorded(case)
    backward = [b for b in record.story.blocks if b.path[:1] == ["backward"]]
    found = {name for b in backward for name in b.path} & record.modules
    weighted = {name.rpartition(".")[0] for name, _ in record.told["gradient"]} - {""}
    missing = weighted.intersection(record.modules) - found
    check(not missing, f"no block of backward for {missing}", found)


def test_layers_of_backward():
    """Each layer with a weight has blocks in backward."""
    each(["mlp", "cnn", "transformer", "lstm", "shared", "function", "threads", "gan"],
         layer_of_backward)


def recomputed(case):
    record = recorded(case)
    again = [b for b in record.story.blocks if "recompute" in b.path]
    found = {name for b in again for name in b.path}
    check("blocks.0.0" in found and "blocks.2.2" in found,
          "what checkpoints compute again has no name", found)


def test_recomputed():
    each(["checkpoint", "checkpoint_reentrant"], recomputed)


def labels_of(case):
    record = recorded(case)
    found = record.story.labelled("cpu")
    for category in ("parameter", "buffer", "gradient", "optimizer_state"):
        wanted, got = sorted(record.told[category]), found.get(category, [])
        if record.told.get("bare"):
            wanted, got = sorted(size for _, size in wanted), sorted(size for _, size in got)
        equal(got, wanted, f"blocks that are a {category}")


def test_labels():
    """Each parameter, buffer, gradient and slot of an optimizer, by name and size."""
    each(CASES, labels_of)


def outside_of(case):
    record = recorded(case)
    markers = [b for b in record.story.blocks if b.bytes == MARKER_BYTES]
    equal(len(markers), record.told.get("outside", 0), "blocks outside of all modules")
    equal([b.path for b in markers if b.path != ["outside"]], [],
          "scopes of blocks outside of all modules, other than their function")


def test_outside():
    """Whatever went before, a block made outside of all modules is in none, only in its
    function."""
    each(CASES, outside_of)


def test_one_name_for_each_model():
    record = recorded("gan")
    names = {b.path[0] for b in record.story.blocks if b.path}
    check({"Sequential", "Sequential#2"} <= names, "two models, one name", names)


def test_inputs():
    record = recorded("mlp")
    labels = [e for e in report("events", record.trace, "--kind=label")["events"]
              if e["category"] == "input"]
    check(labels and {e["label"] for e in labels} >= {"input.0"}, "no label for the batch", labels)


if __name__ == "__main__":
    harness.main(globals())
