#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU time of the commands behind the page's zooms and instants, for a machine that is not quiet.

Usage: question_cpu.py MEMLEDGER TRACE...

The questions are those of view_probe.py, without the server. The trace should have checkpoints.
"""
import json
import os
import random
import statistics
import subprocess
import sys

from view_probe import QUESTIONS, WIDTH, windows


def cpu_s(argv):
    """@return CPU seconds of the command; a refusal, such as that of calls without stacks, is an answer"""
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return usage.ru_utime + usage.ru_stime


def line(name, questions):
    """@questions  [argv]"""
    times = sorted((cpu_s(argv), argv) for argv in questions)
    seconds = [t for t, _ in times]
    return "%s: median %.1f ms, worst %.1f ms (%s)" % (
        name, 1000 * statistics.median(seconds), 1000 * seconds[-1], " ".join(times[-1][1][1:-1]))


def main():
    memledger, *traces = sys.argv[1:]
    for trace in traces:
        numbers = random.Random(1)
        head = json.loads(subprocess.check_output([memledger, "plot", "--json", "--width=300", trace]))
        end_ns = head["end_ns"]
        zooms = [[memledger, "plot", "--json", "--width=%d" % WIDTH, "--by=" + numbers.choice(["category", "module"]),
                  "--from=" + window["from"], "--to=" + window["to"], trace] for window in windows(numbers, end_ns)]
        instants = ["--at=%dns" % numbers.randrange(end_ns) for _ in range(QUESTIONS)]
        print(os.path.basename(trace))
        print("  " + line("first timeline", [[memledger, "plot", "--json", "--width=%d" % WIDTH, trace]] * 10))
        print("  " + line("zooms", zooms))
        print("  " + line("instants", [[memledger, "tree", "--json", "--min=0", at, trace] for at in instants]))
        print("  " + line("their calls", [[memledger, "tree", "--json", "--by=callees", at, trace]
                                          for at in instants[:20]]), flush=True)


if __name__ == "__main__":
    main()
