# SPDX-License-Identifier: Apache-2.0
"""How soon `memledger attach` records, and the speed of the program before, during and after.

A second process does the same work and is never attached to. Both drift alike, with the machine and
with the age of their heaps, so the ratio of their pieces in the same window shows what is left after
detach."""
import json
import pathlib
import random
import statistics
import subprocess
import threading
import time

from bench_run import Failed
from bench_table import Row

PROGRAM = pathlib.Path(__file__).with_name("attach_steps.py")


class Target:
    def __init__(self, python, kind):
        self.process = subprocess.Popen([python, PROGRAM, kind], stdout=subprocess.PIPE, text=True)
        self.times_ns = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        self.times_ns.extend(map(int, self.process.stdout))

    def pieces_ms(self, count):
        """CPU time of the pieces of work that begin from now on."""
        first = len(self.times_ns) + 1
        while len(self.times_ns) < first + count:
            if not self.reader.is_alive():
                raise Failed(f"{PROGRAM.name} has ended")
            time.sleep(0.005)
        return [ns / 1e6 for ns in self.times_ns[first:first + count]]

    def end(self):
        self.process.terminate()
        self.reader.join()
        self.process.wait()


def first_event_s(ctx, trace, begin_ns):
    def ask(*command):
        return json.loads(subprocess.run([ctx.memledger, *command, "--json", trace],
                                         capture_output=True, text=True).stdout)

    event = ask("events", "-n", "1", "--kind", "alloc")["events"][0]
    return (ask("live", "--once")["start_wall_ns"] + event["time_ns"] - begin_ns) / 1e9


def attach_once(ctx, target, options, pieces):
    """@return seconds until the first event, and the pieces of work meanwhile"""
    trace = ctx.file("attach.mled")
    begin_ns = time.time_ns()
    attached = subprocess.Popen([ctx.memledger, "attach", "-f", *options, "-o", trace,
                                 str(target.process.pid)], stderr=subprocess.PIPE, text=True)
    if "recording process" not in (said := attached.stderr.readline()):
        raise Failed(said.strip())
    during = target.pieces_ms(pieces)
    attached.terminate()
    attached.communicate()
    return first_event_s(ctx, trace, begin_ns), during


def window(target, control, pieces):
    """@return the pieces of work of the target, and the ratio of its median to the control's"""
    first = len(control.times_ns)
    own = target.pieces_ms(pieces)
    other = control.times_ns[first:] or control.times_ns[-1:]
    return own, statistics.median(own) / (statistics.median(other) / 1e6)


def measure(ctx, python, kind, options):
    times, pieces = ctx.sizes["attach_times"], ctx.sizes["attach_pieces"]
    target, control = Target(python, kind), Target(python, kind)
    before, during, after, took_s = ([], []), [], ([], []), []

    def look(into):
        own, ratio = window(target, control, pieces)
        into[0].extend(own)
        into[1].append(ratio)

    try:
        control.pieces_ms(pieces)
        target.pieces_ms(pieces)  # both are warm
        for _ in range(times):
            look(before)
        for _ in range(times):
            time.sleep(random.random() / 50)
            seconds, meanwhile = attach_once(ctx, target, options, pieces)
            took_s.append(seconds)
            during += meanwhile
            look(after)
    finally:
        target.end()
        control.end()
    return took_s, before, during, after


def row(ctx):
    r = Row("attach", f"memledger attach, {ctx.sizes['attach_times']} times",
            ["", "first event, median s", "worst s", "CPU before, ms", "attached", "detached",
             "detached / before, to the control"])
    for name, python, kind, options in (
            ("malloc in Python, --heap", ctx.python(), "malloc", ["--heap"]),
            ("PyTorch training", ctx.torch_python, "torch", [])):
        if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode and (
                kind == "torch"):
            r.note("no PyTorch")
            continue
        took_s, (before, ratios_before), during, (after, ratios_after) = measure(ctx, python, kind,
                                                                                 options)
        before, during, after = [statistics.median(w) for w in (before, during, after)]
        to_control = statistics.median(ratios_after) / statistics.median(ratios_before)
        r.line(name, "%.3f" % statistics.median(took_s), "%.3f" % max(took_s), "%.2f" % before,
               "%.2f" % during, "%.2f" % after, "%.3f" % to_control)
        r.data[name] = {"first_event_s": took_s, "before_ms": before, "attached_ms": during,
                        "detached_ms": after, "detached_to_control": to_control}
    return r
