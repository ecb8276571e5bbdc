# SPDX-License-Identifier: Apache-2.0
"""What the lines of Python of every malloc cost a Python program, beside memray."""
import json
import os

from bench_context import HERE
from bench_run import added, in_turn, run, sample
from bench_table import Row, size

STACKS = ("none", "python", "native", "all")


def seconds(done):
    return done.tree_cpu_s


def commands_of(ctx, program):
    """{name: (command, file)}, alone first."""
    found = {"alone": (program, None)}
    for what in STACKS:
        trace = ctx.file("lines-%s.mled" % what)
        options = ["--stacks", what, "--symbols", "off", "--sample-hz", "0"]
        found["memledger --stacks " + what] = (
            ctx.recorded(trace, program, heap=True, options=options), trace)
    for name, more in (("memray", []), ("memray --native", ["--native"])):
        path = ctx.file(name.replace(" ", ""))
        if ctx.memray:
            found[name] = ([ctx.memray, "run", "-q", "-f", *more, "-o", path, *program[1:]], path)
    return found


def row(ctx):
    rounds = "30" if ctx.sizes["program_size"] else "2"
    program = [ctx.python(), str(HERE / "lines_work.py"), rounds]
    found = commands_of(ctx, program)
    env = dict(os.environ, PYTHONMALLOC="malloc", PYTHONHASHSEED="0")
    runs = in_turn({name: command for name, (command, _) in found.items()}, ctx.sizes["repeat"], env)
    trace = found["memledger --stacks python"][1]
    calls = json.loads(run([ctx.memledger, "summary", "--json", trace]).text)["allocations"]
    r = Row("lines", "lines_work.py %s with PYTHONMALLOC=malloc, %s allocations, CPU time"
            % (rounds, format(calls, ",")),
            ["recorder", "s", "added", "ns a malloc and free, low – high", "file"])
    r.line("alone", sample(runs["alone"], seconds).text("%.2f"), "", "", "")
    for name in list(found)[1:]:
        each = added(runs["alone"], runs[name], lambda done: seconds(done) * 1e9 / calls)
        middle = sample(runs[name], seconds)
        r.line(name, middle.text("%.2f"),
               "%+.0f %%" % (100 * (middle.median / sample(runs["alone"], seconds).median - 1)),
               each.spread("%.0f"), size(os.path.getsize(found[name][1])))
        r.data[name] = each.as_json()
    if ctx.memray:
        mine = added(runs["alone"], runs["memledger --stacks python"], seconds).median
        both = added(runs["alone"], runs["memledger --stacks all"], seconds).median
        r.ratio("lines of Python, added CPU time, beside memray", mine,
                added(runs["alone"], runs["memray"], seconds).median, "s")
        r.ratio("lines and native frames, the same, beside memray --native", both,
                added(runs["alone"], runs["memray --native"], seconds).median, "s")
    r.note("of all processes, memledger's collector among them; memray --native looks names up later,"
           " memledger here too (--symbols off)")
    return r
