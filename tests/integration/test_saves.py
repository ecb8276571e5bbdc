#!/usr/bin/env python3
# test_saves.py: `run --on-oom`, `--on-signal`, `--on-growth`: copies of the recording so far, while
# the program goes on; and the verdict after a run that ended because memory was refused.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import sys

import harness
from harness import MEMLEDGER, check, contains, dump, equal, finish, plain, report, run, start

# Waits for a file, as long as the test would.
AWAIT = ("import os, sys, time\n"
         "def wait_for(name):\n"
         "    for _ in range(6000):\n"
         "        if os.path.exists(name): return\n"
         "        time.sleep(0.01)\n"
         "    sys.exit(f'no {name}')\n")
REFUSED = ("def ask():\n"
           "    try: bytearray(1 << 60)\n"
           "    except MemoryError: return\n"
           "    sys.exit('not refused')\n")


def copies():
    return sorted(name for name in os.listdir(".") if name.startswith("t-"))


def check_copy(name):
    """It is whole and was made while the program ran."""
    trace = dump(name)
    check(trace["has_index"], f"{name} has no footer")
    equal(trace["lost"], 0, f"lost in {name}")
    check(trace["kinds"].get("process end", 0) == 0, f"{name} has the end of the run",
          trace["kinds"])
    return trace


def test_refusal():
    """One copy for many refusals in a row; it has the first of them."""
    code = AWAIT + REFUSED + ("for _ in range(100): ask()\n"
                              "wait_for('t-oom-1.mled')\n"
                              "keep = [bytearray(100000) for _ in range(1000)]\n")
    result = run(sys.executable, "-c", code, options=["--heap", "--on-oom"])
    equal(result.code, 0, "exit code", result)
    equal(copies(), ["t-oom-1.mled"], "copies")
    check_copy("t-oom-1.mled")
    copy, whole = report("summary", "t-oom-1.mled"), report("summary", "t.mled")
    check(1 <= copy["out_of_memory"] <= 100, f"{copy['out_of_memory']} refusals")
    check(copy["peak_bytes"] + 50000000 < whole["peak_bytes"], "the program did not go on")
    contains(result.err, "1 copy of the recording so far was saved", "the closing note")


def test_signals():
    """The program does not get the signal, which would end it."""
    code = AWAIT + ("print('ready', flush=True)\n"
                    "wait_for('t-signal-1.mled')\n"
                    "keep = [bytearray(1000) for _ in range(100)]\n"
                    "print('again', flush=True)\n"
                    "wait_for('t-signal-2.mled')\n"
                    "more = [bytearray(1000) for _ in range(100)]\n")
    process = start(sys.executable, "-c", code,
                    options=["--heap", "--keep", "16MiB", "--on-signal", "SIGUSR1"])
    for word in ("ready", "again"):
        equal(harness.read_line(process), word, "the program's word")
        os.kill(process.pid, signal.SIGUSR1)
    result = finish(process)
    equal(result.code, 0, "exit code", result)
    equal(copies(), ["t-signal-1.mled", "t-signal-2.mled"], "copies")
    first, second = (check_copy(name)["kinds"]["alloc"] for name in copies())
    check(0 < first < second < dump("t.mled")["kinds"]["alloc"], f"{first}, {second} allocations")


def test_signal_during_a_copy():
    """It waits for the end of the copy."""
    code = AWAIT + REFUSED + ("import signal\n"
                              "keep = [bytearray(600) for _ in range(300000)]\n"
                              "ask()\n"
                              "os.kill(os.getppid(), signal.SIGUSR1)\n"
                              "wait_for('t-oom-1.mled')\n"
                              "wait_for('t-signal-1.mled')\n")
    result = run(sys.executable, "-c", code,
                 options=["--heap", "--on-oom", "--on-signal", "SIGUSR1"])
    equal(result.code, 0, "exit code", result)
    equal(copies(), ["t-oom-1.mled", "t-signal-1.mled"], "copies")
    for name in copies():
        equal(report("summary", name)["out_of_memory"], 1, f"refusals in {name}")


# Its start is growth, too, if that takes longer than the time within which growth counts.
STARTS = ("keep = [bytearray(20 << 20)]\n"
          "with open('/proc/self/stat') as f: began = int(f.read().rpartition(')')[2].split()[19])\n"
          "spent = time.clock_gettime(time.CLOCK_BOOTTIME) - began / os.sysconf('SC_CLK_TCK')\n"
          "if spent > 0.9 * {within}: sys.exit(99)\n"
          "time.sleep(2.5 * {within})\n")


def grow(within):
    code = AWAIT + STARTS.format(within=within) + (
                    "if os.path.exists('t-growth-1.mled'): sys.exit('saved without growth')\n"
                    "for i in range(40):\n"
                    "    keep.append(bytearray(10 << 20))\n"
                    "    for page in range(0, 10 << 20, 4096): keep[-1][page] = 1\n"
                    "    if os.path.exists('t-growth-1.mled'): break\n"
                    "    time.sleep(0.1)\n"
                    "wait_for('t-growth-1.mled')\n")
    return run(sys.executable, "-c", code, options=["-f", "--on-growth", f"50%/{within}s"])


def test_growth():
    for within in 1, 4, 16:
        if "t-growth-1.mled" in copies():  # the try before saved its start
            os.unlink("t-growth-1.mled")
        result = grow(within)
        if result.code != 99:
            break
    equal(result.code, 0, "exit code", result)
    check_copy("t-growth-1.mled")


def test_verdict():
    """Only after a program that failed, and not with -q."""
    fails = "bytearray(1 << 60)"
    result = run(sys.executable, "-c", fails, options=["--heap"])
    equal(result.code, 1, "exit code", result)
    verdict = plain(MEMLEDGER, "oom", "t.mled", env=dict(os.environ, COLUMNS="100")).stdout
    paragraph = verdict.split("\n\n")[1].split("\n")[1]
    contains(result.err, paragraph, "stderr of run")
    result = run(sys.executable, "-c", f"try: {fails}\nexcept MemoryError: pass",
                 options=["-f", "--heap"])
    check(paragraph not in result.err, "a verdict for a program that went on", result.err)
    result = run(sys.executable, "-c", fails, options=["-f", "-q", "--heap"])
    check(paragraph not in result.err, "a verdict with -q", result.err)


def test_bad_values():
    for option, value, words in (("--on-signal", "KILL", "choose USR1"),
                                 ("--on-growth", "10%", "write 10%/1h"),
                                 ("--on-growth", "0%/1h", "write 10%/1h"),
                                 ("--on-growth", "10%/1ms", "write 10%/1h")):
        result = plain(MEMLEDGER, "run", option, value, "true")
        equal(result.returncode, 2, f"{option} {value}", result.stderr)
        contains(result.stderr, words, f"{option} {value}")


harness.main(globals())
