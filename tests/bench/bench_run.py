# SPDX-License-Identifier: Apache-2.0
"""Running programs, in turn, and saying how long they took."""
import json
import os
import re
import statistics
import subprocess
import tempfile
import time


class Failed(Exception):
    """A program did not do what it was measured for."""


class Run:
    """One run of a command.

    wall_s      from before its start to its end
    tree_cpu_s  CPU time of it and of all that it waited for
    end_s       when it ended, CLOCK_MONOTONIC
    text        its standard output
    out         the line of JSON in it, if there is one
    lost        events that memledger says it lost
    peak_kib    most resident memory that it had, or one of those it waited for
    """

    def __init__(self, wall_s, tree_cpu_s, end_s, text, said, peak_kib):
        self.wall_s = wall_s
        self.tree_cpu_s = tree_cpu_s
        self.end_s = end_s
        self.text = text
        self.peak_kib = peak_kib
        self.out = {}
        for line in text.splitlines():
            if line.startswith('{"'):
                self.out = json.loads(line)
        lost = re.search(r"([\d,]+) events? (?:were|was) lost", said)
        self.lost = int(lost.group(1).replace(",", "")) if lost else 0

    @property
    def beside_cpu_s(self):
        """CPU time outside the measured program."""
        return self.tree_cpu_s - self.out["self_cpu_ns"] / 1e9

    @property
    def close_s(self):
        """From the end of the measured program's main to the end of the command."""
        return self.end_s - self.out["end_ns"] / 1e9


def run(argv, env=None, cwd=None):
    """Runs a command to its end."""
    argv = [str(a) for a in argv]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        end = time.monotonic()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text = out.read().decode("utf-8", "replace")
        said = err.read().decode("utf-8", "replace")
        if process.returncode != 0:
            raise Failed("exit %d of %s: %s" % (process.returncode, " ".join(argv),
                                                said.strip()[-400:]))
        return Run(end - start, usage.ru_utime + usage.ru_stime, end, text, said,
                   usage.ru_maxrss)


def in_turn(commands, times, env=None):
    """Runs {name: argv} A B C A B C ..., so that what disturbs one disturbs all.

    @return {name: [Run, ...]}
    """
    runs = {name: [] for name in commands}
    for _ in range(times):
        for name, argv in commands.items():
            runs[name].append(run(argv, env=env))
    return runs


class Sample:
    """Values of one quantity: their median and how far they spread."""

    def __init__(self, values):
        self.values = sorted(values)
        self.median = statistics.median(self.values)
        self.low, self.high = self.values[0], self.values[-1]

    def as_json(self):
        return {"median": self.median, "low": self.low, "high": self.high,
                "values": self.values}

    def text(self, form="%.1f"):
        return form % self.median

    def spread(self, form="%.1f"):
        return (form + " – " + form) % (self.low, self.high)


def sample(runs, value):
    return Sample([value(r) for r in runs])


def added(plain, tool, value):
    """What the tool adds: differences of neighbours, not of medians."""
    return Sample([value(t) - value(p) for p, t in zip(plain, tool)])
