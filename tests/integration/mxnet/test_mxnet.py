#!/usr/bin/env python3
# test_mxnet.py: every block of MXNet's storage is recorded, from unmodified programs, which
# behave as they do without memledger. The real wheels, from PyPI.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import re
import sys

import harness
import mxnet_run
from harness import balanced, check, contains, equal, plain, run
from mxnet_renamed import library_of_another_build, library_without
from mxnet_run import IS_2, NAIVE, compile_program, events, linked, python
from mxnet_trace import live_at_end, live_at_probes

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "mxnet_cases.py")
STEPS = 3  # as in mxnet_cases.py
OPERATOR = 2  # MEMLEDGER_SCOPE_OPERATOR
PIB = 1 << 50

record = functools.partial(mxnet_run.record, CASES)
alone = functools.partial(mxnet_run.alone, CASES)


def refused(trace):
    return [(e["size"], e["scope"]) for e in trace["events"] if e["kind"] == "oom"]


def compare_with_counter(case, env=None, left=0):
    """Ours and those of MXNet's profiler, which runs in the same process. `left`: what
    MXNet itself never gives back."""
    told, trace = record(case, env=env)
    equal(len(told["at_probes"]), STEPS, "steps in MXNet's counter", told)
    equal(live_at_probes(trace, STEPS), told["at_probes"], f"live bytes at the steps of {case}")
    equal(live_at_end(trace), left, "live bytes at the end")
    return told, trace


def test_gluon():
    """With and without a graph; the loss is what it is without memledger."""
    told, _ = compare_with_counter("gluon")
    equal(told, alone("gluon"), "what the program said")
    compare_with_counter("gluon_hybrid")
    _, trace = compare_with_counter("gluon_hybrid", NAIVE)
    if IS_2:
        check_labels(trace)


def last_labels(trace):
    """(operator that it was born in, size, label) of each block that has one."""
    births, found = {}, []
    for e in events(trace, "alloc", "label", "free"):
        if e["kind"] == "alloc":
            births[e["addr"]] = [e["scope"], e["size"], ""]
        elif e["kind"] == "label":
            births[e["addr"]][2] = e["label"]
        else:
            found.append(tuple(births.pop(e["addr"])))
    return [f for f in found if f[2]]


def check_labels(trace):
    """What MXNet knows when a block is born, and what it learns later."""
    labels = last_labels(trace)
    for kind in ("in_arg", "arg_grad"):
        sizes = [size for _, size, label in labels
                 if re.fullmatch(kind + ":[0-9a-f_]{36}_(weight|bias|beta|gamma)", label)]
        equal(sorted(sizes), sorted([4 * 32 * 20, 4 * 5 * 32, 4 * 5] + 3 * [4 * 32]), kind, labels)
    equal(sum(size for _, size, label in labels if label == "updater:optimizer_state:_zeros"),
          2 * 4 * (32 * 20 + 5 * 32 + 5 + 3 * 32), "optimizer state", labels)
    check(("_npi_uniform", 640, "resource:temp_space (np_uniform_op.h +164)") in labels,
          "no label of a resource", labels)


def test_lstm():
    """The operator RNN of 2.0.0b1 forgets three blocks of 1536 bytes in each step."""
    compare_with_counter("lstm", left=STEPS * 3 * 1536 if IS_2 else 0)


def test_module():
    if IS_2:
        return  # has no Module
    compare_with_counter("module")


def pushed(trace):
    """Operators that ran; each push has its pop."""
    pushes = [e for e in trace["events"] if e["kind"] == "push" and e["scope_kind"] == OPERATOR]
    equal(len(pushes), trace["kinds"]["pop"], "pops")
    return {e["scope"] for e in pushes}


