# SPDX-License-Identifier: Apache-2.0
"""Questions about one instant of a long trace, with checkpoints and without."""
import json
import os
import random
import shutil

from bench_context import check_count
from bench_run import Sample, run
from bench_table import Row, count

INSTANTS = 10


def traces(ctx):
    """{name: file}, deleted afterwards: they are large."""
    steps, events = ctx.sizes["instant_steps"], ctx.sizes["instant_events"]
    for name, argv, heap, said in (
            ("training", ["bench_training", "--steps", steps], False, "reported"),
            ("random malloc/free", ["bench_malloc", "--events", events], True, "events")):
        trace = ctx.file("instant.mled")
        argv = [ctx.program(argv[0])] + [str(a) for a in argv[1:]]
        recorded = run(ctx.recorded(trace, argv, heap=heap))
        check_count(ctx.contents(trace), recorded.out[said], name)
        yield name, trace
        os.remove(trace)


def files_in(folder):
    return sum(os.path.getsize(os.path.join(where, name))
               for where, _, names in os.walk(folder) for name in names)


def measure(ctx, trace):
    """Seconds of the first question, of others, of others without checkpoints; bytes."""
    cache = ctx.file("cache")
    env = dict(os.environ, XDG_CACHE_HOME=cache)
    table = [ctx.memledger, "table", "--json"]
    first = run(table + ["--checkpoints", "always", trace], env=env)
    numbers = random.Random(1)
    end = run(table + ["--checkpoints", "always", "--at", "end", trace], env=env)
    seconds = json.loads(end.text)["at_ns"] / 1e9
    runs = {"always": [], "never": []}
    for i in range(INSTANTS):
        at = "%.9fs" % numbers.uniform(0, seconds)
        for when in runs if i == 0 else ["always"]:
            runs[when].append(run(table + ["--at", at, "--checkpoints", when, trace], env=env))
    if runs["always"][0].text != runs["never"][0].text:
        raise ValueError("another answer with checkpoints")
    size = files_in(cache)
    shutil.rmtree(cache)
    return first, runs["always"], runs["never"][0], size


def row(ctx):
    r = Row("instant", "table --at T of a long trace, seconds",
            ["", "events", "without, CPU", "first, CPU", "next, CPU", "low – high", "next, wall",
             "low – high", "checkpoints, % of trace"])
    for name, trace in traces(ctx):
        events = ctx.contents(trace)["events"]
        first, later, without, size = measure(ctx, trace)
        cpu, wall = Sample([x.tree_cpu_s for x in later]), Sample([x.wall_s for x in later])
        share = 100.0 * size / os.path.getsize(trace)
        r.line(name, count(events), "%.2f" % without.tree_cpu_s, "%.2f" % first.tree_cpu_s,
               cpu.text("%.3f"), cpu.spread("%.3f"), wall.text("%.3f"), wall.spread("%.3f"),
               "%.1f" % share)
        r.data[name] = {"events": events, "without_s": without.tree_cpu_s,
                        "first_s": first.tree_cpu_s, "cpu": cpu.as_json(), "wall": wall.as_json(),
                        "checkpoints_percent": share}
    r.note("%d random instants; first: the question that makes the checkpoints; the trace is in "
           "the page cache" % INSTANTS)
    return r
