# SPDX-License-Identifier: Apache-2.0
"""A training step of PyTorch on the processor, in one process that switches recording on and off."""
import json
import os
import subprocess

from bench_context import HERE
from bench_run import Failed
from bench_table import Row

PROGRAM = HERE.parent / "gpu" / "torch_switched.py"
MODEL = "24 tiny layers"  # with ordinary ones a step takes a second there


def measure(ctx):
    """What the program says: {"model, way": quantiles and costs}."""
    done = subprocess.run([ctx.torch_python, PROGRAM, "--device", "cpu", "--model", MODEL,
                           "--turns", str(ctx.sizes["switched_turns"]),
                           "--steps", str(ctx.sizes["switched_steps"]),
                           "--seconds", str(ctx.sizes["switched_seconds"])],
                          stdout=subprocess.PIPE, text=True, check=False,
                          env=os.environ | {"PYTHONPATH": str(ctx.build / "python")})
    if done.returncode:
        raise Failed("%s failed with %s" % (PROGRAM.name, ctx.torch_python))
    return json.loads(done.stdout.splitlines()[-1])


def row(ctx):
    r = Row("switched", "The same in one process, recording off and on in turn, ms of CPU time",
            ["recording", "of 100 steps", "off", "on", "cost", "95 of 100", "steps", "beginning"])
    if not list(ctx.build.glob("python/memledger/_native*.so")):
        r.note("not measured: the Python package was not built")
        return r
    found = ctx.once(measure)
    for name, way in found.items():
        for q, cost in way["cost"].items():
            r.line(name.partition(", ")[2], q, "%.3f" % way["off_ms"][q], "%.3f" % way["on_ms"][q],
                   "%+.2f %%" % (100 * cost["over"]),
                   "%+.2f %% – %+.2f %%" % (100 * cost["low"], 100 * cost["high"]),
                   "%+.2f %%" % (100 * way["ratio"][q] - 100),
                   "%+.1f" % way["beginning_ms"])
        r.data[name] = way
    turns = next(iter(found.values()))
    r.note("%s; %d turns, %d recorded steps; \"off again\" is the noise"
           % (MODEL, turns["turns"], turns["steps"]))
    return r
