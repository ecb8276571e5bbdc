# SPDX-License-Identifier: Apache-2.0
"""A row of the benchmark that times the steps of programs in turn: step_turns.py."""
import os
import statistics

from bench_table import count, size
from step_turns import Recorder, measure_steps

COLUMNS = ["recorder", "median", "fastest", "over alone", "95 of 100", "CPU", "over alone",
           "95 of 100", "file", "events", "bytes/event"]
COLD_STEPS = 1  # the first step of a turn finds the caches cold


class Timed(Recorder):
    """A recorder and the files that it writes: one for each program, or none.

    is_trace  the files are memledger's
    file_bytes, events  of one program, in the mean; None where there are none
    lost      events of all programs that are not in the files
    """

    def __init__(self, name, commands, turns, files=(), is_trace=False):
        super().__init__(name, commands, turns)
        self.files, self.is_trace = files, is_trace
        self.file_bytes = self.events = None
        self.lost = 0

    def take_stock(self, ctx):
        found = [f for f in self.files if os.path.exists(f)]
        if found:
            self.file_bytes = statistics.fmean(map(os.path.getsize, found))
        if self.is_trace:
            contents = [ctx.contents(file) for file in self.files]
            self.events = statistics.fmean(c["events"] for c in contents)
            self.lost = sum(c["lost"] for c in contents)


def measure(ctx, recorders, steps):
    """{name: Timed}; the first of the recorders is nobody."""
    measure_steps(recorders, steps + COLD_STEPS, COLD_STEPS)
    for recorder in recorders:
        recorder.take_stock(ctx)
    return {recorder.name: recorder for recorder in recorders}


def percent(share):
    return "%+.1f %%" % (100 * share)


def weighed(over_alone):
    over, low, high = over_alone
    return [percent(over), "%s – %s" % (percent(low), percent(high))]


def figures(t):
    def by_name(over_alone):
        return dict(zip(("over", "low", "high"), over_alone))

    return {"median_ms": t.step_ms, "fastest_ms": t.fastest_ms, "cpu_ms": t.cpu_ms,
            "over_alone": by_name(t.over_alone), "cpu_over_alone": by_name(t.cpu_over_alone),
            "each_over_alone": t.each_over, "programs": len(t.programs), "turns": t.turns,
            "file_bytes": t.file_bytes, "events": t.events}


def fill(row, recorders, steps):
    """The table and its figures, how far programs differ, and what was lost."""
    for name, t in recorders.items():
        row.line(name, "%.2f" % t.step_ms, "%.2f" % t.fastest_ms, *weighed(t.over_alone),
                 "%.2f" % t.cpu_ms, *weighed(t.cpu_over_alone),
                 size(t.file_bytes) if t.file_bytes else "", count(t.events) if t.events else "",
                 "%.2f" % (t.file_bytes / t.events) if t.events else "")
        row.data[name] = figures(t)
    row.note("each program by itself, over alone:")
    width = max(map(len, recorders))
    for name, t in recorders.items():
        row.note("  %s  %s   %d turns of %d steps" % (
            name.ljust(width), " ".join(percent(over).rjust(8) for over in t.each_over), t.turns,
            steps))
    row.note("one program at a time runs, the others stand still; lost by memledger: %d"
             % sum(t.lost for t in recorders.values()))


def compare_fastest(row, mine, others, recorders):
    """Ratios of the fastest steps, to those of the others that were measured."""
    for name in mine:
        for other in others:
            if other in recorders:
                row.ratio("%s beside %s, fastest step" % (name, other),
                          recorders[name].fastest_ms, recorders[other].fastest_ms, "ms")
