# SPDX-License-Identifier: Apache-2.0
"""Long traces, with checkpoints in them, for the rows that ask for instants and zooms.

Making them takes minutes. If BENCH_TRACES names a folder, they are kept there and used again.
"""
import os
import sys

from bench_run import run

OBJECTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "long_objects.py")


def _programs(ctx):
    """{name: (argv, heap)}"""
    steps, rounds = ctx.sizes["instant_steps"], ctx.sizes["instant_rounds"]
    training = ctx.program("bench_training")
    objects = ["env", "PYTHONMALLOC=malloc", sys.executable, "-S", OBJECTS]
    return {
        "training-10m": ([training, "--steps", str(steps // 10)], False),
        "training-100m": ([training, "--steps", str(steps)], False),
        "python-10m": (objects + [str(rounds // 12)], True),
        "python-100m": (objects + [str(rounds)], True),
    }


def long_trace(ctx, name):
    """The file; made if it is not there."""
    folder = os.environ.get("BENCH_TRACES")
    if folder and not ctx.quick:
        os.makedirs(folder, exist_ok=True)
        trace = os.path.join(folder, name + ".mled")
    else:
        trace = ctx.file(name + ".mled")
    if not os.path.exists(trace):
        argv, heap = _programs(ctx)[name]
        run(ctx.recorded(trace, argv, heap=heap, options=["--checkpoints=always"]))
    return trace
