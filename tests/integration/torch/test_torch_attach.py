#!/usr/bin/env python3
# test_torch_attach.py: memledger attach to a program with PyTorch: tensors that exist already, and
# those of later recordings of the same process.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
from attached_programs import Program
from attaching import begin, end, has_begun, start
from harness import MEMLEDGER, check, equal, with_standin

MIB = 1 << 20
BEFORE = "allocated before the recording began"
CONTEXT = 3407872 + 548995072  # of cuInit and of a primary context, in the stand-in


def test_again():
    """Each recording begins with the tensors of its time, whatever happened between two."""
    p = Program()
    p.ask("hold a 1000", "hold b 2000")
    equal(p.record("hold c 100", "drop a"), (8400, 12400), "the first recording")
    p.ask("drop b", "hold d 5000")
    equal(p.record("hold e 10", "drop c"), (20040, 20440), "the second recording")
    p.ask("drop d", "drop e")
    equal(p.record("hold f 20"), (80, 80), "the third recording")
    p.end()


def live():
    return harness.report("live", "t.mled", "--once")


def wait_for_time(time_ns):
    harness.wait_until(lambda: live()["time_ns"] >= time_ns, "that time of the recording")


def test_growth():
    """Older tensors are no growth of the last minute, however late the program reports them."""
    p = Program("memledger._cuda_late")
    p.ask("hold a 1000")
    attached = start(p.process.pid)
    harness.wait_until(lambda: os.path.exists("waits"), "the program to begin the recording")
    wait_for_time(1_200_000_000)  # growth is counted from the end of the first second on
    with open("go", "w"):
        pass
    has_begun(attached)
    harness.wait_until(lambda: live()["bytes"] == 4000, "the older tensor")
    equal(live()["devices"][0]["minute_growth_bytes"], 0, "growth without new tensors")
    wait_for_time(live()["time_ns"] + 1_000_000_000)
    p.ask("hold b 10")
    harness.wait_until(lambda: live()["bytes"] == 4040, "the new tensor")
    equal(live()["devices"][0]["minute_growth_bytes"], 40, "growth")
    equal(live()["processes"][0]["minute_growth_bytes"], 40, "growth of the process")
    end(attached)
    equal(harness.report("summary", "t.mled")["processes"][0]["threads"], 1, "threads of the program")
    p.end()


def test_names():
    """Parameters and gradients that exist already have their names at once."""
    p = Program()
    p.ask("train layer")
    p.record("nothing")
    groups = harness.report("table", "t.mled", "--by", "label,category", "--at", "end")["groups"]
    equal({(g["label"], g["category"]): g["bytes"] for g in groups},
          {(name, kind): size for kind in ("parameter", "gradient")
           for name, size in (("weight", 4000), ("bias", 40))}, "labels")
    p.end()


def allocated_bytes():
    return harness.report("summary", "t.mled")["allocated_bytes"]


def begin_and_wait(pid, wanted_bytes):
    attached = begin(pid, "--heap")
    harness.wait_until(lambda: allocated_bytes() > wanted_bytes, "enough tensors")
    return attached


def attach_until_detach(pid, wanted_bytes):
    attached = begin_and_wait(pid, wanted_bytes)
    equal(harness.plain(MEMLEDGER, "detach", pid).returncode, 0, "exit code of detach")
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")


def attach_until_interrupted(pid, wanted_bytes):
    end(begin_and_wait(pid, wanted_bytes))


def attach_for_a_time(pid, wanted_bytes):
    """Long enough for this machine."""
    for seconds in (0.3, 1, 3, 10, 30):
        attached = begin(pid, "--heap", "--for", str(seconds))
        equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")
        if allocated_bytes() > wanted_bytes:
            return


def test_both_ends_with_malloc():
    """Tensors are blocks of malloc as well. No free is missed in the first and last moments, and
    nothing is counted twice, whatever the threads do then."""
    p = Program(script="churns_tensors.py")
    most_bytes = p.ask("bytes") + 300000  # Python's own blocks, and those of the attach
    for record in [attach_until_detach, attach_until_interrupted, attach_for_a_time]:
        record(p.process.pid, 10 * most_bytes)
        summary = harness.report("summary", "t.mled")
        equal(summary["health"]["replaced"], 0, "blocks whose free is missing", summary["health"])
        check(summary["peak_bytes"] <= most_bytes, f"peak of at most {most_bytes}", summary)
        check(summary["allocated_bytes"] > 10 * most_bytes, "tensors were recorded", summary)
    p.end()


def steps():
    return [step["step"] for step in harness.report("steps", "t.mled")["steps"]]


def test_steps():
    """Each recording counts its steps from 0, unless the program has numbers of its own."""
    p = Program()
    p.ask("steps 2")
    for turn in range(3):
        p.record("steps 3")
        equal(steps(), [0, 1, 2], f"steps of recording {turn}")
        p.ask("steps 5")  # between two recordings
    p.record("number 7", "steps 1", "number 8", "steps 1")
    equal(steps(), [7, 8], "steps that the program numbers")
    p.record("number 9", "steps 1")
    equal(steps(), [8, 9], "the next recording of such steps, in the middle of one")
    p.end()


def test_program_that_counts():
    """memledger.live() of the program is right during a recording and after it."""
    for before in ("count", "nothing"):
        p = Program()
        p.ask("hold a 1000", before)
        p.record("hold b 100", "count")
        equal(p.ask("hold c 10", "drop a", "count"), 440, "after the recording")
        equal(p.record("hold d 1"), (444, 444), "another recording")
        equal(p.ask("drop b"), 44, "after it")
        p.end()


def book():
    """The balanced book of the GPU at the end: MiB of the entries by name, and of free memory."""
    [found] = harness.report("ledger", "t.mled", "--at", "end", "--device", "cuda:0")["devices"]
    equal((found["unexplained_bytes"], found["balanced"]), (0, True), "unexplained", found)
    slack = [(b["name"], b["bytes"]) for e in found["entries"] for b in e["entries"]
             if b["name"] == "slack"]
    named = [(e["name"], e["bytes"]) for e in found["entries"] if e["bytes"]]
    return {name: size / MIB for name, size in named + slack}


def test_segments():
    """The segments of PyTorch's allocator are entries, as in a recording from the start: blocks and
    what is free around them."""
    p = Program(script="holds_segments.py", env=with_standin(), first="plain a 20 12")
    p.ask("plain b 40 40", "plain empty 10 0", "expandable e 3 20 50")
    p.record("plain c 30 0")
    equal(book(), {BEFORE: CONTEXT / MIB, "blocks": 20 + 40 + 60, "slack": 8 + 10,
                   "driver allocations": 10 + 30}, "book")
    p.record("drop a", "drop empty", "drop c", "drop e", "expandable f 2 2 0")
    equal(book(), {BEFORE: CONTEXT / MIB, "blocks": 40, "driver allocations": 4}, "later")
    equal(harness.report("summary", "t.mled")["health"]["unknown_frees"], 0, "unknown frees")
    p.end()


if __name__ == "__main__":
    harness.main(globals())
