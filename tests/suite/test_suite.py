#!/usr/bin/env python3
# test_suite.py: the suite's own rules: what runs side by side, how long is left, which tests belong
# to a change.
#
#     test_suite.py SOURCE_DIR INTRO_TESTS_JSON
#
# SPDX-License-Identifier: Apache-2.0
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import changed
import conditions
import covers
import jobs
import long_tests
import machine
import run_tests
import times
from jobs import Job, Queue

SOURCE, TESTS = sys.argv[1], sys.argv[2]


def job(name, seconds, cpu_seconds, command=("true",), **settings):
    settings.setdefault("suites", ["integration"])
    return Job("plain", name, list(command), seconds, cpu_seconds, **settings)


def begun(queue):
    """The names of all that begin now."""
    names = []
    while True:
        taken = queue.take()
        if not taken:
            return names
        taken.began = time.monotonic()
        names.append(taken.name)


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition):
    while not condition():
        time.sleep(0.01)


class SideBySide(unittest.TestCase):
    def test_waiting_tests_run_beside_each_other(self):
        queue = Queue([job(f"waits{i}", 10 + i, 1) for i in range(20)], cores=2)
        self.assertEqual(begun(queue), [f"waits{i}" for i in range(19, 9, -1)])

    def test_busy_tests_do_not(self):
        queue = Queue([job("a", 30, 30), job("b", 20, 20), job("c", 10, 10), job("d", 5, 0.5)], cores=2)
        self.assertEqual(begun(queue), ["a", "b", "d"])

    def test_one_that_keeps_all_cores_busy_begins_when_nothing_runs(self):
        queue = Queue([job("all", 30, 120), job("waits", 10, 1)], cores=2)
        self.assertEqual(begun(queue), ["all"])

    def test_alone(self):
        queue = Queue([job("alone", 30, 1, alone=True), job("other", 10, 1)], cores=2)
        self.assertEqual(begun(queue), ["alone"])
        queue.running.clear()
        self.assertEqual(begun(queue), ["other"])

    def test_after_its_build(self):
        build = job("build", 10, 10, is_build=True, load=1)
        queue = Queue([build, job("test", 99, 1, after=build)], cores=2)
        self.assertEqual(begun(queue), ["build"])
        build.result = "passed"
        self.assertEqual(begun(queue), ["test"])

    def test_builds_begin_in_their_order(self):
        """Whatever is known of their times: most tests need the first."""
        queue = Queue([job("plain", 10, 20, is_build=True, load=2), job("asan", 99, 99, is_build=True, load=1)],
                      cores=2)
        self.assertEqual(begun(queue), ["plain"])

    def test_no_more_than_memory_has_room_for(self):
        with mock.patch.object(machine, "memory_gib", return_value=3.9):
            queue = Queue([job(str(i), 10, 0.1) for i in range(20)], cores=8)
        self.assertEqual(len(begun(queue)), 3)


