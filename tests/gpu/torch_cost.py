# torch_cost.py: what recording costs a training step on a GPU, and on disk: memledger
# beside PyTorch's own recorders. Makes the table of the check `torch_cost`; the program
# that is timed is tests/bench/training_steps.py.
#
# All recorders run at once, each in a program of its own, and take turns: a few steps
# of one, a few of the next. What disturbs the machine then disturbs all alike, and each
# is held against the steps alone of the same turn.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import statistics
import subprocess
import sys

from lab import HERE

PROGRAM = os.path.join(HERE, "..", "bench", "training_steps.py")
TURNS, STEPS, COLD_STEPS = 70, 7, 2  # the first steps of a turn find the caches cold
TURNS_OF_OTHERS = 15  # they keep everything in memory until they end

# By name: options of memledger run, or what the program itself turns on.
MEMLEDGER = {"memledger": [], "memledger --stacks python": ["--stacks", "python"]}
OWN = {"history, no context": "history", "history, stacks=python": "history-python",
       "history, stacks=all": "history-all", "torch.profiler": "profiler"}
NAMES = ["alone", "alone, again", *MEMLEDGER, *OWN]


class Racer:
    """One recorder, and what was measured of it."""

    def __init__(self, lab, name):
        self.name, self.turns = name, TURNS_OF_OTHERS if name in OWN else TURNS
        self.times = []  # the fastest and the median step of each turn
        self.file_bytes = self.file_events = self.block_events = None
        self.events_a_step, self.note = 0, ""
        self.file = lab.path(name.replace(" ", "").replace(",", "-") + ".out")
        self.process = subprocess.Popen(self.command(lab), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.lab = lab

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
        self.process.stdin.write(f"{STEPS}\n")
        self.process.stdin.flush()
        times = self.heard()["times_ms"][COLD_STEPS:]
        self.times.append((statistics.median(times), min(times)))

    def finish(self):
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
        """By the turns' medians and by their fastest steps, each beside the turn alone."""
        pairs = list(zip(self.times, alone.times))
        return [statistics.median(mine[i] / other[i] for mine, other in pairs) - 1 for i in (0, 1)]


def measure(lab):
    """{name: Racer}"""
    racers = {name: Racer(lab, name) for name in NAMES}
    for racer in racers.values():
        racer.heard()  # it has warmed up
    for turn in range(TURNS):
        order = list(racers.values())
        order = order[turn % len(order):] + order[:turn % len(order)]  # nobody is always first
        for racer in order:
            if turn < racer.turns:
                racer.run()
    for racer in racers.values():
        racer.finish()
    return racers


def bytes_each(racer, events):
    return f"{racer.file_bytes / events:8.2f}" if racer.file_bytes and events else " " * 8


def show(racers):
    alone = racers["alone"]
    print(f"  {alone.events_a_step:,.0f} allocations and frees a step; {TURNS} turns of "
          f"{STEPS - COLD_STEPS} steps each, PyTorch's own {TURNS_OF_OTHERS}")
    print(f"  {'':26} median ms    over   fastest    over        file  bytes/event  /block event")
    for name, racer in racers.items():
        by_median, by_fastest = racer.over(alone)
        median, fastest = (statistics.median(t[i] for t in racer.times) for i in (0, 1))
        size = f"{racer.file_bytes / 1e6:8.2f} MB" if racer.file_bytes else " " * 11
        print(f"  {name:26} {median:9.2f} {by_median:+7.1%} {fastest:9.2f} {by_fastest:+7.1%} {size}"
              f"  {bytes_each(racer, racer.file_events):>11}"
              f"      {bytes_each(racer, racer.block_events)}  {racer.note}")
