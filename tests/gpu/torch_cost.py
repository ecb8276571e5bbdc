# torch_cost.py: what recording costs a training step on a GPU, and on disk: memledger
# beside PyTorch's own recorders. Makes the table of the check `torch_cost`; the program
# that is timed is tests/bench/training_steps.py.
#
# Each recorder has several programs, since one program is faster than the next for as long
# as it lives: where its memory happens to lie counts for more than a recorder does. All
# run at once and take turns: a few steps of one, a few of the next, in another order
# each time. What disturbs the machine then disturbs all alike; whose turn it is not stands
# still, its collector and samplers too. All run on the same few processors, since those of
# a virtual machine differ. Each is held against the mean of the steps alone in the same
# turn. How far the programs of one recorder differ, and the range that the figure has when
# programs and turns are drawn at random, say how much of it is chance.
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
PROGRAMS, TURNS = 6, 50
PROCESSORS = 4  # two threads take turns in a step, and the collector has its own
PROGRAMS_OF_OTHERS, TURNS_OF_OTHERS = 1, 25  # they keep everything in memory until they end
STEPS, COLD_STEPS = 4, 1  # the first step of a turn finds the caches cold
STARTED_AT_ONCE = 6
DRAWS = 1000

# By name: options of memledger run, or what the program itself turns on.
MEMLEDGER = {"memledger": [], "memledger --stacks python": ["--stacks", "python"]}
OWN = {"history, no context": "history", "history, stacks=python": "history-python",
       "history, stacks=all": "history-all", "torch.profiler": "profiler"}


