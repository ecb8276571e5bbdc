#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording adds to a training step on a GPU under two builds, in turn with the step alone.

    torch_two_builds.py OLD NEW [--programs N] [--turns N]    OLD and NEW are build folders

The program and the turns are those of the check `torch_cost`; tests/bench/step_turns.py explains
them.
"""
import argparse
import os
import tempfile

from torch_cost import COLD_STEPS, STEPS, command
from step_turns import Recorder, measure_steps


class Build:
    """As much of a lab as torch_cost.command() asks for."""

    def __init__(self, folder):
        self.memledger = os.path.join(folder, "src", "cli", "memledger")


def recorders(builds, scratch, programs, turns):
    yield Recorder("alone", [command(None, "alone", None)] * programs, turns)
    for name, folder in builds.items():
        files = [os.path.join(scratch, f"{name}.{i}.mled") for i in range(programs)]
        yield Recorder(name, [command(Build(folder), "memledger", file) for file in files], turns)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--programs", type=int, default=6)
    parser.add_argument("--turns", type=int, default=50)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = list(recorders({"old": args.old, "new": args.new}, scratch, args.programs,
                               args.turns))
        measure_steps(found, STEPS, COLD_STEPS)
    for recorder in found:
        over, low, high = recorder.over_alone
        print(f"{recorder.name:6} {recorder.step_ms:8.2f} ms a step, fastest "
              f"{recorder.fastest_ms:7.2f}  {over:+6.1%} ({low:+.1%} to {high:+.1%})  each: "
              f"{' '.join(f'{each:+.1%}' for each in recorder.each_over)}")


if __name__ == "__main__":
    main()
