# machine.py: what this machine has: cores and memory, also within a container's limits, and its kind.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import os
import platform
import shlex
import subprocess

CONTROL_GROUP = "/sys/fs/cgroup"


def limit(name):
    """The words of a limit of the container's control group; none where there is no limit."""
    try:
        with open(os.path.join(CONTROL_GROUP, name), encoding="utf-8") as file:
            words = file.read().split()
    except OSError:
        return []
    return [] if "max" in words[:1] else words


def cores():
    count = len(os.sched_getaffinity(0))
    quota = limit("cpu.max")
    if len(quota) == 2:
        count = min(count, round(int(quota[0]) / int(quota[1])))
    return max(1, count)


def memory_gib():
    size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([size, *map(int, limit("memory.max"))]) / (1 << 30)


@functools.cache
def kind():
    """The processor, the distribution and the compiler, in one line."""
    try:
        system = platform.freedesktop_os_release()
    except (OSError, AttributeError):  # AttributeError: Python 3.9
        system = {}
    return " ".join([platform.machine(), system.get("ID", "?"), system.get("VERSION_ID", "?"), *compiler()])


def compiler():
    """The first line of its version, if it runs. It may be several words, such as "ccache gcc"."""
    try:
        words = shlex.split(os.environ.get("CC") or "cc")
        done = subprocess.run([*words, "--version"], capture_output=True, text=True)
    except (OSError, ValueError):  # ValueError: a quotation without an end
        return []
    return done.stdout.splitlines()[:1]
