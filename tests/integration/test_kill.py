#!/usr/bin/env python3
# test_kill.py: SIGKILL of the program at random instants. Every event whose call had returned
# is in the trace, and the trace is in order.
#
# SPDX-License-Identifier: Apache-2.0
import random

import harness
from harness import check, equal
from killing import kill_once, told_by

KILLS = 200


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


harness.main(globals())
