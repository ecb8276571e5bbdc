#!/usr/bin/env python3
# test_cuda_ledger.py: the book of the CUDA driver balances to the byte, whatever a
# program does and in whatever order. The driver is the stand-in (docs/testing.md),
# which charges as an H200 was seen to charge.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import check, equal, plain, program, report, with_standin

MIB = 1 << 20
BEGIN = ["init", "retain"]  # object 0 is the context
DEVICE = "cuda:0"
CONTEXT = 3407872 + 548995072  # of cuInit and of a primary context
OWN = "cuda_steps_linked"
OTHERS, BEFORE = "other processes", "used before the run began"


# ---- Books -----------------------------------------------------------------


def steps(*script, way="linked", options=(), **settings):
    """Runs the scripted program under memledger; what each step gave is in `said`."""
    done = harness.run(program("cuda_steps_" + way), *script, options=("-qf", *options),
                       env=with_standin(**settings))
    done.said = [json.loads(line) for line in done.out.splitlines()]
    return done


def results(done):
    return {line["step"]: line["result"] for line in done.said}


def book(done, at="peak", device=DEVICE):
    [found] = report("ledger", done.trace, "--at", at, "--device", device)["devices"]
    return found


def entries(found):
    """What is in the book, by name; several names lead to what is below."""
    def walk(entry, path):
        for below in entry["entries"]:
            yield (*path, below["name"]), below["bytes"]
            yield from walk(below, (*path, below["name"]))

    return {path[0] if len(path) == 1 else path: bytes for path, bytes in walk(found, ())}


def readings(done, device=DEVICE):
    """The times at which the program itself read what the device has."""
    return sorted({e["time_ns"] for e in report("events", done.trace, "--kind", "sample")["events"]
                   if e["pid"] and e["sampled_device"] == device})


def check_book(found, what):
    equal((found["unexplained_bytes"], found["balanced"]), (0, True), f"unexplained {what}",
          json.dumps(entries_text(found), indent=1))


def entries_text(found):
    return {str(name): bytes for name, bytes in entries(found).items()}


def balanced(done, device=DEVICE):
    """The books of the peak, of the end, and of every reading in between."""
    equal(done.code, 0, "exit code", done)
    for at in ["peak", "end", *(f"{ns}ns" for ns in readings(done, device))]:
        check_book(book(done, at, device), f"at {at} of {[l['step'] for l in done.said]}")
    found = entries(book(done, "end", device))
    # Whether the sampler had a look at others before a short program ended is chance.
    equal(found.pop(OTHERS, 0), 0, OTHERS, found)
    equal(found.pop(BEFORE, 0), 0, BEFORE, found)
    return found


def left(*script, **settings):
    """Runs steps that all succeed; what the balanced book has at the end."""
    done = steps(*BEGIN, *script, **settings)
    equal([line for line in done.said if line["result"]], [], "steps that failed", done)
    return balanced(done)


# ---- Every way to get memory and give it back --------------------------------


def test_memory():
    """Small ones share pages: what rounding adds goes down as they come."""
    equal(left(), {"context": CONTEXT}, "a program that only begins")
    found = left("alloc:512", "alloc:512", "alloc:1M", "alloc:1M", "alloc:3M", "alloc:104857601",
                 "pitch:1000:1000", "free:3", "free:1")
    equal(found[("driver allocations", OWN)], 512 + MIB + 3 * MIB + 104857601 + 1024 * 1000,
          "allocations")
    found = left("alloc:512", "alloc:100M", "pitch:1000:1000", "free:2", "free:3", "free:1")
    equal(found, {"context": CONTEXT}, "all was given back")


def test_host_memory():
    found = left("host:64M", "alloc-host:1M", "register:32M")
    check("driver allocations" not in found, "pinned memory is the host's", found)
    done = steps(*BEGIN, "host:64M", "register:32M", "alloc-host:1M", "free-host:1",
                 "unregister:2", "free-host:3")
    balanced(done)
    harness.balanced(done.dump())


