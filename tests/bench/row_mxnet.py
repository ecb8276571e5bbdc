# SPDX-License-Identifier: Apache-2.0
"""A training step of an LSTM with MXNet on the processor, beside MXNet's own profiler."""
import pathlib

import turn_row
from bench_context import HERE
from bench_table import Row
from turn_row import Timed

SHAPE = ["--batch", "20", "--length", "20", "--vocabulary", "2000", "--hidden", "200"]
# What each command adds: options of memledger run, and of the example.
RECORDERS = {"memledger": [], "memledger --stacks python": ["--stacks", "python"]}
PROFILERS = {"profile_all": "all", "profile_memory": "memory"}


def mxnet_python(ctx):
    """The interpreter that has MXNet 1.9.1, or None: scripts/bench.sh and the tests
    install it into the same folder, where this file says that all of it is there."""
    folder = pathlib.Path(ctx.build) / "pypi" / "mxnet-1.9.1"
    return str(folder / "bin" / "python") if (folder / "installed.txt").exists() else None


def folders(ctx, name, number):
    """One for each program: MXNet's profilers write into the one they run in."""
    made = [pathlib.Path(ctx.file("%s-mxnet-%d" % (name.replace(" ", ""), i)))
            for i in range(number)]
    for folder in made:
        folder.mkdir()
    return made


def begin(folder):
    # One thread computes, so that what is added is not hidden by cores that wait.
    return ["env", "-C", folder, "OMP_NUM_THREADS=1"]


def recorders(ctx, python):
    program = [python, HERE / "mxnet_steps.py", *SHAPE]
    programs, turns = ctx.sizes["mxnet_programs"], ctx.sizes["mxnet_turns"]
    yield Timed("alone", [begin(f) + program for f in folders(ctx, "alone", programs)], turns)
    for name, options in RECORDERS.items():
        places = folders(ctx, name, programs)
        files = [str(f / "trace.mled") for f in places]
        yield Timed(name, [begin(f) + ctx.recorded(file, program, options=options)
                           for f, file in zip(places, files)], turns, files, is_trace=True)
    for name, what in PROFILERS.items():
        places = folders(ctx, name, ctx.sizes["mxnet_profiler_programs"])
        yield Timed(name, [begin(f) + program + ["--profiler", what] for f in places],
                    ctx.sizes["mxnet_profiler_turns"], [str(f / "profile.json") for f in places])


def measure(ctx):
    python = mxnet_python(ctx)
    return turn_row.measure(ctx, list(recorders(ctx, python)),
                            ctx.sizes["turn_steps"]) if python else None


def row(ctx):
    r = Row("mxnet", "A training step of an LSTM with MXNet 1.9.1 on the processor, ms",
            turn_row.COLUMNS)
    m = ctx.once(measure)
    if not m:
        r.note("MXNet is not installed here; make bench installs it")
        return r
    turn_row.fill(r, m, ctx.sizes["turn_steps"])
    turn_row.compare_fastest(r, RECORDERS, PROFILERS, m)
    return r
