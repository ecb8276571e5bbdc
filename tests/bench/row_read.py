# SPDX-License-Identifier: Apache-2.0
"""Events per second read on one core."""
import row_disk
import row_event
import row_heap
from bench_run import Sample
from bench_table import Row, count


def row(ctx):
    traces = {"random API events": ctx.once(row_event.measure)["trace"],
              "random malloc/free": ctx.once(row_heap.measure)["C", "memledger"]["trace"]}
    for name, t in ctx.once(row_disk.measure_training).items():
        traces[name] = t["trace"]
    r = Row("read", "Read on one core, M events/s of CPU time",
            ["", "events", "cursor", "low – high", "replay", "low – high", "classified",
             "low – high"])
    for name, trace in traces.items():
        out = ctx.contents(trace, ctx.sizes["repeat"])
        rates = {}
        for what in ("iterate", "replay", "classify"):
            rates[what] = Sample([out["events"] / p[what + "_cpu_ns"] * 1e3
                                  for p in out["passes"]])
        r.line(name, count(out["events"]), rates["iterate"].text(), rates["iterate"].spread(),
               rates["replay"].text(), rates["replay"].spread(),
               rates["classify"].text(), rates["classify"].spread())
        r.data[name] = {what: s.as_json() for what, s in rates.items()}
        r.data[name]["events"] = out["events"]
    r.note("cursor: decompress and decode; replay: that, and the live table with totals and peak; "
           "classified: a pass for the categories of blocks, where there are modules or phases, "
           "and a replay with them")
    return r
