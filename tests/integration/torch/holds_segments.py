# holds_segments.py: PyTorch's report of memory on a GPU that the stand-in plays: PyTorch itself has
# no GPU here, so this program allocates segments from the driver and reports them as PyTorch would.
# It reads requests and answers each with a line.
#
# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from line_reader import Lines

MIB = 1 << 20
cuda = ctypes.CDLL("libcuda.so.1")
segments = {}  # name -> what memory_snapshot() says of it
handles = {}  # address -> handle of virtual memory


def must(result):
    assert result == 0, result


def size(bytes):
    return ctypes.c_size_t(bytes)


def report(name, address, bytes, used, is_expandable):
    blocks = [{"state": "active_allocated", "size": used}] if used else []
    blocks.append({"state": "inactive", "size": bytes - used})
    segments[name] = {"device": 0, "address": address, "total_size": bytes, "blocks": blocks,
                      "is_expandable": is_expandable}


def plain(name, mib, used_mib):
    address = ctypes.c_uint64()
    must(cuda.cuMemAlloc_v2(ctypes.byref(address), size(int(mib) * MIB)))
    report(name, address.value, int(mib) * MIB, int(used_mib) * MIB, False)


class Properties(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("place", ctypes.c_int),
                ("device", ctypes.c_int), ("rest", ctypes.c_uint64 * 4)]


def expandable(name, parts, part_mib, used_mib):
    """Mapped part by part, as PyTorch does."""
    part, address = int(part_mib) * MIB, ctypes.c_uint64()
    must(cuda.cuMemAddressReserve(ctypes.byref(address), size(100 * part), size(0),
                                  ctypes.c_uint64(0), ctypes.c_uint64(0)))
    for i in range(int(parts)):
        handle, properties = ctypes.c_uint64(), Properties(type=1, place=1)
        must(cuda.cuMemCreate(ctypes.byref(handle), size(part), ctypes.byref(properties),
                              ctypes.c_uint64(0)))
        at = address.value + i * part
        must(cuda.cuMemMap(ctypes.c_uint64(at), size(part), size(0), handle, ctypes.c_uint64(0)))
        handles[at] = handle, part
    report(name, address.value, int(parts) * part, int(used_mib) * MIB, True)


def drop(name):
    segment = segments.pop(name)
    address, end = segment["address"], segment["address"] + segment["total_size"]
    if not segment["is_expandable"]:
        must(cuda.cuMemFree_v2(ctypes.c_uint64(address)))
        return
    while address < end:
        handle, part = handles.pop(address)
        must(cuda.cuMemUnmap(ctypes.c_uint64(address), size(part)))
        must(cuda.cuMemRelease(handle))
        address += part


def begin():
    context = ctypes.c_void_p()
    must(cuda.cuInit(0))
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    must(cuda.cuCtxSetCurrent(context))
    torch.cuda.is_initialized = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.memory_snapshot = lambda: list(segments.values())


def main():
    begin()
    lines = Lines()
    while line := lines.next():
        name, *args = line.split()
        {"plain": plain, "expandable": expandable, "drop": drop}[name](*args)
        print("0", flush=True)


main()