def test_managed():
    """Charged at the first touch, partly to the first fill itself."""
    untouched = left("managed:64M")
    equal(untouched["managed memory"], 0, "untouched")
    found = left("managed:64M", "fill:1")
    equal((found["managed memory"], found["streams, events, first copies"]), (64 * MIB, 64 * MIB),
          "with the first fill")
    found = left("managed:64M", "fill:1", "copy:1")
    equal(found["managed memory"], 64 * MIB, "with the first fill, then a first copy")
    found = left("alloc:1M", "fill:1", "managed:64M", "fill:2")
    equal(found["managed memory"], 64 * MIB, "with a later one")
    equal(left("managed:64M", "fill:1", "free:1").get("managed memory"), None, "freed")
    left("alloc:1M", "fill:1", "managed:64M", "fill:2", "managed:10M", "prefetch:3", "free:2",
         "free:3", "free:1")


def test_stream_ordered():
    """Pools give back at a synchronisation, not at the free."""
    stream = ["stream", "async:10M:1", "async:40M:1"]
    found = left(*stream)
    equal(found["stream-ordered pools"], 64 * MIB, "held for 50 MiB")
    equal(found[("stream-ordered pools", "pool slack")], 14 * MIB, "slack")
    found = left(*stream, "free-async:2:1", "free-async:3:1")
    equal(found[("stream-ordered pools", "pool slack")], 64 * MIB, "held until then")
    for sync in ("sync:1", "sync-all"):
        found = left(*stream, "free-async:2:1", "free-async:3:1", sync)
        check("stream-ordered pools" not in found, f"given back at {sync}", found)
    left(*stream, "free-async:2:1", "free-async:3:1", "stream-end:1")
    left(*stream, "threshold:1G", "free-async:2:1", "free-async:3:1", "sync:1", "async:20M:1",
         "free:4")


def test_own_pool():
    pool = ["pool", "from-pool:50M:1", "from-pool:20M:1"]
    found = left(*pool, "free-async:3")
    equal(found[("stream-ordered pools", "pool slack")] % MIB, 0, "slack")
    for end in ([], ["sync-all"], ["sync-all", "pool-trim:1"], ["threshold:1G:1", "sync-all",
                                                                "pool-trim:1:32M"]):
        left(*pool, "free-async:2", "free-async:3", *end)
        found = left(*pool, "free-async:2", "free-async:3", *end, "pool-end:1")
        check("stream-ordered pools" not in found, f"a pool that ended after {end}", found)
    for some in (["pool-end:1"], ["pool-end:1", "free-async:2"], ["free-async:3", "pool-end:1"]):
        found = left(*pool, *some, "alloc:1M")
        check(found["stream-ordered pools"] >= 20 * MIB, f"still in use after {some}", found)
    found = left(*pool, "pool-end:1", "free-async:2", "free-async:3", "alloc:1M", "pool",
                 "from-pool:10M:5")
    equal(found["stream-ordered pools"], 32 * MIB, "only the second pool's")
    left("alloc:1M", "free-async:1")


def test_virtual():
    """Handles and mappings hold the memory together, in any order."""
    create = ["create:20M", "reserve:60M"]  # 1, 2
    mapped = [*create, "map:2:1:2M"]
    gone = {"context": CONTEXT}
    equal(left("create:20M", "drop:1"), gone, "never mapped")
    equal(left(*mapped, "unmap:2:20M:2M", "drop:1", "unreserve:2"), gone, "unmapped, released")
    equal(left(*mapped, "drop:1", "unmap:2:20M:2M", "unreserve:2"), gone, "released, unmapped")
    for script in (create, mapped, [*mapped, "drop:1"], [*mapped, "unmap:2:20M:2M"],
                   [*mapped, "unmap:2:20M:2M", "map:2:1:30M"]):
        equal(left(*script)["driver allocations"], 20 * MIB, f"held after {script}")
    equal(left("create:20M", "create:10M", "reserve:60M", "map:3:1", "map:3:2:20M", "drop:1",
               "drop:2", "unmap:3:30M"), gone, "two at once")


def test_retained():
    mapped = ["create:20M", "reserve:60M", "map:2:1"]
    gone = {"context": CONTEXT}
    for script in (["retain-handle:2", "drop:1"], ["retain-handle:2", "drop:1", "unmap:2:20M"],
                   ["drop:1", "retain-handle:2"], ["drop:1", "retain-handle:2", "unmap:2:20M"],
                   ["retain-handle:2", "drop:1", "unmap:2:20M", "map:2:1:20M"]):
        equal(left(*mapped, *script).get("driver allocations"), 20 * MIB, f"held after {script}")
    for script in (["retain-handle:2", "drop:1", "unmap:2:20M", "drop:3"],
                   ["retain-handle:2", "drop:1", "drop:3", "unmap:2:20M"],
                   ["drop:1", "retain-handle:2", "drop:3", "unmap:2:20M"],
                   ["drop:1", "retain-handle:2", "unmap:2:20M", "drop:3"]):
        equal(left(*mapped, *script), gone, f"gone after {script}")


