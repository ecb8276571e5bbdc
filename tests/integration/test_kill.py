#!/usr/bin/env python3
# test_kill.py: SIGKILL of the program at random instants. Every event whose call had returned
# is in the trace, and the trace is in order.
#
# SPDX-License-Identifier: Apache-2.0
import os
import random
import signal
import struct
import time

import harness
from harness import check, equal, finish, program, start

KILLS = 200
KILLS_OF_MANY = 20


def told_by(threads):
    """What each thread had noted when it died."""
    with open("told", "rb") as f:
        return [struct.unpack("<Q", f.read(64)[:8])[0] for _ in range(threads)]


def kill_once(delay_s, threads):
    with open("told", "wb") as f:
        f.truncate(16384)
    process = start(program("count_up"), "told", threads, options=["-f", "-q"])
    harness.wait_until(lambda: told_by(1)[0], "the first event")
    time.sleep(delay_s)
    target = [p for p in harness.children(process.pid) if p != harness.collector_of(process)][0]
    os.kill(target, signal.SIGKILL)
    result = finish(process)
    equal(result.code, -signal.SIGKILL, "the launcher's end", result)
    return result


def check_thread(told, made, what):
    """`made`: the events of one thread's blocks, as (kind, number)."""
    wanted = []
    for kind, number in made:
        if kind == "alloc":
            wanted.append(("alloc", number))
            if number % 64 == 0:
                wanted.append(("free", number))
    check(wanted[:len(made)] == made, f"{what}: events out of order or missing")
    allocations = sum(kind == "alloc" for kind, _ in made)
    equal([n for kind, n in made if kind == "alloc"], list(range(1, allocations + 1)),
          f"{what}: numbers")
    check(told <= allocations, f"{what}: {told} were told, {allocations} are in the trace")


def check_all(trace, threads):
    made = [[] for _ in range(threads)]
    for event in trace["events"]:
        if event["kind"] in ("alloc", "free"):
            thread = (event["addr"] >> 40) - 1
            number = (event["addr"] & ((1 << 40) - 1)) // 16
            made[thread].append((event["kind"], number))
            if event["kind"] == "alloc":
                equal(event["size"], number, "size of a block")
    for thread, told in enumerate(told_by(threads)):
        check_thread(told, made[thread], f"thread {thread}")


def test_every_event_told():
    """Counting is enough for most; a tenth are read event by event."""
    random.seed(3)
    for kill in range(KILLS):
        threads = 1 + kill % 2
        delay = random.uniform(0, 0.004) if kill % 10 == 0 else random.uniform(0, 0.05)
        result = kill_once(delay, threads)
        trace = result.dump(events=kill % 10 == 0)
        told = sum(told_by(threads))
        where = f"kill {kill} after {delay * 1000:.2f} ms"
        check(told <= trace["kinds"]["alloc"],
              f"{where}: {told} were told, {trace['kinds']['alloc']} are in the trace")
        check(trace["kinds"]["alloc"] <= told + threads, f"{where}: more than were made")
        equal(trace["lost"], 0, f"{where}: lost")
        check(trace["has_index"], f"{where}: no footer")
        if "events" in trace:
            check_all(trace, threads)


def test_every_event_of_many_threads():
    """Killed soon after the threads have started: a second ring set has just been
    handed over, or not yet."""
    random.seed(4)
    for kill in range(KILLS_OF_MANY):
        delay = random.uniform(0, 0.01)
        trace = kill_once(delay, 100).dump()
        told = told_by(100)
        where = f"kill {kill} after {delay * 1000:.2f} ms"
        check(sum(told) <= trace["kinds"]["alloc"] <= sum(told) + 100,
              f"{where}: {sum(told)} were told, {trace['kinds']['alloc']} are in the trace")
        equal(trace["lost"], 0, f"{where}: lost")


harness.main(globals())
