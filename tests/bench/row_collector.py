# SPDX-License-Identifier: Apache-2.0
"""What the collector uses of the machine, beside the program."""
import row_disk
import row_event
import row_heap
from bench_run import run, sample
from bench_table import Row


def row(ctx):
    training = ctx.once(row_disk.measure_training)
    runs = {"random API events": ctx.once(row_event.measure)["runs"]["recorded"],
            "random malloc/free": ctx.once(row_heap.measure)["C", "memledger"]["runs"]}
    for name, t in training.items():
        runs[name] = [t["run"]]
    argv = [ctx.program("bench_events"), "--events", "1000", "--sleep",
            str(ctx.sizes["sleep_ms"])]
    runs["idle: 1,000 events, then sleep"] = [run(ctx.recorded(ctx.file("idle.mled"), argv))]
    r = Row("collector", "The collector's CPU time",
            ["", "wall s", "program CPU s", "collector CPU s", "of one core", "ns/event"])
    for name, done in runs.items():
        wall = sample(done, lambda x: x.wall_s)
        beside = sample(done, lambda x: x.beside_cpu_s)
        events = done[0].out.get("events") or done[0].out["reported"]
        share = sample(done, lambda x: 100 * x.beside_cpu_s / x.wall_s)
        idle = name.startswith("idle")
        r.line(name, wall.text("%.2f"), sample(done, lambda x: x.out["self_cpu_ns"] / 1e9)
               .text("%.2f"), beside.text("%.3f"), share.text("%.1f %%"),
               "" if idle else "%.1f" % (beside.median / events * 1e9))
        r.data[name] = {"wall_s": wall.as_json(), "collector_cpu_s": beside.as_json(),
                        "share_percent": share.as_json(), "events": events}
    r.note("CPU time of memledger run and all its children, less what the program says it used")
    return r