def test_mapped_twice():
    twice = ["create:20M", "reserve:60M", "map:2:1", "map:2:1:20M"]
    equal(left(*twice)["driver allocations"], 20 * MIB, "counted once")
    for script in (["unmap:2:20M", "drop:1"], ["drop:1", "unmap:2:20M"],
                   ["unmap:2:20M:20M", "drop:1"], ["drop:1", "unmap:2:20M:20M"]):
        equal(left(*twice, *script).get("driver allocations"), 20 * MIB, f"held after {script}")
    for script in (["unmap:2:20M", "drop:1", "unmap:2:20M:20M"], ["unmap:2:40M", "drop:1"],
                   ["drop:1", "unmap:2:20M", "unmap:2:20M:20M"], ["drop:1", "unmap:2:40M"]):
        equal(left(*twice, *script).get("driver allocations"), None, f"gone after {script}")


def test_arrays():
    found = left("array:2048:2048", "mipmap:1024:1024:4", "array:64:64", "array-end:1")
    check(found["arrays"] >= 4 * MIB, "a mipmap", found)
    found = left("array:2048:2048", "mipmap:1024:1024:4", "array:64:64", "mipmap-end:2",
                 "array-end:3", "array-end:1")
    check("arrays" not in found, "all destroyed", found)


def test_graphs():
    found = left("stream", "graph:50M", "graph-launch:2:1")
    equal(found["graphs"], 64 * MIB, "held by graphs")
    for script in (["free:2"], ["free:2", "graph-end:2"], ["free:2", "sync-all"]):
        equal(left("stream", "graph:50M", "graph-launch:2:1", *script)["graphs"], 64 * MIB,
              f"held after {script}")
    found = left("stream", "graph:50M", "graph-launch:2:1", "free:2", "graph-end:2", "graph-trim")
    check("graphs" not in found, "trimmed", found)
    left("stream", "capture:1", "async:10M:1", "free-async:2:1", "capture-end:1", "graph-launch:3:1",
         "graph-launch:3:1", "sync:1", "graph-end:3", "graph-trim")


def test_call_before_init():
    """What fails before cuInit says nothing about which device is which."""
    done = steps("retain", "init", "retain", "alloc:100M", CUDA_VISIBLE_DEVICES=1)
    equal([line["result"] for line in done.said], [3, 0, 0, 0], "results")
    check_book(book(done, "end", "cuda:1"), "on the second device")


def test_code():
    """Lazily loaded code costs at its first launch."""
    equal(left("module:5M").get("kernels and modules"), None, "loaded, not launched")
    equal(left("module:5M", "launch:1", "launch:1")["kernels and modules"] > 0, True, "launched")
    equal(left("module:5M", "launch:1", "module-end:1").get("kernels and modules"), None, "unloaded")
    equal(left("library:5M", "launch:1", "library-end:1").get("kernels and modules"), None, "unloaded")
    equal(left("module:5M", CUDA_MODULE_LOADING="EAGER")["kernels and modules"] > 0, True, "eager")


def test_limits():
    stack = left("limit:0:16384")["limits: stacks, heap, printf"]
    equal(stack, 4152360960, "stacks")
    left("limit:0:16384", "limit:1:67108864", "limit:2:134217728", "limit:0:1024", "alloc:10M")


def test_streams_and_copies():
    left("stream", "stream", "alloc:100M", "copy:3", "fill:3", "copy:3", "stream-end:1",
         "stream-end:2", "free:3")


def test_imported():
    """Another's memory, or one's own a second time, is not charged again."""
    found = left("alloc:10M", "ipc-open:1")
    equal(found["driver allocations"], 10 * MIB, "counted once")
    left("alloc:10M", "ipc-open:1", "ipc-close:2", "free:1")


# ---- Contexts -----------------------------------------------------------------


