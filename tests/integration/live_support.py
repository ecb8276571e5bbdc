# live_support.py: what the tests of `memledger live` share: programs to watch, and what live shows of
# them.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess

import harness
from harness import MEMLEDGER, equal, program


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def live(*arguments):
    result = harness.plain(MEMLEDGER, "live", *arguments)
    equal(result.returncode, 0, "exit code of live", result.stderr)
    return result.stdout


def state(trace, by="category"):
    return json.loads(live("--once", "--json", "--by", by, trace))


# ---- A training ------------------------------------------------------------


# How many events trains.c reports: of three weights, in each phase of the first step and of the
# later ones, and in a quick pass.
OF_WEIGHTS = 6
OF_PHASES = {"begin": (1, 1), "forward": (24, 24), "gradients": (21, 18), "backward": (6, 3), "optimizer": (10, 4)}
OF_QUICK_PASS = 49


class Training:
    """A program that waits before and after each phase. At each pause all that it did so far is in the
    file. `where`: the pause."""

    def __init__(self):
        # Samples are events, too.
        self.process = harness.start(program("trains"), 3, "wait", stdin=subprocess.PIPE,
                                     options=["--sample-hz", "0"])
        self.events = OF_WEIGHTS
        self.arrive()

    def arrive(self):
        self.where = harness.read_line(self.process)
        phase, step = self.where.split()
        self.events += OF_PHASES[phase][0 if step == "0" else 1]
        self.wait_for_events()

    def wait_for_events(self):
        harness.wait_until(lambda: state("t.mled")["events"] >= self.events, f"{self.events} events in the file")
        equal(state("t.mled")["events"], self.events, f"events at {self.where}")

    def go_on(self):
        """To the next pause."""
        go_on(self.process)
        self.arrive()

    def pass_quickly(self, times):
        self.process.stdin.write(f"{times}\n")
        self.process.stdin.flush()
        equal(harness.read_line(self.process), self.where, "the same place")
        self.events += OF_QUICK_PASS * times
        self.wait_for_events()

    def end(self):
        """From the last pause."""
        go_on(self.process)
        self.leave()

    def leave(self):
        """It ends where it is."""
        harness.finish(self.process)


def at_one_moment(*looks):
    """The results of all these functions, while the file stays the same."""
    def look():
        before = state("t.mled")["events"]
        found = [one() for one in looks]
        return found if state("t.mled")["events"] == before else None

    return harness.wait_until(look, "a moment without new events")


def table(trace, by):
    groups = harness.report("table", trace, "--at", "end", "--by", by, "--top", "1000")["groups"]
    sums = {}
    for group in groups:  # labels are split by category
        name = group[by] if isinstance(group.get(by), str) else ""
        sums[name] = sums.get(name, 0) + group["bytes"]
    return sums


def rows(trace, by):
    return {row["name"]: row["bytes"] for row in state(trace, by)["rows"]}


def by_name(now):
    return {row["name"]: row["bytes"] for row in now["rows"]}


# ---- Followers, and lists --------------------------------------------------


def on_request(*options):
    return subprocess.Popen([MEMLEDGER, "live", "--on-request", *options, "t.mled"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def answer(follower):
    go_on(follower)
    return json.loads(follower.stdout.readline())


def ended_state(*requests):
    """Of a program that does what on_request is asked for; a follower sees the same as `--once`."""
    process = harness.start_anew(program("on_request"), stdin=subprocess.PIPE, options=["--sample-hz", "0"])
    for request in ("nothing", *requests):
        print(request, file=process.stdin, flush=True)
        equal(harness.read_line(process), "ok", request)
    harness.wait_until(lambda: os.path.exists("t.mled"), "the file of this recording")
    follower = subprocess.Popen([MEMLEDGER, "live", "--json", "t.mled"], stdout=subprocess.PIPE,
                                text=True)
    harness.finish(process)
    last = json.loads(follower.communicate(timeout=harness.PATIENCE_S)[0].splitlines()[-1])
    now = state("t.mled")
    for key in ("finished", "bytes", "blocks", "peak_bytes", "events", "frees", "at_end_ns", "all_freed"):
        equal(last[key], now[key], f"{key} for a follower")
    return now


def listed(trace="t.mled"):
    """Its entry in the list of recordings, once it is there."""
    wanted = os.path.realpath(trace)
    return harness.wait_until(lambda: next((r for r in json.loads(live("--json"))["recordings"]
                                            if r["file"] == wanted and r["pid"]), None),
                              "a process in the list")


def program_of(run):
    other = harness.collector_of(run)
    return harness.wait_until(lambda: next((pid for pid in harness.children(run.pid)
                                            if pid != other), None), "the program")


# Memory that python takes: quickly, and then as slowly as it is told.
BURSTS = """
import sys, time
kept = [None] * 20_000
for line in sys.stdin:
    for i in range(100_000):
        kept[i * 7919 % 20_000] = bytes(600 + i % 3000)
    for i in range(int(line)):
        kept[i] = bytes(600 + i)
        time.sleep(0.01)
    print("done", flush=True)
"""
