#!/usr/bin/env python3
# test_loops.py: names and steps in loops.py and lightning_loops.py: backward that fails, closures,
# evaluation, custom Functions, losses outside of modules, threads, Lightning.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import tempfile

import harness
from block_story import Story
from harness import check, equal, report, run
from torch_packages import environment
from torch_support import PYTHON, need_torch, said, version

HERE = os.path.dirname(os.path.abspath(__file__))
ENOUGH = 0.99
FOLDER = tempfile.TemporaryDirectory(prefix="memledger-loops-")


class Recorded:
    def __init__(self, program, *words, env=None):
        need_torch()
        self.trace = os.path.join(FOLDER.name, "-".join((program, *words)) + ".mled")
        result = run(PYTHON, os.path.join(HERE, program), *words, trace=self.trace,
                     options=("-qf",), env=env)
        equal(result.code, 0, f"exit code of {program} {words}", result)
        self.told = said(result.out, result)

    @functools.cached_property
    def story(self):
        return Story(report("events", self.trace)["events"])

    @functools.cached_property
    def steps(self):
        return report("steps", self.trace)

    def scopes(self):
        return {tuple(block.path) for block in self.story.blocks}


@functools.cache
def recorded(*words):
    return Recorded(*words)


def loop(case):
    return recorded("loops.py", case)


def enough_of_backward(record):
    summary = report("summary", record.trace)
    named, all_bytes = summary["backward_named_bytes"], summary["backward_allocated_bytes"]
    check(named >= ENOUGH * all_bytes > 0, f"{named} of {all_bytes} bytes of backward have a name")


def test_failing_backward():
    """The gradients that were made before backward failed."""
    record = loop("failing_backward")
    equal(record.told["errors"], ["RuntimeError", "ValueError", "RuntimeError"], "errors")
    check(len(record.told["gradient"]) == 3 * 4, "gradients of the program", record.told)
    equal(record.story.labelled("cpu").get("gradient"), sorted(record.told["gradient"]),
          "gradients with a name")


def closure(case):
    record = loop(case)
    equal(len(record.steps["steps"]), record.told["steps"], "steps")
    optimizer = record.told["optimizer"]
    below = [path for path in record.scopes() if optimizer in path and "Classifier" in path]
    equal(below, [], "modules below the optimizer")
    inputs = {block.label for block in record.story.blocks if block.category == "input"}
    equal(inputs, {"input.0"}, "inputs")


def test_calls_before_the_optimizer_are_no_steps():
    record = loop("first_calls")
    numbers = [step["step"] for step in record.steps["steps"]]
    equal(numbers, list(range(record.told["steps"])), "numbers of steps")


def test_closure_sgd():
    closure("closure_sgd")


def test_closure_lbfgs():
    closure("closure_lbfgs")


def test_last_step_of_live():
    """It ends where steps says, not with the program."""
    record = loop("epochs")
    last = record.steps["steps"][-1]
    now = report("live", record.trace, "--once")
    equal((now["step"], now["last_step_ns"], now["last_step_peak_bytes"]),
          (last["step"], last["end_ns"] - last["begin_ns"], last["peak_bytes"]), "the last step")


def test_evaluation():
    """The step after an evaluation is as large as the others."""
    record = loop("epochs")
    steps, evaluations = record.steps["steps"], record.steps["evaluations"]
    equal([s["step"] for s in steps], list(range(record.told["steps"])), "steps")
    equal([e["before_step"] for e in evaluations], [3, 6], "evaluations")
    usual = {s["peak_bytes"] for s in steps[1:]}
    check(max(usual) <= 1.01 * min(usual), "steps differ", usual)
    check(all(e["peak_bytes"] > 2 * max(usual) for e in evaluations), "evaluations", evaluations)
    at_peak = report("tree", record.trace, "--at", "step:3")
    equal(at_peak["bytes"], steps[3]["peak_bytes"], "bytes at the peak of the step after one")


