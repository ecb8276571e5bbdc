# SPDX-License-Identifier: Apache-2.0
"""A training step of PyTorch on the processor, beside memray and torch.profiler."""
import glob
import os
import subprocess

import turn_row
from bench_context import HERE
from bench_run import Failed
from bench_table import Row
from turn_row import Timed

SHAPE = ["--device", "cpu", "--layers", "6", "--width", "32", "--batch", "4", "--length", "16"]
RECORDERS = {"memledger": [], "memledger --stacks python": ["--stacks", "python"],
             "memledger --heap": ["--heap"]}
BESIDE = ("memray", "torch.profiler")


def succeeds(command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def packages_of(memray):
    """Where the environment of memray keeps its packages."""
    found = glob.glob(os.path.join(os.path.dirname(os.path.dirname(memray)),
                                   "lib", "python3*", "site-packages"))
    return found[0] if found else None


def memray_command(ctx, python):
    """memray in that interpreter, or None."""
    packages = packages_of(ctx.memray) if ctx.memray else None
    command = ["env", "PYTHONPATH=%s" % packages, python, "-m", "memray"]
    return command if packages and succeeds([*command, "--version"]) else None


def recorders(ctx, python):
    """All with the same interpreter."""
    program = [HERE / "training_steps.py", *SHAPE, "--warm-up", "3", "--in-turn"]
    programs, turns = ctx.sizes["torch_programs"], ctx.sizes["torch_turns"]

    def files(name):
        return [ctx.file("%s-torch-%d" % (name.replace(" ", ""), i)) for i in range(programs)]

    yield Timed("alone", [[python, *program]] * programs, turns)
    for name, options in RECORDERS.items():
        yield Timed(name, [ctx.recorded(file, [python, *program], options=options)
                           for file in files(name)], turns, files(name), is_trace=True)
    memray = memray_command(ctx, python)
    if memray:
        yield Timed("memray", [[*memray, "run", "-q", "-f", "-o", file, *program]
                               for file in files("memray")], turns, files("memray"))
    yield Timed("torch.profiler", [[python, *program, "--watch", "profiler"]] *
                ctx.sizes["torch_profiler_programs"], ctx.sizes["torch_profiler_turns"])


def measure(ctx):
    python = ctx.torch_python
    if not succeeds([python, "-c", "import torch"]):
        raise Failed("%s has no PyTorch; make bench installs it, TORCH_PYTHON names an "
                     "interpreter that has one" % python)
    return turn_row.measure(ctx, list(recorders(ctx, python)), ctx.sizes["turn_steps"])


def row(ctx):
    m = ctx.once(measure)
    r = Row("torch", "A training step of PyTorch on the processor, many small blocks, ms",
            turn_row.COLUMNS)
    turn_row.fill(r, m, ctx.sizes["turn_steps"])
    turn_row.compare_fastest(r, RECORDERS, BESIDE, m)
    r.note("memray records malloc with Python stacks, torch.profiler operators too; memledger "
           "PyTorch's blocks, modules and categories, with --heap also malloc")
    if "memray" not in m:
        r.note("this interpreter has no memray; make bench installs it for the distribution's")
    return r