def test_operators():
    """What is born on a thread of the engine's, or of the program's, has the operator
    that ran there."""
    for env in ({}, NAIVE):
        told, trace = record("operators", env=env)
        equal(told["product"], 1000.0, "the product")
        born = [(e["scope"], e["size"]) for e in events(trace, "alloc")]
        equal(born, [("_ones", 4000), ("dot", 4)], f"blocks with {env}")
        check({"_ones", "dot"} <= pushed(trace), "operators", pushed(trace))
        if IS_2:
            equal([e["label"] for e in events(trace, "label")[:2]], ["_ones", "dot"], "labels")
        else:
            equal(events(trace, "label"), [], "labels")


def test_contexts():
    told, trace = record("contexts")
    cpu_0, cpu_1, pinned, shared = told["bytes"]
    equal(live_at_end(trace), cpu_0 + cpu_1, "bytes of the host")
    equal(live_at_end(trace, "cpu_pinned"), pinned, "bytes that are pinned")
    equal(live_at_end(trace, "cpu_shared"), shared, "bytes that are shared")


def test_profiler():
    """MXNet's own profiler has what it has without memledger."""
    told, _ = record("profiled")
    check(told["calls"], "no call in the profile", told)
    equal(told, alone("profiled"), "calls in the profile")


def test_too_large():
    expected = alone("too_large")
    equal(len(expected["said"]), 3, "errors", expected)
    for env in ({}, NAIVE):
        told, trace = record("too_large", env=env)
        equal(told, expected, "what the errors say")
        equal(refused(trace), [(PIB, ""), (PIB, "broadcast_add")], f"what was refused with {env}")
        pushed(trace)
        verdicts = harness.report("oom", "t.mled")["verdicts"]
        equal([(v["verdict"], v["rule"], v["scope"]) for v in verdicts],
              [("shortage", "addresses", None), ("shortage", "addresses", "broadcast_add")],
              f"why it was refused with {env}")


def test_os_exit():
    told, trace = record("ends_at_once", code=3)
    equal(live_at_end(trace), told["kept"], "live bytes at the end")


def test_workers():
    """Workers are forked; what they hand over is in shared memory of both."""
    told, trace = record("workers", options=["--wait"])
    equal(told, alone("workers"), "what the program said")
    shared = events(trace, "alloc", device="cpu_shared")
    processes = {trace["threads"][e["thread"]]["process"] for e in shared}
    check(len(processes) >= 3, "processes with shared memory", trace["processes"])
    equal(live_at_end(trace, "cpu_shared"), 0, "live bytes of shared memory at the end")


def test_heap_counts_once():
    told, trace = record("operators", options=["--heap"])
    equal(told["product"], 1000.0, "the product")
    equal({s["name"] for s in trace["spaces"]} - {"mxnet pool"}, {"malloc", "mxnet"}, "spaces")


def test_pools():
    """What 2.0's pools round up to and keep; nothing is kept when they are emptied."""
    rounded = {"Naive": [4096, 401408], "Round": [4096, 524288], "Unpooled": []}
    for kind, sizes in rounded.items():
        _, trace = record("pooled", env={"MXNET_CPU_MEM_POOL_TYPE": kind})
        equal([e["size"] for e in events(trace, "alloc")], [4000, 400000, 3600], "blocks")
        pool = [i for i, s in enumerate(trace["spaces"]) if s["name"] == "mxnet pool"]
        segments = [e for e in trace["events"] if e.get("space") in pool]
        equal([e["size"] for e in segments if e["kind"] == "alloc"], sizes if IS_2 else [],
              f"segments of {kind}")
        equal(sum(e["kind"] == "free" for e in segments), len(sizes) if IS_2 else 0,
              "segments given back")


# ---- Programs in C -----------------------------------------------------------------


def test_linked():
    program = linked(os.path.join(HERE, "mxnet_linked.c"))
    result = run(program, options=["-qf"])
    equal(result.code, 0, "exit code", result)
    equal(result.out, plain(program).stdout, "what the program said")
    trace = result.dump(events=True)
    balanced(trace)
    equal([e["size"] for e in events(trace, "alloc")], [64 * 64 * 4, 100 * 100 * 4], "blocks")
    equal(live_at_end(trace), 64 * 64 * 4, "live bytes at the end")
    equal(refused(trace), [(PIB, "")], "what was refused")


