#!/usr/bin/env python3
# test_torch_attach.py: memledger attach to a program with PyTorch: tensors that exist already, and
# those of later recordings of the same process.
#
# SPDX-License-Identifier: Apache-2.0
import os
import time

import harness
from attaching import Asked, begin, end, has_begun, start
from harness import MEMLEDGER, check, contains, equal, with_standin
from torch_support import PYTHON, need_torch

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
BEFORE = "allocated before the recording began"
CONTEXT = 3407872 + 548995072  # of cuInit and of a primary context, in the stand-in


class Program(Asked):
    """holds_tensors.py, without memledger."""

    def __init__(self, *args, script="holds_tensors.py", env=os.environ, **settings):
        need_torch()
        super().__init__(PYTHON, f"{HERE}/{script}", *args,
                         env=env | {"PYTHONPATH": os.environ["TEST_PACKAGE"]}, **settings)

    def record(self, *requests):
        """@return the bytes of the host's blocks in the recording: at its end, and allocated"""
        attached = begin(self.process.pid)
        self.ask(*requests)
        end(attached)
        summary = harness.report("summary", "t.mled")
        return summary["live_bytes"], summary["allocated_bytes"]


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


def test_growth():
    """Older tensors are no growth of the last minute, however late the program reports them."""
    p = Program("memledger._cuda_late")
    p.ask("hold a 1000")
    attached = start(p.process.pid)
    harness.wait_until(lambda: os.path.exists("waits"), "the program to begin the recording")
    time.sleep(1.2)  # growth is counted from the end of the first second on
    with open("go", "w"):
        pass
    has_begun(attached)
    harness.wait_until(lambda: live()["bytes"] == 4000, "the older tensor")
    equal(live()["devices"][0]["minute_growth_bytes"], 0, "growth without new tensors")
    time.sleep(1)
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


def test_waiting():
    """A main thread that waits reports its tensors and names when it goes on, again and again."""
    p = Program()
    p.ask("train layer", "hold a 1000")
    for i in range(9):
        print("rest", 5 if i == 8 else 3.5, file=p.process.stdin, flush=True)
        attached = begin(p.process.pid)
        harness.read_line(p.process)
        p.ask("hold b 100", "drop a", "hold a 1000")
        end(attached)
        summary = harness.report("summary", "t.mled")
        equal(summary["live_bytes"], 2 * 4040 + 4000 + 400, f"bytes live after recording {i}")
        groups = harness.report("table", "t.mled", "--by", "category", "--at", "end")["groups"]
        equal({g["category"]: g["bytes"] for g in groups if g["category"] != "input"},
              {"parameter": 4040, "gradient": 4040}, "categories")
    p.end()


def attach_until_detach(pid):
    attached = begin(pid, "--heap")
    time.sleep(0.3)
    equal(harness.plain(MEMLEDGER, "detach", pid).returncode, 0, "exit code of detach")
    equal(attached.wait(harness.PATIENCE_S), 0, "exit code of attach")


def attach_until_interrupted(pid):
    attached = begin(pid, "--heap")
    time.sleep(0.3)
    end(attached)


def attach_for_a_time(pid):
    equal(begin(pid, "--heap", "--for", "0.3s").wait(harness.PATIENCE_S), 0, "exit code of attach")


def test_both_ends_with_malloc():
    """Tensors are blocks of malloc as well. No free is missed in the first and last moments, and
    nothing is counted twice, whatever the threads do then."""
    p = Program(script="churns_tensors.py")
    most_bytes = p.ask("bytes") + 300000  # Python's own blocks, and those of the attach
    for record in [attach_until_detach, attach_until_interrupted, attach_for_a_time]:
        record(p.process.pid)
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


def test_given_up():
    """The command gives up while the program begins the recording: later ones are not refused."""
    p = Program("memledger._lightning")
    p.ask("hold a 1000")
    done = harness.plain(harness.MEMLEDGER, "attach", "--timeout", "2s", "-o", "given-up.mled",
                         p.process.pid)
    check(done.returncode == 1 and "has not answered within 2 s" in done.stderr, done)
    check(os.path.exists("waits") and not os.path.exists("given-up.mled"), os.listdir())
    done = harness.plain(harness.MEMLEDGER, "attach", "--timeout", "1s", p.process.pid)
    contains(done.stderr, "has not answered an earlier attach", "message")
    with open("go", "w"):
        pass
    equal(p.ask("hold b 10"), 0, "answer of the program")
    equal(p.record("hold c 1"), (4044, 4044), "the next recording")
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
