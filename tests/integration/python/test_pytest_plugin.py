#!/usr/bin/env python3
# test_pytest_plugin.py: limits on the memory of tests, in a real pytest, with xdist too.
#
# Needs the network for pytest.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import re
import subprocess
import sys

import harness
import pypi
from harness import check, contains, equal

SOURCE = os.environ["TEST_SOURCE"]
REPEATS = int(os.environ.get("TEST_REPEATS", "40"))  # scripts/pytest-limits.sh: a thousand
REQUIREMENTS = os.path.join(SOURCE, "scripts", "requirements-pytest.txt")

TESTS = """
import pytest
import torch

kept = []


@pytest.mark.limit_memory("2 MB", device="cpu")
@pytest.mark.limit_leaks("100 KB", device="cpu")
def test_fits():
    torch.zeros(100_000)


@pytest.mark.limit_memory("2 MB")
def test_too_large():
    torch.zeros(1_000_000)


@pytest.mark.limit_memory("2 MB", device="cuda:0")
def test_another_device():
    torch.zeros(1_000_000)


@pytest.mark.limit_leaks("100 KB", device="cpu")
def test_leaks():
    kept.append(torch.zeros(100_000))


@pytest.mark.limit_memory("2 MB")
def test_fails_itself():
    assert False


def test_plain():
    pass
"""


def run_pytest(*arguments, under=(), devices=1):
    """On a machine with so many CUDA devices."""
    folder = pypi.environment(REQUIREMENTS, os.path.join(os.environ["PYPI_FOLDER"], "pytest"))
    packages = glob.glob(os.path.join(folder, "lib", "python3*", "site-packages"))
    env = os.environ | {"PYTHONPATH": ":".join([os.environ["TEST_PACKAGE"], *packages])}
    env.pop("LD_LIBRARY_PATH", None)
    env = harness.with_standin(env, STANDIN_DEVICES=devices)
    return subprocess.run([*under, sys.executable, "-m", "pytest", "-p", "memledger.pytest_plugin",
                           "-p", "no:cacheprovider", *arguments],
                          env=env, capture_output=True, text=True, check=False)


def write_tests(text=TESTS):
    with open("test_memory.py", "w") as f:
        f.write(text)


def outcomes(text):
    """Of the short summary: what became of each test."""
    return {name: word for word, name in
            re.findall(r"^(PASSED|FAILED|ERROR)\s+test_memory\.py::(\w+)", text, re.M)}


WANTED = {"test_fits": "PASSED", "test_too_large": "FAILED", "test_another_device": "PASSED",
          "test_leaks": "FAILED", "test_fails_itself": "FAILED", "test_plain": "PASSED"}


def test_limits():
    write_tests()
    for arguments in [], ["-n", "2"]:
        result = run_pytest("-rA", "--memledger", *arguments)
        equal(outcomes(result.stdout), WANTED, f"outcomes with {arguments}", result.stdout,
              result.stderr)
        contains(result.stdout, "the peak of cpu was 3.8 MiB, more than the 1.9 MiB", "the report")
        contains(result.stdout, "the test left 390.6 KiB behind on cpu", "the report")
        contains(result.stdout, "shows the peak", "the report")
        contains(result.stdout, "memledger table --at end ", "the report")
        contains(result.stdout, "test_memory.py::test_too_large: peak cpu 3.8 MiB", "the list")


def test_without_option():
    """Limits are checked only on request, and the marks are known."""
    write_tests()
    result = run_pytest("-rA", "--strict-markers")
    wanted = dict(WANTED, test_too_large="PASSED", test_leaks="PASSED")
    equal(outcomes(result.stdout), wanted, "outcomes", result.stdout)
    check("memory of the tests" not in result.stdout, "a report without --memledger", result.stdout)


def test_kept_recordings():
    write_tests()
    run_pytest("--memledger", "--memledger-dir", "kept", "-k", "fits or plain")
    equal(len(os.listdir("kept")), 2, "recordings", os.listdir("kept"))


WRONG = {
    "limit_memory('2 miles')": "limit_memory: '2 miles' is not a size; write 4096,",
    "limit_leaks(-1)": "limit_leaks: -1 is not a size; write 4096,",
    "limit_memory('1 MB', device='gpu7')": "limit_memory: unknown device 'gpu7': allowed are None, ",
    "limit_leaks('1 MB', device='cuda:x')": "limit_leaks: unknown device 'cuda:x': allowed are ",
    "limit_memory('1 MB', device=-1)": "limit_memory: unknown device -1: allowed are None, ",
    "limit_memory('1 MB', devise='cpu')": "limit_memory takes a size and, optionally, a device: ",
    "limit_leaks()": "limit_leaks takes a size and, optionally, a device: ",
}


