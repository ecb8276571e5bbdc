# progress.py: what a run prints while its jobs run, and where the time went.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import sys
import time

from folders import SOURCE

SHOWN_LINES = 100


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Progress:
    """A line for each job that ends; on a terminal one line that changes, and lines for failures."""

    SILENT_S = 30

    def __init__(self, queue):
        self.queue, self.total = queue, len(queue.waiting)
        self.on_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.began = self.spoke = time.monotonic()

    def position(self):
        left = self.queue.seconds_left()
        words = f"about {round(left / 60)} min left" if left > 90 else f"about {round(left)} s left"
        return f"[{len(self.queue.ended)}/{self.total}] {minutes(time.monotonic() - self.began)}, {words}"

    def say(self, text):
        if self.on_terminal:
            text = f"\r\x1b[K{text}"
        print(text, flush=True)
        self.spoke = time.monotonic()

    def ended(self, job):
        if job.result != "failed":
            if not self.on_terminal or job.result == "skipped":
                self.say(f"{self.position()}  {job} {job.result} in {job.seconds:.1f} s")
            return
        with open(job.log, encoding="utf-8", errors="replace") as log:
            lines = log.read().splitlines()
        self.say(f"{self.position()}  {job} FAILED after {job.seconds:.1f} s: {job.words}")
        self.say("\n".join(["  | " + line for line in lines[-SHOWN_LINES:]] +
                           [f"  all of it: {os.path.relpath(job.log, SOURCE)}"]))

    def position_and_running(self):
        return f"{self.position()}: {', '.join(map(with_steps, self.queue.running))}"

    def tick(self):
        if self.on_terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{self.position_and_running()[:width]}", end="", flush=True)
        elif time.monotonic() - self.spoke > self.SILENT_S:
            self.say(self.position_and_running())

    def close(self):
        if self.on_terminal:
            print("\r\x1b[K", end="", flush=True)


def with_steps(job):
    steps = job.steps()
    return f"{job} [{steps[0]}/{steps[1]}]" if steps else str(job)


def part_of(job):
    if job.is_build:
        return job.folder, "build"
    if job.folder != "plain":
        return job.folder, "tests"
    return job.folder, job.suites[0]


def print_parts(jobs):
    """Prints time by part. Jobs overlap, so the sums exceed the elapsed time."""
    sums = {}
    for job in jobs:
        row = sums.setdefault(part_of(job), [0, 0, 0])
        row[0] += 1
        row[1] += job.seconds
        row[2] += job.cpu_seconds
    print(f"{'folder':8} {'part':12} {'jobs':>5} {'seconds':>9} {'of CPU':>8}")
    for (folder, part), (count, seconds, cpu_seconds) in sorted(sums.items()):
        print(f"{folder:8} {part:12} {count:5} {seconds:9.0f} {cpu_seconds:8.0f}")
