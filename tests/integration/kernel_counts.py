# kernel_counts.py: what the kernel counts of a process: facts to wait for.
#
# SPDX-License-Identifier: Apache-2.0
import harness


def times_asleep(pid):
    """How often its first thread has given its processor up."""
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("voluntary_ctxt_switches"))


def wait_until_asleep(pid, times, what):
    """Until it has gone to sleep that often from now on."""
    before = times_asleep(pid)
    harness.wait_until(lambda: times_asleep(pid) >= before + times, what)
