#!/usr/bin/env python3
# test_keep.py: `run --keep`: the file never exceeds the limit, and after any end its last part is
# whole: the live blocks are those that the program had, to the byte. TEST_KILLS sets the number of
# kills; scripts/keep-kills.sh makes a hundred of each sort.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import random
import re
import signal
import struct
import subprocess
import time

import harness
from harness import MEMLEDGER, check, contains, equal, finish, plain, program, report, run, start

KILLS = int(os.environ.get("TEST_KILLS", "3"))
LIMIT = 16 << 20
LIVE = 1000
HIGHEST = 10**12  # bytes, more than all live blocks


def told():
    with open("told", "rb") as f:
        return struct.unpack("<Q", f.read(8))[0]


def new_told():
    with open("told", "wb") as f:
        f.truncate(4096)


def number_of(live_bytes, blocks):
    """The last allocation of a trace whose live blocks have so many bytes: the last 1,000 numbers,
    or one less after the free that precedes the next."""
    check(blocks in (LIVE, LIVE - 1), f"{blocks} live blocks")
    n, rest = divmod(live_bytes + sum(range(blocks)), blocks)
    equal(rest, 0, f"{live_bytes} bytes of {blocks} consecutive numbers: remainder")
    return n


def check_size(path):
    """Of the file and of one that is made beside it."""
    size = 0
    for name in os.listdir("."):
        try:
            size += os.stat(name).st_size if name.startswith(path) else 0
        except FileNotFoundError:
            pass
    check(size <= LIMIT, f"{size} bytes, more than {LIMIT}")


def watch(process, path, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if os.path.exists(path):
            check_size(path)
        time.sleep(0.01)


def last_number(path):
    summary = report("summary", path)
    equal(summary["lost"], 0, "lost")
    return number_of(summary["live_bytes"], summary["live_blocks"]), summary


def kill_once(whom, delay_s):
    new_told()
    process = start(program("keeps_last"), "told", 1 << 60,
                    options=["-f", "-q", "--keep", "16MiB"])
    harness.wait_until(lambda: told() > 2 * LIVE, "the first events")
    watch(process, "t.mled", delay_s)
    collector = harness.collector_of(process)
    target = [p for p in harness.children(process.pid) if p != collector][0]
    if whom == "collector":
        os.kill(collector, signal.SIGKILL)
        time.sleep(0.05)
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
        kill_once("collector", random.uniform(1.5, 4))
        n, summary = last_number("t.mled")
        check(n <= told() + 1, f"kill {kill}: {told()} were told, {n} are in the trace")
        windows += "window" in summary["health"]
        check(len(os.listdir(".")) <= 4, f"files are left: {os.listdir('.')}")
    check(windows > 0, "no file was ever replaced")


def test_to_the_end():
    new_told()
    process = start(program("keeps_last"), "told", 4000000, HIGHEST,
                    options=["-f", "--keep", "16MiB", "--sample-hz", "0"])
    watch(process, "t.mled", harness.PATIENCE_S)
    result = finish(process)
    equal(result.code, 0, "exit code", result)
    n, summary = last_number("t.mled")
    equal(n, 4000000, "the last number")
    window = summary["health"]["window"]
    # The window may begin between a free and its allocation.
    allocations = window["allocations_before"] + summary["allocations"] - LIVE
    check(allocations in (4000001, 4000000), f"{allocations} allocations")
    live = json.loads(plain(MEMLEDGER, "live", "--once", "--json", "t.mled").stdout)
    equal(live["allocations"], 4000001, "allocations since the start")
    for part in (live, *live["devices"], *live["processes"], *live["spaces"]):
        equal(part["peak_bytes"], HIGHEST, "the peak, which was before the window", part)
    events = re.search(r"([\d,]+) events", result.err).group(1).replace(",", "")
    equal(live["events"], int(events), "events since the start", result.err)
    contains(plain(MEMLEDGER, "summary", "t.mled").stdout, "the window begins at", "summary")
    contains(result.err, "the last of them in", "the closing note")
    checked = plain(MEMLEDGER, "check", "--max-peak", "1TB", "t.mled")
    equal(checked.returncode, 1, "exit code of a check", checked.stdout)
    contains(checked.stdout, "dropped events", "a check")
    checked = plain(MEMLEDGER, "check", "--max-leaks", "1TB", "t.mled")
    equal(checked.returncode, 0, "exit code of a check for leaks", checked.stdout)


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


def test_a_time():
    new_told()
    result = run(program("keeps_last"), "told", 3000000,
                 options=["-f", "--keep", "50ms"])
    equal(result.code, 0, "exit code", result)
    n, summary = last_number("t.mled")
    equal(n, 3000000, "the last number")
    window = summary["health"]["window"]
    kept_ns = summary["duration_ns"] - window["begin_ns"]
    check(kept_ns >= 50000000, f"only {kept_ns} ns are kept")


def test_before_the_window():
    """A cache of constant size. Of the time before the window only those blocks are known that
    outlived it, which would look like growth."""
    result = run(program("keeps_many"), 50000, 3000000, options=["-f", "--heap", "--keep", "16MiB"])
    equal(result.code, 0, "exit code", result)
    summary = report("summary", "t.mled")
    equal(summary["lost"], 0, "lost")
    window = summary["health"]["window"]
    begin_ns, live = window["begin_ns"], summary["live_bytes"]
    equal(window["kept_ns"], summary["duration_ns"] - begin_ns, "kept")
    check(summary["peak_time_ns"] >= begin_ns, "the peak is before the window")
    contains(plain(MEMLEDGER, "summary", "t.mled").stdout, "kept: the last ", "summary")

    for command in (["table"], ["tree"], ["ledger", "--device", "cpu"]):
        early = plain(MEMLEDGER, *command, "--at", f"{begin_ns - 1}ns", "t.mled")
        equal(early.returncode, 1, f"exit code of {command[0]}", early.stdout)
        contains(early.stderr, "the first time is", command[0])
        contains(early.stderr, f"({begin_ns}ns)", command[0])
    first = report("table", "t.mled", "--at", f"{begin_ns}ns")
    check(live * 0.9 < first["bytes"] < live * 1.1, f"{first['bytes']} bytes, {live} at the end")

    leaks = report("leaks", "t.mled")
    equal(leaks["leaks"], [], "what grows")
    check(leaks["from_ns"] > begin_ns, "leaks begin before the window")
    check(leaks["from_bytes"] > live * 0.9, f"{leaks['from_bytes']} bytes, {live} at the end")
    plot = report("plot", "t.mled")
    column_ns = (plot["to_ns"] - plot["from_ns"]) / (len(plot["times_ns"]) - 1)
    check(plot["from_ns"] > begin_ns - 2 * column_ns, f"the plot begins at {plot['from_ns']}")
    before = plain(MEMLEDGER, "plot", "--to", f"{begin_ns}ns", "t.mled")
    equal(before.returncode, 1, "exit code of plot", before.stdout)
    contains(before.stderr, "was not kept", "plot --to")
    stats = report("stats", "t.mled")
    equal(stats["duration_ns"], window["kept_ns"], "the time that a rate is about")
    kept = [e for e in report("events", "t.mled")["events"] if e["time_ns"] >= begin_ns]
    rate = len(kept) / window["kept_ns"] * 1e9
    check(abs(stats["events_per_second"] / rate - 1) < 0.01,
          f"{stats['events_per_second']} events a second, expected {rate}")


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
