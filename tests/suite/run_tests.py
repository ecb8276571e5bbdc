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
import signal
import sys
import time

import changed
import long_tests
import machine
import times
from folders import FOLDERS, SOURCE
from jobs import Job, Queue
from progress import Progress, minutes, print_parts

LOGS = os.path.join(SOURCE, "build", "test-logs")
MOST_AGAIN = 4
CHECK_SECONDS = 45


def parse(words):
    parser = argparse.ArgumentParser(description="Build memledger and run its tests.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="run only tests of these names")
    parser.add_argument("--folder", action="append", choices=[f.name for f in FOLDERS],
                        help="run only the tests of this build folder; may be repeated")
    parser.add_argument("--long", choices=["changed", "all", "none"], default="changed",
                        help="which long tests to run: those of which a file has changed since they passed "
                        "(the default), all, or none")
    parser.add_argument("--changed", action="store_true",
                        help=f"run the tests of what was changed, for about {CHECK_SECONDS} seconds")
    parser.add_argument("--write-times", action="store_true",
                        help="write the times of the last run into expected_times.txt, and run nothing")
    return parser.parse_args(words)


# ---- Which jobs ------------------------------------------------------------


def build_job(folder, tests, known, cores, everything):
    seconds, cpu_seconds = known.get((folder.name, "build"), times.UNKNOWN)
    at_once = cores if folder.name == "plain" else max(1, cores // 2)
    targets = [] if everything else folder.targets(tests)
    return Job(folder.name, "build", ["ninja", "-C", folder.path, f"-j{at_once}", *targets],
               max(seconds, cpu_seconds / at_once), cpu_seconds, load=at_once, is_build=True, cwd=SOURCE)


def test_job(folder, test, build, known, environment):
    seconds, cpu_seconds = known.get((folder.name, test["name"]), times.UNKNOWN)
    return Job(folder.name, test["name"], [*folder.prefix(), *test["cmd"]], seconds, cpu_seconds,
               after=build, suites=test["suite"], limit_s=limit(seconds),
               alone=not test["is_parallel"], cwd=test["workdir"] or folder.path,
               env=folder.environment | environment | test["env"] | library_path(test["env"], environment))


def limit(seconds):
    """What takes longer hangs. Others may have the processor for most of the time, and a test may install
    packages first: half an hour is longer than any single wait in a test."""
    return max(30 * 60, 20 * seconds)


def library_path(*environments):
    """Meson's folders, and then those of the user."""
    folders = [env["LD_LIBRARY_PATH"] for env in environments if env.get("LD_LIBRARY_PATH")]
    return {"LD_LIBRARY_PATH": ":".join(folders)} if folders else {}


def environment_of_tests():
    """Fills malloc's memory, as Meson does, so that no test relies on zeros."""
    return {"MALLOC_PERTURB_": str(random.randint(1, 255))} | os.environ


def asked_folders(options):
    return [folder for folder in FOLDERS
            if (not options.folder or folder.name in options.folder) and
            (not options.changed or folder.name == "plain")]


def choose(options, tests, known, out):
    """@return the tests of build/ that were asked for, and sentences on those that are left out"""
    if options.changed:
        chosen, note = changed.select(tests, known, CHECK_SECONDS)
        return chosen, [note]
    left = sorted(test["name"] for test in tests if test["name"] in out)
    note = f"{changed.number_of(left, 'long test')} not run (make test-nightly runs them): {', '.join(left)}"
    return [test for test in tests if test["name"] not in out], [note] if left else []


def all_jobs(options, cores, covered):
    """The builds and tests that were asked for, and sentences on those that are left out.
    @covered  the digests of the files that long tests cover"""
    known, environment, jobs, notes = times.read(), environment_of_tests(), [], []
    out = set()
    if not options.names and options.long != "all":
        out = set(covered) if options.long == "none" else long_tests.left_out(covered)
    unknown = set(options.names)
    for folder in asked_folders(options):
        tests = folder.tests()
        unknown -= {test["name"] for test in tests}
        tests = [test for test in tests if not options.names or test["name"] in options.names]
        if folder.name == "plain":
            tests, notes = choose(options, tests, known, out)
        if tests:
            everything = folder.suites is None and not options.changed and not options.names
            build = build_job(folder, tests, known, cores, everything)
            jobs += [build, *(test_job(folder, test, build, known, environment) for test in tests)]
    if unknown:
        raise SystemExit(f"no such test: {', '.join(sorted(unknown))}; meson test -C build --list prints the names")
    return jobs, notes


# ---- Running ---------------------------------------------------------------


class Interruption:
    """Whether a signal has requested the end: then the loop ends what runs."""

    def __init__(self):
        self.code = 0
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has set it
                signal.signal(number, self.request)

    def request(self, number, _frame):
        self.code = 128 + number


def run(jobs, cores, interruption, log_end=".txt"):
    """@return the jobs that ended"""
    queue = Queue(jobs, cores)
    progress = Progress(queue)
    try:
        while (queue.waiting or queue.running) and not interruption.code:
            job = queue.take()
            while job:
                job.start(os.path.join(LOGS, job.folder, job.name + log_end))
                job = queue.take()
            for job in queue.look():
                progress.ended(job)
            progress.tick()
            time.sleep(0.02 if queue.running and queue.running[-1].took() < 1 else 0.1)
    finally:
        for job in queue.running:
            job.end()
        times.keep(queue.ended)
        progress.close()  # last: it fails if the terminal is gone
    if interruption.code:
        print_failed(queue.ended)
        print(f"interrupted: {in_words(counts_of(queue.ended))}, "
              f"{len(queue.running + queue.waiting)} not run to the end")
        sys.exit(interruption.code)
    return queue.ended


def run_again(failed, interruption):
    """Once more, one after the other, tests that use browsers, servers and other large programs, if
    they are few. @return those that passed now"""
    if not 0 < len(failed) <= MOST_AGAIN or any("integration" not in job.suites for job in failed):
        return []
    print(f"==> again, alone: {', '.join(map(str, failed))}", flush=True)
    for job in failed:
        job.after, job.alone = None, True
    ended = run(failed, 1, interruption, "-again.txt")
    for job in ended:
        if job.result == "skipped":
            job.result, job.words = "failed", "skipped the second time"
    return [job for job in ended if job.result == "passed"]


def main():
    options = parse(sys.argv[1:])
    if options.write_times:
        times.write_table()
        return 0
    os.chdir(SOURCE)
    meson = os.environ.pop("MESON", "meson")  # not for the tests: building a wheel needs a newer one
    cores = machine.cores()
    began = time.monotonic()
    for folder in asked_folders(options):
        if not folder.configure(meson):
            print(f"cannot configure {os.path.relpath(folder.path)}\n0 passed, 1 failed")
            return 1
    plain = next((folder for folder in asked_folders(options) if folder.name == "plain"), None)
    covered = long_tests.digests(plain.tests()) if plain else {}
    jobs, notes = all_jobs(options, cores, covered)
    for note in notes:
        print(note, flush=True)
    interruption = Interruption()
    ended = run(jobs, cores, interruption)
    failed = [job for job in ended if job.result == "failed"]
    whole = {job.name for job in ended
             if job.folder == "plain" and job.result == "passed" and long_tests.is_whole(job.log)}
    names_of_failed = {job.name for job in failed if job.folder == "plain"}
    again = run_again(failed, interruption)
    print_parts(ended)
    print(f"in {minutes(time.monotonic() - began)} on {cores} core{'s' if cores > 1 else ''}")
    if plain and long_tests.keep(covered, long_tests.digests(plain.tests()), whole, names_of_failed):
        print("commit tests/suite/long_tests_passed.txt: it says with which files long tests passed")
    for note in notes:
        print(note)
    for job in again:
        print(f"{job} failed beside other tests and passed alone: please report it")
    return close(jobs, ended)


def counts_of(ended):
    """Of tests, and of builds that failed."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for job in ended:
        if not job.is_build or job.result == "failed":
            counts[job.result] += 1
    return counts


def in_words(counts):
    return (f"{counts['passed']} passed, {counts['failed']} failed" +
            (f", {counts['skipped']} skipped" if counts["skipped"] else ""))


def print_failed(ended):
    for job in ended:
        if job.result == "failed":
            print(f"FAILED: {job}: {job.words}; {os.path.relpath(job.log, SOURCE)}")


def close(jobs, ended):
    """Ends with the line that CI reads. A run without tests has failed."""
    counts = counts_of(ended)
    missing = [job for job in jobs if job.result is None]
    print_failed(ended)
    if missing:
        print(f"{changed.number_of(missing, 'test')} did not run")
    if not counts["passed"] + counts["failed"]:
        print("no tests ran", file=sys.stderr)
        counts["failed"] = 1
    print(in_words(counts))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
