# SPDX-License-Identifier: Apache-2.0
"""The page of `memledger view` in Chromium, beside PyTorch's memory_viz and memray's flame graph."""
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time

from bench_context import HERE
from bench_run import Failed, run
from bench_table import Row, count, size

LIMIT_S = 60  # for a page of another tool
NAMES = ("training-10m", "malloc-10m", "training-100m", "malloc-100m", "training-10m-plain", "malloc-10m-plain",
         "training-100m-plain", "memory_viz", "memray")
VIZ_URL = "https://cdn.jsdelivr.net/gh/pytorch/pytorch@main/torch/utils/viz/MemoryViz.js"


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
    env = dict(os.environ, PAGE=str(ctx.build / "web/page"), LIMIT_S=str(LIMIT_S))
    if cache:
        env["XDG_CACHE_HOME"] = cache
    done = subprocess.run(["node", HERE / "view_browser.mjs", *map(str, words)], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Failed("view_browser.mjs: " + done.stderr[-600:])
    return json.loads(done.stdout)


def times(values):
    return "%.0f / %.0f" % (statistics.median(values), max(values)) if values else "–"


def line(r, name, events, found, later="–", server="–", added="–"):
    r.line(name, events, "%.2f" % (found["first_ms"] / 1000), later, times(found["zooms"]),
           times(found.get("instants")), "%.0f" % found["heap_mib"], "%.0f" % found["renderer_mib"], server, added)
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


# ---- Other tools -------------------------------------------------------------


def largest(ctx, r, name, kind, first, make):
    """The largest page that opens within the limit: each has twice as many entries as the one before.
    @make  a page of so many entries"""
    best = None
    for events in (first << i for i in range(ctx.sizes["view_doublings"])):
        page = make(events)
        found = browse(ctx, "page", page, kind, ctx.sizes["view_questions"] // 10 or 1)
        print("%s, %s entries: %s" % (name, count(events), found.get("failed") or "%.1f s" % (found["first_ms"] / 1000)),
              file=sys.stderr, flush=True)  # a limit on the whole run loses the row, not this
        r.data.setdefault(f"{name}, all", []).append({"events": events, "page_bytes": os.path.getsize(page), **found})
        if "failed" in found:
            r.note("%s: a page of %s with %s entries did not open within %d s" % (
                name, size(os.path.getsize(page)), count(events), LIMIT_S))
            break
        best = (events, os.path.getsize(page), found)
        os.remove(page)
    if best:
        line(r, "%s, page of %s" % (name, size(best[1])), count(best[0]), best[2])


def viz_script(ctx):
    """MemoryViz.js with d3 as one file; None: PyTorch's packages do not contain it."""
    source = os.environ.get("MEMORY_VIZ")
    if not source or not os.path.exists(os.path.join(source, "MemoryViz.js")):
        return None
    folder = ctx.file("memory_viz")
    shutil.copytree(source, folder)
    with open(os.path.join(folder, "MemoryViz.js"), encoding="utf-8") as f:
        packages = re.findall(r"https:[^\"]*/(d3[a-z-]*@\d+)", f.read())
    run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--silent", *packages])
    output = ctx.file("viz.js")
    run(["node", HERE / "viz_bundle.mjs", folder, output],
        env=dict(os.environ, PAGE=str(ctx.build / "web/page")))
    with open(output, encoding="utf-8") as f:
        return f.read()


def viz_page(ctx, script, entries):
    snapshot, page = ctx.file("view.pickle"), ctx.file("viz.html")
    run([sys.executable, HERE / "snapshot_maker.py", entries, snapshot])
    run([ctx.torch_python, "-m", "torch.cuda._memory_viz", "trace_plot", snapshot, "-o", page])
    with open(page, encoding="utf-8") as f:
        text = f.read()
    # A file may not load a module beside it, so that the script becomes a part of the page.
    start = text.index("import {add_local_files}")
    head = text[:start] + script.replace("</script", "<\\/script") + "\n"
    if VIZ_URL not in text:
        raise Failed("another memory_viz: its page does not name " + VIZ_URL)
    with open(page, "w", encoding="utf-8") as f:
        f.write(head + text[text.index("\n", start):])
    return page


def viz_rows(ctx, r):
    script = viz_script(ctx)
    if script is None:
        r.note("memory_viz: not measured; MEMORY_VIZ names the folder torch/utils/viz of PyTorch's source")
        return
    largest(ctx, r, "memory_viz", "memory_viz", ctx.sizes["view_snapshot"], lambda n: viz_page(ctx, script, n))


def with_packages(ctx, page):
    """Scripts and styles of a CDN become files beside the page, from npm."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    folder = ctx.file("cdn")
    links = re.findall(r"https://cdn\.jsdelivr\.net/npm/([^@\"]+@[^/\"]+)/([^\"]+)", text)
    if not os.path.exists(folder):
        os.makedirs(folder)
        run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--silent", "--legacy-peer-deps",
             *sorted({package for package, _ in links})])
    for package, path in links:
        name = package.split("@")[0]
        text = text.replace(f"https://cdn.jsdelivr.net/npm/{package}/{path}", f"cdn/node_modules/{name}/{path}")
    text = re.sub(r' integrity="[^"]*"| crossorigin="[^"]*"', "", text)
    with open(page, "w", encoding="utf-8") as f:
        f.write(text)


def memray_page(ctx, stacks):
    trace, page = ctx.file("stacks.bin"), ctx.file("memray.html")
    run([ctx.memray, "run", "-q", "-f", "-o", trace, HERE / "many_stacks.py", stacks])
    run([ctx.memray, "flamegraph", "-f", "-o", page, trace])
    with_packages(ctx, page)
    return page


def memray_rows(ctx, r):
    if not ctx.memray:
        r.note("memray: not installed")
        return
    largest(ctx, r, "memray flamegraph, stacks", "memray", ctx.sizes["view_stacks"], lambda n: memray_page(ctx, n))


def row(ctx):
    r = Row("view", "In Chromium, 1280×720: from the start of memledger view, or of opening the page, to the "
            "first picture",
            ["", "events", "first, s", "later, s", "zoom, ms: median / worst", "instant, ms: median / worst",
             "JS heap, MiB", "renderer, MiB", "server, MiB", "checkpoints, % of file"])
    if not (ctx.build / "web/page/node_modules").exists() or not shutil.which("chromium"):
        raise Failed("the page was not built here, or there is no chromium")
    view_rows(ctx, r)
    if "memory_viz" in ctx.only_pages:
        viz_rows(ctx, r)
    if "memray" in ctx.only_pages:
        memray_rows(ctx, r)
    r.note("plain: without checkpoints in the trace; first: with an empty cache folder; later: once more; %d random zooms and instants each, until painted; "
           "other pages: wheel or clicks" % ctx.sizes["view_questions"])
    return r
