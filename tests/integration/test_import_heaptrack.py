#!/usr/bin/env python3
# test_import_heaptrack.py: heaptrack's files as traces.
#
# SPDX-License-Identifier: Apache-2.0
import gzip
import json
import os
import subprocess

import harness
from harness import MEMLEDGER, check, contains, equal, plain, report

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "heaptrack")
SMALL = """v 10400 3
X ./program --fast
I 1000 5e27ec
s 12 /usr/bin/program
s 4 main
s 8 source.c
s 5 inner
i 1000 1 2 3 1e
t 1 0
i 2000 1 4 3 a 2 3 14
t 2 1
a 64 2
c a
+ 0
+ 0
c 14
- 0
+ 0
"""


def imported(name, *options):
    done = plain(MEMLEDGER, "import", "-q", "-f", "-o", "t.mled", *options, name)
    equal(done.returncode, 0, f"import of {name}", done.stderr)
    return "t.mled"


def refused(text, words):
    with open("bad", "w") as file:
        file.write(text)
    done = plain(MEMLEDGER, "import", "-f", "-o", "t.mled", "--format", "heaptrack", "bad")
    equal(done.returncode, 1, "exit code", done.stderr)
    contains(done.stderr, words, "the error")


def test_figures():
    """To the byte those of heaptrack."""
    with open(os.path.join(DATA, "sqlite3.truth.json")) as file:
        truth = json.load(file)
    trace = imported(os.path.join(DATA, "sqlite3.zst"))
    summary = report("summary", trace)
    for key in ("allocations", "peak_bytes", "never_freed_bytes"):
        equal(summary[key], truth[key], key)
    equal(summary["health"]["unknown_frees"], 0, "unknown frees")
    found = plain(MEMLEDGER, "export", "--format", "speedscope", "-o", "-", trace).stdout
    exported = json.loads(found)
    graph = next(p for p in exported["profiles"] if p["name"] == "stacks")
    functions = {}
    for sample, weight in zip(graph["samples"], graph["weights"]):
        name = exported["shared"]["frames"][sample[-1]]["name"].partition("+0x")[0]
        functions[name] = functions.get(name, 0) + weight
    equal(functions, truth["functions_at_peak"], "functions at the peak")


def test_frames():
    with open("small", "w") as file:
        file.write(SMALL)
    events = report("events", imported("small"), "--kind", "alloc")["events"]
    stack = [(f["function"], f["line"], f["library"]) for f in events[0]["stack"]]
    program = "/usr/bin/program"
    equal(stack, [("inner", 10, program), ("main", 20, program), ("main", 30, program)], "the stack")
    equal([(e["time_ns"], e["bytes"]) for e in events],
          [(10_000_000, 100), (10_000_000, 100), (20_000_000, 100)], "events")
    equal(report("summary", "t.mled")["command"], "./program --fast", "the command")


def test_compressed():
    with gzip.open("small.gz", "wt") as file:
        file.write(SMALL)
    with open("small", "w") as file:
        file.write(SMALL)
    subprocess.run(["zstd", "-q", "small"], check=True)
    for name in ("small.gz", "small.zst"):
        equal(report("summary", imported(name))["allocations"], 3, name)
    with open("small.zst", "rb") as file:
        whole = file.read()
    for what, data in (("truncated", whole[:-9]), ("damaged", whole[:20] + b"\xff" * 9 + whole[29:])):
        with open("bad.zst", "wb") as file:
            file.write(data)
        done = plain(MEMLEDGER, "import", "-f", "-o", "t.mled", "bad.zst")
        equal(done.returncode, 1, what, done.stdout)
        check("zstd data is" in done.stderr, what, done.stderr)


def test_bad_files():
    refused("v 10400 3\nX a\nm /usr/bin/a 1000 2000\n", "heaptrack --interpret")
    refused("v 10400 4\nX a\n", "newer than 3")
    refused("v 10400 3\nX a\n+ 0\n+ 0\n", "line 3: damaged")
    refused("v 10400 3\nX a\na fffffffffffffff 0\n+ 0\n", "1 PiB")
    with open("cut", "w") as file:
        file.write(SMALL + "a 1")
    equal(report("summary", imported("cut"))["allocations"], 3, "a file that is cut off")


harness.main(globals())
