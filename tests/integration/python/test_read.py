#!/usr/bin/env python3
# test_read.py: memledger.read with only Python: the tables contain the figures of the reports,
# and a bad file raises an exception.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import threading

import harness
from harness import check, contains, equal, plain, report, run

sys.path.insert(0, os.environ["TEST_PACKAGE"])
import memledger  # noqa: E402: the one that was built

CORPUS = sorted(glob.glob(os.path.join(os.environ["TEST_TRACES"], "*.mled")))
MUTATIONS = 3000


def training():
    """A small trace whose every block is known."""
    done = run(harness.program("training_like"), options=["--sample-hz=0"])
    equal(done.code, 0, "exit code", done)
    return memledger.read(done.trace)


def heap():
    """A trace with more rows than a batch has."""
    script = "for i in range(40000): a = bytearray(1000); b = bytearray(700 + i % 300); del a"
    done = run("/usr/bin/python3", "-S", "-c", script, options=["--heap", "--sample-hz=0"])
    equal(done.code, 0, "exit code", done)
    return memledger.read(done.trace)


def rows(table, **wanted):
    return [row for row in table if all(row[key] == value for key, value in wanted.items())]


def raises(kind, function, *parts):
    try:
        function()
    except kind as error:
        for part in parts:
            contains(str(error), part, "the message")
        return error
    raise harness.Failure(f"no {kind.__name__}")


def same_blocks(trace, what):
    """The summary is that of the command, and the table has the blocks that it counts."""
    summary = report("summary", trace.path)
    equal(trace.summary(), summary, f"summary() of {what}")
    counted = rows(trace.allocations, counted=True)
    left = [row for row in counted if row["free_ns"] is None]
    equal(len(left), summary["live_blocks"], f"blocks left in {what}")
    return summary, counted


def same_bytes(summary, counted):
    """Where no block lies in another, and none was given back in parts."""
    left = [row for row in counted if row["free_ns"] is None]
    equal(len(counted), summary["allocations"], "allocations")
    equal(sum(row["bytes"] for row in counted), summary["allocated_bytes"], "allocated bytes")
    equal(sum(row["bytes"] for row in left), summary["live_bytes"], "bytes left")


def test_a_training_run():
    trace = training()
    summary, counted = same_blocks(trace, "a training run")
    same_bytes(summary, counted)
    by_category = {c["category"]: c["allocations"] for c in summary["by_category"]}
    for category, count in by_category.items():
        equal(len(rows(counted, category=category)), count, f"allocations of {category}")
    (weight,) = rows(counted, label="conv1.weight")
    equal((weight["bytes"], weight["category"], weight["free_ns"], weight["module"]),
          (1000, "parameter", None, None), "the weight")
    activation = rows(counted, category="activation")[0]
    equal((activation["bytes"], activation["module"], activation["phase"], activation["scope"]),
          (2000, "Net > conv1", "forward", "Net > conv1"), "an activation")
    equal(activation["life_ns"], activation["free_ns"] - activation["time_ns"], "its life")
    equal({row["phase"] for row in rows(counted, category="intermediate_gradient")}, {"backward"},
          "phases of gradients")


def test_the_other_tables():
    trace = training()
    equal([row["name"] for row in trace.scopes], ["Net", "conv1", "backward"], "scopes")
    equal([row["kind"] for row in trace.scopes], ["module", "module", "phase"], "their kinds")
    equal([(row["device"], row["level"], row["space"]) for row in trace.spaces],
          [("cuda:0", "block", "tensors")], "spaces")
    equal([row["number"] for row in rows(trace.marks, mark="step")], [0, 1], "steps")
    equal([row["name"] for row in rows(trace.marks, mark="phase")],
          ["forward", "backward", None] * 2, "phases")
    equal([(row["label"], row["category"], row["address"]) for row in trace.labels],
          [("conv1.weight", "parameter", 0x10000)], "labels")
    (process,) = trace.processes
    contains(process["command"], "training_like", "the command")
    equal({row["process"] for row in trace.threads}, {process["process"]}, "processes of threads")
    kinds = [row["kind"] for row in trace.events]
    equal((kinds.count("alloc"), kinds.count("free"), kinds.count("push")), (7, 6, 6), "events")
    freed = [row["bytes"] for row in rows(trace.events, kind="free")]
    equal(sorted(freed), [2000, 2000, 3000, 3000, 4000, 4000], "bytes that were freed")
    equal(trace.info["events"], len(kinds), "events as the file says")
    equal(trace.info["config"]["heap"], "off", "a setting")


def test_samples():
    def was_sampled():
        try:
            return any(row["total_bytes"] for row in rows(memledger.read("t.mled").samples, device="cpu"))
        except (FileNotFoundError, memledger.TraceError):
            return False  # the recording has just begun

    process = harness.start("cat", stdin=subprocess.PIPE)
    harness.wait_until(was_sampled, "a sample of the host")
    done = harness.finish(process)
    equal(done.code, 0, "exit code", done)
    trace = memledger.read(done.trace)
    samples = rows(trace.samples, device="cpu")
    check(samples, "no sample of the host")
    check(any(row["total_bytes"] for row in samples), "no total", samples[:3])


