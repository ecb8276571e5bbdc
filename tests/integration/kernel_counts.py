# kernel_counts.py: what the kernel counts of a process: facts to wait for.
#
# SPDX-License-Identifier: Apache-2.0
import sys

import harness

COUNT_SLEEPS = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw, flush=True)
sys.exit(code)
"""


def counting_sleeps(*command):
    """A command that runs this one, prints the voluntary context switches of all its threads and
    of the children that it waited for, and exits with its code."""
    return sys.executable, "-Sc", COUNT_SLEEPS, *command


def of_status(pid, field):
    with open(f"/proc/{pid}/status") as f:
        return next(line.split()[1] for line in f if line.startswith(field + ":"))


def times_asleep(pid):
    """Voluntary context switches of the main thread."""
    return int(of_status(pid, "voluntary_ctxt_switches"))


def wait_until_asleep(pid, times, what):
    """Until it has gone to sleep that often from now on."""
    before = times_asleep(pid)
    harness.wait_until(lambda: times_asleep(pid) >= before + times, what)


def wait_until_taken(pid, number):
    """Until a process that blocks a signal has taken it, or has ended."""
    def is_taken():
        try:
            return not int(of_status(pid, "ShdPnd"), 16) >> number - 1 & 1
        except (FileNotFoundError, ProcessLookupError):
            return True

    harness.wait_until(is_taken, f"process {pid} to take signal {number}")
