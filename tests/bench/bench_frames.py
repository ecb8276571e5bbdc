# SPDX-License-Identifier: Apache-2.0
"""Asks for blocks under 15 Python frames: bench_frames.py LIBRARY, see python_asks.c."""
import ctypes
import json
import sys

BATCH, BATCHES = 500, 400

asks = ctypes.CDLL(sys.argv[1])
asks.ask_often.restype = ctypes.c_double


def below(depth):
    """Nanoseconds for a block, in the batch that was disturbed least."""
    if depth:
        return below(depth - 1)
    return min([asks.ask_often(0x100000, BATCH) for _ in range(BATCHES)])


# With <module>, and the comprehension that newer versions have no frame for: 15.
ns = below(13 if sys.version_info >= (3, 12) else 12)
print(json.dumps({"ns": ns, "blocks": BATCH * BATCHES}))
