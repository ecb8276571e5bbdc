# torch_cost.py: what recording costs a training step on a GPU, and on disk: memledger
# beside PyTorch's own recorders, all in turn, several times. Makes the table of
# the check `torch_cost`; the program that is timed is tests/bench/training_steps.py.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import statistics
import subprocess
import sys

from lab import HERE, PATIENCE_S

PROGRAM = os.path.join(HERE, "..", "bench", "training_steps.py")
ROUNDS = 5
PROFILED_STEPS = 20  # torch.profiler keeps everything in memory until it ends

# By name: options of memledger run, or what the program itself turns on.
MEMLEDGER = {"memledger": [], "memledger --stacks python": ["--stacks", "python"]}
OWN = {"history, no context": "history", "history, stacks=python": "history-python",
       "history, stacks=all": "history-all", "torch.profiler": "profiler"}
NAMES = ["alone", *MEMLEDGER, *OWN]


class Cost:
    """What was measured of one recorder, over all rounds."""

    def __init__(self):
        self.medians, self.fastest = [], []
        self.file_bytes = self.file_events = self.block_events = None
        self.events_a_step = 0
        self.note = ""

    def add(self, told):
        self.medians.append(told["median_ms"])
        self.fastest.append(told["fastest_ms"])
        self.events_a_step, self.block_events = told["events_a_step"], told["events"]

    def over(self, alone):
        """By median and by fastest step, each beside its neighbour of the same round."""
        return [statistics.median(mine / other for mine, other in zip(a, b)) - 1
                for a, b in ((self.medians, alone.medians), (self.fastest, alone.fastest))]


def command(lab, name, first):
    """What to start, and the file that it writes."""
    program = [sys.executable, PROGRAM]
    if name in MEMLEDGER:
        trace = lab.path(name.replace(" ", "") + ".mled")
        return [lab.memledger, "run", "-f", "-q", "-o", trace, *MEMLEDGER[name], "--",
                *program], trace
    if name in OWN:
        program += ["--watch", OWN[name]]
        file = lab.path(OWN[name] + ".pickle")
        if name == "torch.profiler":
            return [*program, "--steps", str(PROFILED_STEPS)], None
        # The dump takes longer than the steps; its size is the same in each round.
        return [*program, *(["--dump", file] if first else [])], file if first else None
    return program, None


def lines_of(argv):
    """The JSON lines that a program prints, also when its dump has no end."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired as late:
        return read_lines((late.stdout or b"").decode()), f"no dump after {PATIENCE_S} s"
    if done.returncode:
        raise AssertionError(f"{' '.join(argv)}: exit code {done.returncode}\n{done.stderr[-3000:]}")
    return read_lines(done.stdout), ""


def read_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith('{"')]


def measure_one(lab, name, cost, first):
    argv, file = command(lab, name, first)
    lines, note = lines_of(argv)
    assert lines, f"{name} said nothing"
    cost.add(lines[0])
    cost.note = cost.note or note
    if name in MEMLEDGER and first:
        summary = lab.report("summary", file)
        assert not summary["lost"], f"{name}: {summary['lost']} events were lost"
        cost.file_bytes, cost.file_events = summary["file_bytes"], summary["events"]
    elif len(lines) > 1:
        cost.file_bytes, cost.file_events = lines[1]["dump_bytes"], lines[1]["dump_entries"]
        cost.note = f"dumped in {lines[1]['dump_s']:.1f} s"


def measure(lab):
    """{name: Cost}"""
    costs = {name: Cost() for name in NAMES}
    for number in range(ROUNDS):
        for name, cost in costs.items():
            measure_one(lab, name, cost, number == 0)
    return costs


def bytes_each(cost, events):
    return f"{cost.file_bytes / events:8.2f}" if cost.file_bytes and events else " " * 8


def show(costs):
    alone = costs["alone"]
    print(f"  {alone.events_a_step:,.0f} allocations and frees a step; {ROUNDS} rounds in turn")
    print(f"  {'':26} median ms  low – high       over   fastest    over       file"
          "  bytes/event  /block event")
    for name, cost in costs.items():
        by_median, by_fastest = cost.over(alone)
        size = f"{cost.file_bytes / 1e6:8.2f} MB" if cost.file_bytes else " " * 11
        spread = f"{min(cost.medians):.2f} – {max(cost.medians):.2f}"
        print(f"  {name:26} {statistics.median(cost.medians):9.2f}  {spread:14} {by_median:+7.1%}"
              f" {min(cost.fastest):9.2f} {by_fastest:+7.1%}{size}"
              f"  {bytes_each(cost, cost.file_events):>11}  {bytes_each(cost, cost.block_events)}"
              f"  {cost.note}")
