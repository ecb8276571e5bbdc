# SPDX-License-Identifier: Apache-2.0
"""Recording malloc and free, beside memray and heaptrack on the same work."""
import os
import pathlib

from bench_context import HERE, check_count
from bench_run import added, in_turn, sample
from bench_table import Row, count, size


def wall(run):
    return run.wall_s


def loop(run):
    return run.out["loop_ns"] / 1e9


def heaptrack_command(ctx):
    """heaptrack, without its window where that is installed."""
    gui = pathlib.Path(os.path.realpath(ctx.heaptrack)).with_name("heaptrack_gui")
    script = pathlib.Path(ctx.heaptrack).read_text(errors="replace")
    only = ["--record-only"] if gui.exists() and "--record-only" in script else []
    return [ctx.heaptrack] + only


def commands(ctx):
    """{(program, tool): (argv, prefix of the file it writes)}; each program alone first."""
    events = str(ctx.sizes["heap_events"])
    c = [ctx.program("bench_malloc"), "--events", events]
    py = [ctx.python(), str(HERE / "churn.py"), ctx.program("libbench_churn.so"), events]
    rows = {("C", "alone"): (c, None),
            ("C", "memledger"): (ctx.recorded(ctx.file("heap-c.mled"), c, heap=True),
                                 "heap-c.mled")}
    if ctx.heaptrack:
        rows["C", "heaptrack"] = (heaptrack_command(ctx) + ["-o", ctx.file("heap-ht")] + c,
                                 "heap-ht.")
    rows["Python", "alone"] = (py, None)
    rows["Python", "memledger"] = (ctx.recorded(ctx.file("heap-py.mled"), py, heap=True),
                                   "heap-py.mled")
    if ctx.memray:
        for name, options in (("memray", []), ("memray --native", ["--native"])):
            output = name.replace(" ", "") + ".bin"
            rows["Python", name] = ([ctx.memray, "run", "-q", "-f"] + options +
                                    ["-o", ctx.file(output)] + py[1:], output)
    return rows


def file_bytes(ctx, prefix):
    return sum(f.stat().st_size for f in ctx.dir.glob(prefix + "*")) if prefix else None


def measure(ctx):
    rows = commands(ctx)
    runs = in_turn({key: argv for key, (argv, _) in rows.items()}, ctx.sizes["heap_repeat"])
    result = {}
    for (program, tool), (_, prefix) in rows.items():
        mine, plain = runs[program, tool], runs[program, "alone"]
        result[program, tool] = {
            "runs": mine,
            "wall": sample(mine, wall),
            "added": added(plain, mine, wall),
            "added_loop": added(plain, mine, loop),
            "tree_cpu": sample(mine, lambda r: r.tree_cpu_s),
            "file_bytes": file_bytes(ctx, prefix),
        }
    for program, trace in (("C", "heap-c.mled"), ("Python", "heap-py.mled")):
        contents = ctx.contents(ctx.file(trace))
        check_count(contents, ctx.sizes["heap_events"], trace)
        result[program, "memledger"].update(contents=contents, trace=ctx.file(trace))
    return result


def compare(r, m, tool, program):
    mine, other = m[program, "memledger"], m.get((program, tool))
    if not other:
        return
    r.ratio("added to malloc/free, beside " + tool, mine["added"].median, other["added"].median,
            "s")
    r.ratio("the same, in the loop alone", mine["added_loop"].median, other["added_loop"].median,
            "s")
    r.ratio("file, beside %s's" % tool, mine["file_bytes"] / 1e6, other["file_bytes"] / 1e6, "MB")


def row(ctx):
    m = ctx.once(measure)
    events = ctx.sizes["heap_events"]
    r = Row("heap", "%s random malloc/free, whole run" % count(events),
            ["program", "recorder", "wall s", "added s", "low – high", "ns/event", "in the loop",
             "CPU s of all", "file", "bytes/event"])
    for (program, tool), t in m.items():
        cells = ["", "", "", ""]
        if tool != "alone":
            cells = [t["added"].text("%.2f"), t["added"].spread("%.2f"),
                     "%.0f" % (t["added"].median / events * 1e9),
                     "%.0f" % (t["added_loop"].median / events * 1e9)]
        file = t["file_bytes"]
        r.line(program, tool, t["wall"].text("%.2f"), *cells, t["tree_cpu"].text("%.2f"),
               size(file) if file else "", "%.2f" % (file / events) if file else "")
        r.data["%s, %s" % (program, tool)] = {
            "wall_s": t["wall"].as_json(), "added_s": t["added"].as_json(),
            "added_loop_s": t["added_loop"].as_json(), "tree_cpu_s": t["tree_cpu"].as_json(),
            "file_bytes": file}
    for tool, program in (("memray", "Python"), ("memray --native", "Python"),
                          ("heaptrack", "C")):
        compare(r, m, tool, program)
    lost = sum(x.lost for p in ("C", "Python") for x in m[p, "memledger"]["runs"])
    r.data["lost"] = lost
    r.note("%d runs each, in turn; lost by memledger: %d" % (ctx.sizes["heap_repeat"], lost))
    r.note("memray records the Python stack (--native: the C stack too), heaptrack the C stack;"
           " memledger none here, see the row stacks")
    for tool, there in (("memray", ctx.memray), ("heaptrack", ctx.heaptrack)):
        if not there:
            r.note("%s is not installed here; make bench installs it" % tool)
    return r