def test_contexts():
    """What dies with a context: its blocks, its modules, itself."""
    done = steps("init", "context", "alloc:100M", "alloc:512", "module:5M", "launch:3", "stream",
                 "async:10M", "array:1024:1024", "limit:0:4096", "context-end:0")
    balanced(done)
    done = steps(*BEGIN, "alloc:100M", "context", "alloc:50M", "context-end:2", "current:0",
                 "alloc:20M")
    equal(balanced(done)[("driver allocations", OWN)], 120 * MIB, "the first context's", done)


def test_primary_again():
    done = steps(*BEGIN, "alloc:100M", "module:5M", "launch:2", "retain", "release", "release",
                 "retain", "alloc:50M")
    equal(balanced(done)[("driver allocations", OWN)], 50 * MIB, "after the context's end", done)
    done = steps(*BEGIN, "alloc:100M", "managed:10M", "fill:2", "limit:0:16384", "reset", "retain",
                 "alloc:50M")
    equal(balanced(done)[("driver allocations", OWN)], 50 * MIB, "after its reset", done)
    balanced(steps(*BEGIN, "create:20M", "reserve:20M", "map:2:1", "async:10M", "release"))
    balanced(steps(*BEGIN, "graph:50M", "graph-launch:1", "stream", "async:10M", "free-async:3",
                   "release", "retain", "async:10M"))


# ---- Wrong uses ----------------------------------------------------------------


def test_failures():
    """A call that fails leaves the book as it was."""
    done = steps(*BEGIN, "alloc:100M", "free-at:0xdead000", "alloc:900G", "free:1", "free:1",
                 "host:1M", "free-host:2", "free-host:2", "free:2", "create:900G", "async:900G",
                 "pitch:1G:1K", "create:20M", "drop:3", "drop:3", "array:100000:100000",
                 "alloc:7M", "unmap:4:2M", "limit:99:1")
    got = results(done)
    check(all(got[step] for step in ("free-at:0xdead000", "alloc:900G", "free:1", "free-host:2",
                                     "drop:3", "create:900G", "async:900G")), "failures", got)
    equal(balanced(done)["driver allocations"], 7 * MIB, "what is left", done)
    harness.balanced(done.dump())


def test_failed_frees_keep_their_block():
    """A pool that is still in use; a handle that another thread could have got."""
    found = left("alloc:10M")
    done = steps(*BEGIN, "alloc:10M", "ipc-close:1", "free-host:1", "unregister:1")
    equal(balanced(done), found, "an address given to the wrong free")


# ---- Several devices and processes ------------------------------------------------


def test_second_device():
    done = steps("init", "retain", "alloc:100M", CUDA_VISIBLE_DEVICES=1)
    [device] = report("ledger", done.trace)["devices"]
    equal(device["device"], "cuda:1", "NVML's number of CUDA's first device")
    equal(balanced(done, "cuda:1")["driver allocations"], 100 * MIB, "there")
    done = steps("init", "retain", "alloc:100M", "retain:1", "alloc:50M", "free:1", "current:0",
                 "alloc:20M")
    equal(balanced(done, "cuda:0")["driver allocations"], 20 * MIB, "the first")
    equal(balanced(done, "cuda:1")["driver allocations"], 50 * MIB, "the second")


def line_count(path):
    if not os.path.exists(path):
        return 0
    with open(path) as f:
        return len(f.readlines())


def two_processes(first, second):
    """Under one recording, the second when the first has done its steps; both then
    wait for each other's. What is measured is the device's: see docs/cuda.md."""
    name = program("cuda_steps_linked")
    for fifo in ("one", "two", "go"):
        os.mkfifo(fifo)
    line = f"{name} {first} <one >out.one & read go <go; {name} {second} <two >out.two & wait"
    process = harness.start("/bin/sh", "-c", line, options=("-qf",), env=with_standin())
    ends = {}
    for fifo, words, next_one in (("one", first, "go"), ("two", second, None)):
        ends[fifo] = open(fifo, "w")
        done_steps = len(words.split()) - 1  # the last one is to wait
        harness.wait_until(lambda: line_count(f"out.{fifo}") == done_steps, words)
        if next_one:
            with open(next_one, "w") as f:
                f.write("\n")
    for end in ends.values():
        end.write("\n")
        end.close()
    return harness.finish(process)


