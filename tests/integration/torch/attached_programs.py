# attached_programs.py: programs with PyTorch that memledger attach records: holds_tensors.py and
# others beside it.
#
# SPDX-License-Identifier: Apache-2.0
import os

import harness
from attaching import Asked, begin, end
from torch_support import PYTHON, need_torch

HERE = os.path.dirname(os.path.abspath(__file__))


class Program(Asked):
    """holds_tensors.py, without memledger."""

    def __init__(self, *args, script="holds_tensors.py", env=os.environ, **settings):
        need_torch()
        super().__init__(PYTHON, f"{HERE}/{script}", *args,
                         env=env | {"PYTHONPATH": os.environ["TEST_PACKAGE"]}, **settings)

    def record(self, *requests):
        """@return the bytes of the host's blocks in the recording: at its end, and allocated"""
        attached = begin(self.process.pid)
        self.ask(*requests)
        end(attached)
        summary = harness.report("summary", "t.mled")
        return summary["live_bytes"], summary["allocated_bytes"]
