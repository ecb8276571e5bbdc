# SPDX-License-Identifier: Apache-2.0
"""A training step of PyTorch on the processor, beside memray and torch.profiler."""
import glob
import os
import subprocess
import sys

from bench_context import HERE
from bench_run import Failed, Sample, in_turn, sample
from bench_table import Row, count, size

SHAPE = ["--device", "cpu", "--layers", "6", "--width", "32", "--batch", "4", "--length", "16"]
RECORDERS = {"memledger": [], "memledger --stacks python": ["--stacks", "python"],
             "memledger --heap": ["--heap"]}
BESIDE = ("memray", "torch.profiler")


def has_torch(python):
    return subprocess.run([python, "-c", "import torch"], capture_output=True,
                          check=False).returncode == 0


def packages_of(memray):
    """Where the environment of memray keeps its packages."""
    found = glob.glob(os.path.join(os.path.dirname(os.path.dirname(memray)),
                                   "lib", "python3*", "site-packages"))
    return found[0] if found else None


def commands(ctx, python):
    """{recorder: (argv, file that it writes)}, all with the same interpreter."""
    program = [str(HERE / "training_steps.py"), *SHAPE, "--warm-up", "3",
               "--steps", str(ctx.sizes["torch_steps"])]
    rows = {"alone": ([python, *program], None)}
    for name, options in RECORDERS.items():
        trace = ctx.file(name.replace(" ", "") + "-torch.mled")
        rows[name] = ([ctx.memledger, "run", "-q", "-f", "-o", trace, *options, "--", python,
                       *program], trace)
    packages = packages_of(ctx.memray) if ctx.memray else None
    if packages:
        file = ctx.file("torch-memray.bin")
        rows["memray"] = (["env", "PYTHONPATH=" + packages, python, "-m", "memray", "run", "-q",
                           "-f", "-o", file, *program], file)
    rows["torch.profiler"] = ([python, *program, "--watch", "profiler"], None)
    return rows


def measure(ctx):
    python = sys.executable
    if not has_torch(python):
        raise Failed("%s has no PyTorch; make bench installs it" % python)
    rows = commands(ctx, python)
    runs = in_turn({name: argv for name, (argv, _) in rows.items()}, ctx.sizes["torch_repeat"])
    result = {}
    for name, (_, file) in rows.items():
        result[name] = {
            "median": sample(runs[name], lambda r: r.out["median_ms"]),
            "cpu": sample(runs[name], lambda r: r.out["cpu_ms"]),
            "fastest": min(r.out["fastest_ms"] for r in runs[name]),
            "over": Sample([r.out["median_ms"] / a.out["median_ms"]
                            for r, a in zip(runs[name], runs["alone"])]),
            "file_bytes": os.path.getsize(file) if file else None,
            "events": ctx.contents(file)["events"] if name in RECORDERS else None,
            "lost": sum(r.lost for r in runs[name]),
        }
    return result


def percent(ratio):
    return "%+.1f %%" % (100 * (ratio - 1))


def row(ctx):
    m = ctx.once(measure)
    alone = m["alone"]
    r = Row("torch", "A training step of PyTorch on the processor, many small blocks, ms",
            ["recorder", "median", "low – high", "over alone", "low – high", "fastest",
             "over alone", "CPU", "over alone", "file", "events", "bytes/event"])
    for name, t in m.items():
        file, events = t["file_bytes"], t["events"]
        r.line(name, t["median"].text("%.2f"), t["median"].spread("%.2f"),
               *(["", ""] if name == "alone" else
                 [percent(t["over"].median),
                  "%s – %s" % (percent(t["over"].low), percent(t["over"].high))]),
               "%.2f" % t["fastest"],
               "" if name == "alone" else percent(t["fastest"] / alone["fastest"]),
               t["cpu"].text("%.2f"),
               "" if name == "alone" else percent(t["cpu"].median / alone["cpu"].median),
               size(file) if file else "", count(events) if events else "",
               "%.2f" % (file / events) if events else "")
        r.data[name] = {"median_ms": t["median"].as_json(), "fastest_ms": t["fastest"],
                        "cpu_ms": t["cpu"].as_json(),
                        "over_alone": t["over"].as_json(), "file_bytes": file, "events": events}
    for name in RECORDERS:
        for other in BESIDE:
            if other in m:
                r.ratio("%s beside %s, fastest step" % (name, other), m[name]["fastest"],
                        m[other]["fastest"], "ms")
    r.note("%d steps in each run, %d runs each, in turn; lost by memledger: %d"
           % (ctx.sizes["torch_steps"], ctx.sizes["torch_repeat"],
              sum(m[name]["lost"] for name in RECORDERS)))
    r.note("memray records malloc with Python stacks, torch.profiler operators too; memledger "
           "PyTorch's blocks, modules and categories, with --heap also malloc")
    if "memray" not in m:
        r.note("memray is not installed here; make bench installs it")
    return r
