#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""churn.py LIBRARY EVENTS: bench_malloc's work in a Python program.

memray records Python programs only, so the same loop is called in a shared
library. Prints what bench_malloc prints.
"""
import ctypes
import sys
import time

churn = ctypes.CDLL(sys.argv[1]).bench_churn
churn.argtypes = [ctypes.c_uint64]
churn.restype = ctypes.c_uint64

events = int(sys.argv[2])
print('{"events": %d, "loop_ns": %d, "self_cpu_ns": %d, "end_ns": %d}'
      % (events, churn(events), time.process_time_ns(), time.monotonic_ns()))
