# SPDX-License-Identifier: Apache-2.0
"""How much each recorder of malloc slows real programs down, with native stacks."""
import subprocess

from bench_run import Failed, Sample
from bench_table import Row, size
from real_programs import PROGRAMS
from row_heap import file_bytes, heaptrack_command

NATIVE = ["--stacks", "native", "--sample-hz", "0"]


# ---- Recorders --------------------------------------------------------------------------

def memledger(ctx, argv, name):
    return ctx.recorded(ctx.file(name + ".mled"), argv, heap=True, options=NATIVE)


def memledger_sampled(ctx, argv, name):
    return ctx.recorded(ctx.file(name + ".mled"), argv, options=["--heap=sample", *NATIVE])


def heaptrack(ctx, argv, name):
    return heaptrack_command(ctx) + ["-o", ctx.file(name)] + argv


def memray(ctx, argv, name):
    return [ctx.python(), ctx.memray, "run", "-q", "-f", "--native", "-o", ctx.file(name)] + argv[1:]


def recorders(ctx, program):
    """{name: command maker} for those that can record the program."""
    found = {"alone": None, "--heap=sample": memledger_sampled, "memledger": memledger}
    if ctx.heaptrack and program.heaptrack:
        found["heaptrack"] = heaptrack
    if ctx.memray and program.python:
        found["memray --native"] = memray
    return found


# ---- The row ----------------------------------------------------------------------------

def turns(ctx, tool):
    """The cost of samples is small beside the noise: it gets more runs."""
    often = tool in ("alone", "--heap=sample")
    return ctx.sizes["program_sample_repeat" if often else "program_repeat"]


def measure(ctx, program, name):
    """{recorder: [(Times, lost), ...]}, in turn, and {recorder: bytes of its file}"""
    tools = recorders(ctx, program)
    runs, files = {tool: [] for tool in tools}, {}
    for number in range(ctx.sizes["program_sample_repeat"]):
        for place, (tool, maker) in enumerate(tools.items()):
            if number >= turns(ctx, tool):
                continue
            output = "%s-%d" % (name, place)
            runs[tool].append(program.measure(ctx, maker, output))
            files[tool] = file_bytes(ctx, output + ".") or file_bytes(ctx, output)
    return runs, files


def ratios(taken, alone, value):
    """Of neighbours: what disturbs one disturbs the other."""
    return Sample([value(mine[0]) / value(plain[0]) for mine, plain in zip(taken, alone)])


def part(taken, value):
    return Sample([value(mine[0]) for mine in taken])


def lines(r, name, program, runs, files):
    alone = runs["alone"]
    for tool, taken in runs.items():
        wall, cpu = (part(taken, lambda t: t.wall_s), part(taken, lambda t: t.cpu_s))
        times = {"start_s": part(taken, lambda t: t.start_s),
                 "after_s": part(taken, lambda t: t.after_s),
                 "beside_s": part(taken, lambda t: t.beside_s)}
        slower = ratios(taken, alone, lambda t: t.wall_s)
        more_cpu = ratios(taken, alone, lambda t: t.cpu_s)
        least = cpu.low / part(alone, lambda t: t.cpu_s).low
        cells = [slower.text("%.2f"), more_cpu.text("%.3f"), more_cpu.spread("%.2f"),
                 "%.3f" % least, *(t.text("%.2f") for t in times.values()), size(files[tool])]
        r.line(name, tool, wall.text("%.2f"), cpu.text("%.2f"),
               *(cells if tool != "alone" else [""] * len(cells)))
        r.data["%s, %s" % (name, tool)] = {
            "work": program.work, "wall_s": wall.as_json(), "cpu_s": cpu.as_json(),
            "slowdown": slower.as_json(), "cpu_ratio": more_cpu.as_json(),
            "least_cpu_ratio": least, **{key: t.as_json() for key, t in times.items()},
            "file_bytes": files[tool] if tool != "alone" else None,
            "lost": sum(mine[1] for mine in taken)}


def add_program(ctx, r, name, make):
    program = make(ctx)
    if not program:
        r.note("%s: not here (make bench installs it), or not for this user" % name)
        return
    runs, files = measure(ctx, program, name)
    lines(r, name, program, runs, files)
    r.note("%s: %s" % (name, program.work))
    if program.without:
        r.note(program.without)


def row(ctx):
    r = Row("programs", "Real programs with native stacks of malloc, slowdown",
            ["program", "recorder", "s", "CPU s", "times as long", "times the CPU", "low – high",
             "least to least", "before s", "after s", "CPU beside s", "file"])
    for name, make in PROGRAMS.items():
        if ctx.only_programs and name not in ctx.only_programs:
            continue
        try:
            add_program(ctx, r, name, make)
        except (Failed, OSError, subprocess.SubprocessError) as problem:
            r.note("%s: NOT MEASURED: %s" % (name, problem))
            r.broken += 1
    r.note("%d runs each, %d alone and with samples, in turn; s: from the program's start to its "
           "end, of servers the time that the clients took; CPU: of the program's processes"
           % (ctx.sizes["program_repeat"], ctx.sizes["program_sample_repeat"]))
    r.note("before, after: from the command's start to the program's, from the program's end to "
           "the command's; CPU beside: of the recorder's other processes")
    return r
