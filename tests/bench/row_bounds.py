# SPDX-License-Identifier: Apache-2.0
"""The recorder's memory, where a table of every stack or library would grow without end."""
from bench_run import Failed, run
from bench_table import Row, count, size

RECORD = ["--stacks", "native", "--sample-hz", "0", "--symbols", "off", "--checkpoints", "never"]


def cases(ctx):
    """(what, how many, arguments of bench_many_stacks)"""
    stacks, loads = ctx.sizes["many_stacks"], ctx.sizes["plugin_loads"]
    twins = [ctx.program("libbench_%s_twin.so" % name) for name in ("first", "second")]
    yield "different stacks", stacks, [str(stacks), "2"]
    yield "loads of a plugin", loads, [str(loads), *twins]


def growth_kib(r):
    return r.out["after_kib"] - r.out["before_kib"]


def row(ctx):
    r = Row("bounds", "Memory of the recorder with native stacks",
            ["program", "of them", "alone: it grows", "recorded: it grows",
             "largest process", "file"])
    for what, n, arguments in cases(ctx):
        argv = [ctx.program("bench_many_stacks"), *arguments]
        trace = ctx.file("bounds.mled")
        alone = run(argv)
        mine = run(ctx.recorded(trace, argv, heap=True, options=RECORD))
        if mine.lost:
            raise Failed("%s: %d events lost" % (what, mine.lost))
        file = ctx.contents(trace)["file_bytes"]
        r.line(what, count(n), size(growth_kib(alone) << 10), size(growth_kib(mine) << 10),
               size(mine.peak_kib << 10), size(file))
        r.data[what] = {"count": n, "alone_growth_kib": growth_kib(alone),
                        "growth_kib": growth_kib(mine), "peak_kib": mine.peak_kib,
                        "file_bytes": file}
    r.note("the largest process is the collector, which knows every stack, or the program")
    return r