class Ends(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def end_of(self, command, **settings):
        queue = Queue([job("test", 1, 1, command, **settings)], cores=1)
        queue.take().start(os.path.join(self.folder, "log"))
        while queue.running:
            queue.look()
        return queue.ended[0]

    def test_results(self):
        for command, result, words in ((["true"], "passed", ""), (["sh", "-c", "exit 77"], "skipped", ""),
                                       (["sh", "-c", "exit 3"], "failed", "exit code 3"),
                                       (["sh", "-c", "kill -SEGV $$"], "failed", "signal 11")):
            ended = self.end_of(command)
            self.assertEqual((ended.result, ended.words), (result, words), command)

    def test_signals_that_the_suite_ignores_end_a_job(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            before = signal.signal(number, signal.SIG_IGN)
            self.addCleanup(signal.signal, number, before)
            self.assertEqual(self.end_of(["sh", "-c", f"kill -{int(number)} $$"]).words, f"signal {int(number)}")

    def test_what_hangs_is_ended_with_all_that_it_started(self):
        """Also what is in a session of its own, as `memledger run` is when a test starts it."""
        hanging = job("test", 1, 1, ["sh", "-c", "setsid sleep 600 & sleep 600 & wait"], limit_s=1e9)
        hanging.start(os.path.join(self.folder, "log"))
        wait_until(lambda: len(jobs.descendants(hanging.process.pid)) == 2)
        children = jobs.descendants(hanging.process.pid)
        hanging.limit_s = 1e-9
        wait_until(hanging.has_ended)
        self.assertEqual((hanging.result, hanging.words), ("failed", "timed out after 1e-09 s"))
        wait_until(lambda: not any(map(runs, children)))

    def test_what_cannot_be_killed_is_given_up(self):
        hanging = job("test", 1, 1, ["sleep", "600"], limit_s=1e-9)
        with mock.patch.object(jobs, "kill"), mock.patch.object(jobs, "MOST_S_TO_DIE", 0.1):
            hanging.start(os.path.join(self.folder, "log"))
            wait_until(hanging.has_ended)
        self.assertEqual((hanging.result, hanging.words),
                         ("failed", f"timed out after 1e-09 s; process {hanging.process.pid} cannot be killed"))
        hanging.process.kill()
        hanging.process.wait()

    def test_what_cannot_start_has_failed(self):
        ended = self.end_of([os.path.join(self.folder, "missing")])
        self.assertEqual((ended.result, ended.words[:12]), ("failed", "cannot start"))

    def test_cpu_time_is_that_of_the_job_alone(self):
        """Not of another that runs beside it."""
        spinning = job("spins", 1, 1, [sys.executable, "-c", "while True: pass"])
        spinning.start(os.path.join(self.folder, "spins"))
        self.addCleanup(spinning.end)
        self.assertLess(self.end_of(["sleep", "1"]).cpu_seconds, 0.1)
        self.assertGreater(self.end_of([sys.executable, "-c", "sum(range(10_000_000))"]).cpu_seconds, 0.01)

    def test_what_a_failed_job_left_is_ended(self):
        """Also if it has no ancestor any more."""
        pid_file = os.path.join(self.folder, "pid")
        ended = self.end_of(["sh", "-c", f"setsid sh -c 'echo $$ > {pid_file}; exec sleep 600' & "
                             f"while ! test -s {pid_file}; do sleep 0.01; done; exit 1"])
        self.assertEqual(ended.words, "exit code 1")
        wait_until(lambda: not runs(int(covers.read(pid_file))))

    def test_a_failed_build_drops_its_tests(self):
        build = job("build", 1, 1, ["false"], is_build=True, load=1)
        queue = Queue([build, job("test", 1, 1, after=build)], cores=1)
        queue.take().start(os.path.join(self.folder, "log"))
        while queue.running:
            queue.look()
        self.assertEqual((queue.waiting, build.result), ([], "failed"))


class TimeLeft(unittest.TestCase):
    def test_time_left(self):
        queue = Queue([job("a", 100, 10), job("b", 30, 30)], cores=2)
        self.assertAlmostEqual(self.left_at_the_beginning(queue), 100)  # waits for the longest
        queue = Queue([job(str(i), 30, 30) for i in range(10)], cores=2)
        self.assertAlmostEqual(self.left_at_the_beginning(queue), 300 / 1.8)

    def test_a_build_is_left_as_long_as_its_own_steps_say(self):
        build = job("build", 10, 10, is_build=True, load=1)
        with tempfile.NamedTemporaryFile("w") as log:
            build.log, build.began = log.name, 0
            with mock.patch.object(jobs.time, "monotonic", return_value=5):
                self.assertEqual(build.seconds_left(), 5)
                log.write("ninja: Entering directory\n[1/100] a\n")
                log.flush()
                self.assertEqual(build.seconds_left(), 5)
                log.write("[10/100] b\nwarning: [3] is\n")
                log.flush()
                self.assertEqual((build.steps(), build.seconds_left()), ((10, 100), 45))

    def left_at_the_beginning(self, queue):
        with mock.patch.object(jobs.time, "monotonic", return_value=queue.began):
            return queue.seconds_left()

    def test_the_pace_counts(self):
        """Together with a minute at the usual pace."""
        queue = Queue([job(str(i), 30, 30) for i in range(10)], cores=2)
        ended = queue.waiting.pop()
        ended.expected_cpu_seconds = 30
        queue.ended.append(ended)
        for seconds in (0, 1, 100, 10000):
            with mock.patch.object(jobs.time, "monotonic", return_value=queue.began + seconds):
                self.assertAlmostEqual(queue.seconds_left(), 270 * (seconds + 60) / (30 + 108))


class Times(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.object(times, "RESULTS", os.path.join(folder.name, "results.json"))
        patch.start()
        self.addCleanup(patch.stop)

    def keep(self, seconds, result="passed"):
        ended = job("test", seconds, 2)
        ended.result = result
        times.keep([ended])

    def test_longer_ones_count_slowly(self):
        for seconds, known in ((10, 10), (4, 4), (30, 4.41), (30, 4.86), (4.5, 4.5)):
            self.keep(seconds)
            self.assertEqual(times.read()["plain", "test"][0], known)

    def test_that_of_a_failure_does_not(self):
        self.keep(1, "failed")
        self.assertNotIn(("plain", "test"), times.read())
        self.keep(10)
        self.assertEqual(times.read()["plain", "test"], (10, 2))


class Changed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(TESTS, encoding="utf-8") as file:
            cls.tests = json.load(file)
        for test in cls.tests:
            test["suite"] = [suite.rpartition(":")[2] for suite in test["suite"]]

    def chosen(self, *files, seconds=1000):
        known = {("plain", test["name"]): (1, 1) for test in self.tests}
        tests, note = changed.select(self.tests, known, seconds, cores=2, files=list(files))
        return [test["name"] for test in tests], note

    def test_a_test_itself(self):
        """First, and then only those that look at the whole tree."""
        layout = [test["name"] for test in self.tests if "layout" in test["suite"]]
        self.assertEqual(self.chosen("tests/integration/test_ends.py")[0], ["ends", *layout])
        self.assertEqual(self.chosen("tests/unit/test_base_pairs.c")[0], ["base_pairs", *layout])

    def test_a_test_itself_runs_even_if_it_takes_long(self):
        self.assertEqual(self.chosen("tests/integration/test_ends.py", seconds=0)[0], ["ends"])

    def test_helpers_and_programs_of_tests(self):
        self.assertIn("live_terminal", self.chosen("tests/integration/live_support.py")[0])
        self.assertIn("attach", self.chosen("tests/integration/waits_in.c")[0])
        self.assertIn("readme", self.chosen("tests/readme/transcripts.py")[0])

    def test_files_that_no_test_covers(self):
        _, note = self.chosen("tests/data/none")
        self.assertIn("only whole-tree checks apply", note)

    def test_tests_that_include_the_header(self):
        names, _ = self.chosen("src/base/pairs.c")
        self.assertIn("base_pairs", names)

    def test_what_covers_a_room(self):
        names, _ = self.chosen("src/inject/inject.c")
        self.assertIn("attach", names)
        self.assertNotIn("plot", names)

    def test_no_more_than_fits(self):
        names, note = self.chosen("src/capture/torch/tape.c", seconds=5)
        self.assertLessEqual(len(names), 8)
        self.assertIn("tests for src/capture/torch/tape.c; left to make test: ", note)

    def test_many_files_are_counted(self):
        _, note = self.chosen("tests/data/a", "tests/data/b", "tests/data/c", "tests/data/d")
        self.assertIn("tests for 4 changed files", note)

    def test_every_folder_is_covered(self):
        files = long_tests.all_files() or [os.path.relpath(os.path.join(folder, name), SOURCE)
                                           for folder, _, names in os.walk(SOURCE) for name in names]
        self.assertTrue(files)
        for file in files:
            if file.startswith(("src/", "python/", "include/", "web/", "docs/", "examples/", "scripts/")):
                folder = os.path.dirname(file) + "/"
                self.assertTrue(any(folder.startswith(path) or covers.is_below(file, path) or path.startswith(folder)
                                    for path, _ in covers.lines()), file)

    def test_every_name_is_a_test(self):
        """Or stands in a meson.build: a machine without MXNet or npm has fewer tests."""
        names = {test["name"] for test in self.tests}
        for folder, _, files in os.walk(os.path.join(SOURCE, "tests")):
            if "meson.build" in files:
                names |= set(re.findall("'([^']+)'", covers.read(os.path.join(folder, "meson.build"))))
        for path, patterns in covers.lines():
            self.assertTrue("*" in path or os.path.exists(os.path.join(SOURCE, path)) or
                            any(name.startswith(os.path.basename(path)) for name in
                                os.listdir(os.path.join(SOURCE, os.path.dirname(path)))), path)
            for pattern in patterns:
                self.assertTrue(fnmatch.filter(names, pattern) or pattern.startswith("*"), f"{path}: {pattern}")


class Long(unittest.TestCase):
    """In a clone of its own."""

    TESTS = [{"name": "long", "cmd": ["/bin/long"], "suite": ["integration", "long"], "env": {}},
             {"name": "short", "cmd": ["/bin/short"], "suite": ["integration"], "env": {}}]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("code.c", "int f;")
        subprocess.run(["git", "init", "-q", self.folder], check=True)
        for module, name, path in ((covers, "SOURCE", ""), (long_tests, "SOURCE", ""),
                                   (covers, "TABLE", "covers"), (long_tests, "PASSED", "passed")):
            patch = mock.patch.object(module, name, os.path.join(self.folder, path))
            patch.start()
            self.addCleanup(patch.stop)
        self.write("covers", "# a comment\ncode.c other long\nfolder l*ng\n*/any.build long\n")

    def write(self, name, text):
        os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def left_out(self):
        return long_tests.left_out(long_tests.digests(self.TESTS))

    def passes(self):
        now = long_tests.digests(self.TESTS)
        return long_tests.keep(now, now, {"long", "short"}, set())

    def test_until_it_has_passed_it_runs(self):
        self.assertEqual(self.left_out(), set())
        self.assertTrue(self.passes())
        self.assertEqual(self.left_out(), {"long"})
        self.assertFalse(self.passes())

    def test_a_change_makes_it_run(self):
        self.passes()
        for change in (lambda: self.write("code.c", "int g;"),
                       lambda: self.write("folder/new.c", ""),
                       lambda: self.write("deep/any.build", ""),
                       lambda: os.remove(os.path.join(self.folder, "code.c"))):
            change()
            self.assertEqual(self.left_out(), set())
            self.passes()
            self.assertEqual(self.left_out(), {"long"})

    def test_what_else_changes_does_not(self):
        self.passes()
        self.write("page.md", "text")
        self.assertEqual(self.left_out(), {"long"})

    def test_what_a_run_writes_does_not(self):
        """Even if a line covers it, as that of tests/suite does."""
        self.write("covers", "passed long\ntimes long\ncode.c long\n")
        with mock.patch.object(times, "TABLE", os.path.join(self.folder, "times")):
            self.passes()
            self.write("times", "plain long 1 1\n")
            self.assertEqual(self.left_out(), {"long"})

    def test_after_a_change_during_the_run_it_runs_again(self):
        before = long_tests.digests(self.TESTS)
        self.write("code.c", "int g;")
        long_tests.keep(before, long_tests.digests(self.TESTS), {"long"}, set())
        self.assertEqual(self.left_out(), set())
        self.write("code.c", "int f;")
        self.assertEqual(self.left_out(), set())

    def test_after_a_failure_it_runs_again(self):
        self.passes()
        now = long_tests.digests(self.TESTS)
        self.assertTrue(long_tests.keep(now, now, set(), {"long"}))
        self.assertEqual(self.left_out(), set())

    def test_on_another_kind_of_machine_it_runs(self):
        self.passes()
        with mock.patch.object(machine, "kind", return_value="another"):
            self.assertEqual(self.left_out(), set())

    def test_a_skipped_case_is_no_pass(self):
        self.write("whole", "test_a: passed\n")
        self.write("part", "test_a: passed\ntest_b: skipped: no compiler\n")
        self.assertTrue(long_tests.is_whole(os.path.join(self.folder, "whole")))
        self.assertFalse(long_tests.is_whole(os.path.join(self.folder, "part")))

    def test_lines_of_a_conflict_are_no_digests(self):
        self.passes()
        with open(os.path.join(self.folder, "passed"), "a", encoding="utf-8") as file:
            file.write("<<<<<<< HEAD\nhalf a line\n=======\n")
        self.assertEqual(self.left_out(), {"long"})

    def test_outside_of_a_clone_all_run(self):
        self.passes()
        shutil.rmtree(os.path.join(self.folder, ".git"))
        self.assertEqual(self.left_out(), set())


class LongHere(unittest.TestCase):
    def test_each_covers_more_than_itself(self):
        with open(TESTS, encoding="utf-8") as file:
            tests = json.load(file)
        patterns = {pattern for _, patterns in covers.lines() for pattern in patterns}
        for test in tests:
            if any(suite.endswith(":long") for suite in test["suite"]):
                self.assertTrue(any(fnmatch.fnmatch(test["name"], pattern) for pattern in patterns), test["name"])


class Conditions(unittest.TestCase):
    def test_row(self):
        printed = ("[3/9] 0:10, about 20 s left  live FAILED after 3.0 s: exit code 1\n"
                   "[4/9] 0:10, about 20 s left  base_map (asan) FAILED after 3.0 s: signal 6\n"
                   "live FAILED after 1.0 s: exit code 1\n8 passed, 1 failed, 1 skipped\n")
        self.assertEqual(conditions.row_of("nice", 125, printed),
                         "| nice | 2:05 | 8 | 1 | 1 | live, base_map (asan) |")
        self.assertEqual(conditions.row_of("alone", 1, "no build"), "| alone | 0:01 | - | - | - |  |")


class Again(unittest.TestCase):
    """What failed beside other tests is tried once more, alone."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for module, name, value in ((run_tests, "LOGS", self.folder),
                                    (times, "RESULTS", os.path.join(self.folder, "results.json"))):
            patch = mock.patch.object(module, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def run_twice(self, *jobs_of_run):
        interruption = mock.Mock(code=0)
        with open(os.devnull, "w", encoding="utf-8") as nothing, mock.patch.object(sys, "stdout", nothing):
            ended = run_tests.run(list(jobs_of_run), 2, interruption)
            return run_tests.run_again([j for j in ended if j.result == "failed"], interruption)

    def fails_once(self, name, **settings):
        marker = os.path.join(self.folder, f"{name}-began")
        return job(name, 1, 0.1, ["sh", "-c", f"test -e {marker} || {{ touch {marker}; exit 1; }}"], **settings)

    def test_one_that_passes_the_second_time(self):
        flaky, broken = self.fails_once("flaky"), job("broken", 1, 0.1, ["false"])
        self.assertEqual(self.run_twice(flaky, broken), [flaky])
        self.assertEqual((flaky.result, flaky.words), ("passed", ""))
        self.assertEqual(broken.result, "failed")
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "plain"))),
                         ["broken-again.txt", "broken.txt", "flaky-again.txt", "flaky.txt"])

    def test_one_that_is_skipped_the_second_time(self):
        began = os.path.join(self.folder, "began")
        skips = job("skips", 1, 0.1, ["sh", "-c", f"test -e {began} && exit 77; touch {began}; exit 1"])
        self.assertEqual(self.run_twice(skips), [])
        self.assertEqual((skips.result, skips.words), ("failed", "skipped the second time"))

    def test_what_runs_is_ended_when_the_terminal_is_gone(self):
        sleeps = job("sleeps", 1, 0.1, ["sleep", "600"])
        gone = mock.Mock(side_effect=OSError)
        with mock.patch.multiple(run_tests.Progress, tick=gone, close=gone):
            self.assertRaises(OSError, run_tests.run, [sleeps], 2, mock.Mock(code=0))
        wait_until(lambda: not runs(sleeps.process.pid))

    def test_each_runs_alone(self):
        """Beside nothing else that is tried again."""
        alone = os.path.join(self.folder, "alone")
        command = f"mkdir {alone}-$0 || {{ mkdir {alone} && sleep 0.1 && rmdir {alone}; exit; }}; exit 1"
        flaky = [job(name, 1, 0.1, ["sh", "-c", command, name]) for name in "abc"]
        self.assertCountEqual(self.run_twice(*flaky), flaky)

    def test_many_failures_are_not_tried_again(self):
        self.assertEqual(self.run_twice(*(self.fails_once(str(i)) for i in range(run_tests.MOST_AGAIN + 1))), [])

    def test_unit_tests_are_not_tried_again(self):
        self.assertEqual(self.run_twice(self.fails_once("unit", suites=["unit"])), [])


class Machine(unittest.TestCase):
    def test_compilers_of_several_words_or_none(self):
        for words, version in (("echo gcc 12", ["gcc 12 --version"]), ("/no/compiler", []), ("'", [])):
            with mock.patch.dict(os.environ, CC=words):
                self.assertEqual(machine.compiler(), version)
                self.assertIn(" ".join(version), machine.kind.__wrapped__())


class Close(unittest.TestCase):
    def test_exit_codes(self):
        passed, failed = job("a", 1, 1), job("b", 1, 1)
        passed.result, failed.result, failed.words, failed.log = "passed", "failed", "exit code 1", "/log"
        self.assertEqual(run_tests.close([passed], [passed]), 0)
        self.assertEqual(run_tests.close([passed, failed], [passed, failed]), 1)
        self.assertEqual(run_tests.close([], []), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
