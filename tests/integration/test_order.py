#!/usr/bin/env python3
# test_order.py: blocks that go from thread to thread within nanoseconds. In the trace no block
# is freed before it was allocated, and no address is allocated while it is in use.
#
# SPDX-License-Identifier: Apache-2.0
import harness
from harness import check, check_order, program


def test_pool():
    for threads in (2, 4, 8):
        check_order(program("pass_blocks"), threads, 300000, events=threads * 300000)


def test_new_ring_sets():
    """Threads of a ring set that the collector has not seen yet pass blocks to
    those of one that it has."""
    for _ in range(10):
        check_order(program("pass_blocks"), 100, 300, events=30000)


def test_pipeline():
    check_order(program("pipeline"), 3000000, events=3000000)


def test_small_rings():
    """Rings that fill all the time: threads wait, and the order holds."""
    check_order(program("pass_blocks"), 4, 300000, events=1200000,
                options=["--ring-size", "64KiB"])


def test_times_rise():
    result = check_order(program("pass_blocks"), 4, 10000, events=40000)
    times = [e["time"] for e in result.dump(events=True)["events"]]
    check(times == sorted(times), "times go back")


harness.main(globals())
