#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure memledger beside the same programs alone, memray and heaptrack.

Prints tables and ratios and writes all figures as JSON. Nothing passes or fails
by time; the exit status is 1 only when a program broke or events are missing
without being counted as lost. docs/benchmarks.md says what each row means.
"""
import argparse
import json
import sys
import time

import real_programs
import row_analysis
import row_attach
import row_bounds
import row_collector
import row_crowd
import row_disk
import row_equal
import row_event
import row_heap
import row_mxnet
import row_programs
import row_import
import row_instant
import row_lines
import row_live
import row_python
import row_read
import row_server
import row_stacks
import row_start
import row_switched
import row_threads
import row_torch
import row_view
from bench_context import Context, describe
from bench_run import Failed
from bench_table import ratio_table

ROWS = {
    "event": row_event.row,
    "threads": row_threads.row,
    "crowd": row_crowd.row,
    "heap": row_heap.row,
    "stacks": row_stacks.row,
    "programs": row_programs.row,
    "bounds": row_bounds.row,
    "python": row_python.row,
    "lines": row_lines.row,
    "disk": row_disk.row,
    "read": row_read.row,
    "analysis": row_analysis.row,
    "instant": row_instant.row,
    "server": row_server.row,
    "live": row_live.row,
    "attach": row_attach.row,
    "collector": row_collector.row,
    "start": row_start.row,
    "equal": row_equal.row,
    "torch": row_torch.row,
    "switched": row_switched.row,
    "mxnet": row_mxnet.row,
    "import": row_import.row,
    "view": row_view.row,
}

MALLOC_ROWS = ("stacks", "programs", "bounds")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true",
                        help="few events, one run each: does it work? The figures mean nothing")
    parser.add_argument("--only", metavar="NAME", action="append", choices=list(ROWS),
                        help="only this row, and what it needs: " + ", ".join(ROWS))
    parser.add_argument("--malloc", action="store_true",
                        help="the rows on malloc with stacks beside heaptrack and memray, three "
                        "runs each: " + ", ".join(MALLOC_ROWS))
    parser.add_argument("--snapshot-entries", metavar="N", type=int,
                        help="how many entries the snapshot of the row import has")
    parser.add_argument("--stack-depth", metavar="N", type=int, action="append",
                        help="of the row stacks only this depth")
    parser.add_argument("--stack-threads", metavar="N", type=int, action="append",
                        help="of the row stacks only this number of threads")
    parser.add_argument("--program", metavar="NAME", action="append",
                        help="of the row programs only this: " + ", ".join(real_programs.NAMES))
    parser.add_argument("--page", metavar="NAME", action="append",
                        help="of the row view only this: " + ", ".join(row_view.NAMES))
    parser.add_argument("--go-on", action="store_true",
                        help="of the row view: go on after the pages of other tools that build/bench/pages.json has")
    parser.add_argument("--program-runs", metavar="N", type=int,
                        help="of the row programs so many runs alone and with samples (9)")
    parser.add_argument("--json", metavar="FILE", help="where the figures go "
                        "(build/bench/results.json)")
    return parser.parse_args()


def print_head(machine):
    print("memledger %(memledger)s beside memray %(memray)s and heaptrack %(heaptrack)s, "
          "Python %(python)s" % machine)
    print("%(cpu)s, %(cores)d cores, load %(load_before)s before, %(date)s" % machine)
    if machine["quick"]:
        print("a quick run: it shows that everything works, the figures mean nothing")


def measure(ctx, names):
    """@return rows, and how many could not be measured"""
    rows, broken = [], 0
    for name in names:
        try:
            row = ROWS[name](ctx)
        except (Failed, OSError, KeyError, ValueError) as problem:
            print("\n%s: NOT MEASURED: %s: %s" % (name, type(problem).__name__, problem),
                  flush=True)
            broken += 1
            continue
        rows.append(row)
        broken += row.broken
        print(row.text(), flush=True)
    return rows, broken


def main():
    args = parse_arguments()
    start = time.monotonic()
    ctx = Context(args.quick)
    if args.snapshot_entries:
        ctx.sizes["snapshot_entries"] = args.snapshot_entries
    if args.stack_depth:
        ctx.sizes["stack_depths"] = tuple(args.stack_depth)
    if args.stack_threads:
        ctx.sizes["stack_threads"] = tuple(args.stack_threads)
    if args.program_runs:
        ctx.sizes["program_sample_repeat"] = args.program_runs
    if args.malloc:
        ctx.sizes["stack_repeat"] = 3
    ctx.only_programs = args.program
    ctx.only_pages = args.page or row_view.NAMES
    ctx.go_on = args.go_on
    try:
        machine = describe(ctx)
        print_head(machine)
        rows, broken = measure(ctx, args.only or (MALLOC_ROWS if args.malloc else list(ROWS)))
    finally:
        ctx.close()
    ratios = ratio_table(rows)
    if ratios:
        print("\nRatios, of figures measured in turn in this run")
        print("\n".join(ratios))
    path = args.json or str(ctx.build / "bench" / "results.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"machine": machine, "rows": {r.name: r.as_json() for r in rows}}, f, indent=2)
        f.write("\n")
    print("\n%.0f s; all figures: %s" % (time.monotonic() - start, path))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
