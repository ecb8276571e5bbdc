"""The names under which tbd-tools' memory profiler was used:

    from memledger.pytorch_mem_profiler import *
    profiler = memory_profiler(model, print_period=5, csv=True)

SPDX-License-Identifier: Apache-2.0
"""
from ._memory_profiler import MemoryProfiler as memory_profiler

__all__ = ["memory_profiler"]
