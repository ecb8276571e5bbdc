#!/usr/bin/env python3
# test_mxnet_calls.py: MXNet's operators, the calls of its API and its memory in our
# profile; and what a program tells MXNet's own profiler, in the trace. The real wheels,
# from PyPI.
#
# MXNET_VERSION is the one to test.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import csv
import functools
import glob
import json
import os
import shlex

import harness
from harness import check, equal, plain, report
from test_mxnet_profiler import HERE, PACKAGE, load, mxnet_python, phases, values

VERSION = os.environ["MXNET_VERSION"]
IS_2 = VERSION.startswith("2")
PROFILED = os.path.join(HERE, "mxnet_profiled.py")
ENV = os.environ | {"OMP_NUM_THREADS": "1"}
API = "MXNET_C_API"
INVOKE = "MXImperativeInvoke" if IS_2 else "MXImperativeInvokeEx"
# When MXNet runs these depends on its threads.
ITS_OWN_PACE = {"DeleteVariable", "WaitForVar", "ResourceParallelRandomSetSeed", "SetFlushDenorms"}


def run(whose, case, trace="t.mled"):
    done = harness.run(mxnet_python(VERSION), PROFILED, whose, case, options=["-qf"], trace=trace,
                       env=ENV)
    equal(done.code, 0, f"exit code of {whose} {case}", done)
    check("memledger:" not in done.err, "the recorder has something to say", done)
    return json.loads(done.out.splitlines()[-1]) if done.out else None


def steady(rows):
    return {name: count for name, count in rows.items() if name not in ITS_OWN_PACE}


def without_counters(rows):
    """MXNet puts them among the times."""
    return {name: count for name, count in rows.items() if not name.startswith("MXNet C API ")}


def memory(events):
    """Of blocks: the pools of 2.0 have a counter of the same name."""
    return values([e for e in events if e.get("cat") == "Device Storage"], "Memory: cpu/0")


def shape(events, *categories):
    return collections.Counter(
        (e["ph"], e["cat"], e["name"], e.get("s", "")) for e in events
        if e["ph"] != "M" and e["cat"] in categories and e["name"] not in ITS_OWN_PACE)


@functools.cache
def everything(whose):
    """What that profiler told, its file, and what is in the trace."""
    told = run(whose, "everything")
    return (told, load(f"{whose}.json"), rows("durations"), rows("counters"),
            report("events", "t.mled", "--kind=marker")["events"], report("summary", "t.mled"))


# ---- Our profile ------------------------------------------------------------------


def test_as_mxnet_has_it():
    """The same program under both: the same operators, calls and memory."""
    (theirs, their_events, *_), (ours, our_events, *_) = map(everything, ("mxnet", "memledger"))
    equal(steady(ours["time"]["operator"]), steady(theirs["time"]["operator"]), "operators")
    equal(ours["time"][API], without_counters(theirs["time"][API]), "calls")
    equal(ours["time"][API], {INVOKE: 2, "MXNDArrayWaitToRead": 1, "MXNDArrayFree": 2,
                              "MXNDArrayWaitAll": 1}, "calls")
    equal(ours["memory"]["Device Storage"]["Memory: cpu/0"]["Max"], 80, "most kB of memory")
    categories = ("operator", API, "dom", "dom,frame", "event", "dom,instant_marker")
    equal(shape(our_events, *categories), shape(their_events, *categories), "records")
    equal(values(our_events, "MXNet C API Calls"), list(range(1, 7)), "calls so far")
    equal(values(our_events, "MXNet C API Concurrency"), [1, 0] * 6, "calls at a time")
    equal(memory(our_events)[:4], [40000, 80000, 40000, 0], "memory")


def test_layout():
    """An operator is on the device's process and a task of its category."""
    events = everything("memledger")[1]
    by_phase = {phase: phases(events, ph=phase, cat="operator", name="dot") for phase in "BEbe"}
    equal({p: len(e) for p, e in by_phase.items()}, dict.fromkeys("BEbe", 1), "records of dot")
    device, = phases(events, ph="M", args={"name": "cpu/0"})
    equal({e["pid"] for p in "BE" for e in by_phase[p]}, {device["pid"]}, "where it ran")
    check(by_phase["b"][0]["pid"] != device["pid"], "the task is on the device", by_phase)
    equal(by_phase["B"][0]["ts"], by_phase["b"][0]["ts"], "when it began")
    call = phases(events, ph="b", cat=API, name="MXNDArrayWaitToRead")[0]
    check(call["tid"] != by_phase["B"][0]["tid"], "the operator is on the thread that waits")


def test_every_operator():
    """Of those that the program waited for none is missing, and none from before is there."""
    for whose in ("mxnet", "memledger"):
        equal(run(whose, "dots"), [10] * 20, f"ten dots, twenty times, by {whose}")


def plain_names(rows):
    """2.0 names a node of a static graph with its attributes."""
    return {name.split("{")[0]: count for name, count in steady(rows).items()}