def test_two_processes():
    """Each has an entry of its own."""
    done = two_processes("init retain alloc:100M wait", "init retain alloc:30M wait")
    equal(done.code, 0, "exit code", done)
    found = book(done)
    check_book(found, "of two processes")
    by_process = {e["name"]: e["bytes"] for e in found["entries"] if e["bytes"]}
    equal(list(by_process.values()), [CONTEXT + 100 * MIB, CONTEXT + 30 * MIB], "by process", found)
    check(all(name.startswith("process ") for name in by_process), "names", by_process)


def at_once(*scripts, first=None, then=None):
    """Under one recording, all of them at the same time; 'wait' is a meeting. `first` comes
    before the last one, `then` before the last script's own."""
    name = program("cuda_steps_linked")
    line = ""
    for i, script in enumerate(scripts):
        if os.path.exists(f"in.{i}"):
            os.remove(f"out.{i}")  # what it said in the repeat before
        else:
            os.mkfifo(f"in.{i}")
        line += f"{name} {script} <in.{i} >out.{i} & "
    process = harness.start("/bin/sh", "-c", line + "wait", options=("-qf",), env=with_standin())
    ends = [open(f"in.{i}", "w", buffering=1) for i in range(len(scripts))]
    words = [script.split() for script in scripts]
    for meeting in range(words[0].count("wait")):
        for i, steps_of in enumerate(words):
            before = [n for n, word in enumerate(steps_of) if word == "wait"][meeting]
            harness.wait_until(lambda: line_count(f"out.{i}") >= before - meeting,
                               f"{meeting} of {steps_of}")
        if first and meeting + 1 == words[0].count("wait"):
            first()
        for end in ends:
            end.write("\n")
    if then:
        then()
        ends[-1].write("\n")
    for end in ends:
        end.close()
    return harness.finish(process)


def test_processes_at_once():
    """What one takes within another's call is not the other's."""
    some = "alloc:1M alloc:3M alloc:7M free:1 alloc:512 free:3 "
    other = "alloc:5M stream alloc:512 array:1024:1024 free:1 alloc:9M free:3 "
    scripts = [f"wait init retain {some} alloc:100M wait free:2 free:5 alloc:64K wait",
               f"wait init retain {other} alloc:30M module:5M launch:7 wait free:6 alloc:64K wait",
               f"wait init retain {some} alloc:10M wait release retain alloc:2M wait"]
    for repeat in range(5):
        done = at_once(*scripts)
        equal(done.code, 0, "exit code", done)
        for at in ("peak", "end"):
            check_book(book(done, at), f"at {at} of repeat {repeat}")
        by_process = sorted(e["bytes"] for e in book(done)["entries"] if e["bytes"])
        equal(len(by_process), len(scripts), "processes", by_process)
        check(CONTEXT <= by_process[0] and by_process[-1] < 2 * CONTEXT, "each has its context",
              by_process)


def has_ended(trace):
    """Whether a running recording has noted the end of a process."""
    done = plain(harness.MEMLEDGER, "events", trace, "--kind", "process_end", "--json")
    return done.returncode == 0 and bool(json.loads(done.stdout)["events"])


def both_have_read():
    """Whether a running recording has readings of two processes with all they allocate."""
    done = plain(harness.MEMLEDGER, "events", "t.mled", "--kind", "alloc", "--json")
    allocs = json.loads(done.stdout)["events"] if done.returncode == 0 else []
    return sum(e["bytes"] == 512 for e in allocs) == 2


def test_killed_beside_another():
    """Nobody gives back what it had; that is not the other's doing."""
    done = at_once("wait init retain alloc:100M alloc:512 wait kill",
                   "wait init retain alloc:3M alloc:512 wait wait alloc:5M alloc:512 free:2",
                   first=lambda: harness.wait_until(both_have_read, "readings of both"),
                   then=lambda: harness.wait_until(lambda: has_ended("t.mled"), "its end"))
    equal(done.code, 0, "exit code", done)
    for at in ("peak", "end"):
        check_book(book(done, at), f"at {at} beside a killed process")


def has_one_left():
    """Whether of two programs beside each other one has ended, waited for or not."""
    pids = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if harness.runs(pid)]
    return sum(is_here(pid) for pid in pids) == 1


def is_here(pid):
    """Whether it is a program of this test's."""
    try:
        return (os.path.samefile(f"/proc/{pid}/exe", program("cuda_steps_linked"))
                and os.path.samefile(f"/proc/{pid}/cwd", "."))
    except OSError:
        return False


