# SPDX-License-Identifier: Apache-2.0
"""The page of `memledger view` in Chromium, beside PyTorch's memory_viz and memray's flame graph."""
import json
import os
import random
import shutil
import statistics
import subprocess
import time

import other_pages
from bench_context import HERE
from bench_run import Failed, run
from bench_table import Row, count, size

NAMES = ("training-10m", "malloc-10m", "training-100m", "malloc-100m", "training-10m-plain", "malloc-10m-plain",
         "training-100m-plain", "memory_viz", "memray")


def made(ctx, name, argv, heap, checkpoints):
    """The trace of that name in BENCH_TRACES, or a new one."""
    kept = os.path.join(os.environ.get("BENCH_TRACES", ""), f"{name}.mled")
    if os.path.isabs(kept) and os.path.exists(kept):
        return kept
    trace = ctx.file(f"{name}.mled")
    run(ctx.recorded(trace, [ctx.program(argv[0])] + [str(a) for a in argv[1:]], heap=heap,
                     options=["--checkpoints=" + ("always" if checkpoints else "never")]))
    return trace


# Types of blocks: docs/trace-format.md
CHECKPOINT_TYPES = (3, 5, 6, 7, 8, 9, 11, 13)


def checkpoint_percent(trace):
    """What checkpoints and pyramids add to the file."""
    added = others = 0
    with open(trace, "rb") as f:
        offset, end = 64, os.path.getsize(trace)
        while offset + 48 <= end:
            f.seek(offset)
            head = f.read(48)
            if head[:4] != b"MLBK":
                break
            length = 48 + int.from_bytes(head[8:12], "little")
            added, others = (added + length, others) if head[4] in CHECKPOINT_TYPES else (added, others + length)
            offset += length
    return 100 * added / others


def browse(ctx, *words, cache=None):
    """@return what view_browser.mjs prints"""
    env = dict(os.environ, PAGE=str(ctx.build / "web/page"), LIMIT_S=str(other_pages.LIMIT_S))
    if cache:
        env["XDG_CACHE_HOME"] = cache
    done = subprocess.run(["node", HERE / "view_browser.mjs", *map(str, words)], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Failed("view_browser.mjs: " + done.stderr[-600:])
    return json.loads(done.stdout)


def times(values):
    return "%.0f / %.0f" % (statistics.median(values), max(values)) if values else "–"


def mib(found, name):
    return "%.0f" % found[name] if name in found else "–"


def line(r, name, events, found, later="–", server="–", added="–"):
    r.line(name, events, "%.2f" % (found["first_ms"] / 1000), later, times(found["zooms"]),
           times(found.get("instants")), mib(found, "heap_mib"), mib(found, "renderer_mib"), server, added)
    r.data[name] = found


def summaries(ctx, r, name, trace):
    """Ten random instants."""
    end_ns = json.loads(run([ctx.memledger, "plot", "--json", "--width=300", trace]).text)["end_ns"]
    found = random.Random(4)
    times_s = []
    for _ in range(10):
        start = time.monotonic()
        run([ctx.memledger, "summary", f"--at={found.randrange(end_ns)}ns", trace])
        times_s.append(time.monotonic() - start)
    r.data[f"{name}, summary --at"] = times_s
    r.note("%s: summary --at, ten random instants: %.0f ms, at most %.0f ms" % (
        name, 1000 * statistics.median(times_s), 1000 * max(times_s)))


def view_rows(ctx, r):
    training = ["bench_training", "--steps", ctx.sizes["view_steps"]]
    malloc = ["bench_malloc", "--events", ctx.sizes["view_events"]]
    long_training = ["bench_training", "--steps", ctx.sizes["view_long_steps"]]
    for name, argv, heap, checkpoints in (
            ("training-10m", training, False, True),
            ("malloc-10m", malloc, True, True),
            ("training-100m", long_training, False, True),
            ("malloc-100m", ["bench_malloc", "--slots", 2_000_000, "--events", ctx.sizes["view_long_events"]], True, True),
            ("training-10m-plain", training, False, False),
            ("malloc-10m-plain", malloc, True, False),
            ("training-100m-plain", long_training, False, False)):
        if name not in ctx.only_pages:
            continue
        trace, cache = made(ctx, name, argv, heap, checkpoints), ctx.file("view-cache")
        questions = ctx.sizes["view_questions"] if checkpoints else 1
        found = browse(ctx, "view", ctx.memledger, trace, questions, cache=cache)
        again = browse(ctx, "view", ctx.memledger, trace, 1, cache=cache)
        if name.endswith("-100m"):
            summaries(ctx, r, name, trace)
        events = json.loads(run([ctx.memledger, "summary", "--json", trace]).text)["events"]
        line(r, f"memledger, {name}", count(events), found, "%.2f" % (again["first_ms"] / 1000),
             "%.0f" % found["server_mib"], "%.1f" % checkpoint_percent(trace))
        shutil.rmtree(cache, ignore_errors=True)


def row(ctx):
    r = Row("view", "In Chromium, 1280×720: from the start of memledger view, or of opening the page, to the "
            "first picture",
            ["", "events", "first, s", "later, s", "zoom, ms: median / worst", "instant, ms: median / worst",
             "JS heap, MiB", "renderer, MiB", "server, MiB", "checkpoints, % of file"])
    if not (ctx.build / "web/page/node_modules").exists() or not shutil.which("chromium"):
        raise Failed("the page was not built here, or there is no chromium")
    view_rows(ctx, r)
    for name, measure in (("memory_viz", other_pages.viz), ("memray", other_pages.memray)):
        found = measure(ctx, r, browse) if name in ctx.only_pages else None
        if found:
            line(r, "%s, page of %s" % (name, size(found["page_bytes"])), count(found["entries"]), found)
    r.note("plain: without checkpoints in the trace; first: with an empty cache folder; later: once more; %d random zooms and instants each, until painted; "
           "other pages: wheel or clicks" % ctx.sizes["view_questions"])
    return r
