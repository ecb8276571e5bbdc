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
import sys
import tempfile
import time
import unittest

import changed
import run_tests
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


class Side(unittest.TestCase):
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
        build = job("build", 10, 10, suites=["build"], load=1)
        queue = Queue([build, job("test", 99, 1, after=build)], cores=2)
        self.assertEqual(begun(queue), ["build"])
        build.result = "passed"
        self.assertEqual(begun(queue), ["test"])


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

    def test_what_hangs_is_ended_with_its_children(self):
        ended = self.end_of(["sh", "-c", "sleep 600 & echo $!; wait"], limit_s=0.5)
        self.assertEqual((ended.result, ended.words), ("failed", "no end after 0.5 s"))
        with open(os.path.join(self.folder, "log")) as log:
            child = int(log.read())
        for _ in range(1000):
            if not os.path.exists(f"/proc/{child}") or " Z " in open(f"/proc/{child}/stat").read():
                break
            time.sleep(0.01)
        else:
            self.fail("the child still runs")

    def test_cpu_time_is_that_of_the_job_alone(self):
        ended = self.end_of([sys.executable, "-c", "sum(range(10_000_000))"])
        self.assertGreater(ended.cpu_seconds, 0.01)

    def test_a_failed_build_drops_its_tests(self):
        build = job("build", 1, 1, ["false"], suites=["build"], load=1)
        queue = Queue([build, job("test", 1, 1, after=build)], cores=1)
        queue.take().start(os.path.join(self.folder, "log"))
        while queue.running:
            queue.look()
        self.assertEqual((queue.waiting, build.result), ([], "failed"))


class Left(unittest.TestCase):
    def test_time_left(self):
        queue = Queue([job("a", 100, 10), job("b", 30, 30)], cores=2)
        self.assertAlmostEqual(queue.seconds_left(), 100)  # waits for the longest
        queue = Queue([job(str(i), 30, 30) for i in range(10)], cores=2)
        self.assertAlmostEqual(queue.seconds_left(), 300 / 1.8)

    def test_the_pace_counts(self):
        queue = Queue([job(str(i), 30, 30) for i in range(10)], cores=2)
        queue.began -= 100
        ended = queue.waiting.pop()
        ended.expected_cpu_seconds = 30
        queue.ended.append(ended)
        self.assertAlmostEqual(queue.seconds_left(), 270 / 0.3, delta=5)


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
        self.assertEqual(self.chosen("tests/integration/test_ends.py")[0], ["ends"])
        self.assertEqual(self.chosen("tests/unit/test_base_pairs.c")[0], ["base_pairs"])

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
        self.assertIn("make test also runs", note)

    def test_every_folder_is_covered(self):
        lines = changed.covering()
        for top in ("src", "python", "include", "web", "docs", "examples"):
            for at, folders, files in os.walk(os.path.join(SOURCE, top)):
                folders[:] = [name for name in folders if name not in ("node_modules", "__pycache__")]
                path = os.path.relpath(at, SOURCE)
                if any(name.endswith((".c", ".h", ".py", ".ts", ".md")) for name in files):
                    self.assertTrue(any((path + "/").startswith(beginning) or path == beginning or
                                        beginning.startswith(path + "/") for beginning, _ in lines), path)

    def test_every_name_is_a_test(self):
        names = [test["name"] for test in self.tests]
        for path, patterns in changed.covering():
            self.assertTrue(os.path.exists(os.path.join(SOURCE, path)) or
                            any(name.startswith(os.path.basename(path)) for name in
                                os.listdir(os.path.join(SOURCE, os.path.dirname(path)))), path)
            for pattern in patterns:
                self.assertTrue(fnmatch.filter(names, pattern), f"{path}: {pattern}")


class Close(unittest.TestCase):
    def test_exit_codes(self):
        passed, failed = job("a", 1, 1), job("b", 1, 1)
        passed.result, failed.result, failed.words, failed.log = "passed", "failed", "exit code 1", "/log"
        self.assertEqual(run_tests.close([passed], [passed]), 0)
        self.assertEqual(run_tests.close([passed, failed], [passed, failed]), 1)
        self.assertEqual(run_tests.close([], []), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
