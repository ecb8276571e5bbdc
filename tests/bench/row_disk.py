# SPDX-License-Identifier: Apache-2.0
"""Bytes per event on disk, time and address included."""
import row_event
import row_heap
from bench_context import check_count
from bench_run import run
from bench_table import Row, count, size
from row_threads import ns_per_round

TRAINING_GAP_NS = 6_000 # a step of 20 ms with 3,300 events


def measure_training(ctx):
    """{name: (run, contents)}: at full speed, and as fast as a program that computes."""
    work = round(TRAINING_GAP_NS / ctx.once(ns_per_round))
    result = {}
    for name, steps, rounds in (("training, no pauses", ctx.sizes["steps"], 0),
                                ("training, 20 ms a step", ctx.sizes["paced_steps"], work)):
        trace = ctx.file("training%d.mled" % len(result))
        argv = [ctx.program("bench_training"), "--steps", str(steps), "--work", str(rounds)]
        recorded = run(ctx.recorded(trace, argv))
        contents = ctx.contents(trace)
        check_count(contents, recorded.out["reported"], name)
        result[name] = {"run": recorded, "contents": contents, "trace": trace}
    return result


def vgg19(ctx, passes):
    """The example's trace, None where it is not built."""
    program = ctx.build / "examples/vgg19/vgg19"
    if not program.exists():
        return None
    trace = ctx.file("vgg19-%d.mled" % passes)
    run(ctx.recorded(trace, [str(program), "--size", "32", "--passes", str(passes)]))
    return ctx.contents(trace)


def row(ctx):
    traces = {"random API events": ctx.once(row_event.measure)["contents"],
              "random malloc/free": ctx.once(row_heap.measure)["C", "memledger"]["contents"],
              "VGG-19 example, one pass": vgg19(ctx, 1),
              "VGG-19 example, %d passes" % ctx.sizes["passes"]: vgg19(ctx, ctx.sizes["passes"])}
    for name, t in ctx.once(measure_training).items():
        traces[name] = t["contents"]
    r = Row("disk", "Bytes per event on disk, time and address of each included",
            ["", "events", "file", "bytes/event", "without the file's frame"])
    for name, c in traces.items():
        if not c:
            r.note(name + ": not built here")
            continue
        r.line(name, count(c["events"]), size(c["file_bytes"]),
               "%.2f" % (c["file_bytes"] / c["events"]),
               "%.2f" % (c["event_bytes"] / c["events"]))
        r.data[name] = {k: c[k] for k in ("events", "file_bytes", "event_bytes", "lost")}
    r.note("the frame: header, definitions (names of scopes, labels, threads), index")
    return r