def members(session):
    """The processes of a session."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            if os.getsid(int(pid)) == session:
                found.append(int(pid))
    return found


class Program:
    """One program that a recorder watches, or nobody."""

    def __init__(self, command):
        self.times = []  # the median step of each turn
        self.fastest = float("inf")
        self.members = []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, start_new_session=True)

    def heard(self):
        for line in self.process.stdout:
            if line.startswith('{"'):
                return json.loads(line)
        raise AssertionError(f"{self.process.args} ended early: exit code {self.process.wait()}")

    def signal(self, number):
        for pid in self.members:
            os.kill(pid, number)

    def settle(self):
        self.heard()  # it has warmed up
        self.members = members(self.process.pid)
        for pid in self.members:
            for thread in os.listdir(f"/proc/{pid}/task"):
                os.sched_setaffinity(int(thread), sorted(os.sched_getaffinity(0))[-PROCESSORS:])
        self.signal(signal.SIGSTOP)

    def run(self):
        self.signal(signal.SIGCONT)
        self.process.stdin.write(f"{STEPS}\n")
        self.process.stdin.flush()
        warm = self.heard()["times_ms"][COLD_STEPS:]
        self.times.append(statistics.median(warm))
        self.fastest = min(self.fastest, *warm)
        self.signal(signal.SIGSTOP)

    def end(self):
        """What it says at last; its process still runs."""
        self.signal(signal.SIGCONT)
        self.process.stdin.close()
        return self.heard()

    def beside(self, alone):
        """Its time by that of the programs alone, turn by turn."""
        return [mine / statistics.mean(others)
                for mine, *others in zip(self.times, *(other.times for other in alone))]


class Recorder:
    """One recorder, its programs, and what was measured of it."""

    def __init__(self, lab, name):
        self.lab, self.name = lab, name
        self.wanted, self.turns = ((PROGRAMS_OF_OTHERS, TURNS_OF_OTHERS) if name in OWN else
                                   (PROGRAMS, TURNS))
        self.file = lab.path(name.replace(" ", "").replace(",", "-") + ".out")
        self.programs = []
        self.file_bytes = self.file_events = self.block_events = None
        self.events_a_step, self.over_alone, self.each_over, self.note = 0, None, [], ""

    def start(self):
        program = [sys.executable, PROGRAM, "--in-turn"]
        if self.name in MEMLEDGER:
            file = f"{self.file}.{len(self.programs)}"
            program = [self.lab.memledger, "run", "-f", "-q", "-o", file, *MEMLEDGER[self.name],
                       "--", *program]
        elif self.name in OWN:
            program += ["--watch", OWN[self.name]]
            if self.name != "torch.profiler":
                program += ["--dump", self.file]
        self.programs.append(Program(program))
        return self.programs[-1]

    def finish(self):
        for i, program in enumerate(self.programs):
            last = program.end()
            self.events_a_step, self.block_events = last["events_a_step"], last["events"]
            if self.name in OWN and self.name != "torch.profiler":
                dump = program.heard()
                self.file_bytes, self.file_events = dump["dump_bytes"], dump["dump_entries"]
                self.note = f"dumped in {dump['dump_s']:.1f} s"
            assert program.process.wait() == 0, f"{self.name}: {program.process.returncode}"
            if self.name in MEMLEDGER:
                summary = self.lab.report("summary", f"{self.file}.{i}")
                assert not summary["lost"], f"{self.name}: {summary['lost']} events were lost"
                self.file_bytes, self.file_events = summary["file_bytes"], summary["events"]

    def weigh(self, alone):
        """What it adds to the steps alone: by program, in all, and the range of that for
        95 of 100 draws of programs and turns."""
        ratios = [program.beside(alone) for program in self.programs]
        self.each_over = sorted(statistics.median(turns) - 1 for turns in ratios)
        draw = random.Random(0)
        means = sorted(
            statistics.mean(statistics.median(draw.choices(turns, k=len(turns)))
                            for turns in draw.choices(ratios, k=len(ratios))) - 1
            for _ in range(DRAWS))
        self.over_alone = (statistics.mean(self.each_over), means[DRAWS * 25 // 1000],
                           means[DRAWS * 975 // 1000])


def start_all(recorders):
    """Their first steps are run by several at once; the turns begin when all stand still."""
    waiting = [recorder for recorder in recorders for _ in range(recorder.wanted)]
    random.Random(1).shuffle(waiting)
    while waiting:
        some, waiting = waiting[:STARTED_AT_ONCE], waiting[STARTED_AT_ONCE:]
        for program in [recorder.start() for recorder in some]:
            program.settle()


def measure(lab):
    """{name: Recorder}"""
    recorders = {name: Recorder(lab, name) for name in ("alone", *MEMLEDGER, *OWN)}
    start_all(recorders.values())
    shuffle = random.Random(0).shuffle
    for turn in range(TURNS):
        order = [program for recorder in recorders.values() if turn < recorder.turns
                 for program in recorder.programs]
        shuffle(order)
        for program in order:
            program.run()
    for recorder in recorders.values():
        recorder.finish()
        recorder.weigh(recorders["alone"].programs)
    return recorders


def bytes_each(recorder, events):
    return f"{recorder.file_bytes / events:8.2f}" if recorder.file_bytes and events else " " * 8


def show(recorders):
    print(f"  {recorders['alone'].events_a_step:,.0f} allocations and frees a step; {PROGRAMS} "
          f"programs of each, {TURNS} turns of {STEPS - COLD_STEPS} steps; of PyTorch's own "
          f"{PROGRAMS_OF_OTHERS}, {TURNS_OF_OTHERS} turns")
    print(f"  {'':26}  ms a step  fastest    over      95 of 100         file  bytes/event  /block event")
    for name, recorder in recorders.items():
        over, low, high = recorder.over_alone
        ms = statistics.mean(statistics.median(p.times) for p in recorder.programs)
        fastest = statistics.mean(p.fastest for p in recorder.programs)
        size = f"{recorder.file_bytes / 1e6:8.2f} MB" if recorder.file_bytes else " " * 11
        print(f"  {name:26} {ms:10.2f} {fastest:8.2f} {over:+7.1%} {low:+7.1%} to {high:+7.1%} {size}"
              f"  {bytes_each(recorder, recorder.file_events):>11}"
              f"      {bytes_each(recorder, recorder.block_events)}  {recorder.note}")
    print("  each program by itself:")
    for name, recorder in recorders.items():
        print(f"  {name:26} {' '.join(f'{over:+7.1%}' for over in recorder.each_over)}")
