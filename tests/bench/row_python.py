# SPDX-License-Identifier: Apache-2.0
"""What the Python stack of a block costs the thread that asks for it."""
import os

from bench_context import HERE
from bench_run import added, in_turn, sample
from bench_table import Row


def ns(run):
    return run.out["ns"]


def row(ctx):
    program = [ctx.python(), HERE / "bench_frames.py", ctx.program("libbench_asks.so")]
    commands = {what: ctx.recorded(ctx.file(what + ".mled"), program, options=["--stacks", what])
                for what in ("none", "python")}
    runs = in_turn(commands, ctx.sizes["repeat"])
    r = Row("python", "A block of PyTorch's and its free, under 15 Python frames, ns",
            ["", "none", "python", "added, low – high"])
    more = added(runs["none"], runs["python"], ns)
    r.line("--stacks", *(sample(runs[what], ns).text() for what in commands), more.spread())
    r.data["added_ns"] = more.as_json()
    r.ratio("block with a Python stack, thread", sample(runs["python"], ns).median,
            sample(runs["none"], ns).median, "ns")
    blocks = runs["none"][0].out["blocks"]
    sizes = [os.path.getsize(ctx.file(what + ".mled")) / blocks for what in commands]
    r.data["file_bytes_per_block"] = dict(zip(commands, sizes))
    r.note("in the file %.2f bytes for each block and its free without, %.2f with stacks"
           % tuple(sizes))
    return r
