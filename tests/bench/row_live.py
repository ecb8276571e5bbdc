# SPDX-License-Identifier: Apache-2.0
"""What `live` and `metrics` use of a core beside a program with a million events a second, and what
they add to the collector's work."""
import json
import os
import pty
import signal
import subprocess
import threading
import time
import urllib.request

from bench_table import Row

PORT = 19469
SCRAPE_S = 5


def cpu_s(pid):
    """CPU time so far of all threads of a process."""
    total_ns = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat") as file:
            total_ns += int(file.read().split()[0])
    return total_ns / 1e9


def collector_of(pid):
    """The child of `memledger run` that is no program of the user's."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    for child in children:
        if os.readlink(f"/proc/{child}/exe") == os.readlink(f"/proc/{pid}/exe"):
            return int(child)
    raise RuntimeError("memledger run has no collector")


class Alone:
    """The collector alone: nothing follows the recording."""
    pid = None

    def __init__(self, ctx, trace):
        pass

    def end(self):
        pass


class Live:
    """`memledger live` on a terminal."""

    def __init__(self, ctx, trace):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execv(ctx.memledger, [ctx.memledger, "live", trace])
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            while os.read(self.terminal, 65536):
                pass
        except OSError:
            pass

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)


class Metrics:
    """`memledger metrics`, scraped."""

    def __init__(self, ctx, trace):
        self.process = subprocess.Popen(
            [ctx.memledger, "metrics", "--listen", f"127.0.0.1:{PORT}", trace],
            stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        self.done = threading.Event()
        threading.Thread(target=self._scrape, daemon=True).start()

    def _scrape(self):
        while not self.done.wait(SCRAPE_S):
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics") as answer:
                answer.read()

    def end(self):
        self.done.set()
        self.process.terminate()
        self.process.wait()


def rate_of(ctx, trace):
    """Events a second that the program reached, in millions."""
    done = subprocess.run([ctx.memledger, "summary", "--json", trace], capture_output=True, check=True)
    summary = json.loads(done.stdout)
    return summary["events"] * 1e3 / max(1, summary["duration_ns"])


def measure(ctx, program, heap, follower, seconds):
    """@return shares of a core of the follower and of the collector, and the rate of events"""
    trace = ctx.file("live.mled")
    run = subprocess.Popen(ctx.recorded(trace, program, heap=heap), stdout=subprocess.DEVNULL)
    time.sleep(2)
    collector = collector_of(run.pid)
    looks = follower(ctx, trace)
    time.sleep(2)
    pids = [looks.pid, collector]
    before, begin = [cpu_s(p) if p else 0 for p in pids], time.monotonic()
    time.sleep(seconds)
    after, wall = [cpu_s(p) if p else 0 for p in pids], time.monotonic() - begin
    looks.end()
    run.terminate()  # not SIGINT, which a shell ignores for programs in the background
    run.wait()
    return [100 * (b - a) / wall for a, b in zip(before, after)] + [rate_of(ctx, trace)]


def row(ctx):
    seconds = ctx.sizes["live_s"]
    events = str((seconds + 10) * 1_000_000)
    malloc = [ctx.program("bench_malloc"), "--events", events, "--rate", "1000000", "--slots"]
    programs = {
        "malloc, 2,000 live blocks": [*malloc, "4096"],
        "malloc, 50,000 live blocks": [*malloc, "100000"],
        "training": [ctx.program("bench_training"), "--steps", "1000000", "--work", "900"],
    }
    r = Row("live", "Followers beside a million events a second, % of a core",
            ["", "live", "metrics", "collector alone", "with live", "with metrics",
             "M events/s with live"])
    for name, program in programs.items():
        done = [measure(ctx, program, program[0] == malloc[0], f, seconds) for f in (Alone, Live, Metrics)]
        figures = [done[1][0], done[2][0], done[0][1], done[1][1], done[2][1], done[1][2]]
        r.line(name, *["%.2f" % f for f in figures])
        r.data[name] = dict(zip(["live", "metrics", "collector", "collector_live",
                                 "collector_metrics", "rate"], figures))
    r.note("1 % is 10 ns an event")
    return r
