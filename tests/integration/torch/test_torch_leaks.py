#!/usr/bin/env python3
# test_torch_leaks.py: a PyTorch program that keeps its losses leaks, and the report shows the
# layer and the line of the allocation; one that keeps numbers does not. Allocations after the
# last step are not leaks of the steps; what grows there is listed separately.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import harness
from harness import MEMLEDGER, check, contains, equal, plain, report, run

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keeps_losses.py")


def record(what):
    result = run(sys.executable, PROGRAM, what, trace=f"{what}.mled",
                 options=["-q", "--stacks", "python"])
    equal(result.code, 0, "exit code", result)
    return result.trace


def record_evaluation():
    program = os.path.join(os.path.dirname(PROGRAM), "keeps_outputs.py")
    result = run(sys.executable, program, trace="outputs.mled", options=["-q"])
    equal(result.code, 0, "exit code", result)
    return result.trace


def line_of(text):
    with open(PROGRAM, encoding="utf-8") as lines:
        return next(i for i, line in enumerate(lines, 1) if text in line)


def test_losses_that_are_kept():
    trace = record("tensors")
    found = report("leaks", trace)
    equal(found["by"], ["line", "module", "category"], "keys")
    check(found["measured"] >= 8, "too few steps are measured", found)
    check(all(leak["sign"] == "steady" for leak in found["leaks"]), "signs", found["leaks"])
    forward = f"torch/keeps_losses.py:{line_of('loss = model')} <module>"
    grown = {(x["line"], x["module"]): x for x in found["leaks"]}
    relu = grown[forward, "Sequential > 1"]
    equal((relu["bytes_per_step"], relu["blocks_per_step"]), (32 * 64 * 4, 1), "what ReLU leaves")
    equal(relu["category"], "activation", "what for")
    functions = [frame["function"] for frame in relu["example"]["stack"]]
    check("ReLU.forward" in functions, "the stack does not name the layer", functions)
    equal(functions[-1], "<module>", "the outermost frame")
    kept = report("table", trace, "--at", "peak", "--by", "module,category")
    equal({row["category"] for row in kept["groups"] if row["module"] == "Sequential > 1"},
          {"activation"}, "the first steps' outputs are what the later ones' are")
    data = grown[f"torch/keeps_losses.py:{line_of('torch.randn')} <module>", "keeps_losses.py"]
    equal(data["bytes_per_step"], 32 * 64 * 4, "what the graph holds of the input")
    done = plain(MEMLEDGER, "leaks", "--fail", trace)
    equal(done.returncode, 1, "exit code", done.stdout, done.stderr)


def check_steps(trace):
    found = report("steps", trace)
    equal(len(found["steps"]), 12, "steps")
    equal(found["after_steps"]["begin_ns"], found["steps"][-1]["end_ns"], "the evaluation")
    at_end = plain(MEMLEDGER, "tree", "--at", "step:12", trace)
    equal(at_end.returncode, 1, "exit code", at_end.stdout)
    contains(at_end.stderr, "the trace has steps 0 to 11", "what there is")


def test_losses_that_are_numbers():
    trace = record("numbers")
    check_steps(trace)
    done = plain(MEMLEDGER, "leaks", "--fail", trace)
    equal(done.returncode, 0, "exit code", done.stdout, done.stderr)
    contains(done.stdout, "Nothing grows from step to step", "the report")


def test_losses_without_their_graph():
    """So little that --fail passes; the report has it all the same."""
    trace = record("detached")
    done = plain(MEMLEDGER, "leaks", "--fail", trace)
    equal(done.returncode, 0, "exit code", done.stdout, done.stderr)
    equal([leak["bytes_per_step"] for leak in report("leaks", trace)["leaks"]], [4], "growth")
    done = plain(MEMLEDGER, "leaks", "--fail", "--min-growth", "4", trace)
    equal(done.returncode, 1, "exit code of a lower limit", done.stdout, done.stderr)


def test_outputs_of_an_evaluation():
    """Memory that grows after the last step: leaks lists it separately, steps gives its size."""
    trace = record_evaluation()
    found = report("leaks", trace)
    equal(found["leaks"], [], "what grows from step to step")
    relu = next(x for x in found["after_steps"]["leaks"] if x["module"] == "Sequential > 1")
    check(relu["sign"] in ("steady", "likely"), "sign", relu)
    equal(relu["grown_bytes"], relu["grown_blocks"] * 128 * 256 * 4, "one output of ReLU a batch")
    contains(plain(MEMLEDGER, "leaks", trace).stdout, "What grows after the last step", "leaks")
    contains(plain(MEMLEDGER, "steps", trace).stdout, "After the last step live memory rose by",
             "steps")


harness.main(globals())