def test_symbolic_and_imperative():
    theirs, ours = (run(whose, "training") for whose in ("mxnet", "memledger"))
    for kinds, rows in theirs.items():
        equal(plain_names(ours[kinds]), plain_names(rows), kinds)
    both, symbolic, imperative = map(plain_names, ours.values())
    check("Activation" in symbolic and "dot" not in symbolic, "symbolic operators", symbolic)
    check("dot" in imperative and set(symbolic) < set(imperative), "all operators", imperative)
    equal("SetupExec" in both, not IS_2, "whether SetupExec is there")


def test_memory_profile():
    """At each dump, what MXNet holds: as the trace's export has it at the end."""
    told = run("memledger", "memory_profile")
    rows = {key: list(csv.DictReader(told[key].splitlines())) for key in ("first", "second")}
    for key, wanted in (("first", [40000, 120000]), ("second", [40000, 120000, 200000])):
        equal([int(row["Requested Size"]) for row in rows[key]], wanted, f"the {key} dump")
    equal(list(rows["second"][0]), ["Attribute Name", "Requested Size", "Device", "Actual Size",
                                    "Reuse?"], "columns")
    check(all(int(row["Actual Size"]) % 4096 == 0 for row in rows["second"]) == IS_2,
          "whether sizes are those of 2.0's pool", rows)
    equal(set(os.listdir(".")) & {"gpu_memory_profile-pid_%d.csv" % told["pid"]}, set(),
          "files of the default name")
    equal(len(report("summary", "t.mled")["processes"]), 1, "processes in the trace")


def test_names_without_memledger_run():
    """The memory profile has the names that it has under `memledger run`."""
    done = plain(mxnet_python(VERSION), PROFILED, "memledger", "named_memory",
                 env=ENV | {"PYTHONPATH": PACKAGE})
    equal(done.returncode, 0, "exit code", done.stderr)
    texts = json.loads(done.stdout.splitlines()[-1]), run("memledger", "named_memory")
    prefix = "" if IS_2 else "dense0_"
    wanted = sorted(f"{kind}:{prefix}{name}" for name in ("bias", "weight")
                    for kind in ("in_arg", "arg_grad", "optimizer_state:momentum"))
    for text, how in zip(texts, ("alone", "under memledger run")):
        names = [row["Attribute Name"] for row in csv.DictReader(text.splitlines())]
        equal([name for name in names if name.endswith(("bias", "weight"))], wanted, how, names)


def test_parts():
    """The program has no graph, so it has no symbolic operators."""
    run("memledger", "parts")
    for name, wanted in {"profile_symbolic": set(), "profile_imperative": {"operator"},
                         "profile_api": {API}, "profile_memory": {"Device Storage"}}.items():
        equal({e["cat"] for e in load(f"{name}.json") if e["ph"] != "M"}, wanted, name)


def test_threads():
    told = run("memledger", "threads")["time"][API]
    equal([told[INVOKE], told["MXNDArrayWaitAll"]], [160, 80], "calls of four threads", told)
    events = load("threads.json")
    begun, ended = (phases(events, ph=p, cat=API) for p in "be")
    equal(len(begun), len(ended), "ends")
    for call in begun:
        check(any(e["id"] == call["id"] and e["name"] == call["name"] and e["tid"] == call["tid"]
                  and e["ts"] >= call["ts"] for e in ended), "a call without an end", call)
    at_a_time = values(events, "MXNet C API Concurrency")
    check(0 <= min(at_a_time) and 1 < max(at_a_time) <= 4, "calls at a time", at_a_time)
    equal(at_a_time[-1], 0, "calls at the end")


def test_failing_calls():
    told = run("memledger", "fails")
    equal(told["said"], 20, "errors")
    equal(told["time"][API][INVOKE], 3 * 20 + 2, "calls, those that failed too", told)
    equal(values(load("fails.json"), "MXNet C API Concurrency")[-1], 0, "calls at the end")


def test_fork():
    equal(run("memledger", "forks"), {"status": 0}, "the child's end")
    equal(len(phases(load("forks.json"), ph="b", cat=API, name=INVOKE)), 4, "calls in the file")


def test_without_memledger_run():
    """The first run begins a recording: all is there from then on, and nothing of what
    was before."""
    done = plain(mxnet_python(VERSION), PROFILED, "memledger", "late",
                 env=ENV | {"PYTHONPATH": PACKAGE})
    equal(done.returncode, 0, "exit code", done.stderr)
    told = json.loads(done.stdout.splitlines()[-1])
    ours = everything("memledger")[0]
    equal(told["time"][API], ours["time"][API], "calls")
    equal(steady(told["time"]["operator"]), steady(ours["time"]["operator"]), "operators")
    equal(memory(load("late.json")), [40000, 80000, 40000, 0], "memory")
    trace, = glob.glob("memledger-*.mled")
    found = report("summary", trace)
    equal([found["allocations"], found["frees"], found["live_bytes"]], [2, 2, 0], "the books")
    harness.balanced(harness.dump(trace))


