# killing.py: SIGKILL of a program that counts its events, for test_kill.py and test_kill_threads.py.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import struct
import time

import harness
from harness import equal, finish, program, start


def told_by(threads):
    """What each thread had noted when it died."""
    with open("told", "rb") as f:
        return [struct.unpack("<Q", f.read(64)[:8])[0] for _ in range(threads)]


def kill_once(delay_s, threads):
    with open("told", "wb") as f:
        f.truncate(16384)
    process = start(program("count_up"), "told", threads, options=["-f", "-q"])
    harness.wait_until(lambda: told_by(1)[0], "the first event")
    time.sleep(delay_s)
    target = [p for p in harness.children(process.pid) if p != harness.collector_of(process)][0]
    os.kill(target, signal.SIGKILL)
    result = finish(process)
    equal(result.code, -signal.SIGKILL, "the launcher's end", result)
    return result
