# pypi.py: packages from PyPI that a test needs, in a private environment inside
# the build folder: installed once, and again when the list of packages changes.
#
# SPDX-License-Identifier: Apache-2.0
import fcntl
import filecmp
import os
import shutil
import subprocess
import sys

from harness import Skip

INSTALL_S = 1800  # of one step, also on a slow machine: this only ends what hangs

failures = {}  # by folder: what failed once is not tried again for the next test


def environment(requirements, folder, python=None):
    """The folder of an environment that has what the file `requirements` lists, for that
    interpreter or for this one. Skips the test when that is not to be had, as without a
    network."""
    if folder in failures:
        raise failures[folder]
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    try:
        with open(folder + ".lock", "w") as lock:  # another test may need the same
            fcntl.flock(lock, fcntl.LOCK_EX)
            install(requirements, folder, python or sys.executable)
    except Skip as reason:
        failures[folder] = reason
        raise
    return folder


def install(requirements, folder, python):
    done = os.path.join(folder, "installed.txt")
    if os.path.exists(done) and filecmp.cmp(requirements, done, shallow=False):
        return
    print(f"installing {', '.join(packages(requirements))} into {folder}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    call("make an environment", python, "-m", "venv", folder)
    call("install from PyPI", os.path.join(folder, "bin", "pip"), "install", "--quiet",
         "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--timeout", "20",
         "--retries", "2", "--requirement", requirements)
    shutil.copy(requirements, done)


def packages(requirements):
    with open(requirements) as f:
        return [line.strip() for line in f if line.strip() and not line.startswith("#")]


def call(what, *command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=INSTALL_S, errors="replace")
    except subprocess.TimeoutExpired:
        raise Skip(f"cannot {what}: no end after {INSTALL_S} s; is there a network?") from None
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise Skip(f"cannot {what}; is there a network? {words[-1] if words else ''}")
