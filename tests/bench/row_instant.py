# SPDX-License-Identifier: Apache-2.0
"""Questions about one instant of a long trace, with checkpoints and without."""
import json
import os
import random
import shutil

from bench_run import Sample, run
from bench_table import Row, count
from long_traces import long_trace

INSTANTS = 10
TRACES = ("training-100m", "python-100m")


def files_in(folder):
    return sum(os.path.getsize(os.path.join(where, name))
               for where, _, names in os.walk(folder) for name in names)


def measure(ctx, trace):
    """Seconds of the first question, of others, of others without checkpoints; bytes."""
    cache = ctx.file("cache")
    env = dict(os.environ, XDG_CACHE_HOME=cache)
    summary = [ctx.memledger, "summary", "--json"]
    first = run(summary + ["--checkpoints", "always", "--at", "peak", trace], env=env)
    numbers = random.Random(1)
    end = run(summary + ["--checkpoints", "always", "--at", "end", trace], env=env)
    seconds = json.loads(end.text)["at_ns"] / 1e9
    runs = {"auto": [], "never": []}
    for i in range(INSTANTS):
        at = "%.9fs" % numbers.uniform(0, seconds)
        for when in runs if i == 0 else ["auto"]:
            runs[when].append(run(summary + ["--at", at, "--checkpoints", when, trace], env=env))
    if runs["auto"][0].text != runs["never"][0].text:
        raise ValueError("another answer with checkpoints")
    size = files_in(cache)
    shutil.rmtree(cache)
    return first, runs["auto"], runs["never"][0], size


def row(ctx):
    r = Row("instant", "summary --at T of a long trace, seconds",
            ["", "events", "without, CPU", "first, CPU", "next, CPU", "low – high", "next, wall",
             "low – high", "in the cache, % of trace"])
    for name in TRACES:
        trace = long_trace(ctx, name)
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
    r.note("%d random instants; next: with the checkpoints in the trace; first: a question that "
           "makes checkpoints in the cache; the trace is in the page cache" % INSTANTS)
    return r
