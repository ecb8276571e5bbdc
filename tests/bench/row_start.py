# SPDX-License-Identifier: Apache-2.0
"""What a run costs before the first event and after the last."""
import shutil

import row_event
import row_heap
from bench_run import added, in_turn, sample
from bench_table import Row


def row(ctx):
    true = [shutil.which("true")]
    commands = {"alone": true, "recorded": ctx.recorded(ctx.file("true.mled"), true),
                "heap": ctx.recorded(ctx.file("true.mled"), true, heap=True)}
    runs = in_turn(commands, ctx.sizes["start_repeat"])
    r = Row("start", "Start and close, ms", ["", "median", "low – high"])
    values = {"true, alone": sample(runs["alone"], lambda x: x.wall_s * 1e3)}
    for name, title in (("recorded", "added by memledger run"),
                        ("heap", "added by memledger run --heap")):
        values[title] = added(runs["alone"], runs[name], lambda x: x.wall_s * 1e3)
    api = ctx.once(row_event.measure)["runs"]["recorded"]
    heap = ctx.once(row_heap.measure)["C", "memledger"]["runs"]
    values["last event to the end, random API events"] = sample(api, lambda x: x.close_s * 1e3)
    values["last event to the end, random malloc/free"] = sample(heap, lambda x: x.close_s * 1e3)
    for name, s in values.items():
        r.line(name, s.text("%.2f"), s.spread("%.2f"))
        r.data[name] = s.as_json()
    return r