def test_absent():
    """Who looks for MXNet where there is none finds none."""
    result = run(sys.executable, "-c", "import ctypes; print(hasattr(ctypes.CDLL(None), "
                 "'_ZN5mxnet7Storage3GetEv'))", options=["-qf"])
    equal(result.out, "False\n", "whether there is MXNet", result)


def test_unknown():
    """An unknown version, build or layout is left alone, and one message says so."""
    for number, flags in {"10800": ["-DVERSION=10800", "-DHAS_STORAGE"],
                          "10901": ["-DVERSION=10901"],
                          "(10901)": ["-DVERSION=10901", "-DHAS_STORAGE"]}.items():
        compile_program(os.path.join(HERE, "mxnet_double.c"), "-fPIC", "-shared", *flags, "-o",
                        "libmxnet.so")
        compile_program(os.path.join(HERE, "mxnet_double_user.c"), "-o", "user", "-L.", "-lmxnet",
                        f"-Wl,-rpath,{os.getcwd()}")
        result = run("./user", options=["-qf"])
        equal((result.code, result.out), (0, "1 2\n"), "exit code and output", result)
        note = f"this build of MXNet ({number.strip('()')}) is unknown"
        equal(result.err.count(note), 1, "notes", result)
        equal(result.dump()["spaces"], [], "spaces")
        equal(harness.report("summary", result.trace)["health"]["left_alone"], ["mxnet"], "health")


# One function of the group "nodes", which others do without; and one without which MXNet
# is not touched.
RECORD = ("_ZN5mxnet10Imperative8RecordOpEON4nnvm9NodeAttrsERKSt6vectorIPNS_7NDArrayESaIS6_"
          "EESA_RKNS_10OpStatePtrEPS4_IbSaIbEESG_")
ALLOC = {False: "_ZN5mxnet11StorageImpl5AllocEPNS_7Storage6HandleE",
         True: "_ZN5mxnet7storage11StorageImpl5AllocEPNS_7Storage6HandleEb"}[IS_2]


def run_with(library):
    """As with the real library. @return what the recorder said, and the trace"""
    env = os.environ | NAIVE | {"MXNET_LIBRARY_PATH": library}
    command = python(), CASES, "trained"
    alone = plain(*command, env=env)
    equal(alone.returncode, 0, "exit code alone", alone.stderr)
    result = run(*command, options=["-qf"], env=env)
    equal((result.code, result.out), (0, alone.stdout), "exit code and output", result)
    trace = result.dump(events=True)
    balanced(trace)
    return [line for line in result.err.splitlines() if "memledger:" in line], trace


def test_function_missing():
    notes, trace = run_with(library_without(RECORD))
    equal(len(notes), 1, "notes", notes)
    contains(notes[0], "some of its memory has no names", "the message")
    born = events(trace, "alloc")
    check(any("FullyConnected" in e["scope"] for e in born), "no operators", born)
    check(any(e["category"] == "parameter" for e in events(trace, "label")), "no names")
    equal(harness.report("summary", "t.mled")["health"]["left_alone"], ["mxnet names"], "health")


def test_another_build():
    """All of the real library but its build-id: what is not known is left alone, and every
    report says so."""
    notes, trace = run_with(library_of_another_build())
    equal(len(notes), 1, "notes", notes)
    contains(notes[0], "its memory is not recorded", "the message")
    equal([s for s in trace["spaces"] if s["name"] == "mxnet"], [], "spaces")
    equal(harness.report("summary", "t.mled")["health"]["left_alone"], ["mxnet"], "health")
    contains(plain(harness.MEMLEDGER, "summary", "t.mled").stdout, "MXNet's memory was not recorded",
             "what the summary says")


def test_storage_missing():
    notes, trace = run_with(library_without(ALLOC))
    equal(len(notes), 1, "notes", notes)
    contains(notes[0], "its memory is not recorded", "the message")
    equal([s for s in trace["spaces"] if s["name"] == "mxnet"], [], "spaces")


harness.main(globals())
