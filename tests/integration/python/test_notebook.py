#!/usr/bin/env python3
# test_notebook.py: a trace in a real Jupyter kernel: it shows itself, and answers as the command does.
#
# Needs the network for nbclient.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import subprocess
import sys

import harness
import pypi
from harness import MEMLEDGER, check, contains, equal, plain, program, run

SOURCE = os.environ["TEST_SOURCE"]
GPT = os.path.join(SOURCE, "tests", "golden", "traces", "gpt.mled")
REQUIREMENTS = os.path.join(SOURCE, "scripts", "requirements-notebook.txt")
sys.path.insert(0, os.environ["TEST_PACKAGE"])
import memledger  # noqa: E402: the one that was built

# Runs cells in a kernel, and prints the data of their results.
RUNS_CELLS = """
import json, sys, nbclient
from nbformat.v4 import new_code_cell, new_notebook
cells = json.load(open("cells.json"))
book = new_notebook(cells=[new_code_cell(cell) for cell in cells])
nbclient.NotebookClient(book, timeout=None, kernel_name="python3").execute()
json.dump([[output.get("data") for output in cell.outputs] for cell in book.cells], sys.stdout)
"""


def run_cells(*cells):
    """The data of each cell's last result, by media type."""
    folder = pypi.environment(REQUIREMENTS, os.path.join(os.environ["PYPI_FOLDER"], "notebook"))
    with open("cells.json", "w") as f:
        json.dump([f"import sys; sys.path.insert(0, {os.environ['TEST_PACKAGE']!r})", *cells], f)
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    done = plain(os.path.join(folder, "bin", "python"), "-c", RUNS_CELLS,
                 env={**env, "PATH": f"{folder}/bin:{env['PATH']}", "JUPYTER_PLATFORM_DIRS": "1",
                      "IPYTHONDIR": os.path.abspath("ipython"), "HOME": os.getcwd()})
    equal(done.returncode, 0, "the notebook", done.stderr[-3000:])
    return [outputs[-1] if outputs else None for outputs in json.loads(done.stdout)][1:]


def answer(*arguments):
    done = plain(MEMLEDGER, *arguments)
    equal(done.returncode, 0, arguments, done.stderr)
    return json.loads(done.stdout)


def test_in_a_kernel():
    _, trace, tree, picture, page, error = run_cells(
        f"import memledger; trace = memledger.read({GPT!r})", "trace", "trace.tree()",
        "trace.plot(by='module', width=700)", "trace.view()",
        "try:\n    trace.tree(at='step:99')\nexcept memledger.TraceError as e:\n    text = str(e)\ntext")
    summary = answer("summary", "--json", GPT)
    html = trace["text/html"]
    contains(html, "python3 gpt.py", "the command of the run")
    contains(html, f'title="{summary["by_category"][0]["at_peak_bytes"]:,} bytes"', "a category")
    contains(html, 'src="data:image/svg+xml;base64,', "the picture")
    contains(tree["text/html"], "layers.0", "the tree")
    contains(picture["text/html"], "data:image/svg+xml", "the plot")
    contains(page["text/html"], 'sandbox="allow-scripts"', "the page")
    contains(error["text/plain"], "there is no step 99", "the reason")
    look_at(page["text/html"])


def look_at(html):
    folder, browser = os.environ.get("WEB_FOLDER", ""), shutil.which("chromium")
    if not browser or not os.path.isdir(os.path.join(folder, "node_modules", "playwright-core")):
        return
    with open("framed.html", "w", encoding="utf-8") as f:
        f.write(f"<!doctype html><meta charset=utf-8><body>{html}")
    done = subprocess.run(["node", "tests/browser/framed.mjs", os.path.abspath("framed.html")],
                          cwd=folder, env={**os.environ, "CHROMIUM": browser}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=harness.PATIENCE_S)
    equal(done.returncode, 0, "the page in a frame", done.stdout)


def test_answers_are_the_commands():
    trace = memledger.read(GPT)
    equal(trace.tree(at="end"), answer("tree", "--json", "--min=0", "--at=end", GPT)["rows"], "tree")
    equal(trace.table(["label", "category"], at="step:1"),
          answer("table", "--json", "--by=label,category", "--at=step:1", "--top=1000", GPT)["groups"],
          "table")
    plain(MEMLEDGER, "plot", "-o", "x.svg", "--kind=icicle", GPT)
    with open("x.svg", encoding="utf-8") as f:
        equal(trace.plot("icicle").svg, f.read(), "plot")
    os.environ["MEMLEDGER_AT"] = "end"
    try:
        equal(trace.table()[0], answer("table", "--json", "--at=peak", GPT)["groups"][0], "at the peak")
    finally:
        del os.environ["MEMLEDGER_AT"]


def test_names_are_text():
    hostile = "<script>alert(1)</script>\"'"
    run(program("odd_names"), hostile, trace="odd.mled")
    trace = memledger.read("odd.mled")
    for html in (trace._repr_html_(), trace.tree()._repr_html_(),
                 trace.table("label")._repr_html_(), trace.view(inline=True)._repr_html_()):
        check("<script" not in html, "a name became markup", re.findall("<script.{,80}", html))


def test_a_trace_without_allocations():
    run("true", trace="empty.mled")
    contains(memledger.read("empty.mled")._repr_html_(), "allocations", "the summary")


def test_the_server():
    os.environ["PATH"] = os.path.abspath("none") + ":" + os.environ["PATH"]
    os.makedirs("none")
    with open("none/xdg-open", "w") as f:
        f.write("#!/bin/sh\n")
    os.chmod("none/xdg-open", 0o755)
    viewer = memledger.read(GPT).view(inline=False)
    contains(viewer.address, "http://127.0.0.1:", "the address")
    viewer.close()
    equal(viewer._process.returncode, 0, "its exit code")


harness.main(globals())
