#!/usr/bin/env python3
# python_suite.py: Python's own tests under `memledger run` and without it, compared test by
# test. These tests already cover threads, forks, pipes, environments and ctypes.
#
#     python_suite.py --memledger PROGRAM [--short] [--python INTERPRETER] [MODULE...]
#
# A test whose outcomes differ is run again, alone, both ways: some of Python's
# tests fail now and then on a busy machine. It fails here if it never ends under
# memledger as it does without.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

SHORT = ["test_threading", "test_subprocess", "test_ctypes"]
WHOLE = SHORT + ["test_multiprocessing_fork", "test_multiprocessing_spawn",
                 "test_multiprocessing_forkserver", "test_multiprocessing_main_handling",
                 "test_asyncio"]
# Recurses until it is interrupted a second later; where other programs have the
# processor then, it goes on for hours, memledger or not.
IGNORED = ["test_print_exception_gh_102056"]
PATIENCE_S = 1800  # of one module: only ends what hangs
TRIES = 3
SKIPPED = 77


class Broken(Exception):
    """A run that left no results."""


# ---- Interpreters -----------------------------------------------------------------


def has_module(python, module):
    """Distributions leave Python's tests out of their packages, 3.11 and 3.12 forgot some."""
    code = f"import test.{module}"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def candidates():
    names = [f"python3.{minor}" for minor in range(20, 8, -1)]
    yield from filter(None, map(shutil.which, ["python3", *names]))
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    yield from sorted(glob.glob(os.path.join(root, "versions", "3.*", "bin", "python3")),
                      reverse=True)


def usable(python):
    code = "import sys; sys.exit(sys.version_info < (3, 9))"
    return subprocess.run([python, "-c", code], check=False).returncode == 0 and \
        has_module(python, SHORT[0])


def find_interpreter():
    return next(filter(usable, candidates()), None)


def version_of(python):
    return subprocess.run([python, "--version"], capture_output=True, text=True,
                          check=True).stdout.strip()


# ---- One run ------------------------------------------------------------------------


def outcome_of(case):
    kinds = {part.tag for part in case}
    return next((kind for kind in ("error", "failure", "skipped") if kind in kinds), "ok")


def outcomes(path):
    """{test: how it ended} of a file that regrtest wrote."""
    root = xml.etree.ElementTree.parse(path).getroot()
    found = {}
    for case in root.iter("testcase"):
        name, outcome = case.get("name"), outcome_of(case)
        # A test with subtests has an entry for each; the worst one counts.
        if found.get(name, "ok") in ("ok", "skipped"):
            found[name] = outcome
    return found


class Suite:
    def __init__(self, memledger, python, folder):
        self.memledger, self.python, self.folder = memledger, python, folder

    def run(self, module, recorded, only=()):
        """Runs a module, or only some of its tests; {test: how it ended}."""
        place = tempfile.mkdtemp(dir=self.folder)
        results = os.path.join(place, "results.xml")
        command = [self.python, "-m", "test", "-v", "--junit-xml", results]
        for name in only:
            command += ["--match", name]
        for name in IGNORED:
            command += ["--ignore", name]
        command.append(module)
        if recorded:
            trace = os.path.join(place, "suite.mled")
            command = [self.memledger, "run", "-q", "-f", "-o", trace, "--", *command]
        said = self.execute(command, place)
        if not os.path.exists(results):
            raise Broken(f"{' '.join(command)} left no results\n{said[-3000:]}")
        found = outcomes(results)
        shutil.rmtree(place, ignore_errors=True)
        return found

    def both(self, module):
        """Without memledger and under it, at the same time: most of it is waiting."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = [pool.submit(self.run, module, recorded) for recorded in (False, True)]
            return [run.result() for run in runs]

    def execute(self, command, folder):
        """What it printed, whatever its exit code."""
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=folder, timeout=PATIENCE_S,
                              text=True, errors="replace", check=False)
        return done.stdout


# ---- Comparing ----------------------------------------------------------------------


def different(alone, recorded):
    return sorted(name for name in alone.keys() | recorded.keys()
                  if alone.get(name) != recorded.get(name))


def still_different(suite, module, names):
    """[(test, alone, recorded)] of those that never once end alike."""
    ways = {name: (set(), set()) for name in names}
    for _ in range(TRIES):
        for recorded in (False, True):
            for name, outcome in suite.run(module, recorded, names).items():
                if name in ways:
                    ways[name][recorded].add(outcome)
        names = [n for n in names if not ways[n][0] & ways[n][1]]
        if not names:
            return []
    return [(n, sorted(ways[n][0]), sorted(ways[n][1])) for n in names]


def counted(results):
    kinds = list(results.values())
    return ", ".join(f"{kinds.count(k)} {k}" for k in ("ok", "skipped", "failure", "error")
                     if k in kinds)


def compare(suite, module):
    """Says how a module went; how many of its tests differ."""
    if not has_module(suite.python, module):
        print(f"{module}: this Python does not have it", flush=True)
        return 0
    began = time.monotonic()
    alone, recorded = suite.both(module)
    differ = different(alone, recorded)
    worst = still_different(suite, module, differ) if differ else []
    again = f"; {len(differ)} differed at first" if differ else ""
    print(f"{module}: {len(recorded)} tests ({counted(recorded)}), {len(worst)} differ{again} "
          f"({time.monotonic() - began:.0f} s)", flush=True)
    for name, without, under in worst:
        print(f"  {name}: {without} without memledger, {under} under it", flush=True)
    return len(worst) if recorded else 1


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memledger", required=True)
    parser.add_argument("--python", default=os.environ.get("SUITE_PYTHON"),
                        help="an interpreter that has its tests; also SUITE_PYTHON")
    parser.add_argument("--short", action="store_true", help="only " + " ".join(SHORT))
    parser.add_argument("modules", nargs="*")
    return parser.parse_args()


def main():
    options = parse_arguments()
    python = options.python or find_interpreter()
    if not python:
        print("no Python 3.9 or later here has its own tests: pyenv's do, and Debian's with "
              "libpython3.11-testsuite; SUITE_PYTHON names one")
        return SKIPPED
    modules = options.modules or (SHORT if options.short else WHOLE)
    print(f"{version_of(python)}: {python}", flush=True)
    failures = 0
    with tempfile.TemporaryDirectory(prefix="memledger-python-") as folder:
        suite = Suite(os.path.abspath(options.memledger), python, folder)
        for module in modules:
            try:
                failures += compare(suite, module)
            except (Broken, subprocess.TimeoutExpired) as problem:
                print(f"{module}: FAILED: {problem}", flush=True)
                failures += 1
    print(f"{failures} differ" if failures else "all as without memledger")
    return 1 if failures else 0


sys.exit(main())
