#!/usr/bin/env python3
# test_kill_threads.py: SIGKILL of a program with a hundred threads at random instants: every event
# whose call had returned is in the trace.
#
# SPDX-License-Identifier: Apache-2.0
import random

import harness
from harness import check, equal
from killing import kill_once, told_by

KILLS = 20


def test_every_event_of_many_threads():
    """Killed soon after the threads have started: a second ring set has just been
    handed over, or not yet."""
    random.seed(4)
    for kill in range(KILLS):
        delay = random.uniform(0, 0.01)
        trace = kill_once(delay, 100).dump()
        told = told_by(100)
        where = f"kill {kill} after {delay * 1000:.2f} ms"
        check(sum(told) <= trace["kinds"]["alloc"] <= sum(told) + 100,
              f"{where}: {sum(told)} were told, {trace['kinds']['alloc']} are in the trace")
        equal(trace["lost"], 0, f"{where}: lost")


harness.main(globals())
