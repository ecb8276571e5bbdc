# SPDX-License-Identifier: Apache-2.0
"""More threads and processes than cores: do they get on, and is anything lost?"""
import contextlib
import os
import subprocess
import sys

from bench_context import check_count
from bench_run import Sample, in_turn, run
from bench_table import Row

CORES = 2
FEW = 2  # threads: what a malloc costs when nobody has to wait for a core
HOGS = 6


def on_few_cores(argv):
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    return ["taskset", "-c", ",".join(map(str, cores))] + argv


@contextlib.contextmanager
def hogs(count):
    """Processes that do nothing but use a core."""
    argv = on_few_cores([sys.executable, "-Sc", "while True: pass"])
    processes = [subprocess.Popen(argv) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def rate(r):
    """Mallocs a second."""
    return r.out["mallocs"] / r.out["wall_ns"] * 1e9


def measure_threads(ctx):
    """{(threads, "alone" or "recorded"): [Run, ...]}, of which the traces are complete."""
    commands = {}
    for threads in ctx.sizes["crowd_threads"]:
        argv = [ctx.program("bench_crowd"), "--threads", str(threads),
                "--ms", str(ctx.sizes["crowd_ms"])]
        trace = ctx.file("crowd-%d.mled" % threads)
        commands[threads, "alone"] = on_few_cores(argv)
        commands[threads, "recorded"] = on_few_cores(ctx.recorded(trace, argv, heap=True))
    runs = in_turn(commands, ctx.sizes["crowd_repeat"])
    for threads in ctx.sizes["crowd_threads"]:
        trace = ctx.file("crowd-%d.mled" % threads)
        check_count(ctx.contents(trace), 2 * runs[threads, "recorded"][-1].out["mallocs"], trace)
        os.unlink(trace)
    return runs


def measure_forks(ctx):
    """@return events that each run reported, and how many each lost"""
    trace = ctx.file("forks.mled")
    children = str(ctx.sizes["fork_children"])
    argv = [ctx.program("bench_forks"), "--children", children, "--at-once", children,
            "--mallocs", str(ctx.sizes["fork_mallocs"])]
    lost = []
    with hogs(HOGS):
        for _ in range(ctx.sizes["fork_runs"]):
            last = run(on_few_cores(ctx.recorded(trace, argv, heap=True)))
            check_count(ctx.contents(trace), last.out["events"], trace)
            lost.append(last.lost)
    return last.out["events"], lost


def add_threads(r, ctx):
    runs = measure_threads(ctx)
    slowdowns = [rate(a) / rate(b) for a, b in zip(runs[FEW, "alone"], runs[FEW, "recorded"])]
    for threads in ctx.sizes["crowd_threads"]:
        alone, recorded = runs[threads, "alone"], runs[threads, "recorded"]
        plain = Sample([rate(a) for a in alone])
        mine = Sample([rate(b) for b in recorded])
        due = Sample([rate(a) / s for a, s in zip(alone, slowdowns)])
        share = Sample([rate(b) / rate(a) * s for a, b, s in zip(alone, recorded, slowdowns)])
        lost = sum(b.lost for b in recorded)
        r.line(threads, *("%.2f" % (s.median / 1e6) for s in (plain, mine, due)),
               share.text("%.2f"), share.spread("%.2f"), lost)
        r.data[str(threads)] = {"alone_per_s": plain.as_json(),
                                "recorded_per_s": mine.as_json(), "due_per_s": due.as_json(),
                                "share": share.as_json(), "lost": lost}
        if threads != FEW:
            r.ratio("mallocs of %d threads, to what %d lead to expect" % (threads, FEW),
                    mine.median / 1e6, due.median / 1e6, "M/s")


def row(ctx):
    r = Row("crowd", "More threads than cores: recorded mallocs on %d cores" % CORES,
            ["threads", "alone M/s", "recorded M/s", "expected M/s", "of the expected",
             "low – high", "lost"])
    add_threads(r, ctx)
    events, lost = measure_forks(ctx)
    r.data["forks"] = {"children": ctx.sizes["fork_children"], "hogs": HOGS, "events": events,
                       "lost": lost}
    r.note("expected: the rate alone, divided by the slowdown of %d threads" % FEW)
    r.note("%d processes forked at once beside %d programs that use the cores, %d events in all, "
           "%d times: lost %s" % (ctx.sizes["fork_children"], HOGS, events, len(lost),
                                  ", ".join(map(str, lost))))
    return r
