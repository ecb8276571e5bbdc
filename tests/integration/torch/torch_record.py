# torch_record.py: runs the programs of training.py for the tests, under memledger
# and without, each once for all tests.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import json
import os
import tempfile

import harness
from block_story import Story
from harness import check, equal, plain, report, run
from torch_support import PYTHON, need_torch

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "training.py")
FOLDER = tempfile.TemporaryDirectory(prefix="memledger-training-")

CASES = ["mlp", "cnn", "transformer", "lstm", "shared", "checkpoint", "checkpoint_reentrant",
         "function", "data_parallel", "threads", "generator", "compiled", "gan", "inference",
         "accumulation", "lbfgs", "loader", "errors", "error_in_backward"]


@functools.cache
def alone(case, *words):
    """The program without memledger."""
    need_torch()
    return plain(PYTHON, PROGRAM, case, *words)


def modules_file(case):
    return os.path.join(FOLDER.name, f"{case}.json")


@functools.cache
def recorded(case, *options):
    """A case that was recorded; it must print what it prints without memledger."""
    return Recorded(case, options)


class Recorded:
    """What a case told, and what is in its trace."""

    def __init__(self, case, options):
        without = alone(case, modules_file(case))
        equal(without.returncode, 0, f"exit code of {case} without memledger", without.stderr)
        self.told = json.loads(without.stdout.strip().splitlines()[-1])
        if "skip" in self.told:
            raise harness.Skip(self.told["skip"], machine=True)
        self.case = case
        self.trace = os.path.join(FOLDER.name, "".join((case, *options)) + ".mled")
        result = run(PYTHON, PROGRAM, case, trace=self.trace, options=("-qf", *options))
        equal(result.code, 0, f"exit code of {case}", result)
        equal(result.out, without.stdout, f"what {case} prints", result.err)

    @functools.cached_property
    def story(self):
        return Story(report("events", self.trace)["events"])

    @functools.cached_property
    def modules(self):
        """The modules that are called, as PyTorch's hooks say."""
        with open(modules_file(self.case)) as f:
            return set(json.load(f))

    def categories(self):
        rows = report("summary", self.trace)["by_category"]
        return {row["category"]: row for row in rows}


def each(cases, test):
    """Runs a test with each case, and reports all that fail."""
    failures = []
    for case in cases:
        try:
            test(case)
        except harness.Skip as reason:
            print(f"  {case}: skipped: {reason}", flush=True)
        except harness.Failure as failure:
            failures.append(f"{case}: {failure}")
    check(not failures, "\n".join(failures))
