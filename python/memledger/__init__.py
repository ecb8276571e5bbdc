"""memledger: where every byte of GPU and host memory went.

Works under `memledger run` and in a plain `python train.py` or a notebook; see
docs/python.md.

SPDX-License-Identifier: Apache-2.0
"""
from ._live import live, peak
from ._marks import scope, step
from ._memory_profiler import MemoryProfiler
from ._profile import profile
from ._recording import recording, start, stop

__all__ = ["MemoryProfiler", "live", "peak", "profile", "recording", "scope", "start", "step",
           "stop"]
