#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""churn.py LIBRARY EVENTS [DEPTH VARIES [THREADS]]: bench_malloc's work in a Python program.

memray records Python programs only, so the same loop is called in a shared
library. Prints what bench_malloc prints.
"""
import ctypes
import sys
import time

events, *shape = map(int, sys.argv[2:])
library = ctypes.CDLL(sys.argv[1])
churn = {0: library.bench_churn, 2: library.bench_deep_churn,
         3: library.bench_thread_churn}[len(shape)]
churn.argtypes = [ctypes.c_uint64] + [ctypes.c_uint] * len(shape)
churn.restype = ctypes.c_uint64

print('{"events": %d, "loop_ns": %d, "self_cpu_ns": %d, "end_ns": %d}'
      % (events, churn(events, *shape), time.process_time_ns(), time.monotonic_ns()))
