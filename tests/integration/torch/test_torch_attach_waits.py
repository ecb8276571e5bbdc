#!/usr/bin/env python3
# test_torch_attach_waits.py: memledger attach to a program with PyTorch whose main thread does not
# answer, or answers too late.
#
# SPDX-License-Identifier: Apache-2.0
import os
import platform

import harness
from attached_programs import Program
from attaching import begin, end
from harness import MEMLEDGER, check, contains, equal

# Opening a FIFO waits for its writer. Other machines than x86-64 have the kernel's generic numbers.
SYS_OPENAT = "257" if platform.machine() == "x86_64" else "56"


def rest(p):
    """Its main thread stays in a system call until go_on()."""
    print("rest", file=p.process.stdin, flush=True)
    harness.wait_until(lambda: system_call(p.process.pid) == SYS_OPENAT, "the main thread to wait")


def go_on(p):
    with open("rest", "w"):
        harness.read_line(p.process)


def system_call(pid):
    """The number of that in which its main thread is, "running": none."""
    with open(f"/proc/{pid}/syscall") as file:
        return file.read().split()[0]


def test_waiting():
    """A main thread that waits reports its tensors and names when it goes on, again and again."""
    p = Program()
    os.mkfifo("rest")
    p.ask("train layer", "hold a 1000")
    for i in range(9):
        rest(p)
        attached = begin(p.process.pid)
        contains(attached.stderr.readline(), "Python's main thread waits", f"note {i}")
        go_on(p)
        p.ask("hold b 100", "drop a", "hold a 1000")
        end(attached)
        summary = harness.report("summary", "t.mled")
        equal(summary["live_bytes"], 2 * 4040 + 4000 + 400, f"bytes live after recording {i}")
        groups = harness.report("table", "t.mled", "--by", "category", "--at", "end")["groups"]
        equal({g["category"]: g["bytes"] for g in groups if g["category"] != "input"},
              {"parameter": 4040, "gradient": 4040}, "categories")
    p.end()


def test_given_up():
    """The command gives up while the program begins the recording: later ones are not refused."""
    p = Program("memledger._lightning")
    p.ask("hold a 1000")
    done = harness.plain(MEMLEDGER, "attach", "--timeout", "2s", "-o", "given-up.mled",
                         p.process.pid)
    check(done.returncode == 1 and "has not answered within 2 s" in done.stderr, done)
    harness.wait_until(lambda: os.path.exists("waits"), "the program to begin the recording")
    check(not os.path.exists("given-up.mled"), os.listdir())
    done = harness.plain(MEMLEDGER, "attach", "--timeout", "3s", p.process.pid)
    contains(done.stderr, "has not answered an earlier attach", "message")
    with open("go", "w"):
        pass
    equal(p.ask("hold b 10"), 0, "answer of the program")
    equal(p.record("hold c 1"), (4044, 4044), "the next recording")
    p.end()


if __name__ == "__main__":
    harness.main(globals())
