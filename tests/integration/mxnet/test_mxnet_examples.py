#!/usr/bin/env python3
# test_mxnet_examples.py: examples/mxnet with the real wheels: they say what they say
# without memledger, they learn, and their books are MXNet's own to the byte.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re

import harness
from harness import balanced, check, contains, equal, plain, report, run
from mxnet_run import IS_2, events, python
from mxnet_trace import PROBE_BYTES, follow, live_at_end, live_at_probes

EXAMPLES = os.environ["MXNET_EXAMPLES"]
STEPS = 3
SMALL = ["--steps", STEPS, "--batch", 4]
os.environ["OMP_NUM_THREADS"] = "1"  # the models are tiny: more threads wait for each other


def example(name, *options):
    return [python(), os.path.join(EXAMPLES, name), *SMALL, *options]


def learns(text, count, name):
    """The figures that each step ended with; they fall."""
    values = [float(v) for v in re.findall(rf"^step \d+ {name} ([\d.]+)$", text, re.MULTILINE)]
    equal(len(values), count, "steps", text)
    check(values[-1] < values[0], f"the {name} does not fall", text)


def counted(text):
    """What MXNet's own counter said at the end of each step."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    equal([line["step"] for line in lines], list(range(STEPS)), "steps", text)
    return [line["cpu_bytes"] for line in lines]


def record(command):
    result = run(*command, options=["-qf"])
    equal(result.code, 0, "exit code", result)
    equal("using engine: NaiveEngine" in result.err, "naive" in command, "the engine", result)
    check("memledger:" not in result.err, "the recorder has something to say", result)
    trace = result.dump(events=True)
    balanced(trace)
    check_end(trace, result.trace)
    return result.out, trace


def check_end(trace, file):
    """Each block has its free, or is reported as alive at the end."""
    born, gone = len(events(trace, "alloc")), len(events(trace, "free"))
    summary = report("summary", file)
    equal((summary["allocations"], summary["frees"]), (born, gone), "allocations and frees")
    equal(summary["live_bytes"], live_at_end(trace), "live bytes at the end")
    # From C nobody says what a step is.
    check(len(summary["steps"]) in (0, STEPS), "steps", summary["steps"])


def check_books(name, *options):
    """@return what the program said"""
    said, trace = record(example(name, "--check-books", *options))
    ours = [live - PROBE_BYTES - step for step, live in enumerate(live_at_probes(trace, STEPS))]
    equal(ours, counted(said), f"live bytes at the steps of {name} {' '.join(options)}")
    return said


def check_example(name, *options):
    """Under both engines; the same program alone says the same, its counter too."""
    alone = plain(*example(name, "--check-books", *options))
    equal(alone.returncode, 0, f"exit code of {name}", alone.stderr)
    equal(check_books(name, *options), alone.stdout, f"what {name} said")
    check_books(name, "--engine", "naive", *options)


def test_lstm():
    if IS_2:
        done = plain(*example("lstm.py"))
        equal(done.returncode, 1, "exit code", done.stderr)
        contains(done.stderr, "this example needs mxnet==1.9.1", "what it says of 2.0")
        return
    check_example("lstm.py")


def test_seq2seq():
    check_example("seq2seq.py")
    check_books("seq2seq.py", "--hybridize")


def test_resnet():
    check_example("resnet.py")
    check_books("resnet.py", "--hybridize")


def test_resnet_module():
    if not IS_2:
        check_example("resnet.py", "--module")


def test_they_learn():
    """As a newcomer runs them, but for fewer steps: without options."""
    for name, figure in (("lstm.py", "perplexity"), ("seq2seq.py", "loss"), ("resnet.py", "loss")):
        if IS_2 and name == "lstm.py":
            continue
        done = plain(python(), os.path.join(EXAMPLES, name), "--steps", 30)
        equal(done.returncode, 0, f"exit code of {name}", done.stderr)
        learns(done.stdout, 30, figure)


# ---- The program in C ----------------------------------------------------------------


def build_mlp():
    program = os.path.abspath("mlp")
    done = plain("make", "-C", os.path.join(EXAMPLES, "mlp_c"), f"PYTHON={python()}",
                 f"OUT={program}", f"CC={os.environ['TEST_CC']}", "CFLAGS=-O1 -Wall -Wextra -Werror")
    equal(done.returncode, 0, "make", done.stderr)
    return program


def profile(file):
    """The events of MXNet's profile that do not depend on time, and its counter."""
    with open(file) as f:
        found = [e for e in json.load(f)["traceEvents"] if e["ph"] != "M"]
    names = sorted((e["ph"], e["cat"], e["name"]) for e in found if e["ph"] != "C")
    return names, sorted(e["args"][e["name"]] for e in found if e["name"] == "Memory: cpu/0")


def test_mlp():
    """One thread does all under the naive engine: each value of MXNet's counter is one of
    the trace's, not only those at the end of a step."""
    command = [build_mlp(), "--steps", STEPS, "--engine", "naive"]
    alone = plain(*command, "--profile", "alone.json")
    equal(alone.returncode, 0, "exit code", alone.stderr)
    said, trace = record([*command, "--profile", "recorded.json"])
    equal(said, alone.stdout, "what the program said")
    equal(profile("recorded.json"), profile("alone.json"), "MXNet's profile")
    names, values = profile("recorded.json")
    equal(sorted(live for _, live in follow(trace)), values, "live bytes, in order of size")
    for what in (("(", "mlp,frame", "step"), ("n", "mlp,instant_marker", "trained"),
                 ("B", "operator", "FullyConnected"), ("b", "MXNET_C_API", "MXImperativeInvoke")):
        check(what in names, f"{what} is not in MXNet's profile", names)
    equal(live_at_end(trace), 0, "live bytes at the end")


def test_mlp_learns():
    done = plain(build_mlp())
    equal(done.returncode, 0, "exit code", done.stderr)
    learns(done.stdout, 20, "loss")
    wrong = plain("./mlp", "--steps", "none")
    equal(wrong.returncode, 2, "exit code", wrong.stderr)
    contains(wrong.stderr, "--steps takes a number", "what it says of a wrong option")


harness.main(globals())
