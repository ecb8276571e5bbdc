# SPDX-License-Identifier: Apache-2.0
"""Import of a large PyTorch snapshot, beside Python's pickle and PyTorch's own tool."""
import json
import os
import subprocess
import sys

from bench_context import HERE
from bench_run import Failed, in_turn, run, sample
from bench_table import Row, count, size

LOAD = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"
SMALL = HERE.parent / "data/torch/oom_fragmented.pickle"


def make_snapshot(ctx):
    """In a process of its own: its memory would count as that of what runs next."""
    path = ctx.file("snapshot.pickle")
    out = run([sys.executable, HERE / "snapshot_maker.py", ctx.sizes["snapshot_entries"], path])
    entries, live, reserved = map(int, out.text.split())
    return {"path": path, "bytes": os.path.getsize(path), "entries": entries, "live": live,
            "reserved": reserved}


def memory_viz(ctx):
    """The command that prints a snapshot's trace; None where PyTorch has none, as 1.13."""
    argv = [ctx.torch_python, "-m", "torch.cuda._memory_viz", "trace"]
    known = subprocess.run([*argv, str(SMALL)], capture_output=True, check=False)
    return argv if known.returncode == 0 else None


def check(ctx, made, trace):
    """What was imported is what the maker made."""
    found = json.loads(run([ctx.memledger, "summary", "--json", trace]).text)
    levels = {level["level"]: level["live_bytes"] for level in found["by_device"][0]["levels"]}
    if levels != {"block": made["live"], "driver": made["reserved"]}:
        raise Failed("imported %s, made %s" % (levels, made))


def measure(ctx):
    made = make_snapshot(ctx)
    trace = ctx.file("imported.mled")
    commands = {"memledger import": [ctx.memledger, "import", "-q", "-f", "-o", trace,
                                     made["path"]],
                "pickle.load": [sys.executable, "-c", LOAD, made["path"]]}
    viz = memory_viz(ctx)
    if viz:
        # Its text is large: held here, it would count as the memory of what runs next.
        commands["_memory_viz trace"] = ["sh", "-c", 'exec "$@" > /dev/null', "sh", *viz,
                                         made["path"]]
    runs = in_turn(commands, ctx.sizes["import_repeat"])
    check(ctx, made, trace)
    return made, runs, viz is not None, os.path.getsize(trace)


def row(ctx):
    made, runs, has_viz, trace_bytes = measure(ctx)
    r = Row("import", "Import of a PyTorch snapshot, %s entries, %s"
            % (count(made["entries"]), size(made["bytes"])),
            ["", "wall s", "low – high", "CPU s", "MB/s", "MB/CPU s", "M entries/s", "peak memory",
             "by file size"])
    for name, them in runs.items():
        wall = sample(them, lambda x: x.wall_s)
        cpu = sample(them, lambda x: x.tree_cpu_s)
        peak = max(x.peak_kib for x in them) * 1024
        r.line(name, wall.text("%.2f"), wall.spread("%.2f"), cpu.text("%.2f"),
               "%.0f" % (made["bytes"] / wall.median / 1e6),
               "%.0f" % (made["bytes"] / cpu.median / 1e6),
               "%.2f" % (made["entries"] / wall.median / 1e6), size(peak),
               "%.2f" % (peak / made["bytes"]))
        r.data[name] = {"wall_s": wall.as_json(), "cpu_s": cpu.as_json(), "peak_bytes": peak}
        if name != "memledger import":
            mine = r.data["memledger import"]
            r.ratio("import of a snapshot, to " + name, mine["wall_s"]["median"], wall.median, "s")
            r.ratio("its memory, to " + name, mine["peak_bytes"] / 2**20, peak / 2**20, "MiB")
    r.data.update(entries=made["entries"], file_bytes=made["bytes"], trace_bytes=trace_bytes)
    r.note("the trace has %s" % size(trace_bytes))
    if not has_viz:
        r.note("_memory_viz trace is not measured: %s has no PyTorch 2; name an interpreter that "
               "has: TORCH_PYTHON=PATH make bench" % ctx.torch_python)
    return r
