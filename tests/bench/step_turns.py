# SPDX-License-Identifier: Apache-2.0
"""What recorders add to the steps of a program, on a machine that does other things too.

Each recorder has several programs, since one program is faster than the next for as long
as it lives: where its memory happens to lie counts for more than a recorder does. All
run at once and take turns: a few steps of one, a few of the next, in another order
each time. What disturbs the machine then disturbs all alike; whose turn it is not stands
still, its collector and samplers too. All run on the same few processors, since those of
a virtual machine differ. Each is held against the middle of the programs alone in the same
turn. How far the programs of one recorder differ, and the range that the figure has when
programs and turns are drawn at random, say how much of it is chance.

The programs run their steps with steps_on_call.on_call().
"""
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile

from bench_run import Failed

PROCESSORS = 4  # two threads take turns in a step, and the collector has its own
STARTED_AT_ONCE = 6
DRAWS = 1000


def members(session):
    """The processes of a session."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            if os.getsid(int(pid)) == session:
                found.append(int(pid))
    return found


class Program:
    """One program that a recorder watches, or nobody.

    times, cpu  of each turn the median step, milliseconds
    fastest     of all steps, milliseconds
    said        what it said after its last turn, a dict for each line
    """

    def __init__(self, command):
        self.times, self.cpu, self.fastest, self.said = [], [], float("inf"), []
        self.members = []
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        start_new_session=True)

    def heard(self):
        """What it says next; None: it has ended well."""
        for line in self.process.stdout:
            if line.startswith('{"'):
                return json.loads(line)
        if self.process.wait() == 0:
            return None
        raise self.failed("exit %d of" % self.process.returncode)

    def answer(self):
        found = self.heard()
        if found is None:
            raise self.failed("ended early:")
        return found

    def failed(self, what):
        self.errors.seek(0)
        words = self.errors.read().decode("utf-8", "replace").strip()
        return Failed("%s %s: %s" % (what, " ".join(self.process.args), words[-400:]))

    def signal(self, number):
        for pid in self.members:
            with contextlib.suppress(ProcessLookupError):  # who waits for it will hear why
                os.kill(pid, number)

    def settle(self):
        self.answer()  # it has warmed up
        self.members = members(self.process.pid)
        for pid in self.members:
            for thread in os.listdir(f"/proc/{pid}/task"):
                os.sched_setaffinity(int(thread), sorted(os.sched_getaffinity(0))[-PROCESSORS:])
        self.signal(signal.SIGSTOP)

    def run(self, steps, cold):
        """So many steps; the first ones of a turn find the caches cold and do not count."""
        self.signal(signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{steps}\n")
            self.process.stdin.flush()
        turn = self.answer()
        warm = turn["times_ms"][cold:]
        self.times.append(statistics.median(warm))
        self.cpu.append(statistics.median(turn["cpu_ms"][cold:]))
        self.fastest = min(self.fastest, *warm)
        self.signal(signal.SIGSTOP)

    def end(self):
        self.signal(signal.SIGCONT)
        self.process.stdin.close()
        self.said = list(iter(self.heard, None))

    def close(self):
        """Nothing of it is left, however it went."""
        if self.process.poll() is None:
            self.members = members(self.process.pid)
            self.signal(signal.SIGKILL)
            self.process.wait()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()


class Recorder:
    """One recorder, its programs, and what it adds to the steps alone.

    over_alone, cpu_over_alone  (over, low, high), see weigh()
    each_over                   over of each program by itself, sorted
    """

    def __init__(self, name, commands, turns):
        """commands: an argv for each program"""
        self.name, self.commands, self.turns = name, commands, turns
        self.programs = []
        self.over_alone = self.cpu_over_alone = None
        self.each_over = []

    def start(self):
        self.programs.append(Program(self.commands[len(self.programs)]))
        return self.programs[-1]

    def mean(self, value):
        """Of what value() says of each program."""
        return statistics.fmean(map(value, self.programs))

    @property
    def step_ms(self):
        return self.mean(lambda program: statistics.median(program.times))

    @property
    def fastest_ms(self):
        return self.mean(lambda program: program.fastest)

    @property
    def cpu_ms(self):
        return self.mean(lambda program: statistics.median(program.cpu))

    def weigh(self, alone):
        mine, others = [p.times for p in self.programs], [p.times for p in alone.programs]
        self.each_over = sorted(added(mine, others))
        self.over_alone = weigh(mine, others)
        self.cpu_over_alone = weigh([p.cpu for p in self.programs],
                                    [p.cpu for p in alone.programs])


def added(programs, alone, choose=list):
    """What each program adds to the middle of those alone, by the median of its turns. Of
    each: its times, turn by turn."""
    beside = [statistics.median(turn) for turn in zip(*alone)]
    return [statistics.median(choose([a / b for a, b in zip(times, beside)])) - 1
            for times in programs]


def weigh(programs, alone):
    """(over, low, high): what programs add in the mean, and the range of that for 95 of
    100 draws of programs, of those alone too, and of turns."""
    draw = random.Random(0)

    def some(items):
        return draw.choices(items, k=len(items))

    means = sorted(statistics.fmean(added(some(programs), some(alone), some))
                   for _ in range(DRAWS))
    return (statistics.fmean(added(programs, alone)), means[DRAWS * 25 // 1000],
            means[DRAWS * 975 // 1000])


def start_all(recorders):
    """Their first steps are run by several at once; the turns begin when all stand still."""
    waiting = [recorder for recorder in recorders for _ in recorder.commands]
    random.Random(1).shuffle(waiting)
    while waiting:
        some, waiting = waiting[:STARTED_AT_ONCE], waiting[STARTED_AT_ONCE:]
        for program in [recorder.start() for recorder in some]:
            program.settle()


def run_turns(recorders, steps, cold):
    shuffle = random.Random(0).shuffle
    for turn in range(max(recorder.turns for recorder in recorders)):
        order = [program for recorder in recorders if turn < recorder.turns
                 for program in recorder.programs]
        shuffle(order)
        for program in order:
            program.run(steps, cold)


@contextlib.contextmanager
def none_left(recorders):
    """What stands still would do so for ever: a program that is told to end ends them."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))
    try:
        yield
    finally:
        for recorder in recorders:
            for program in recorder.programs:
                program.close()
        signal.signal(signal.SIGTERM, before)


def measure_steps(recorders, steps, cold):
    """Runs the programs of all recorders to their end and weighs them by those of the
    first, which nobody watches. A turn has so many steps, the first `cold` not counted."""
    with none_left(recorders):
        start_all(recorders)
        run_turns(recorders, steps, cold)
        for recorder in recorders:
            for program in recorder.programs:
                program.end()
    for recorder in recorders:
        recorder.weigh(recorders[0])
