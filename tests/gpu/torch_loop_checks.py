# torch_loop_checks.py: the loops of tests/integration/torch/loops.py on a GPU, where PyTorch runs
# backward on threads of its own.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys

from lab import HERE, check, need_module

LOOPS = os.path.abspath(os.path.join(HERE, "..", "integration", "torch", "loops.py"))
ENOUGH_NAMED = 0.99
DEVICE = os.environ.get("LOOPS_DEVICE", "cuda")


def record(lab, case):
    need_module("torch")
    trace, done = lab.record(f"loops-{case}", [sys.executable, LOOPS, case],
                             env={"LOOPS_DEVICE": DEVICE})
    return trace, json.loads(done.stdout.strip().splitlines()[-1])


def enough_of_backward(lab, trace, case):
    summary = lab.report("summary", trace)
    share = summary["backward_named_bytes"] / summary["backward_allocated_bytes"]
    print(f"  {case}: {share:.2%} of backward have a name")
    assert share >= ENOUGH_NAMED, f"{case}: only {share:.2%} of backward have a name"


@check
def loops_threads(lab):
    """Models in several threads, whose backward passes share PyTorch's threads"""
    trace, _ = record(lab, "threads")
    enough_of_backward(lab, trace, "threads")


@check
def loops_epochs(lab):
    """Losses outside of modules, custom Functions; evaluations are no part of steps"""
    trace, told = record(lab, "epochs")
    enough_of_backward(lab, trace, "epochs")
    steps = lab.report("steps", trace)
    found = [len(steps["steps"]), len(steps["evaluations"])]
    assert found == [told["steps"], told["evaluations"]], f"steps and evaluations: {found}"
    peaks = {step["peak_bytes"] for step in steps["steps"][1:]}
    print(f"  peaks of steps {peaks}, of evaluations "
          f"{[e['peak_bytes'] for e in steps['evaluations']]}")
    assert max(peaks) <= 1.01 * min(peaks), f"steps differ: {peaks}"


@check
def loops_closures(lab):
    """optimizer.step(closure): each is a step, with nothing of the model below the optimizer"""
    for case in ("closure_sgd", "closure_lbfgs"):
        trace, told = record(lab, case)
        steps = len(lab.report("steps", trace)["steps"])
        assert steps == told["steps"], f"{case}: {steps} steps"
        scopes = {e["scope"] for e in lab.report("events", trace, "--kind=alloc")["events"]}
        below = [s for s in scopes if s and told["optimizer"] in s and "Classifier" in s]
        assert not below, f"{case}: modules below the optimizer: {below}"
