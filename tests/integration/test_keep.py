#!/usr/bin/env python3
# test_keep.py: `run --keep`: the file never exceeds the limit, and after any end its last part is
# whole: the live blocks are those that the program had, to the byte. TEST_KILLS sets the number of
# kills; scripts/keep-kills.sh makes a hundred of each sort.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import random
import signal
import subprocess
import time

import harness
from harness import MEMLEDGER, check, contains, equal, finish, plain, program, start
from keeping import LIVE, check_size, last_number, new_told, told, watch

KILLS = int(os.environ.get("TEST_KILLS", "3"))


class Grown:
    """Becomes true when the file has been written, or replaced if `replaced`."""

    def __init__(self, replaced):
        self.replaced, self.first = replaced, None

    def __call__(self):
        now = os.stat("t.mled")
        self.first = self.first or now.st_ino
        return now.st_ino != self.first if self.replaced else now.st_size > 1 << 20


def kill_once(whom, delay_s, after=lambda: True):
    new_told()
    process = start(program("keeps_last"), "told", 1 << 60,
                    options=["-f", "-q", "--keep", "16MiB"])
    harness.wait_until(lambda: told() > 2 * LIVE, "the first events")
    watch(process, "t.mled", after)
    end = time.monotonic() + delay_s
    watch(process, "t.mled", lambda: time.monotonic() >= end)
    collector = harness.collector_of(process)
    target = [p for p in harness.children(process.pid) if p != collector][0]
    if whom == "collector":
        os.kill(collector, signal.SIGKILL)
        harness.wait_until(lambda: not harness.runs(collector), "the end of the collector")
    os.kill(target, signal.SIGKILL)
    finish(process)
    check_size("t.mled")


def test_program_killed():
    """Everything that the program had told is in the trace."""
    random.seed(5)
    for kill in range(KILLS):
        kill_once("program", random.uniform(0, 3))
        n, _ = last_number("t.mled")
        check(n in (told(), told() + 1), f"kill {kill}: {told()} were told, {n} are in the trace")


def test_collector_killed():
    """The file is whole up to its last block."""
    random.seed(6)
    windows = 0
    for kill in range(KILLS):
        kill_once("collector", random.uniform(0, 2.5), Grown(replaced=kill % 2 == 0))
        n, summary = last_number("t.mled")
        check(n <= told() + 1, f"kill {kill}: {told()} were told, {n} are in the trace")
        windows += "window" in summary["health"]
        check(len(os.listdir(".")) <= 4, f"files are left: {os.listdir('.')}")
    check(windows > 0, "no file was ever replaced")


def test_followed():
    """What a follower shows never falls when the file is replaced, and the first look shows the same."""
    new_told()
    process = start(program("keeps_last"), "told", 4000000,
                    options=["-f", "--keep", "16MiB", "--sample-hz", "0"])
    harness.wait_until(lambda: told() > 10000 and os.path.getsize("t.mled") > 0, "the recording")
    follower = subprocess.Popen([MEMLEDGER, "live", "--json", "--rate", "20", "t.mled"],
                                stdout=subprocess.PIPE, text=True)
    before = {}
    for line in follower.stdout:
        now = json.loads(line)
        for key in ("allocations", "frees", "events", "peak_bytes"):
            check(now[key] >= before.get(key, 0), f"{key} fell", before, now)
        before = now
    equal(follower.wait(), 0, "exit code of live")
    equal(before["allocations"], 4000000, "allocations at the end", before)
    equal(finish(process).code, 0, "exit code")


def test_refused():
    for value, words in (("16", "neither a time nor a size"), ("1MB", "at least 16MiB"),
                         ("10m,20m", "neither"), ("lots", "neither")):
        result = plain(MEMLEDGER, "run", "--keep", value, "true")
        equal(result.returncode, 2, f"--keep {value}", result.stderr)
        contains(result.stderr, words, f"--keep {value}")
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    result = plain(MEMLEDGER, "run", "--keep", "10m", "-o", "pipe", "true")
    os.close(reader)
    contains(result.stderr, "not a regular file", "a pipe")


harness.main(globals())
