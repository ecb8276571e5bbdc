#!/usr/bin/env python3
# test_late_waits.py: recordings that a Python program starts itself, whose collector stands
# still, as on a disk that hangs: the program does not wait for ever.
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import sys

import harness
from harness import contains, equal, plain

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


harness.main(globals())
