"""Private pools of PyTorch's CUDA allocator: of CUDA graphs, and of torch.cuda.MemPool.

What the driver gives while a thread allocates for one of them belongs to that pool, and PyTorch uses
it for nothing else. The scope of such memory tells the region that was captured or warmed up.

SPDX-License-Identifier: Apache-2.0
"""
import functools

from . import _native
from ._in_front import put

GRAPHS, OWN = "CUDA graphs", "MemPool"
# PyTorch's graph trees call the first names, its use_mem_pool() those of torch.cuda.memory.
_BEGIN = ("_cuda_beginAllocateCurrentThreadToPool", "_cuda_beginAllocateToPool",
          "_cuda_beginAllocateCurrentStreamToPool")
_END = ("_cuda_endAllocateToPool", "_cuda_endAllocateCurrentStreamToPool")


def watch(torch):
    """Precondition: inside all_or_nothing()."""
    if not getattr(torch._C, "_cuda_getDeviceCount", None):
        return  # built without CUDA
    graph = torch.cuda.CUDAGraph
    put(graph, "capture_begin", _entering(graph.capture_begin, GRAPHS))
    put(graph, "capture_end", _leaving(graph.capture_end))
    for owner, label in ((torch._C, GRAPHS), (torch.cuda.memory, OWN)):
        for name in _BEGIN:
            if hasattr(owner, name):
                put(owner, name, _entering(getattr(owner, name), label))
        for name in _END:
            if hasattr(owner, name):
                put(owner, name, _leaving(getattr(owner, name)))


def _entering(original, label):
    @functools.wraps(original)
    def begin(*args, **kwargs):
        result = original(*args, **kwargs)
        _native.enter_private(label)
        return result
    return begin


def _leaving(original):
    @functools.wraps(original)
    def end(*args, **kwargs):
        _native.leave_private()
        return original(*args, **kwargs)
    return end
