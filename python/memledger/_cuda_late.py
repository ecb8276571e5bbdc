"""The CUDA driver in a process that used it before the recording began: what only Python can find.

SPDX-License-Identifier: Apache-2.0
"""
import gc
import sys

from . import _late, _native


def hook_ctypes():
    """Python's objects for functions of the driver keep their addresses in memory of their own,
    where the recorder does not look."""
    ctypes = sys.modules.get("ctypes")
    if not hasattr(ctypes, "_CFuncPtr"):
        return
    for thing in gc.get_objects():
        if not issubclass(type(thing), ctypes._CFuncPtr):
            continue
        word = ctypes.c_void_p.from_address(ctypes.addressof(thing))
        if word.value and _native.cuda_hook(word.value) != word.value:
            word.value = _native.cuda_hook(word.value)


def tell_segments():
    """The allocations of the driver that PyTorch's allocator divides into blocks."""
    torch = _late.torch_or_none()
    if torch is None:
        return
    for segment in _late.cuda_segments(torch):
        _native.cuda_block(segment["device"], segment["address"], segment["total_size"],
                           segment.get("is_expandable", False))
