#!/usr/bin/env python3
# test_step_turns.py: programs that take turns: one runs at a time, values that are added come
# out unchanged, and no process is left behind.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys

import harness
from bench_run import Failed
from harness import MEMLEDGER, check, contains, equal, state_and_parent, wait_until
from step_turns import Recorder, added, measure_steps, members, weigh

HERE = os.path.dirname(os.path.abspath(__file__))
# Each of the programs writes its session down; a step waits until all others stand still.
PROGRAM = """
import os, sys
sys.path[:0] = sys.argv[1:3]
from harness import state_and_parent, wait_until
from step_turns import members
from steps_on_call import on_call, say

def others():
    with open("sessions") as f:
        return [pid for line in f if int(line) != os.getsid(0) for pid in members(int(line))]

def step():
    wait_until(lambda: all(state_and_parent(pid)[0] == "T" for pid in others()), "the others")

with open("sessions", "a") as f:
    print(os.getsid(0), file=f)
say(steps=len(on_call(step)), others=len(others()))
"""
BREAKS = """
import sys
print('{"ready": true}', flush=True)
sys.exit(sys.stdin.readline() and "it broke here")
"""


def program(text=PROGRAM):
    return [sys.executable, "-c", text, HERE, os.path.dirname(harness.__file__)]


def recorded(trace):
    return [MEMLEDGER, "run", "-q", "-o", trace, "--", *program()]


def nobody_left():
    with open("sessions") as f:
        return [pid for line in f for pid in members(int(line))] == []


def test_one_at_a_time():
    alone = Recorder("alone", [program()] * 2, 3)
    watched = Recorder("memledger", [recorded("0.mled"), recorded("1.mled")], 2)
    measure_steps([alone, watched], steps=3, cold=1)
    for recorder, turns in ((alone, 3), (watched, 2)):
        equal(len(recorder.each_over), 2, "programs")
        for p in recorder.programs:
            equal((len(p.times), len(p.cpu), p.said[0]["steps"]), (turns, turns, 3 * turns), "turns")
            check(0 < p.fastest <= min(p.times), "its fastest step", p.fastest, p.times)
    # The collectors and launchers of the watched stand still too.
    check(alone.programs[0].said[0]["others"] >= 1 + 2 * 3, "others", alone.programs[0].said)
    check(nobody_left(), "a program is left")
    for trace in ("0.mled", "1.mled"):
        equal(harness.report("summary", trace)["lost"], 0, "lost")


def test_broken():
    """Its own words are told, and the others end with it."""
    try:
        measure_steps([Recorder("alone", [program()], 5), Recorder("breaks", [program(BREAKS)], 5)],
                      steps=1, cold=0)
    except Failed as why:
        contains(str(why), "it broke here", "what is said")
    else:
        raise harness.Failure("nothing was said")
    check(nobody_left(), "a program is left")


def test_told_to_end():
    """All of them are ended, those that stand still too."""
    text = ("import sys; sys.path[:0] = %r\n"
            "import test_step_turns as t\n"
            "t.measure_steps([t.Recorder('alone', [t.program()] * 3, 10**9)], 1, 0)" % sys.path)
    process = subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.PIPE, text=True)

    def all_started():
        if not os.path.exists("sessions"):
            return False
        with open("sessions") as f:
            sessions = [int(line) for line in f]
        return len(sessions) == 3 and any(state_and_parent(s)[0] == "T" for s in sessions)

    wait_until(all_started, "programs that stand still")
    process.send_signal(signal.SIGTERM)
    contains(process.communicate(timeout=harness.PATIENCE_S)[1], "told to end", "what is said")
    wait_until(nobody_left, "the end of all programs")


def test_weigh():
    """Two of ten turns are disturbed, for all alike; one program is 10 % slower, one 20 %."""
    turns = [10.0, 11, 10, 50, 10, 12, 10, 10, 70, 10]
    alone = [[0.9 * t for t in turns], [1.1 * t for t in turns]]
    slower = [[1.1 * t for t in turns], [1.2 * t for t in turns]]
    equal([round(x, 9) for x in added(slower, alone)], [0.1, 0.2], "of each")
    over, low, high = weigh(slower, alone)
    equal(round(over, 9), 0.15, "in the mean")
    # The widest that two programs give: both of one kind, beside both of another.
    equal((round(low, 9), round(high, 9)), (0.0, round(1.2 / 0.9 - 1, 9)), "the range")
    equal(weigh(alone[:1], alone[:1]), (0, 0, 0), "beside itself")


if __name__ == "__main__":
    harness.main(globals())
