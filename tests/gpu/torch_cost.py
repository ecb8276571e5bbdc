# torch_cost.py: the cost of recording for a training step on a GPU, and on disk: memledger
# beside PyTorch's own recorders. Makes the table of the check `torch_cost`. It times
# tests/bench/training_steps.py, as tests/bench/step_turns.py explains.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys

from lab import HERE

BENCH = os.path.join(HERE, "..", "bench")
sys.path.insert(0, BENCH)
from step_turns import Recorder, measure_steps  # noqa: E402, it lies beside the benchmark

PROGRAM = os.path.join(BENCH, "training_steps.py")
PROGRAMS, TURNS = 6, 50
PROGRAMS_OF_OTHERS, TURNS_OF_OTHERS = 1, 25  # they keep everything in memory until they end
STEPS, COLD_STEPS = 4, 1  # the first step of a turn finds the caches cold

# By name: options of memledger run, or what the program itself turns on.
MEMLEDGER = {"memledger": [], "memledger --stacks python": ["--stacks", "python"]}
OWN = {"history, no context": "history", "history, stacks=python": "history-python",
       "history, stacks=all": "history-all", "torch.profiler": "profiler"}


class Cost(Recorder):
    """One recorder, with what its programs said of their blocks, and its files."""

    def __init__(self, lab, name):
        programs, turns = ((PROGRAMS_OF_OTHERS, TURNS_OF_OTHERS) if name in OWN else
                           (PROGRAMS, TURNS))
        file = lab.path(name.replace(" ", "").replace(",", "-") + ".out")
        self.files = [f"{file}.{i}" for i in range(programs)]
        super().__init__(name, [command(lab, name, file) for file in self.files], turns)
        self.file_bytes = self.file_events = self.block_events = None
        self.events_a_step, self.note = 0, ""

    def take_stock(self, lab):
        for program, file in zip(self.programs, self.files):
            last, *dumps = program.said
            self.events_a_step, self.block_events = last["events_a_step"], last["events"]
            for dump in dumps:
                self.file_bytes, self.file_events = dump["dump_bytes"], dump["dump_entries"]
                self.note = f"dumped in {dump['dump_s']:.1f} s"
            if self.name in MEMLEDGER:
                summary = lab.report("summary", file)
                assert not summary["lost"], f"{self.name}: {summary['lost']} events were lost"
                self.file_bytes, self.file_events = summary["file_bytes"], summary["events"]


def command(lab, name, file):
    program = [sys.executable, PROGRAM, "--in-turn"]
    if name in MEMLEDGER:
        return [lab.memledger, "run", "-f", "-q", "-o", file, *MEMLEDGER[name], "--", *program]
    if name in OWN:
        program += ["--watch", OWN[name]]
        if name != "torch.profiler":
            program += ["--dump", file]
    return program


def measure(lab):
    """{name: Cost}"""
    recorders = {name: Cost(lab, name) for name in ("alone", *MEMLEDGER, *OWN)}
    measure_steps(list(recorders.values()), STEPS, COLD_STEPS)
    for recorder in recorders.values():
        recorder.take_stock(lab)
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
        size = f"{recorder.file_bytes / 1e6:8.2f} MB" if recorder.file_bytes else " " * 11
        print(f"  {name:26} {recorder.step_ms:10.2f} {recorder.fastest_ms:8.2f} "
              f"{over:+7.1%} {low:+7.1%} to {high:+7.1%} {size}"
              f"  {bytes_each(recorder, recorder.file_events):>11}"
              f"      {bytes_each(recorder, recorder.block_events)}  {recorder.note}")
    print("  each program by itself:")
    for name, recorder in recorders.items():
        print(f"  {name:26} {' '.join(f'{over:+7.1%}' for over in recorder.each_over)}")
