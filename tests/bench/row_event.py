# SPDX-License-Identifier: Apache-2.0
"""What one recorded event costs the thread that reports it."""
from bench_context import check_count
from bench_run import added, in_turn, sample
from bench_table import Row, count


def wall(run):
    return run.out["thread_wall_ns"] * run.out["threads"] / run.out["events"]


def cpu(run):
    return run.out["thread_cpu_ns"] * run.out["threads"] / run.out["events"]


def beside(ctx, argv, trace, times):
    """The same command alone and recorded; the last run's trace is checked."""
    runs = in_turn({"alone": argv, "recorded": ctx.recorded(trace, argv)}, times)
    contents = ctx.contents(trace)
    check_count(contents, runs["recorded"][-1].out["events"], " ".join(argv))
    return runs, contents


def measure(ctx):
    """Shared with the rows on files, reading, the collector and closing."""
    argv = [ctx.program("bench_events"), "--events", str(ctx.sizes["events"])]
    trace = ctx.file("events.mled")
    runs, contents = beside(ctx, argv, trace, ctx.sizes["repeat"])
    return {"runs": runs, "contents": contents, "trace": trace}


def row(ctx):
    m = ctx.once(measure)
    alone, recorded = m["runs"]["alone"], m["runs"]["recorded"]
    r = Row("event", "One event through the public API, one thread, ns",
            ["", "alone", "recorded", "added", "added, low – high"])
    for name, value in (("wall", wall), ("thread CPU", cpu)):
        a, b, more = sample(alone, value), sample(recorded, value), added(alone, recorded, value)
        r.line(name, a.text(), b.text(), more.text(), more.spread())
        r.data[name] = {"alone": a.as_json(), "recorded": b.as_json(), "added": more.as_json()}
        r.ratio("API event, " + name, b.median, a.median, "ns")
    lost = sum(x.lost for x in recorded)
    r.data["events"], r.data["lost"] = m["contents"]["events"], lost
    r.note("%s events in each run, %s lost in all; %d runs each, in turn"
           % (count(recorded[0].out["events"]), count(lost), len(alone)))
    return r
