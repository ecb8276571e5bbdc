#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sample_errors.py: how often the errors that --heap=sample states hold.

Records git, sqlite3 and Python many times with samples and once in full, and counts how often the
full figure is within one and within two standard errors of the estimate: for the totals, and for
each stack that has a sample. Three programs that do the same in each run are enough; their
samples differ.

    sample_errors.py [--memledger FILE] [--runs 200] [--bytes 512KiB] [--program NAME]
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import equal_programs

FIGURES = ("allocated_bytes", "leaked_bytes", "calls")
ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ("import json, re\n"
          "rows = [{'key': i, 'text': str(i) * 3} for i in range(20000)]\n"
          "text = json.dumps(rows)\n"
          "print(len(re.findall('7+', text)), len(json.loads(text)))\n")


def programs():
    """{name: (command, standard input)}"""
    return {"git": (["git", "-C", str(ROOT), "--no-pager", "log", "--stat", "-n", "300"], ""),
            "sqlite3": (["sqlite3", ":memory:"], equal_programs.SQL),
            "python": ([sys.executable, "-c", PYTHON], "")}


def record(options, heap, program):
    command, text = program
    trace = os.path.join(options.folder, "errors.mled")
    subprocess.run([options.memledger, "run", "-q", "-f", "-o", trace, "--sample-hz=0",
                    f"--heap={heap}", "--stacks=native", "--checkpoints=never", "--", *command],
                   check=True, input=text.encode(), stdout=subprocess.DEVNULL,
                   env=dict(os.environ, PYTHONHASHSEED="0", PYTHONMALLOC="malloc"))
    return trace


def figures(options, trace):
    """(totals, {stack: its figures}, health)"""
    out = subprocess.run([options.memledger, "table", trace, "--by", "stack", "--of", "allocated",
                          "-n", "1000000", "--json"], check=True, capture_output=True)
    report = json.loads(out.stdout)
    # Stacks whose frames have the same names are one.
    stacks = {}
    for group in report["groups"]:
        stacks.setdefault(group["stack"], []).append(group)
    return report["total"], stacks, report.get("health", {})


def add(tally, figure, wanted, estimate, error):
    off = abs(estimate - wanted)
    tally[figure, "all"] += 1
    tally[figure, "one"] += off <= error + 1
    tally[figure, "two"] += off <= 2 * error + 1


def compare(tally, truth, found):
    total, stacks, _ = found
    for figure in FIGURES:
        add(tally, "total " + figure, truth[0][figure], total[figure],
            total.get("standard_error", {}).get(figure, 0))
    health = found[2]
    if "peak_bytes" in health:
        add(tally, "total peak_bytes", truth[0]["peak_bytes"], health["peak_bytes"],
            health["peak_standard_error_bytes"])
    for name, groups in stacks.items():
        for figure in FIGURES:
            wanted = sum(group[figure] for group in truth[1].get(name, ()))
            error = sum(g["standard_error"][figure] ** 2 for g in groups) ** 0.5
            add(tally, "stack " + figure, wanted, sum(g[figure] for g in groups), error)


def print_tally(name, runs, tally):
    print("%s, %d runs" % (name, runs))
    for figure in sorted({key for key, _ in tally}):
        everything = tally[figure, "all"]
        print("  %-24s %8d estimates  %5.1f %% within the error  %5.1f %% within twice the error"
              % (figure, everything, 100 * tally[figure, "one"] / everything,
                 100 * tally[figure, "two"] / everything))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memledger", default=str(ROOT / "build/src/cli/memledger"))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--bytes", default="512KiB")
    parser.add_argument("--program", action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as options.folder:
        for name, program in programs().items():
            if options.program and name not in options.program:
                continue
            truth = figures(options, record(options, "malloc", program))
            tally = collections.Counter()
            for _ in range(options.runs):
                compare(tally, truth,
                        figures(options, record(options, "sample:" + options.bytes, program)))
            print_tally(name, options.runs, tally)


if __name__ == "__main__":
    main()
