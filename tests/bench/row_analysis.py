# SPDX-License-Identifier: Apache-2.0
"""Questions asked of a long trace: seconds of one core from the command to its answer."""
from bench_context import check_count
from bench_run import run, sample
from bench_table import Row, count

COMMANDS = {
    "summary": ["summary"],
    "leaks": ["leaks"],
    "table": ["table", "--checkpoints", "never"],
    "table --temporary": ["table", "--temporary"],
    "compare with itself": ["compare", "TRACE"],
}


def traces(ctx):
    """{name: file} of as many events: of a training run, and of random malloc and free."""
    steps, events = ctx.sizes["analysis_steps"], ctx.sizes["analysis_events"]
    files = {}
    for name, argv, heap, said in (
            ("training", ["bench_training", "--steps", steps], False, "reported"),
            ("random malloc/free", ["bench_malloc", "--events", events], True, "events")):
        trace = ctx.file("analysis%d.mled" % len(files))
        argv = [ctx.program(argv[0])] + [str(a) for a in argv[1:]]
        recorded = run(ctx.recorded(trace, argv, heap=heap))
        check_count(ctx.contents(trace), recorded.out[said], name)
        files[name] = trace
    return files


def cpu(done):
    return done.tree_cpu_s


def measure(ctx, trace):
    """{command: seconds of CPU time}"""
    times = {}
    for name, words in COMMANDS.items():
        argv = [ctx.memledger] + [trace if w == "TRACE" else w for w in words] + [trace]
        times[name] = sample([run(argv) for _ in range(ctx.sizes["repeat"])], cpu)
    return times


def row(ctx):
    r = Row("analysis", "Questions asked of a trace, seconds of one core",
            ["", "events"] + list(COMMANDS) + ["summary and leaks"])
    for name, trace in traces(ctx).items():
        events = ctx.contents(trace)["events"]
        times = measure(ctx, trace)
        both = times["summary"].median + times["leaks"].median
        r.line(name, count(events), *[t.text("%.2f") for t in times.values()], "%.2f" % both)
        r.data[name] = {what: t.as_json() for what, t in times.items()}
        r.data[name].update(events=events, summary_and_leaks_s=both)
    r.note("CPU time of the whole command, text included; the trace is in the page cache")
    r.note("summary: replay, peak and categories; compare reads the trace twice")
    return r
