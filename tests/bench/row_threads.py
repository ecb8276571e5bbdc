# SPDX-License-Identifier: Apache-2.0
"""The same from several threads: does one thread's cost depend on the others?"""
from bench_run import added, run, sample
from bench_table import Row
from row_event import beside, cpu, wall

WORK_NS = 200
MAX_TOTAL = 40_000_000


def thread_counts(cores):
    counts = [1]
    while counts[-1] * 2 < cores:
        counts.append(counts[-1] * 2)
    return counts + [cores] if cores > 1 else counts


def ns_per_round(ctx):
    """How long one round of bench_work takes here."""
    out = run([ctx.program("bench_events"), "--events", "100000", "--work", "1000"]).out
    return out["thread_cpu_ns"] / out["events"] / 1000


def measure_one(ctx, threads, events, work):
    argv = [ctx.program("bench_events"), "--threads", str(threads),
            "--events", str(min(events, MAX_TOTAL // threads)), "--work", str(work)]
    runs, _ = beside(ctx, argv, ctx.file("threads.mled"), ctx.sizes["repeat"])
    alone, recorded = runs["alone"], runs["recorded"]
    seconds = recorded[-1].out["thread_wall_ns"] / 1e9
    return {"cpu": added(alone, recorded, cpu), "wall": added(alone, recorded, wall),
            "collector": sample(recorded, lambda r: r.beside_cpu_s / r.out["events"] * 1e9),
            "rate": recorded[-1].out["events"] / seconds,
            "lost": sum(x.lost for x in recorded)}


def row(ctx):
    work = round(WORK_NS / ctx.once(ns_per_round))
    r = Row("threads", "Several threads, ns added to each event of each thread",
            ["", "threads", "thread CPU", "low – high", "wall", "low – high",
             "CPU, to one thread", "collector CPU", "M events/s", "lost"])
    for name, events, rounds in (("only events", ctx.sizes["thread_events"], 0),
                                 ("%d ns of work" % WORK_NS, ctx.sizes["busy_events"], work)):
        first = None
        for threads in thread_counts(ctx.cores):
            m = measure_one(ctx, threads, events, rounds)
            first = first or m["cpu"].median
            r.line(name, threads, m["cpu"].text(), m["cpu"].spread(), m["wall"].text(),
                   m["wall"].spread(), "%.2f" % (m["cpu"].median / first),
                   m["collector"].text(), "%.1f" % (m["rate"] / 1e6), m["lost"])
            r.data.setdefault(name, []).append(
                {"threads": threads, "lost": m["lost"], "events_per_s": m["rate"],
                 "added_cpu_ns": m["cpu"].as_json(), "added_wall_ns": m["wall"].as_json(),
                 "collector_ns": m["collector"].as_json()})
        if threads > 1:
            r.ratio("%d threads to one, %s: CPU added" % (threads, name), m["cpu"].median, first,
                    "ns")
    r.note("%d threads and the collector share %d cores: wall time includes the collector's turns"
           % (ctx.cores, ctx.cores))
    return r
