#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure two builds of memledger side by side: is the second slower than the first?

    two_builds.py OLD NEW          build folders, each with tests/bench

Both builds run the same program in turn, old new old new, so that noise hits both. The ratio is
that of neighbouring runs: its median, and the range of the middle half.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

from bench_run import run
from bench_table import table


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=15, help="runs of each build (15)")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--only", default="", metavar="TEXT", help="rows that contain this text")
    return parser.parse_args()


class Build:
    def __init__(self, folder, scratch):
        self.folder = folder.resolve()
        self.trace = scratch + ".mled"
        self.heap_trace = scratch + "-heap.mled"  # which the reports read
        self.memledger = str(self.folder / "src/cli/memledger")

    def program(self, name):
        return str(self.folder / "tests/bench" / name)

    def record(self, *argv, options=(), trace=None):
        return run([self.memledger, "run", "-q", "-f", "-o", trace or self.trace, *options, "--",
                    *argv])


def per_event(done, ns):
    return ns / (done.out.get("events") or done.out["reported"])


def rows(events):
    """(what, unit, what is run, the value of such a run)"""
    def api(threads):
        return lambda b: b.record(b.program("bench_events"), "--threads", threads,
                                  "--events", events // threads)

    def heap(b):
        return b.record(b.program("bench_malloc"), "--events", events // 2, options=["--heap"],
                        trace=b.heap_trace)

    def stacks(callers, varies):
        return lambda b: b.record(b.program("bench_malloc"), "--events", events // 2, "--depth",
                                  callers, "--varies", varies,
                                  options=["--heap", "--stacks", "native", "--sample-hz", "0"])

    def samples(b):
        return b.record(b.program("bench_malloc"), "--events", events // 2,
                        options=["--heap=sample", "--stacks", "native"])

    def program_cpu(done):
        return per_event(done, done.out["self_cpu_ns"])

    def thread_cpu(done):
        return per_event(done, done.out["thread_cpu_ns"] * done.out["threads"])

    def collector(done):
        return per_event(done, done.beside_cpu_s * 1e9)

    def wall_ms(done):
        return done.wall_s * 1e3

    def report(*arguments):
        def measured(b):
            if not os.path.exists(b.heap_trace):  # --only has left its row out
                heap(b)
            return run([b.memledger, *arguments, b.heap_trace])
        return measured

    true = shutil.which("true")
    return [
        ("API event, 1 thread: thread CPU", "ns", api(1), thread_cpu),
        ("API event, 1 thread: collector CPU", "ns", api(1), collector),
        ("API event, 4 threads: thread CPU", "ns", api(4), thread_cpu),
        ("API event, 4 threads: collector CPU", "ns", api(4), collector),
        ("malloc and free: whole run", "ms", heap, wall_ms),
        ("malloc and free: collector CPU", "ns", heap, collector),
        ("summary of malloc and free", "ms", report("summary"), wall_ms),
        ("table of malloc and free", "ms", report("table", "--by", "scope"), wall_ms),
        ("with stacks, 3 callers, one path: program CPU", "ns", stacks(3, 0), program_cpu),
        ("with stacks, 3 callers, one path: collector CPU", "ns", stacks(3, 0), collector),
        ("with stacks, 3 callers, eight paths: program CPU", "ns", stacks(3, 1), program_cpu),
        ("with stacks, 3 callers, eight paths: collector CPU", "ns", stacks(3, 1), collector),
        ("with stacks, 40 callers, one path: program CPU", "ns", stacks(40, 0), program_cpu),
        ("with stacks, 40 callers, one path: collector CPU", "ns", stacks(40, 0), collector),
        ("malloc and free, samples: program CPU", "ns", samples, program_cpu),
        ("run true", "ms", lambda b: b.record(true), wall_ms),
        ("run --heap true", "ms", lambda b: b.record(true, options=["--heap"]), wall_ms),
    ]


def measure(old, new, times, what):
    return [(what(old), what(new)) for _ in range(times)]


def say_progress(text):
    if sys.stderr.isatty():
        print("\r" + text, end="\033[K", flush=True, file=sys.stderr)


def quartiles(values):
    return statistics.quantiles(values, n=4)[0::2]


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as scratch:
        old, new = (Build(folder, os.path.join(scratch, name))
                    for name, folder in (("old", arguments.old), ("new", arguments.new)))
        lines, known = [], {}
        for name, unit, what, value in rows(arguments.events):
            if arguments.only not in name:
                continue
            key = name.split(":")[0]
            if key not in known:
                known[key] = measure(old, new, arguments.times, what)
            pairs = [(value(a), value(b)) for a, b in known[key]]
            ratios = [b / a for a, b in pairs]
            low, high = quartiles(ratios)
            lines.append([name, "%.1f" % statistics.median(a for a, _ in pairs),
                          "%.1f" % statistics.median(b for _, b in pairs), unit,
                          "%.2f" % statistics.median(ratios), "%.2f – %.2f" % (low, high)])
            say_progress(name)
    say_progress("")
    print("%d runs of each build, in turn" % arguments.times)
    print("\n".join(table(["", "old", "new", "unit", "new/old", "middle half"], lines)))


main()
