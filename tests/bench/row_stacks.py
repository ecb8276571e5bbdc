# SPDX-License-Identifier: Apache-2.0
"""Recording malloc with native stacks, beside heaptrack and memray --native on the same work."""
from bench_context import HERE, check_count
from bench_run import added, in_turn, sample
from bench_table import Row, count, size
from row_heap import file_bytes, heaptrack_command, loop, wall

RECORD = ["--stacks", "native", "--sample-hz", "0"]


def commands(ctx, depth, varies, threads):
    """{(program, tool): (argv, prefix of the file it writes)}; each program alone first."""
    events = str(ctx.sizes["heap_events"])
    c = [ctx.program("bench_malloc"), "--events", events, "--depth", str(depth), "--varies",
         str(varies), "--threads", str(threads)]
    py = [ctx.python(), str(HERE / "churn.py"), ctx.program("libbench_churn.so"), events,
          str(depth), str(varies)] + ([str(threads)] if threads > 1 else [])
    rows = {("C", "alone"): (c, None),
            ("C", "memledger"): (ctx.recorded(ctx.file("stacks-c.mled"), c, heap=True,
                                              options=RECORD), "stacks-c.mled")}
    if ctx.heaptrack:
        rows["C", "heaptrack"] = (heaptrack_command(ctx) + ["-o", ctx.file("stacks-ht")] + c,
                                  "stacks-ht.")
    if ctx.memray:
        rows["Python", "alone"] = (py, None)
        rows["Python", "memledger"] = (ctx.recorded(ctx.file("stacks-py.mled"), py, heap=True,
                                                    options=RECORD), "stacks-py.mled")
        rows["Python", "memray --native"] = (
            [ctx.memray, "run", "-q", "-f", "--native", "-o", ctx.file("stacks-memray.bin")]
            + py[1:], "stacks-memray.bin")
    return rows


def measure(ctx, depth, varies, threads):
    rows = commands(ctx, depth, varies, threads)
    runs = in_turn({key: argv for key, (argv, _) in rows.items()}, ctx.sizes["stack_repeat"])
    result = {}
    for (program, tool), (_, prefix) in rows.items():
        mine, plain = runs[program, tool], runs[program, "alone"]
        result[program, tool] = {
            "runs": mine, "wall": sample(mine, wall), "added": added(plain, mine, wall),
            "added_loop": added(plain, mine, loop),
            "added_cpu": added(plain, mine, lambda r: r.out["self_cpu_ns"] / 1e9),
            "file_bytes": file_bytes(ctx, prefix),
        }
    check_count(ctx.contents(ctx.file("stacks-c.mled")), ctx.sizes["heap_events"],
                "stacks-c.mled")
    return result


def compare(r, m, what, program, tool):
    mine, other = m[program, "memledger"], m.get((program, tool))
    if other:
        r.ratio("added to malloc/free with stacks, %s, beside %s" % (what, tool),
                mine["added"].median, other["added"].median, "s")
        r.ratio("the same, CPU time of the program", mine["added_cpu"].median,
                other["added_cpu"].median, "s")
        r.ratio("the same, size of the file", mine["file_bytes"] / 1e6, other["file_bytes"] / 1e6,
                "MB")


def lines(r, m, what, events):
    for (program, tool), t in m.items():
        cells = ["", "", "", ""]
        if tool != "alone":
            cells = [t["added"].text("%.2f"), t["added"].spread("%.2f"),
                     "%.0f" % (t["added_loop"].median / events * 1e9),
                     "%.0f" % (t["added_cpu"].median / events * 1e9)]
        file = t["file_bytes"]
        r.line(what, program, tool, t["wall"].text("%.2f"), *cells, size(file) if file else "")
        r.data["%s, %s, %s" % (what, program, tool)] = {
            "wall_s": t["wall"].as_json(), "added_s": t["added"].as_json(),
            "added_loop_s": t["added_loop"].as_json(), "added_cpu_s": t["added_cpu"].as_json(),
            "file_bytes": file}


def shapes(ctx):
    """(depth, threads, whether the paths vary); with several threads they do."""
    for depth in ctx.sizes["stack_depths"]:
        for threads in ctx.sizes["stack_threads"]:
            for varies in (0, 1) if threads == 1 else (1,):
                yield depth, threads, varies


def row(ctx):
    events = ctx.sizes["heap_events"]
    r = Row("stacks", "%s random malloc/free with native stacks, whole run" % count(events),
            ["frames", "program", "recorder", "wall s", "added s", "low – high",
             "ns/event in the loop", "of CPU time", "file"])
    lost = 0
    for depth, threads, varies in shapes(ctx):
        what = "%d, %s, %s" % (depth, "eight paths" if varies else "one path",
                               "%d threads" % threads if threads > 1 else "one thread")
        m = measure(ctx, depth, varies, threads)
        lines(r, m, what, events)
        compare(r, m, what, "C", "heaptrack")
        if ctx.memray:
            compare(r, m, what, "Python", "memray --native")
        lost += sum(x.lost for (_, tool), t in m.items() if tool == "memledger"
                    for x in t["runs"])
    r.data["lost"] = lost
    r.note("%d runs each, in turn; lost by memledger: %d" % (ctx.sizes["stack_repeat"], lost))
    for tool, there in (("memray", ctx.memray), ("heaptrack", ctx.heaptrack)):
        if not there:
            r.note("%s is not installed here; make bench installs it" % tool)
    return r
