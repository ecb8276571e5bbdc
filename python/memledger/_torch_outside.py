"""Tensors outside PyTorch's allocators: weights in mapped files, and memory that processes share.

They are on devices of their own. A tensor in a file is a block of its own, though many lie in one
mapping, because its module needs the bytes. A batch from a DataLoader's worker is a block from its
arrival in this process to the end of its storage.

SPDX-License-Identifier: Apache-2.0
"""
import bisect
import functools
import mmap
import weakref

from . import _native
from ._in_front import put
from ._late import is_of_allocator, storage_of

# From here on the Python object of a shared storage lives as long as the storage.
KEEPS_SHARED = (2, 14)

_blocks = _native.keep({})  # (device, address) -> reference to the tensor or the storage
_reference = weakref.ref  # to a storage
_known = None  # the mappings of the process when they were last read


def watch(torch):
    """Precondition: inside all_or_nothing()."""
    global _reference
    from torch.multiprocessing import reductions
    if tuple(map(int, torch.__version__.split(".")[:2])) < KEEPS_SHARED:
        _reference = functools.partial(_Polled, reductions.StorageWeakRef)
    for name in ("rebuild_storage_fd", "rebuild_storage_filename"):
        if hasattr(reductions, name):
            put(reductions, name, _recording_storage(getattr(reductions, name)))


def forget():
    """A recording begins: it knows none of the blocks."""
    _blocks.clear()


# ---- Parameters and buffers --------------------------------------------------------


def record(named):
    """Records those of the tensors that PyTorch's allocators do not know: (tensor, label,
    category)."""
    look_again()
    _record([each for each in named if _is_outside(each[0])], None)


def record_new(tensor, label, category):
    """The same for one tensor, which a module has just got."""
    if _is_outside(tensor):
        _record([(tensor, label, category)], _known)


def _record(outside, mappings):
    """Reads the mappings of the process unless those given have the tensors."""
    global _known
    is_fresh = False
    for tensor, label, category in outside:
        address = tensor.data_ptr()
        device = mappings.device_of(address) if mappings else None
        if device is None and not is_fresh:
            mappings, is_fresh = _Mappings(), True
            device = mappings.device_of(address)
        if device:
            _add(device, tensor, tensor.numel() * tensor.element_size(), weakref.ref)
            _native.space_label(device, _native.TORCH_SPACE, address, label, category)
    _known = mappings or _known


def _is_outside(tensor):
    """Whether it may be; before PyTorch 2.1 the beginning of a page is the only sign."""
    try:
        return (tensor.device.type == "cpu" and tensor.data_ptr() != 0
                and (not is_of_allocator(storage_of(tensor))
                     or storage_of(tensor).data_ptr() % mmap.PAGESIZE == 0))
    except Exception:  # a tensor of another kind: sparse, a wrapper
        return False


class _Mappings:
    """The mappings of files and of shared memory in this process."""

    def __init__(self):
        self.begins, self.rest = [], []
        with open("/proc/self/maps", errors="replace") as lines:
            for line in lines:
                fields = line.split(None, 5)
                if len(fields) == 6 and fields[5].startswith("/"):
                    begin, end = (int(text, 16) for text in fields[0].split("-"))
                    self.begins.append(begin)
                    self.rest.append((end, fields[5]))

    def device_of(self, address):
        place = bisect.bisect(self.begins, address) - 1
        if place < 0 or address >= self.rest[place][0]:
            return None  # memory of another library
        is_shared = self.rest[place][1].startswith(("/dev/", "/memfd:"))
        return _native.SHARED_DEVICE if is_shared else _native.FILES_DEVICE


# ---- Batches -----------------------------------------------------------------------


def _recording_storage(rebuild):
    """Called where a process receives a tensor from another one."""
    @functools.wraps(rebuild)
    def rebuild_and_record(*args, **kwargs):
        storage = rebuild(*args, **kwargs)
        try:
            poll()
            _add(_native.SHARED_DEVICE, storage, storage.nbytes(), _reference)
        except Exception:  # errors must not reach the program
            pass
        return storage
    return rebuild_and_record


# ---- Blocks ------------------------------------------------------------------------


class _Polled:
    """A reference to a storage whose Python object may be gone before it."""

    def __init__(self, make, storage, on_end):
        self._reference, self._address = make(storage), storage.data_ptr()

    def __call__(self):
        return None if self._reference.expired() else self

    def data_ptr(self):
        return self._address


def _add(device, owner, size, reference):
    key = (device, owner.data_ptr())
    if not key[1] or not size or key in _blocks:
        return
    _blocks[key] = reference(owner, functools.partial(_release, key))
    _native.space_alloc(device, _native.TORCH_SPACE, key[1], size)


def _release(key, _=None, blocks=_blocks, free=_native.space_free, space=_native.TORCH_SPACE):
    """Bound to what it needs: a tensor may outlive the names of this module."""
    if blocks.pop(key, None) is not None:
        free(key[0], space, key[1])


def poll():
    """Releases storages that do not tell of their end."""
    if _reference is not weakref.ref:
        look_again()


def look_again():
    """Releases the blocks of tensors that have moved, or are gone."""
    for key, reference in list(_blocks.items()):
        owner = reference()
        if owner is None or owner.data_ptr() != key[1]:
            _release(key)