def test_killed_and_its_end_not_yet_found():
    """The other goes on at once, and ends: what it reads lacks the memory of the killed one,
    whose end is not in the trace yet."""
    for go_on in ("alloc:5M alloc:512 free:2", "alloc:1M", ""):
        for then in (lambda: None, lambda: harness.wait_until(has_one_left, "its death")):
            done = at_once("wait init retain alloc:1500M alloc:512 wait kill",
                           f"wait init retain alloc:3M alloc:512 wait wait {go_on}",
                           first=lambda: harness.wait_until(both_have_read, "readings of both"),
                           then=then)
            equal(done.code, 0, "exit code", done)
            for at in ["peak", "end", *(f"{ns}ns" for ns in readings(done))]:
                check_book(book(done, at), f"at {at}, going on with '{go_on}'")


def test_working_while_another_ends():
    """The driver takes back what a killed process had while the other loads code: what that
    takes is entered all the same, and what it had stays."""
    for pause_ms in (5, 60, 120):
        done = at_once("wait init retain alloc:1500M alloc:512 wait fade:180 kill",
                       f"wait init retain alloc:3M module:5M launch:2 alloc:512 wait pause:{pause_ms} "
                       "module:60M launch:4 alloc:512 alloc:1M free:1",
                       first=lambda: harness.wait_until(both_have_read, "readings of both"))
        equal(done.code, 0, "exit code", done)
        for at in ("peak", "end"):
            check_book(book(done, at), f"at {at}, going on after {pause_ms} ms")


def test_one_of_several_processes():
    """A shell and its other children have nothing on the GPU: they are not named."""
    steps_line = " ".join([program("cuda_steps_linked"), *BEGIN, "alloc:100M"])
    done = harness.run("/bin/sh", "-c", f"true; {steps_line}; sleep 0 & wait", options=("-qf",),
                       env=with_standin())
    equal(done.code, 0, "exit code", done)
    check(len(done.dump()["processes"]) > 1, "processes are recorded", done)
    equal(set(entries(book(done))) - {OTHERS, BEFORE},
          {"context", "driver allocations", ("driver allocations", OWN)}, "entries")


class Foreign:
    """A process with a context and 300 MiB that is not recorded."""

    def __init__(self):
        self.process = harness.subprocess.Popen(
            [program("cuda_steps_linked"), *BEGIN, "alloc:300M", "wait"], env=with_standin(),
            stdin=harness.subprocess.PIPE, stdout=harness.subprocess.PIPE, text=True)
        for _ in range(3):
            self.process.stdout.readline()

    def end(self):
        self.process.communicate("go on\n")


def test_another_process():
    """One that is not recorded, on the same device."""
    other = Foreign()
    try:
        process = harness.start(program("cuda_steps_linked"), "wait", *BEGIN, "alloc:100M",
                                options=("-qf",), env=with_standin(),
                                stdin=harness.subprocess.PIPE)
        harness.wait_until(lambda: has_others("t.mled"), "a sample of the other process")
        process.stdin.write("go on\n")
        done = harness.finish(process)
    finally:
        other.end()
    found = book(done)
    equal(entries(found)["driver allocations"], 100 * MIB, "its own")
    # The driver does not count all that a context takes as its process's.
    seen = entries(found)[OTHERS]
    check(300 * MIB + 543162368 <= seen <= 300 * MIB + CONTEXT, OTHERS, seen)
    equal(found["unexplained_bytes"], 300 * MIB + CONTEXT - seen, "unexplained", found)


def meanwhile(change):
    """Runs a program, and change() while the driver makes its context; its book."""
    busy = os.path.abspath("busy")
    with open(busy, "w"):
        pass
    process = harness.start(program("cuda_steps_linked"), *BEGIN, "alloc:100M", "wait",
                            options=("-qf",), env=with_standin(STANDIN_BUSY=busy),
                            stdin=harness.subprocess.PIPE)
    harness.wait_until(lambda: os.path.exists(busy + ".asked"), "the making of a context")
    os.unlink(busy + ".asked")
    change()
    os.unlink(busy)
    process.stdin.write("go on\n")
    return entries(book(harness.finish(process), "end"))


