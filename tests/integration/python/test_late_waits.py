#!/usr/bin/env python3
# test_late_waits.py: recordings that a Python program starts itself, whose collector stands
# still, as on a disk that hangs: the program does not wait for ever. Or is of another version.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import struct
import sys

import harness
from harness import check, contains, equal, plain

STOPS = """
import os, signal, memledger
from memledger import _recording
memledger.start("t.mled", force=True)
print(_recording._current.collector, flush=True)
os.kill(_recording._current.collector, signal.SIGSTOP)
memledger.stop()
print("end")
"""


def test_stopped_collector():
    done = plain(sys.executable, "-c", STOPS,
                 env=os.environ | {"PYTHONPATH": os.environ["TEST_PACKAGE"]})
    collector, *rest = done.stdout.split()
    os.kill(int(collector), signal.SIGCONT)
    equal((done.returncode, rest), (0, ["end"]), "exit code and end", done.stderr)
    contains(done.stderr, f"the collector (process {collector}) does not move", "note")
    harness.wait_until(lambda: not harness.runs(int(collector)), "the collector's end")


ASKS = """
import os, signal, time, memledger
from memledger import _native, _recording
memledger.start("t.mled", force=True)
collector = _recording._current.collector
for _ in range(20):
    os.kill(collector, signal.SIGSTOP)
    began = time.monotonic()
    try:
        _native.save_trace(0.1)
    except Exception as error:
        spent, reason = time.monotonic() - began, error
    os.kill(collector, signal.SIGCONT)
    path = _native.save_trace()
    if spent < 0.9:  # the processor may have been another program's
        break
print(spent, reason)
print(path)
memledger.stop()
"""


def test_patience():
    """A request with a time of its own does not wait for the second after which a collector counts
    as stuck, and the next one is answered."""
    done = plain(sys.executable, "-c", ASKS,
                 env=os.environ | {"PYTHONPATH": os.environ["TEST_PACKAGE"]})
    equal((done.returncode, done.stderr), (0, ""), "exit code and errors")
    late, path = done.stdout.splitlines()
    spent, _, reason = late.partition(" ")
    contains(reason, "the collector does not answer", "the reason")
    check(0.1 <= float(spent) < 0.9, f"seconds until then: {spent}")
    equal(path, os.path.abspath("t.mled"), "the answer to the next request")


OTHER = """
import errno, os
from memledger import _late, _native, _recording
_late.switch_on()
reason = _native.join(os.path.abspath("session"))
print(errno.errorcode[reason], _recording._REASONS[reason])
"""


def test_other_version():
    """A session of another version is refused as such, and the program prints nothing."""
    os.mkdir("session")
    for page in (struct.pack("<II", 0x474e524d, 9999) + bytes(8192 - 8),
                 struct.pack("<II", 0x474e524d, 2)):
        with open("session/page", "wb") as f:
            f.write(page)
        done = plain(sys.executable, "-c", OTHER,
                     env=os.environ | {"PYTHONPATH": os.environ["TEST_PACKAGE"]})
        equal((done.returncode, done.stderr), (0, ""), "exit code and errors")
        contains(done.stdout, "EPROTO the memledger command and this package have different",
                 f"the reason for a page of {len(page)} bytes")


harness.main(globals())
