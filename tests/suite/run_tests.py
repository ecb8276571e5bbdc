#!/usr/bin/env python3
# run_tests.py: build the folders of the suite, run their tests as many at once as the machine has
# room for, print what is done and how long the rest will take, and end with
#
#     N passed, N failed[, N skipped]
#
# Meson knows the tests and could run them, but one folder at a time and as many at once as there
# are cores. Most tests here wait for other processes, and a few keep a core busy for a minute.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import random
import shutil
import signal
import sys
import time

import changed
import folders
import long_tests
import times
from folders import FOLDERS, SOURCE
from jobs import PATIENCE, Job, Queue

LOGS = os.path.join(SOURCE, "build", "test-logs")
MOST_AGAIN = 4
SHOWN_LINES = 100
CHECK_SECONDS = 45


def parse(words):
    parser = argparse.ArgumentParser(description="Build memledger and run its tests.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="run only tests of these names")
    parser.add_argument("--folder", action="append", choices=[f.name for f in FOLDERS],
                        help="run only the tests of this build folder; may be repeated")
    parser.add_argument("--all", action="store_true",
                        help="run the long tests too, whether what they cover has changed or not")
    parser.add_argument("--changed", action="store_true",
                        help=f"run the tests of what was changed, for about {CHECK_SECONDS} seconds")
    parser.add_argument("--write-times", action="store_true",
                        help="write the times of the last run into expected_times.txt, and run nothing")
    return parser.parse_args(words)


def tool(name):
    """The distribution's program: one earlier in PATH may lack the modules that it needs."""
    system = f"/usr/bin/{name}"
    return system if os.access(system, os.X_OK) else shutil.which(name) or name


# ---- Which jobs ------------------------------------------------------------


def build_job(folder, tests, known, cores):
    seconds, cpu_seconds = known.get((folder.name, "build"), times.UNKNOWN)
    at_once = cores if folder.name == "plain" else max(1, cores // 2)
    command = ["ninja", "-C", folder.path, f"-j{at_once}", *folder.targets(tests)]
    return Job(folder.name, "build", command, max(seconds, cpu_seconds / at_once), cpu_seconds,
               load=at_once, cwd=SOURCE)


def test_job(folder, test, build, known, environment):
    seconds, cpu_seconds = known.get((folder.name, test["name"]), times.UNKNOWN)
    return Job(folder.name, test["name"], [*folder.prefix(), *test["cmd"]], seconds, cpu_seconds,
               after=build, suites=test["suite"], limit_s=test["timeout"] * PATIENCE,
               alone=not test["is_parallel"], cwd=test["workdir"] or folder.path,
               env=folder.environment | environment | test["env"])


def environment_of_tests():
    """Memory that malloc gives is filled, as Meson does, so that nobody counts on zeros."""
    return {"MALLOC_PERTURB_": str(random.randint(1, 255))} | os.environ


def wanted_tests(options, folder):
    tests = folder.tests()
    if options.names:
        return [test for test in tests if test["name"] in options.names]
    return tests


def all_jobs(options, cores, covered):
    """The builds and tests that were asked for, and sentences on those that are left out.
    @covered  the digests of the files that long tests cover"""
    known, environment, jobs, notes = times.read(), environment_of_tests(), [], []
    out = set() if options.all or options.names else long_tests.left_out(covered)
    for folder in FOLDERS:
        if options.folder and folder.name not in options.folder:
            continue
        if options.changed and folder.name != "plain":
            continue
        tests = wanted_tests(options, folder)
        if options.changed:
            tests, note = changed.select(tests, known, CHECK_SECONDS)
            notes.append(note)
        elif folder.name == "plain":
            names = sorted(test["name"] for test in tests if test["name"] in out)
            if names:
                notes.append(f"left out, because what they cover has not changed since they passed: "
                             f"{', '.join(names)} (make test-nightly runs them)")
            tests = [test for test in tests if test["name"] not in out]
        if tests:
            build = build_job(folder, tests, known, cores)
            jobs += [build, *(test_job(folder, test, build, known, environment) for test in tests)]
    return jobs, notes


# ---- What is printed -------------------------------------------------------


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

    def tick(self):
        running = ", ".join(str(job) + (" " + built_so_far(job) if job.is_build else "")
                            for job in self.queue.running)
        if self.on_terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{(self.position() + ': ' + running)[:width]}", end="", flush=True)
        elif time.monotonic() - self.spoke > self.SILENT_S:
            self.say(f"{self.position()}: {running}")

    def close(self):
        if self.on_terminal:
            print("\r\x1b[K", end="", flush=True)


def built_so_far(job):
    """The last "[done/all]" that ninja has printed."""
    with open(job.log, "rb") as log:
        log.seek(0, os.SEEK_END)
        log.seek(max(log.tell() - 4096, 0))
        lines = [line for line in log.read().decode(errors="replace").splitlines() if line[:1] == "["]
    return lines[-1].partition("]")[0] + "]" if lines else ""


def part_of(job):
    if job.is_build:
        return job.folder, "build"
    if job.folder != "plain":
        return job.folder, "tests"
    return job.folder, job.suites[0]


def print_parts(jobs):
    """Where the time went: of jobs that ran beside each other, so that seconds add up to more than
    passed."""
    sums = {}
    for job in jobs:
        row = sums.setdefault(part_of(job), [0, 0, 0])
        row[0] += 1
        row[1] += job.seconds
        row[2] += job.cpu_seconds
    print(f"{'folder':8} {'part':12} {'jobs':>5} {'seconds':>9} {'of CPU':>8}")
    for (folder, part), (count, seconds, cpu_seconds) in sorted(sums.items()):
        print(f"{folder:8} {part:12} {count:5} {seconds:9.0f} {cpu_seconds:8.0f}")


# ---- Running ---------------------------------------------------------------


def run(jobs, cores):
    """@return the jobs that ended"""
    queue = Queue(jobs, cores)
    progress = Progress(queue)
    try:
        while queue.waiting or queue.running:
            job = queue.take()
            while job:
                job.start(os.path.join(LOGS, job.folder, job.name + ".txt"))
                job = queue.take()
            for job in queue.look():
                progress.ended(job)
            progress.tick()
            time.sleep(0.02 if queue.running and queue.running[-1].took() < 1 else 0.1)
    finally:
        progress.close()
        for job in queue.running:
            job.end()
        times.keep(queue.ended)
    return queue.ended


def run_again(failed):
    """Once more, one after the other, tests that use browsers, servers and other large programs, if
    they are few. @return those that passed now"""
    if not 0 < len(failed) <= MOST_AGAIN or any("integration" not in job.suites for job in failed):
        return []
    print(f"==> again, alone: {', '.join(map(str, failed))}", flush=True)
    for job in failed:
        job.after = None
    return [job for job in run(failed, 1) if job.result == "passed"]


def interrupted(*_):
    sys.exit(130)


def main():
    options = parse(sys.argv[1:])
    if options.write_times:
        times.write_table()
        return 0
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGINT, interrupted)
    os.chdir(SOURCE)
    cores = len(os.sched_getaffinity(0))
    began = time.monotonic()
    for folder in FOLDERS:
        if not options.folder or folder.name in options.folder:
            if not (options.changed and folder.name != "plain") and folder.configure(tool("meson")):
                print(f"cannot configure {os.path.relpath(folder.path)}\n0 passed, 1 failed")
                return 1
    covered = long_tests.digests()
    jobs, notes = all_jobs(options, cores, covered)
    for note in notes:
        print(note, flush=True)
    ended = run(jobs, cores)
    failed = [job for job in ended if job.result == "failed"]
    again = run_again(failed)
    print_parts(ended)
    print(f"in {minutes(time.monotonic() - began)} on {cores} core{'s' if cores > 1 else ''}")
    if long_tests.keep(covered, {job.name for job in ended if job.folder == "plain" and job.result == "passed"}):
        print("commit tests/suite/long_tests_passed.txt: long tests passed with the files as they are now")
    for job in again:
        print(f"{job} failed beside other tests and passed alone: please report it")
    return close(jobs, ended)


def close(jobs, ended):
    """The line that CI reads. A build that failed counts, and so does a run without tests."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for job in ended:
        if not job.is_build or job.result == "failed":
            counts[job.result] += 1
    missing = [job for job in jobs if job.result is None]
    for job in ended:
        if job.result == "failed":
            print(f"FAILED: {job}: {job.words}; {os.path.relpath(job.log, SOURCE)}")
    if missing:
        print(f"{len(missing)} tests did not run")
    if not counts["passed"] + counts["failed"]:
        print("no tests ran", file=sys.stderr)
        counts["failed"] = 1
    print(f"{counts['passed']} passed, {counts['failed']} failed" +
          (f", {counts['skipped']} skipped" if counts["skipped"] else ""))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