def test_others_come_and_go_meanwhile():
    """A process that is not recorded begins or ends while a context is made: the context has its
    own bytes, but for those that are in no process's number."""
    foreign = Foreign()
    for change in (foreign.end, lambda: came.append(Foreign())):
        came = []
        found = meanwhile(change)
        for other in came:
            other.end()
        check(548995072 - 5832704 <= found["context"] <= CONTEXT, "context", found)
        equal(found["driver allocations"], 100 * MIB, "its own")


def has_others(trace):
    """Whether a running recording has noted what others use."""
    done = plain(harness.MEMLEDGER, "events", trace, "--kind", "sample", "--json")
    return done.returncode == 0 and any(e.get("of") == "processes_not_recorded"
                                        and e.get("process_bytes")
                                        for e in json.loads(done.stdout)["events"])


# ---- Ways in, and ends --------------------------------------------------------------


def test_ways():
    script = [*BEGIN, "alloc:100M", "stream", "async:10M:2", "free-async:3:2", "sync:2", "host:1M"]
    for way in ("linked", "dlsym", "proc"):
        for first in ([], ["per-thread"]):
            done = steps(*first, *script, way=way)
            equal(balanced(done)["driver allocations"], 100 * MIB, f"{way} {first}")


def test_injection():
    """cuInit itself is not measured: what it took is all that is unexplained."""
    for way in ("linked", "dlsym", "proc"):
        done = steps(*BEGIN, "alloc:100M", way=way, options=["--cuda=injection"])
        for at in ("peak", "end"):
            found = book(done, at)
            equal(entries(found)["driver allocations"], 100 * MIB, f"{way} injected", done)
            before = entries(found).get(BEFORE, 0)  # if nothing was read before cuInit
            equal(found["unexplained_bytes"] + before, 3407872, f"{way} at {at}",
                  entries_text(found))


def test_killed():
    """SIGKILL in the middle: the last reading is the end."""
    done = steps(*BEGIN, "alloc:100M", "alloc:50M", "free:1", "kill")
    equal(done.code, -9, "exit code", done)
    for at, bytes in (("peak", 150 * MIB), ("end", 50 * MIB)):
        found = book(done, at)
        check_book(found, f"of a killed program at {at}")
        equal(entries(found)["driver allocations"], bytes, at)
    done = plain(harness.MEMLEDGER, "ledger", "t.mled")
    equal(done.returncode, 0, "memledger ledger", done.stderr)


def test_left_without_a_word():
    """_exit runs no handlers."""
    done = steps(*BEGIN, "alloc:100M", "exit:3")
    equal(done.code, 3, "exit code", done)
    check_book(book(done, "end"), "of a program that left by _exit")


def check_without_figure(env, how):
    """Sizes are recorded, the driver's figure is not known, and run says so once."""
    done = harness.run(program("cuda_steps_dlsym"), *BEGIN, "alloc:100M", options=("-f",), env=env)
    equal(done.code, 0, "exit code", done)
    equal(done.err.count("no GPU was sampled"), 1, f"said once: {how}", done)
    for at in ("peak", "end"):
        found = book(done, at)
        equal((found["used_bytes"], found["sample_ns"], found["unexplained_bytes"],
               found["balanced"]), (None, None, None, False), f"not known: {how}", found)
        equal(entries(found)["driver allocations"], 100 * MIB, f"recorded: {how}", found)
    said = plain(harness.MEMLEDGER, "ledger", done.trace)
    equal(said.stdout.count("The driver's figure is unknown"), 1, f"the ledger: {how}", said)


def test_nvml_fails():
    for how in ("init", "memory"):
        check_without_figure(with_standin(STANDIN_NVML_FAIL=how), how)


def test_nvml_absent():
    os.symlink(os.path.join(harness.STANDIN, "libcuda.so.1"), "libcuda.so.1")
    env = with_standin() | {"LD_LIBRARY_PATH": os.getcwd()}
    look = "import ctypes; ctypes.CDLL('libnvidia-ml.so.1')"
    if plain(sys.executable, "-c", look, env=env).returncode == 0:
        raise harness.Skip("this machine has NVML", machine=True)
    check_without_figure(env, "absent")


def test_no_numbers_by_process():
    """Then what was used before the run stands for the others."""
    done = steps(*BEGIN, "alloc:100M", STANDIN_NVML_NO_PROCESSES=1)
    check(OTHERS not in balanced(done), "others", done)


harness.main(globals())
