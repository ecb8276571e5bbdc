#!/usr/bin/env python3
# test_cuda_hangs.py: driver calls that do not come back, and an NVML that does not answer. The
# program goes on, and so does its book.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import check, contains, equal, program, report, with_standin
from kernel_counts import times_asleep

MIB = 1 << 20
BLOCKS = 13 * MIB
HANGS_MS = 100 * harness.PATIENCE_S * 1000
SLEEPS_OF_WAIT = 100  # at most: READ_LIMIT_MS of cuda_nvml.c, by LOOK_NS of limited_call.c


def sizes(trace, kind):
    return [e["bytes"] for e in report("events", trace, "--kind", kind)["events"]
            if e["device"] == "cuda:0" and e["space"] == "cuda memory"]


def left(way, allocated=()):
    """@return the entries of the book at the end"""
    done = harness.run(program("cuda/cuda_left"), way, options=["-qf"],
                       env=with_standin(STANDIN_BLOCKS=BLOCKS))
    equal(done.code, 0, "exit code", done)
    equal(sizes(done.trace, "alloc"), [*allocated, 2 * MIB, 4 * MIB], "what was allocated")
    [book] = report("ledger", done.trace, "--at", "end", "--device", "cuda:0")["devices"]
    entries = {entry["name"]: entry["bytes"] for entry in book["entries"]}
    equal((book["unexplained_bytes"], book["balanced"]), (0, True), "unexplained", entries)
    return entries


def test_jump():
    """A signal handler leaves the call by siglongjmp."""
    left("jump")


def test_cancel():
    left("cancel")


def test_asynchronous_cancel():
    left("asynchronous")


def test_calls_beside():
    """The rounding of calls beside one that blocks is measured together, by the first call after it."""
    allocated = 8 * [3 * MIB]
    equal(left("beside-allocs", allocated)["rounding to pages"], 8 * MIB, "rounding of allocations")
    equal(left("beside-frees", allocated).get("rounding to pages", 0), 0, "rounding after the frees")


def test_nvml_hangs():
    """It costs one wait in the process's life, and memledger reports it."""
    env = with_standin(STANDIN_NVML_HANG_MS=HANGS_MS, STANDIN_NVML_HANG_AFTER=12)
    mib = range(1, 30)
    process = harness.start(program("cuda_steps_linked"), "init", "retain",
                            *(f"alloc:{n}M" for n in mib), "wait",
                            options=["-qf"], env=env, stdin=subprocess.PIPE)
    collector = harness.collector_of(process)
    results = [json.loads(harness.read_line(process))["result"] for _ in range(2 + len(mib))]
    equal(results, [0] * (2 + len(mib)), "results")
    [pid] = set(harness.children(process.pid)) - {collector}
    asleep = times_asleep(pid)
    process.stdin.write("\n")
    done = harness.finish(process)
    equal(done.code, 0, "exit code", done)
    equal(sizes(done.trace, "alloc"), [n * MIB for n in mib], "what was recorded")
    with open(env["STANDIN_STATE"] + ".hung") as hung:
        equal(hung.read().split().count(str(pid)), 1, "readings that hang")
    # More readings are not made while one hangs, but a call could wait for that one.
    check(asleep < 2 * SLEEPS_OF_WAIT, f"the program slept {asleep} times")
    contains(done.err, "memledger: NVML does not answer", "note")


def test_no_thread_for_nvml():
    done = harness.run(program("cuda_steps_linked"), "init", "retain", "alloc:3M", options=["-qf"],
                       env=with_standin(LD_PRELOAD=program("libno_threads.so"),
                                        NO_THREADS_IN="cuda_steps_linked"))
    equal(done.code, 0, "exit code", done)
    equal(sizes(done.trace, "alloc"), [3 * MIB], "what was recorded")
    contains(done.err, "memledger: cannot start a thread for NVML", "note")


harness.main(globals())
