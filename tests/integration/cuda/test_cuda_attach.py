#!/usr/bin/env python3
# test_cuda_attach.py: memledger attach to a program that uses the CUDA driver: its calls are
# recorded from then on, and the books balance although it had memory before. The driver is the
# stand-in (docs/testing.md).
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from attaching import begin, end, has_begun, start
from harness import check, equal, program, report, with_standin

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
CONTEXT = 3407872 + 548995072  # of cuInit and of a primary context
BEFORE = "allocated before the recording began"
BEFORE_ALL = BEFORE + ", by any process"
DIRECT = "driver allocations"
POOLS = "stream-ordered pools"
WAYS = ("linked", "dlsym", "proc")


class Steps:
    """cuda_steps.c, without memledger; it waits where its steps say so."""

    def __init__(self, *steps, way="linked", **settings):
        self.steps = list(steps)
        self.process = subprocess.Popen([*self.command(way), *steps],
                                        env=os.environ | with_standin(**settings), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self._read()

    def command(self, way):
        return [program("cuda_steps_" + way)]

    def _read(self):
        """What the steps say up to the next wait."""
        while self.steps:
            step = self.steps.pop(0)
            if step == "wait":
                return
            if step.startswith("pause"):
                continue
            said = json.loads(harness.read_line(self.process))
            equal((said["step"], said["result"]), (step, 0), "step")

    def go_on(self):
        print(file=self.process.stdin, flush=True)
        self._read()

    def record(self):
        """Records the next steps."""
        attached = begin(self.pid)
        self.go_on()
        end(attached)

    def end(self):
        self.process.stdin.write("\n" * 10)
        self.process.stdin.close()
        equal(self.process.wait(harness.PATIENCE_S), 0, "exit code of the program")


class Segment(Steps):
    """segment_program.py, for which the first reserved range is a segment."""

    def command(self, way):
        return [sys.executable, os.path.join(HERE, "segment_program.py"),
                program("libcuda_steps.so"), "1"]


class Busy:
    """A driver whose queries wait, and an attach meanwhile."""

    def __init__(self):
        self.file = os.path.abspath("busy")

    def begin(self, pid):
        """@return when attach asks the driver"""
        with open(self.file, "w"):
            pass
        self.attached = start(pid)
        harness.wait_until(lambda: os.path.exists(self.file + ".asked"), "a query")
        os.unlink(self.file + ".asked")

    def end(self):
        """@return the attach, which goes on"""
        os.unlink(self.file)
        has_begun(self.attached)
        return self.attached


def books(at="end"):
    return report("ledger", "t.mled", "--at", at)["devices"]


def entries(found):
    """The entries that are not empty, by name."""
    return {e["name"]: e["bytes"] for e in found["entries"] if e["bytes"]}


def book(at="end", device="cuda:0"):
    """Balanced at all instants; the entries at one."""
    for when in {"peak", "end", at}:
        for found in books(when):
            equal((found["unexplained_bytes"], found["balanced"]), (0, True),
                  f"unexplained at {when}", json.dumps(found, indent=1))
    [found] = [found for found in books(at) if found["device"] == device]
    return entries(found)


def test_ways():
    """However the program found the driver: blocks after the attach are recorded, and those of
    before leave their entry when they are freed."""
    for way in WAYS:
        p = Steps("init", "retain", "alloc:100M", "alloc:30M", "wait", "alloc:50M", "alloc:20M",
                  "free:1", "free:3", "wait", way=way)
        p.record()
        equal(book(), {BEFORE: CONTEXT + 30 * MIB, DIRECT: 20 * MIB}, f"book of {way}")
        driver = [e for e in report("events", "t.mled", "--kind", "alloc")["events"]
                  if e["bytes"] in (50 * MIB, 20 * MIB)]
        equal(len(driver), 2, "allocations of the driver", driver)
        equal(report("summary", "t.mled")["health"]["unknown_frees"], 0, "unknown frees")
        p.end()


def test_at_once():
    """A program that does nothing has a balanced book, too."""
    p = Steps("init", "retain", "alloc:100M", "wait", "wait")
    attached = begin(p.pid)
    end(attached)
    equal(book(), {BEFORE: CONTEXT + 100 * MIB}, "book")
    p.end()


def test_again():
    """Blocks of an earlier recording are older ones in the next."""
    p = Steps("init", "retain", "alloc:10M", "wait", "alloc:20M", "wait", "alloc:40M", "wait",
              "alloc:80M", "free:1", "free:2", "wait", "free:3", "free:4", "wait")
    p.record()
    equal(book(), {BEFORE: CONTEXT + 10 * MIB, DIRECT: 20 * MIB}, "first recording")
    p.go_on()
    p.record()
    equal(book(), {BEFORE: CONTEXT + 40 * MIB, DIRECT: 80 * MIB}, "second recording")
    p.record()
    equal(book(), {BEFORE: CONTEXT}, "third recording")
    p.end()


def test_small_blocks():
    """They share pages with older ones."""
    p = Steps("init", "retain", "alloc:512", "alloc:512", "wait", "alloc:512", "alloc:1M", "free:1",
              "free:3", "alloc:3M", "free:2", "wait")
    p.record()
    found = book()
    equal(found[DIRECT], 4 * MIB, "driver allocations", found)
    p.end()


def test_two_devices():
    p = Steps("init", "retain:0", "alloc:10M", "retain:1", "alloc:20M", "wait", "alloc:4M", "free:3",
              "wait")
    p.record()
    equal(book(device="cuda:0"), {BEFORE: CONTEXT + 10 * MIB}, "first device")
    equal(book(device="cuda:1"), {BEFORE: CONTEXT, DIRECT: 4 * MIB}, "second device")
    p.end()


def test_visible_devices():
    """Devices are numbered as in NVML."""
    p = Steps("init", "retain", "alloc:10M", "wait", "alloc:5M", "wait", CUDA_VISIBLE_DEVICES="1")
    p.record()
    equal([d["device"] for d in books()], ["cuda:1"], "devices")
    book(device="cuda:1")
    p.end()


def test_other_processes():
    """NVML says what they have; without its numbers they are part of the entry."""
    state = os.path.abspath("shared-devices")
    other = Steps("init", "retain", "alloc:1000M", "wait", STANDIN_STATE=state)
    p = Steps("init", "retain", "alloc:100M", "wait", "alloc:50M", "free:1", "pause:500", "wait",
              STANDIN_STATE=state)
    p.record()
    found = book()
    others = CONTEXT + 1000 * MIB
    equal(sorted(found), sorted([BEFORE, "other processes", DIRECT]), "entries with numbers")
    # NVML charges a process a little less than the device.
    equal(found[BEFORE] + found["other processes"], CONTEXT + others, "with numbers", found)
    check(found[BEFORE] < CONTEXT + 20 * MIB, "only what this process had", found)
    p.end()
    for fail in ("alloc:50M", "free:1"):
        p = Steps("init", "retain", "alloc:100M", "wait", fail, "wait", STANDIN_STATE=state,
                  STANDIN_NVML_NO_PROCESSES="1")
        p.record()
        found = book()
        equal(found[BEFORE_ALL], others + CONTEXT + (100 * MIB if fail[0] == "a" else 0),
              "without numbers", found)
        p.end()
    other.end()


def test_without_nvml():
    p = Steps("init", "retain", "alloc:100M", "wait", "alloc:50M", "free:1", "wait",
              STANDIN_NVML_FAIL="init")
    p.record()
    [found] = books()
    equal(entries(found), {DIRECT: 50 * MIB}, "entries")
    p.end()


def test_driver_not_started():
    """The library is loaded, but the program has not started the driver: neither does attach. It is
    recorded from its start."""
    p = Steps("wait", "init", "retain", "alloc:100M", "wait")
    attached = begin(p.pid)
    with open(f"/proc/{p.pid}/maps") as maps:
        check("libnvidia-ml" not in maps.read(), "NVML was not opened either")
    p.go_on()
    end(attached)
    equal(book(), {"context": CONTEXT, DIRECT: 100 * MIB}, "book")
    p.end()


def test_driver_loaded_later():
    """The program loads the driver after the attach."""
    for way in ("dlsym", "proc"):
        p = Steps("wait", "init", "retain", "alloc:100M", "alloc:5M", "free:2", "wait", way=way)
        p.record()
        equal(book(), {"context": CONTEXT, DIRECT: 100 * MIB}, f"book of {way}")
        p.end()


LATE = """
import sys
print("ready", flush=True)
sys.stdin.readline()
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context, address = ctypes.c_void_p(), ctypes.c_uint64()
results = [cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
           cuda.cuCtxSetCurrent(context),
           cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(100 << 20))]
print(results, flush=True)
sys.stdin.readline()
"""


def test_libraries_loaded_later():
    """After the attach, Python loads the library that looks the driver's functions up."""
    process = subprocess.Popen([sys.executable, "-S", "-c", LATE], env=with_standin(), text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    equal(harness.read_line(process), "ready", "first line")
    attached = begin(process.pid)
    print(file=process.stdin, flush=True)
    equal(harness.read_line(process), "[0, 0, 0, 0]", "results")
    end(attached)
    equal(book(), {"context": CONTEXT, DIRECT: 100 * MIB}, "book")
    process.communicate("\n", timeout=harness.PATIENCE_S)
    equal(process.returncode, 0, "exit code of the program")


def test_pools():
    """Memory of the driver's pools is theirs, also what they had before."""
    p = Steps("init", "retain", "stream", "async:10M:1", "async:40M:1", "wait", "free-async:2:1",
              "async:100M:1", "wait", "free-async:3:1", "free-async:4:1", "sync:1", "wait")
    p.record()
    found = book()
    check(POOLS in found, "pools", found)
    p.record()
    check(POOLS not in book(), "all was given back")
    p.end()


def test_older_memory_of_other_kinds():
    """Each kind of memory that is older than the recording leaves its entry when it is freed."""
    cases = {
        "managed": (["managed:64M", "fill:1"], ["free:1"]),
        "arrays": (["array:1024:1024"], ["array-end:1"]),
        "virtual": (["create:20M", "reserve:60M", "map:2:1:2M"], ["unmap:2:20M:2M", "drop:1"]),
        "released": (["create:20M", "reserve:60M", "map:2:1:2M", "drop:1"], ["unmap:2:20M:2M"]),
        "pool": (["pool", "from-pool:10M:1"], ["free-async:2", "pool-end:1"]),
        "graph": (["stream", "capture:1", "capture-end:1"], ["graph-end:2"]),
        "modules": (["module:5M", "launch:1"], ["module-end:1"]),
        "context": (["alloc:10M", "module:5M", "launch:2"], ["release"]),
    }
    for name, (older, later) in cases.items():
        p = Steps("init", "retain", *older, "wait", "alloc:4M", *later, "wait")
        p.record()
        book()
        p.end()


def test_end_of_the_program():
    """The last reading is that of the program's exit."""
    p = Steps("init", "retain", "alloc:100M", "wait", "alloc:50M")
    attached = begin(p.pid)
    p.end()
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
    equal(book(), {BEFORE: CONTEXT + 100 * MIB, DIRECT: 50 * MIB}, "book")


def while_busy(p, busy):
    """Records the next steps, which come while attach asks a busy driver: they need not wait for
    its answers, and are recorded. Then those that follow."""
    busy.begin(p.pid)
    p.go_on()
    attached = busy.end()
    p.go_on()
    end(attached)
    p.end()
    equal(report("summary", "t.mled")["health"]["lost"], 0, "lost calls")


def test_busy_driver():
    busy = Busy()
    p = Steps("init", "retain", "stream", "alloc:100M", "async:10M:1", "wait", "alloc:50M",
              "async:100M:1", "free:2", "wait", "alloc:4M", "wait", STANDIN_BUSY=busy.file)
    while_busy(p, busy)
    found = book()
    equal(found.pop(DIRECT), 54 * MIB, "blocks", found)
    equal(found.pop(POOLS), 128 * MIB, "pool", found)
    equal(found, {BEFORE: CONTEXT}, "the rest")


def test_busy_driver_growth():
    """Another process allocates before the entry of older memory is made. A block that is freed
    then does not account for it."""
    state = os.path.abspath("shared-devices")
    for told in ("", "1"):
        busy = Busy()
        other = Steps("init", "retain", "wait", "alloc:50M", "wait", STANDIN_STATE=state)
        p = Steps("init", "retain", "alloc:10M", "wait", "alloc:2M", "wait", "free:1", "wait",
                  "alloc:2M", "wait", STANDIN_STATE=state, STANDIN_BUSY=busy.file,
                  STANDIN_NVML_NO_PROCESSES=told)
        busy.begin(p.pid)
        p.go_on()
        other.go_on()
        p.go_on()
        attached = busy.end()
        p.go_on()
        end(attached)
        found = book()
        p.end()
        other.end()
        others = found.pop("other processes", 0)
        equal(sorted(found), sorted([BEFORE_ALL if told else BEFORE, DIRECT]), "entries", others)


def test_busy_driver_virtual():
    """A handle that the driver has named, and that the program frees before it is entered, is not
    entered; a new one at its address is entered once."""
    older = ["create:20M", "map:1:2:0", "create:20M", "map:1:3:20M", "create:40M", "map:1:4:40M"]
    end_second = ["unmap:1:20M:20M", "drop:3"]
    cases = {
        "nothing": ([], 80, 0),
        "freed": (end_second, 60, 0),
        "first freed": (["unmap:1:20M", "drop:2"], 60, 0),
        "all freed": (["unmap:1:20M", "drop:2", *end_second, "unmap:1:40M:40M", "drop:4"], 0, 0),
        "replaced": ([*end_second, "create:20M", "map:1:5:20M"], 80, 0),
        "more": (["create:8M", "map:1:5:80M"], 88, 0),
        "unmapped": (["unmap:1:20M:20M"], 60, 20),
    }
    for name, (meanwhile, mapped, others) in cases.items():
        busy = Busy()
        p = Segment("init", "retain", "reserve:100M", *older, "wait", *meanwhile, "alloc:6M", "wait",
                    "alloc:2M", "wait", STANDIN_BUSY=busy.file)
        while_busy(p, busy)
        found = book()
        equal(found.pop(DIRECT), (mapped + 8) * MIB, f"{name}: blocks", found)
        equal(found, {BEFORE: CONTEXT + others * MIB}, f"{name}: the rest")


class Rounds:
    """driver_rounds.py, without memledger."""

    def __init__(self, threads):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "driver_rounds.py"), str(threads)],
            env=with_standin(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.stop()
        self.go_on()

    def stop(self):
        """@return its allocations so far, and the bytes that it holds"""
        self.go_on()
        return [int(word) for word in harness.read_line(self.process).split()]

    def go_on(self):
        print(file=self.process.stdin, flush=True)

    def end(self):
        self.process.stdin.close()
        equal(self.process.wait(harness.PATIENCE_S), 0, "exit code of the program")


def in_use():
    """Bytes of the program's own blocks, of its context and of the rest, as the book has them."""
    [found] = books()
    by_name = entries(found)
    return (by_name.pop(DIRECT), by_name.pop(BEFORE), by_name.pop("rounding to pages", 0),
            found["unexplained_bytes"], by_name)


def so_far():
    """Statistics of a recording that goes on."""
    done = harness.plain(harness.MEMLEDGER, "stats", "t.mled", "--json", "--top", "100")
    return json.loads(done.stdout) if done.returncode == 0 else {"spaces": [], "threads": []}


def begin_anew(pid):
    """Without the trace of an earlier recording, which so_far() would read."""
    if os.path.exists("t.mled"):
        os.unlink("t.mled")
    return begin(pid)


def test_running():
    """Attach to a program that allocates all the time, which has found the driver's functions with
    ctypes. When all older blocks are freed, their entry has what the context takes."""
    def allocations():
        return sum(s["allocations"] for s in so_far()["spaces"] if s["space"] == "cuda memory")

    p = Rounds(1)
    last = 0
    for _ in range(5):
        time.sleep(random.random() / 20)  # any moment will do
        attached = begin_anew(p.process.pid)
        harness.wait_until(lambda: allocations() >= 20, "allocations in the recording")
        first, _ = p.stop()
        p.go_on()
        harness.wait_until(lambda: allocations() >= first - last + 20, "allocations after the stop")
        last, held = p.stop()
        end(attached)
        p.go_on()
        direct, before, rounding, rest, others = in_use()
        equal((direct, rest, others), (held, 0, {}), "book", rounding)
        # Older blocks shared pages with later ones.
        check(0 <= before - CONTEXT <= 16 * MIB, "older memory", before - CONTEXT)
        made = report("summary", "t.mled")
        found = [s for d in made["by_device"] if d["device"] == "cuda:0" for s in d["levels"]]
        check(last - first <= found[0]["allocations"], "allocations", found)
    p.end()


def test_running_threads():
    """Several threads at once: which call took which page is not known, but the blocks are, and all
    pages together. The length of the recording changes nothing."""
    def all_allocate():
        return sum(thread["allocations"] >= 100 for thread in so_far()["threads"]) == 4

    p = Rounds(4)
    under_way = 4 * 6 * MIB  # at the beginning of the recording: one call of each thread
    for _ in range(5):
        time.sleep(random.random() / 20)  # any moment will do
        attached = begin_anew(p.process.pid)
        harness.wait_until(all_allocate, "allocations of all threads in the recording")
        _, held = p.stop()
        end(attached)
        p.go_on()
        direct, before, rounding, rest, others = in_use()
        equal(direct, held, "blocks")
        details = (before - CONTEXT, rounding, rest, others)
        check(abs(before - CONTEXT) < 40 * MIB, "older memory", details)
        check(abs(rest) <= under_way, "unexplained", details)
    p.end()


if __name__ == "__main__":
    harness.main(globals())