def test_nothing_without_a_profiler():
    for whose in ("mxnet", "memledger"):
        run(whose, "unprofiled")
        equal(rows("durations")[API], {}, "calls in the trace")


# ---- MXNet's own profiler ---------------------------------------------------------


def rows(kind, trace="t.mled"):
    """"durations" or "counters", by category and name."""
    unit = {"durations": "ns", "counters": "1"}[kind]
    found = collections.defaultdict(dict)
    for row in report("stats", trace, "--top=1000")["objects"]:
        if row["unit"] == unit:
            found[row["category"]][row["name"]] = row
    return found


def counts(found, category):
    return {name: row["count"] for name, row in found[category].items()}


def test_told_to_mxnet():
    """What MXNet's profiler prints is in the trace, from the run to the stop."""
    answer, _, durations, counters, markers, summary = everything("mxnet")
    told = answer["time"]
    equal(counts(durations, API), without_counters(told[API]), "calls")
    for category in ("dom,frame", "event"):
        equal(counts(durations, category), told[category], category)
    equal(counts(durations, "dom"), {"task": told["dom"]["task"]}, "tasks")
    counter = counters["dom"]["counter"]
    equal([counter["count"], counter["last"], counter["min"], counter["max"]],
          [8, 124, 5, 124], "the counter", counter)
    equal(counters[API]["MXNet C API Calls"]["last"], 6, "calls so far")
    for name, count in steady(told["operator"]).items():
        check(counts(durations, "operator")[name] >= count, f"{name} is missing", durations)
    equal([m["name"] for m in markers], ["marker"], "markers")
    check([d for d in summary["by_device"] if d["device"] == "cpu"], "no memory in the trace")


def test_mxnets_file():
    """It has what it has without memledger."""
    done = plain(mxnet_python(VERSION), PROFILED, "mxnet", "everything", env=ENV)
    equal(done.returncode, 0, "exit code without memledger", done.stderr)
    files = [everything("mxnet")[1], load("mxnet.json")]
    categories = {e["cat"] for events in files for e in events if e["ph"] != "M"}
    equal(shape(files[0], *categories), shape(files[1], *categories), "MXNet's records")


def test_autostart():
    """MXNET_PROFILER_AUTOSTART and MXNET_PROFILER_MODE, as MXNet reads them."""
    for mode, wanted in (("15", True), ("8", False)):
        env = ENV | {"MXNET_PROFILER_AUTOSTART": "1", "MXNET_PROFILER_MODE": mode}
        done = harness.run(mxnet_python(VERSION), PROFILED, "mxnet", "unprofiled",
                           options=["-qf"], env=env)
        equal(done.code, 0, "exit code", done)
        equal(INVOKE in rows("durations")[API], wanted, f"whether calls are there, mode {mode}")
        equal(rows("counters")["dom"]["counter"]["last"], 5, "the counter")


def compile_program():
    python = mxnet_python(VERSION)
    package, = glob.glob(os.path.join(os.path.dirname(python), "..", "lib", "python3*",
                                      "site-packages", "mxnet"))
    done = plain(*shlex.split(os.environ["TEST_CC"]), "-O1", "-std=gnu11",
                 os.path.join(HERE, "mxnet_profiled.c"), "-isystem",
                 os.path.join(package, "include"), "-o", "profiled", f"-L{package}", "-lmxnet",
                 f"-Wl,-rpath,{os.path.abspath(package)}", "-Wl,--allow-shlib-undefined",
                 *(["-DHAS_DTYPE_ARGUMENT"] if IS_2 else []))
    equal(done.returncode, 0, "compiling mxnet_profiled.c", done.stderr)
    return os.path.abspath("profiled")


def test_from_c():
    """A program in C, linked with MXNet."""
    program = compile_program()
    done = harness.run(program, options=["-qf"], env=ENV)
    equal([done.code, done.out], [0, "done\n"], "how it ended", done)
    durations, counters = rows("durations"), rows("counters")
    for category, name in (("dom", "task"), ("dom,frame", "frame"), ("event", "event")):
        equal(counts(durations, category), {name: 3}, category)
    calls = counts(durations, API)
    equal([calls[name] for name in ("MXNDArrayFree", "MXNDArraySyncCopyToCPU",
                                    "MXNDArrayWaitAll")], [3, 3, 1], "calls", calls)
    counter = counters["dom"]["counter"]
    equal([counter["count"], counter["min"], counter["last"]], [3, 3, 14], "the counter", counter)
    marker, = report("events", "t.mled", "--kind=marker")["events"]
    equal(marker["name"], "marker", "the marker")
    theirs = load("from_c.json")
    equal(values(theirs, "counter"), [5, 3, 14], "the counter in MXNet's own file")
    equal(plain(program).stdout, "done\n", "the program without memledger")


if __name__ == "__main__":
    harness.main(globals())