def test_training_in_evaluation_mode():
    record = loop("frozen_mode")
    equal(len(record.steps["steps"]), record.told["steps"], "steps")
    peaks = [s["peak_bytes"] for s in record.steps["steps"]]
    check(min(peaks) >= 0.8 * max(peaks), "a step lacks its memory", peaks)


def test_teacher():
    record = loop("teacher")
    equal((len(record.steps["steps"]), record.steps["evaluations"]), (record.told["steps"], []),
          "steps and evaluations")


def test_custom_function():
    """By its class, below the module that applies it."""
    scopes = loop("epochs").scopes()
    for path in (("Classifier", "Swish"), ("backward", "Classifier", "Swish")):
        check(path in scopes, f"no block in {path}", scopes)


def test_functional_loss():
    """Belongs to the function that called the model, forward and backward."""
    record = loop("epochs")
    scopes = record.scopes()
    check(("train_epoch",) in scopes, "no block of the loss", scopes)
    check(any(path[:2] == ("backward", "train_epoch") for path in scopes), "backward", scopes)
    enough_of_backward(record)
    tree = report("tree", record.trace, "--at", "step:1")
    rows = {row["module"]: row["class"] for row in tree["rows"]}
    equal(rows.get("train_epoch"), "function", "its class", rows)


def test_functions_without_gradients():
    """Memory that a search makes outside of the model belongs to it, and most of the peak is that."""
    record = loop("search")
    groups = report("table", record.trace, "--by", "module,label,category")["groups"]
    made = sum(g["bytes"] for g in groups if g["module"] == "search")
    check(made >= record.told["bytes"], f"{made} bytes of the search", groups)
    named = sum(g["bytes"] for g in groups
                if (g["module"] or g["label"]) and g["category"] != "other")
    check(named >= ENOUGH * sum(g["bytes"] for g in groups), "the peak", groups)


def test_outside():
    """Tensors that functions make and keep outside of modules belong to them."""
    record = loop("outside")
    groups = report("table", record.trace, "--by", "module,label,category",
                    "--top", "1000")["groups"]
    check(all((g["module"] or g["label"]) and g["category"] != "other" for g in groups),
          "the peak has memory without a name", groups)
    enough_of_backward(record)
    kept = {(g["module"].rpartition(".")[2], g["category"]): g["bytes"] for g in
            report("table", record.trace, "--by", "module,category", "--at", "end")["groups"]
            if g["module"]}
    equal(kept.get(("fill", "input")), record.told["replay"], "the replay buffer", kept)
    check(("clusters", "input") in kept, "what the clustering returned", kept)


def test_threads():
    record = loop("threads")
    enough_of_backward(record)
    names = {path[0] for path in record.scopes() if path}
    check({"Classifier", "Classifier#4", "Classifier#5"} <= names, "models", names)


def test_parallel_regions():
    """Scratch memory of the workers belongs to the layer whose operator they help with."""
    need_torch()
    if version() < (2, 5):
        raise harness.Skip(f"attention in PyTorch {version()} has no workers that allocate",
                           machine=True)
    record = loop("parallel")
    enough_of_backward(record)
    workers = {b.path[-1] if b.path else None for b in record.story.blocks
               if not b.by_main_thread}
    check("Attention" in workers, "scopes of what the workers allocate", workers)


def test_lightning():
    """As many steps as the trainers count; the batch and the dataset are inputs."""
    record = Recorded("lightning_loops.py", env=environment("lightning"))
    equal(len(record.steps["steps"]), sum(record.told["global_steps"]), "steps")
    below = [path for path in record.scopes() if path[:1] == ("optimizer",) and "encoder.0" in path]
    equal(below, [], "modules below the optimizer")
    labels = {block.label for block in record.story.blocks if block.category == "input"}
    check({"input.0.0", "input.0.1", "dataset.tensors.0"} <= labels, "inputs", labels)
    named = report("summary", record.trace)["named_percent_at_peak"]
    check(named >= 100 * ENOUGH, f"{named} % of the peak have a name")
    enough_of_backward(record)


if __name__ == "__main__":
    harness.main(globals())