def test_wrong_marks():
    """An error of one line that names what is allowed."""
    marked = [f"@pytest.mark.{mark}\ndef test_{i}():\n    pass\n" for i, mark in enumerate(WRONG)]
    write_tests("import pytest\n\n\n" + "\n\n".join(marked))
    result = run_pytest("--memledger", "-rA")
    equal(outcomes(result.stdout), {f"test_{i}": "FAILED" for i in range(len(WRONG))}, "outcomes",
          result.stdout)
    for sentence in WRONG.values():
        equal(len(re.findall("^" + re.escape(sentence), result.stdout, re.M)), 1, sentence,
              result.stdout)
    check("pytest_plugin" not in result.stdout, "a traceback of the plugin", result.stdout)


MISSING = """
import pytest


@pytest.mark.limit_memory("2 MB", device="cuda:1")
def test_peak():
    pass


@pytest.mark.limit_leaks("2 MB", device="cuda:1")
def test_leaks():
    pass


@pytest.mark.limit_memory("2 MB", device="cuda:0")
@pytest.mark.limit_leaks("2 MB", device=0)
def test_first():
    pass


@pytest.mark.limit_memory("2 MB", device="cuda:1")
def test_skipped():
    pytest.skip("there is no cuda:1")
"""


def test_missing_device():
    """A device that this machine does not have would keep any limit; one without memory does."""
    write_tests(MISSING)
    wanted = {"test_peak": "FAILED", "test_leaks": "FAILED"}
    for devices, first in (1, "PASSED"), (0, "FAILED"):
        result = run_pytest("--memledger", "-rA", devices=devices)
        equal(outcomes(result.stdout), wanted | {"test_first": first},
              f"outcomes with {devices} devices", result.stdout)
        for mark in "limit_memory", "limit_leaks":
            contains(result.stdout, f"\n{mark}: this machine has no cuda:1; skip the test here: "
                     "@pytest.mark.skipif(torch.cuda.device_count() < 2,", "the reason")
        contains(result.stdout, " 1 skipped", "the test that skips itself")


AFTER_FAILURES = """
import unittest

import pytest
import torch


def test_fails():
    large = torch.zeros(1_000_000)
    assert 0


@pytest.mark.limit_memory("1 MB")
def test_after_failure():
    torch.ones(10)


class TestCase(unittest.TestCase):
    def test_fails_too(self):
        large = torch.zeros(1_000_000)
        self.fail()


def test_after_both():
    torch.ones(10)


@pytest.fixture(scope="module")
def large():
    return torch.zeros(1_000_000)


@pytest.mark.limit_memory("1 MB")
def test_with_fixture(large):
    torch.ones(10)
"""


def test_after_failures():
    """What only the traceback of another test holds does not count; what a fixture holds does."""
    write_tests(AFTER_FAILURES)
    result = run_pytest("--memledger", "-rA")
    contains(result.stdout, "\ntest_memory.py::test_after_failure: peak cpu 40 B\n", "the list")
    contains(result.stdout, "\ntest_memory.py::test_after_both: peak cpu 40 B\n", "the list")
    contains(result.stdout, "\ntest_memory.py::test_with_fixture: peak cpu 3.8 MiB\n", "the list")


def test_under_memledger_run():
    """Said once, before the first test."""
    write_tests()
    result = run_pytest("--memledger", under=[harness.MEMLEDGER, "run", "-o", "t.mled"])
    equal(result.returncode, 4, "exit code: wrong usage", result.stdout, result.stderr)
    contains(result.stderr, "ERROR: pytest --memledger records each test itself; start it without "
             "memledger run", "the error")
    check("test_memory" not in result.stdout, "tests ran", result.stdout)


def test_wrong_device():
    """A mark that cannot be checked spoils neither the next test nor the folder."""
    write_tests("import pytest\nimport torch\n\n\n@pytest.mark.limit_leaks('1 MB', device='abacus')\n"
                "def test_wrong():\n    torch.zeros(1)\n\n\n@pytest.mark.limit_memory('2 MB')\n"
                "def test_after():\n    torch.zeros(1)\n")
    result = run_pytest("-rA", "--memledger", "--memledger-dir", "kept")
    equal(outcomes(result.stdout), {"test_wrong": "FAILED", "test_after": "PASSED"}, "outcomes",
          result.stdout)
    contains(result.stdout, "abacus", "the reason")
    equal(len(os.listdir("kept")), 1, "recordings", os.listdir("kept"))


def test_repeated():
    """A passing limit passes every time."""
    write_tests(f"import pytest\nimport torch\n\n\n@pytest.mark.parametrize('n', range({REPEATS}))\n"
                "@pytest.mark.limit_memory('2 MB')\n@pytest.mark.limit_leaks(0, device='cpu')\n"
                "def test_it(n):\n    torch.zeros(100_000)\n")
    result = run_pytest("-q", "--memledger")
    contains(result.stdout, f"{REPEATS} passed", "the end")


def test_entry_point():
    with open(os.path.join(SOURCE, "pyproject.toml")) as f:
        contains(f.read(), '[project.entry-points.pytest11]\nmemledger = "memledger.pytest_plugin"',
                 "the package's description")


harness.main(globals())
