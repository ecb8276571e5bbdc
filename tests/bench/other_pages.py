# SPDX-License-Identifier: Apache-2.0
"""The largest pages of PyTorch's memory_viz and of memray's flame graph that a browser opens.

A search starts with pages that open quickly and doubles their entries. It is limited: each command that makes a page
has LIMIT_S seconds, the browser has LIMIT_S to paint it, and no size begins that would take the search beyond SEARCH_S.
build/bench/pages.json keeps the result of each size; --go-on begins after those.
"""
import json
import os
import re
import shutil
import sys
import time

from bench_context import HERE
from bench_run import Failed, run
from bench_table import count, size

LIMIT_S = 60
SEARCH_S = 220
GROWTH = 2.2  # of the time for twice the entries
VIZ_URL = "https://cdn.jsdelivr.net/gh/pytorch/pytorch@main/torch/utils/viz/MemoryViz.js"


def within_limit(argv, **options):
    """Runs a command that makes a page."""
    return run(["timeout", "--kill-after=5", LIMIT_S, *argv], **options)


# ---- The search --------------------------------------------------------------


class Kept:
    """What was found, in a file: a limit on the whole run, or Ctrl-C, loses nothing."""

    def __init__(self, ctx, name):
        self.path, self.name = ctx.build / "bench" / "pages.json", name
        self.all = json.loads(self.path.read_text()) if self.path.exists() else {}
        if not ctx.go_on:
            self.all[name] = []

    @property
    def sizes(self):
        return self.all.setdefault(self.name, [])

    def add(self, found):
        self.sizes.append(found)
        self.path.write_text(json.dumps(self.all, indent=2) + "\n")


def say(name, found):
    result = found.get("failed") or "%.1f s" % (found["first_ms"] / 1000)
    print("%s, %s entries, page of %s: %s" % (name, count(found["entries"]), size(found["page_bytes"]), result),
          file=sys.stderr, flush=True)


def open_page(ctx, browse, kind, entries, make):
    """@return the measurements of a page with so many entries"""
    start = time.monotonic()
    try:
        page = make(entries)
    except Failed as problem:
        return {"entries": entries, "page_bytes": 0, "failed": "the page was not made: %s" % str(problem)[:200]}
    found = browse(ctx, "page", page, kind, ctx.sizes["view_questions"] // 10 or 1)
    return {"entries": entries, "page_bytes": os.path.getsize(page), "took_s": time.monotonic() - start, **found}


def largest(ctx, r, browse, kind, first, make):
    """The largest page that opens within the limit.
    @make  a page of so many entries"""
    kept, start = Kept(ctx, kind), time.monotonic()
    done, tried = [found["entries"] for found in kept.sizes], 0
    for entries in (first << i for i in range(ctx.sizes["view_doublings"])):
        if entries in done:
            continue
        if any("failed" in found for found in kept.sizes):
            break
        if tried and time.monotonic() - start + GROWTH * kept.sizes[-1]["took_s"] > SEARCH_S:
            r.note("%s: larger pages were not tried: the search would take more than %d s; --go-on continues it" % (
                kind, SEARCH_S))
            break
        tried += 1
        kept.add(open_page(ctx, browse, kind, entries, make))
        say(kind, kept.sizes[-1])
    r.data[f"{kind}, all"] = kept.sizes
    for found in kept.sizes:
        if "failed" in found:
            r.note("%s: a page of %s with %s entries did not open: %s" % (
                kind, size(found["page_bytes"]), count(found["entries"]), found["failed"]))
    opened = [found for found in kept.sizes if "failed" not in found]
    return max(opened, key=lambda found: found["entries"], default=None)


# ---- memory_viz --------------------------------------------------------------


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
    within_limit([sys.executable, HERE / "snapshot_maker.py", entries, snapshot])
    within_limit([ctx.torch_python, "-m", "torch.cuda._memory_viz", "trace_plot", snapshot, "-o", page])
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


def viz(ctx, r, browse):
    script = viz_script(ctx)
    if script is None:
        r.note("memory_viz: not measured; MEMORY_VIZ names the folder torch/utils/viz of PyTorch's source")
        return None
    return largest(ctx, r, browse, "memory_viz", ctx.sizes["view_snapshot"], lambda n: viz_page(ctx, script, n))


# ---- memray ------------------------------------------------------------------


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
    within_limit([ctx.memray, "run", "-q", "-f", "-o", trace, HERE / "many_stacks.py", stacks])
    within_limit([ctx.memray, "flamegraph", "-f", "-o", page, trace])
    with_packages(ctx, page)
    return page


def memray(ctx, r, browse):
    if not ctx.memray:
        r.note("memray: not installed")
        return None
    memray_page(ctx, 1000)  # brings the packages, which are no part of the search
    return largest(ctx, r, browse, "memray", ctx.sizes["view_stacks"], lambda n: memray_page(ctx, n))