def test_more_than_a_batch():
    trace = heap()
    summary, counted = same_blocks(trace, "a heap")
    same_bytes(summary, counted)
    table = trace.events
    lengths = [len(batch["kind"]) for batch in table.batches()]
    check(len(lengths) > 1 and max(lengths) == 65536, f"batches of {lengths}")
    equal(len(table), sum(lengths), "len()")
    whole = table.to_dict()
    equal(list(whole), table.columns, "columns")
    equal({len(values) for values in whole.values()}, {len(table)}, "lengths of the columns")
    live = 0
    for kind, size in zip(whole["kind"], whole["bytes"]):
        live += {"alloc": size, "free": -(size or 0), "move": -(size or 0)}.get(kind, 0)
    equal(live, summary["live_bytes"], "allocated less freed")


def test_stored_traces():
    for path in CORPUS:
        trace = memledger.read(path)
        same_blocks(trace, os.path.basename(path))
        for name, table in trace.tables.items():
            equal(len(list(table)), len(table), f"rows of {name} in {path}")
            equal(bool(table), len(table) > 0, f"whether {name} has rows")
    stacks = {path: list(memledger.read(path).stacks) for path in CORPUS}
    check(any(row["function"] and row["library"] for table in stacks.values() for row in table),
          "no stored trace has a named frame")


def test_files_that_are_no_traces():
    raises(FileNotFoundError, lambda: memledger.read("nothing.mled"), "nothing.mled")
    raises(IsADirectoryError, lambda: memledger.read("."))
    with open("text.mled", "w") as f:
        f.write("not a trace\n" * 100)
    raises(memledger.TraceError, lambda: memledger.read("text.mled"), "text.mled", "not a memledger")
    raises(TypeError, lambda: memledger.read(7))
    raises(ValueError, lambda: memledger._native.Reader(CORPUS[0]).stream("nothing"), "'nothing'")
    raises(AttributeError, lambda: memledger.nothing, "nothing")


def test_a_damaged_block():
    trace = heap()
    count = len(trace.events)
    with open(trace.path, "r+b") as f:
        f.seek(os.path.getsize(trace.path) // 2)
        f.write(b"\0damage\0")
    error = raises(memledger.TraceError, lambda: list(memledger.read(trace.path).events),
                   trace.path, "salvage")
    check(any(word.strip(":,;").isdigit() for word in str(error).split()), f"no offset: {error}")
    salvaged = memledger.read(trace.path, salvage=True)
    equal(salvaged.info["damaged_blocks"], 1, "damaged blocks")
    check(0 < len(salvaged.events) < count, "nothing was salvaged")


def test_damage_never_crashes():
    """In a process of its own: what would crash must not take the test along."""
    done = plain(sys.executable, os.path.abspath(__file__), "--mutate")
    equal(done.returncode, 0, "exit code", done.stdout, done.stderr)
    opened, refused = json.loads(done.stdout)
    check(refused > MUTATIONS / 10, f"{refused} of {MUTATIONS} refused")
    check(opened > 0, "none opened")


def mutate():
    rng = random.Random(5)
    seeds = [open(path, "rb").read() for path in CORPUS]
    opened = refused = 0
    for i in range(MUTATIONS):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if i % 5 == 0:
            del data[rng.randrange(len(data)):]
        with open("mutant.mled", "wb") as f:
            f.write(data)
        try:
            trace = memledger.read("mutant.mled", salvage=i % 2 == 0)
            for table in trace.tables.values():
                for _ in table:
                    pass
            trace.summary()
            opened += 1
        except memledger.TraceError as error:
            assert "mutant.mled" in str(error), error
            refused += 1
    print(json.dumps([opened, refused]))


def test_tables_outlive_their_trace():
    events = memledger.read(CORPUS[-1]).events
    rest = iter(events)
    first = next(rest)
    shutil.copy(CORPUS[-1], "copy.mled")
    count = len(events)
    del events
    equal(1 + sum(1 for _ in rest), count, "rows", first)


def test_many_threads():
    trace = heap()
    count, found = len(trace.events), []

    def read():
        found.append(sum(len(batch["kind"]) for batch in trace.events.batches()))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(found, [count] * 4, "rows in each thread")


def test_memory_stays_small():
    """Reading holds the live blocks and a batch, not the table."""
    trace = harness.run(harness.program("pipeline"), "1000000", options=["--sample-hz=0"]).trace
    script = f"""
import sys
sys.path.insert(0, {os.environ["TEST_PACKAGE"]!r})
import memledger
def peak():
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM"))
trace = memledger.read({trace!r})
before = peak()
print(len(trace.events), len(trace.allocations), peak() - before)
"""
    done = plain(sys.executable, "-c", script)
    equal(done.returncode, 0, "exit code", done.stderr)
    events, allocations, grown_kib = map(int, done.stdout.split())
    check(events >= 2000000, f"{events} events")
    equal(allocations, 1000000, "allocations")
    check(grown_kib < 64 * 1024, f"{grown_kib} KiB more")


if "--mutate" in sys.argv:
    mutate()
else:
    harness.main(globals())
