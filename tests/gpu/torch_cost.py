# torch_cost.py: what recording costs a training step on a GPU, and on disk: memledger
# beside PyTorch's own recorders. Makes the table of the check `torch_cost`; the program
# that is timed is tests/bench/training_steps.py.
#
# All recorders run at once, each in a program of its own, and take turns: a few steps
# of one, a few of the next, in another order each time. What disturbs the machine then
# disturbs all alike; whose turn it is not stands still, its collector and samplers
# too. Each is held against the steps alone of the same turn, of which
# there are two; how far these two differ, and the range that the medians of turns drawn
# at random have, say how much of a figure is chance.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys

from lab import HERE

PROGRAM = os.path.join(HERE, "..", "bench", "training_steps.py")
TURNS, STEPS, COLD_STEPS = 280, 4, 1  # the first step of a turn finds the caches cold
TURNS_OF_OTHERS = 30  # they keep everything in memory until they end
DRAWS = 1000

# By name: options of memledger run, or what the program itself turns on.
MEMLEDGER = {"memledger": [], "memledger --stacks python": ["--stacks", "python"]}
OWN = {"history, no context": "history", "history, stacks=python": "history-python",
       "history, stacks=all": "history-all", "torch.profiler": "profiler"}
NAMES = ["alone", "alone, again", *MEMLEDGER, *OWN]


def members(session):
    """The processes of a session."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            if os.getsid(int(pid)) == session:
                found.append(int(pid))
    return found


class Racer:
    """One recorder, and what was measured of it."""

    def __init__(self, lab, name):
        self.name, self.turns = name, TURNS_OF_OTHERS if name in OWN else TURNS
        self.times = []  # the median step of each turn
        self.file_bytes = self.file_events = self.block_events = None
        self.events_a_step, self.over_alone, self.note = 0, None, ""
        self.file = lab.path(name.replace(" ", "").replace(",", "-") + ".out")
        self.process = subprocess.Popen(self.command(lab), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.lab = lab
        self.heard()  # it has warmed up
        self.members = members(self.process.pid)
        self.signal(signal.SIGSTOP)

    def signal(self, number):
        for pid in self.members:
            os.kill(pid, number)

    def command(self, lab):
        program = [sys.executable, PROGRAM, "--in-turn"]
        if self.name in MEMLEDGER:
            return [lab.memledger, "run", "-f", "-q", "-o", self.file, *MEMLEDGER[self.name], "--",
                    *program]
        if self.name in OWN:
            program += ["--watch", OWN[self.name]]
            if self.name != "torch.profiler":
                program += ["--dump", self.file]
        return program

    def heard(self):
        for line in self.process.stdout:
            if line.startswith('{"'):
                return json.loads(line)
        raise AssertionError(f"{self.name} ended early: exit code {self.process.wait()}")

    def run(self):
        self.signal(signal.SIGCONT)
        self.process.stdin.write(f"{STEPS}\n")
        self.process.stdin.flush()
        times = self.heard()["times_ms"][COLD_STEPS:]
        self.times.append(statistics.median(times))
        self.signal(signal.SIGSTOP)

    def finish(self):
        self.signal(signal.SIGCONT)
        self.process.stdin.close()
        last = self.heard()
        self.events_a_step, self.block_events = last["events_a_step"], last["events"]
        if self.name in OWN and self.name != "torch.profiler":
            dump = self.heard()
            self.file_bytes, self.file_events = dump["dump_bytes"], dump["dump_entries"]
            self.note = f"dumped in {dump['dump_s']:.1f} s"
        assert self.process.wait() == 0, f"{self.name}: exit code {self.process.returncode}"
        if self.name in MEMLEDGER:
            summary = self.lab.report("summary", self.file)
            assert not summary["lost"], f"{self.name}: {summary['lost']} events were lost"
            self.file_bytes, self.file_events = summary["file_bytes"], summary["events"]

    def over(self, alone):
        """What it adds to the others of the same turn, in the middle of all turns, and the
        range of that middle for 95 of 100 draws."""
        beside = [statistics.mean(times) for times in zip(*(other.times for other in alone))]
        ratios = [mine / other - 1 for mine, other in zip(self.times, beside)]
        draw = random.Random(0)
        middles = sorted(statistics.median(draw.choices(ratios, k=len(ratios)))
                         for _ in range(DRAWS))
        return statistics.median(ratios), middles[DRAWS * 25 // 1000], middles[DRAWS * 975 // 1000]


def measure(lab):
    """{name: Racer}"""
    racers = {name: Racer(lab, name) for name in NAMES}
    shuffle = random.Random(0).shuffle
    for turn in range(TURNS):
        order = [racer for racer in racers.values() if turn < racer.turns]
        shuffle(order)
        for racer in order:
            racer.run()
    alone = [racers["alone"], racers["alone, again"]]
    for racer in racers.values():
        racer.finish()
        racer.over_alone = racer.over(alone if racer not in alone else alone[:1])
    return racers


def bytes_each(racer, events):
    return f"{racer.file_bytes / events:8.2f}" if racer.file_bytes and events else " " * 8


def show(racers):
    print(f"  {racers['alone'].events_a_step:,.0f} allocations and frees a step; {TURNS} turns of "
          f"{STEPS - COLD_STEPS} steps each, PyTorch's own {TURNS_OF_OTHERS}")
    print(f"  {'':26}  ms a step    over      95 of 100         file  bytes/event  /block event")
    for name, racer in racers.items():
        over, low, high = racer.over_alone
        size = f"{racer.file_bytes / 1e6:8.2f} MB" if racer.file_bytes else " " * 11
        print(f"  {name:26} {statistics.median(racer.times):10.2f} {over:+7.1%} {low:+7.1%} to "
              f"{high:+7.1%} {size}"
              f"  {bytes_each(racer, racer.file_events):>11}"
              f"      {bytes_each(racer, racer.block_events)}  {racer.note}")
