# SPDX-License-Identifier: Apache-2.0
"""How a program times its steps, and runs some when somebody else says so.

The other side is step_turns.py: programs that wait for each other are timed under the
same conditions. Each line of the input says how many steps to run; the program answers
each with a line of JSON.
"""
import json
import sys
import time


def say(**figures):
    print(json.dumps(figures), flush=True)


def timed(step, count):
    """[(milliseconds, milliseconds of the program's CPU time)] of so many steps"""
    times = []
    for _ in range(count):
        began, cpu_began = time.perf_counter_ns(), time.process_time_ns()
        step()
        wall, cpu = time.perf_counter_ns() - began, time.process_time_ns() - cpu_began
        times.append((wall / 1e6, cpu / 1e6))
    return times


def on_call(step):
    """Until the input ends. @return as timed()"""
    times = []
    say(ready=True)
    for line in sys.stdin:
        turn = timed(step, int(line))
        say(times_ms=[wall for wall, _ in turn], cpu_ms=[cpu for _, cpu in turn])
        times += turn
    return times
