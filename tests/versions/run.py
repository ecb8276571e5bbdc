#!/usr/bin/env python3
# run.py: the tests of PyTorch with other versions of Python and PyTorch.
#
#   run.py BUILD_FOLDER [PYTHON:PYTORCH...]
#
# Each pair has an environment in BUILD_FOLDER/versions, into which pip installs PyTorch once. An
# interpreter is looked for in PATH (python3.9) and among those of pyenv; some come from Maven. A
# pair without one is skipped. TESTS names other tests than the usual ones. Ends in a table, and
# fails if a test does.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import maven_python

PAIRS = ("3.9:2.8.0", "3.10:2.14.1", "3.11:2.3.1", "3.12:2.15.0", "3.13:2.15.0", "3.14:2.15.0")
TESTS = os.environ.get("TESTS", "").split() or (
    "torch", "torch_batches", "torch_building", "torch_live", "torch_modules", "torch_optimizers",
    "torch_traced", "torch_training", "torch_wrappers")
NUMPY_2 = (2, 3)  # the first PyTorch that works with it


def interpreter(build, version):
    """Its path, or None."""
    own = sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python")))
    found = filter(None, [shutil.which(f"python{version}"), *own[-1:]])
    return next(filter(runs, found), None) or maven_python.interpreter(
        os.path.join(build, "versions", f"python{version}"), version)


def runs(python):
    """pyenv puts commands into PATH for versions that are not selected: they only fail."""
    return subprocess.run([python, "-c", ""], capture_output=True).returncode == 0


def packages(torch):
    is_old = tuple(map(int, torch.split(".")[:2])) < NUMPY_2
    return [f"torch=={torch}", "numpy<2" if is_old else "numpy"]


def environment(folder, python, torch):
    """The interpreter of an environment that has that PyTorch. Raises CalledProcessError."""
    done = os.path.join(folder, "installed")
    if not os.path.exists(done):
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", folder], check=True)
        subprocess.run([os.path.join(folder, "bin", "pip"), "install", "--quiet", *packages(torch)],
                       check=True)
        open(done, "w").close()
    return os.path.join(folder, "bin", "python")


def outcome(build, test, python):
    done = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--logbase", "versions",
                           "--timeout-multiplier", "3", "--print-errorlogs", test], stdout=subprocess.PIPE, text=True,
                          env=os.environ | {"TORCH_PYTHON": python})
    if done.returncode:
        print(done.stdout, flush=True)
        return "failed"
    return "skipped" if re.search(r"^Skipped: +[1-9]", done.stdout, re.MULTILINE) else "passed"


def try_pair(build, pair):
    """What the table says of it, and whether it failed."""
    version, _, torch = pair.partition(":")
    python = interpreter(build, version)
    if python is None:
        return f"skipped: no Python {version}; install it with pyenv, or Maven for 3.14", False
    try:
        python = environment(os.path.join(build, "versions", pair.replace(":", "-")), python, torch)
    except subprocess.CalledProcessError as error:
        return f"skipped: {error}", False
    outcomes = {test: outcome(build, test, python) for test in TESTS}
    tests = {kind: [test for test in TESTS if outcomes[test] == kind]
             for kind in ("passed", "skipped", "failed")}
    texts = [f"{kind}: {' '.join(tests[kind])}" for kind in tests if tests[kind]]
    return "; ".join(texts), bool(tests["failed"])


def main(folder, *pairs):
    build = os.path.abspath(folder)
    os.makedirs(os.path.join(build, "versions"), exist_ok=True)
    results = []
    for pair in pairs or PAIRS:
        print(f"Python {pair.replace(':', ', PyTorch ')}", flush=True)
        results.append((pair, *try_pair(build, pair)))
    for pair, text, _ in results:
        print(f"{pair:12} {text}")
    return int(any(failed for *_, failed in results))


sys.exit(main(*sys.argv[1:]))
