"""Starts recording in a process that `memledger run` did not start: loads the recorder, hooks
PyTorch's allocators, and reports the blocks that already exist.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import gc
import sys

from . import _importing, _native
from ._library import find_library

HOST = 0
_ALIGNMENT = 64  # of the blocks of PyTorch's host allocator


def device_number(cuda_ordinal):
    """The recorder's number of a CUDA device."""
    return 1 + cuda_ordinal


def switch_on(attached_library=None):
    """Counts PyTorch's live blocks from now on, or from the import of PyTorch. Raises OSError
    if the recorder cannot be loaded. `attached_library`: the one that `memledger attach` has
    loaded; what it switches on ends with it."""
    was_on = _native.live_is_on()
    if not was_on:
        _native.load(attached_library or find_library())
    if not _native.live_on(attached_library is not None):
        raise MemoryError("no memory for memledger's table of live blocks")
    if not was_on:
        meet_torch()


def torch_or_none():
    """PyTorch, if the program has imported it; never imports it."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "Tensor") else None


def device_count():
    """The number of CUDA devices, if PyTorch uses CUDA."""
    torch = torch_or_none()
    return torch.cuda.device_count() if torch and torch.cuda.is_initialized() else 0


# ---- Importing --------------------------------------------------------------------


def _unseen():
    """A context in which the program's own kinds of tensors (`__torch_function__`) are not asked
    about reads of their attributes."""
    torch = torch_or_none()
    return torch._C.DisableTorchFunction() if torch else contextlib.nullcontext()


def _guarded(callback, trouble):
    """Errors here must not reach the program."""
    try:
        with _unseen():
            callback()
    except Exception as error:
        _importing.say(f"{trouble}: {error!r}")


def when_torch_is_here(callback, trouble):
    """Calls the function now, or when the program has imported PyTorch; `trouble` is the
    message if it fails."""
    if torch_or_none():
        _guarded(callback, trouble)
    else:
        _importing.wait_late("torch", _guarded, callback, trouble)


def when_imported(name, callback, trouble):
    """The same for another module."""
    if name in sys.modules:
        _guarded(callback, trouble)
    else:
        _importing.wait_late(name, _guarded, callback, trouble)


# ---- Existing blocks ------------------------------------------------


def meet_torch():
    """Reports PyTorch's existing blocks now, or those that exist when it has been imported."""
    when_torch_is_here(_meet_torch, "PyTorch is not recorded")


def _meet_torch():
    """Installs the hooks first, so that a block allocated meanwhile is seen twice rather than
    never."""
    torch = torch_or_none()
    if torch is None or not _native.live_is_on():
        return
    _native.live_seeding(True)
    try:
        if not _native.patch_torch():
            return
        for address, size in _host_blocks(torch):
            _native.live_seed(HOST, address, size)
        for ordinal, address, size in _cuda_blocks(torch):
            _native.live_seed(device_number(ordinal), address, size)
    finally:
        _native.live_seeding(False)
    for device in range(1 + device_count()):
        _native.live_reset_peak(device)
    _native.live_tell()


def storage_of(tensor):
    """Its untyped storage, in any PyTorch since 1.13."""
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor._storage()


def block_of(tensor):
    """(address, bytes) of the block that contains a tensor; None if there is none."""
    try:
        storage = storage_of(tensor)
        return (storage.data_ptr(), storage.nbytes()) if storage.data_ptr() else None
    except Exception:  # a tensor of another kind: sparse, meta, a wrapper
        return None


def _fakes():
    """Classes of tensors without memory: PyTorch warns if their address is read."""
    module = sys.modules.get("torch._subclasses.fake_tensor")
    return getattr(module, "FakeTensor", ())


def _tensors(torch):
    """All tensors that Python knows of and that have memory, and their gradients."""
    fakes = _fakes()
    for thing in gc.get_objects():
        if not issubclass(type(thing), torch.Tensor) or issubclass(type(thing), fakes):
            continue
        yield thing
        try:
            if thing.is_leaf and thing.grad is not None:
                yield thing.grad
        except Exception:  # as above
            continue


def is_of_allocator(storage):
    """Whether PyTorch allocated it: not NumPy, a mapped file or shared memory. PyTorch 1.13
    shows this only by the allocator's alignment."""
    if storage.is_shared() or storage.data_ptr() % _ALIGNMENT:
        return False
    return not hasattr(storage, "resizable") or storage.resizable()


def _host_blocks(torch):
    cuda = torch.cuda.is_initialized()
    for tensor in _tensors(torch):
        try:
            if (tensor.device.type != "cpu" or not is_of_allocator(storage_of(tensor))
                    or cuda and tensor.is_pinned()):
                continue
        except Exception:  # as above
            continue
        block = block_of(tensor)
        if block and block[1]:
            yield block


def cuda_segments(torch):
    """PyTorch's own list, with the blocks of each."""
    if not torch.cuda.is_initialized():
        return []
    try:
        return torch.cuda.memory_snapshot()
    except Exception:  # an allocator without this figure
        return []


def _cuda_blocks(torch):
    for segment in cuda_segments(torch):
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                yield segment["device"], block.get("address", address), block["size"]
            address += block["size"]
