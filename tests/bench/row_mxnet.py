# SPDX-License-Identifier: Apache-2.0
"""A training step of an LSTM with MXNet on the processor, beside MXNet's own profiler."""
import os
import pathlib

from bench_context import HERE
from bench_run import Sample, in_turn, sample
from bench_table import Row, count, size

LSTM = HERE.parent.parent / "examples" / "mxnet" / "lstm.py"
SHAPE = ["--batch", "20", "--length", "20", "--vocabulary", "2000", "--hidden", "200"]
# What each command adds: options of memledger run, and of the example.
RECORDERS = {"memledger": [], "memledger --stacks python": ["--stacks", "python"]}
PROFILERS = {"profile_all": "all", "profile_memory": "memory"}


def mxnet_python(ctx):
    """The interpreter that has MXNet 1.9.1, or None: scripts/bench.sh and the tests
    install it into the same folder, where this file says that all of it is there."""
    folder = pathlib.Path(ctx.build) / "pypi" / "mxnet-1.9.1"
    return str(folder / "bin" / "python") if (folder / "installed.txt").exists() else None


def commands(ctx, python):
    """{recorder: (argv, file that it writes)}"""
    # One thread computes, so that what is added is not hidden by cores that wait.
    begin = ["env", "-C", str(ctx.dir), "OMP_NUM_THREADS=1"]
    program = [python, str(LSTM), *SHAPE, "--time", "--steps", str(ctx.sizes["mxnet_steps"])]
    rows = {"alone": (begin + program, None)}
    for name, options in RECORDERS.items():
        trace = ctx.file(name.replace(" ", "") + "-mxnet.mled")
        rows[name] = (begin + ctx.recorded(trace, program, options=options), trace)
    for name, what in PROFILERS.items():
        rows[name] = (begin + program + ["--profiler", what], ctx.file("profile.json"))
    return rows


def measure(ctx):
    python = mxnet_python(ctx)
    if not python:
        return None
    rows = commands(ctx, python)
    runs = in_turn({name: argv for name, (argv, _) in rows.items()}, ctx.sizes["mxnet_repeat"])
    return {name: figures(ctx, name, file, runs) for name, (_, file) in rows.items()}


def figures(ctx, name, file, runs):
    # The profilers share one name of a file; its size would be the last one's.
    own = file if name in RECORDERS else None
    return {
        "median": sample(runs[name], lambda r: r.out["median_ms"]),
        "fastest": min(r.out["fastest_ms"] for r in runs[name]),
        "cpu": sample(runs[name], lambda r: r.out["cpu_ms"]),
        "over": Sample([r.out["median_ms"] / a.out["median_ms"]
                        for r, a in zip(runs[name], runs["alone"])]),
        "file_bytes": os.path.getsize(own) if own else None,
        "events": ctx.contents(own)["events"] if own else None,
        "lost": sum(r.lost for r in runs[name]),
    }


def percent(ratio):
    return "%+.1f %%" % (100 * (ratio - 1))


def add_line(r, name, t, alone):
    is_alone = name == "alone"
    r.line(name, t["median"].text("%.2f"), t["median"].spread("%.2f"),
           "" if is_alone else percent(t["over"].median),
           "%.2f" % t["fastest"], "" if is_alone else percent(t["fastest"] / alone["fastest"]),
           t["cpu"].text("%.2f"),
           "" if is_alone else percent(t["cpu"].median / alone["cpu"].median),
           size(t["file_bytes"]) if t["file_bytes"] else "",
           count(t["events"]) if t["events"] else "")
    r.data[name] = {"median_ms": t["median"].as_json(), "fastest_ms": t["fastest"],
                    "cpu_ms": t["cpu"].as_json(), "over_alone": t["over"].as_json(),
                    "file_bytes": t["file_bytes"], "events": t["events"]}


def row(ctx):
    r = Row("mxnet", "A training step of an LSTM with MXNet 1.9.1 on the processor, ms",
            ["recorder", "median", "low – high", "over alone", "fastest", "over alone", "CPU",
             "over alone", "file", "events"])
    m = ctx.once(measure)
    if not m:
        r.note("MXNet is not installed here; make bench installs it")
        return r
    for name, t in m.items():
        add_line(r, name, t, m["alone"])
    for name in RECORDERS:
        for other in PROFILERS:
            r.ratio("%s beside MXNet's %s, fastest step" % (name, other), m[name]["fastest"],
                    m[other]["fastest"], "ms")
    r.note("%d steps in each run, %d runs each, in turn; lost by memledger: %d"
           % (ctx.sizes["mxnet_steps"], ctx.sizes["mxnet_repeat"],
              sum(m[name]["lost"] for name in RECORDERS)))
    return r
