"""Batches of PyTorch's DataLoaders: inputs from the moment that the program gets them, in ordinary
memory, in memory that a worker shares, or pinned.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import weakref

from . import _native, _torch_outside
from ._in_front import put
from ._late import storage_of
from ._naming import new_name, tensors_in

DEEPEST = 3
MOST = 64  # tensors in a list or a dict

_names = weakref.WeakKeyDictionary()  # loader, and its iterator -> the loader's name
_cuda = None


def watch(torch):
    """Precondition: inside all_or_nothing()."""
    global _cuda
    from torch.utils.data import dataloader
    _cuda = torch.cuda
    loader, iterator = dataloader.DataLoader, dataloader._BaseDataLoaderIter
    put(loader, "__iter__", _naming(loader.__iter__))
    put(iterator, "__next__", _labelling(iterator.__next__))


def _naming(original):
    @functools.wraps(original)
    def __iter__(self):
        iterator = original(self)
        with contextlib.suppress(Exception):
            if self not in _names:
                _names[self] = new_name(type(self).__name__, self)
            _names[iterator] = _names[self]
        return iterator
    return __iter__


def _labelling(original):
    @functools.wraps(original)
    def __next__(self):
        with contextlib.suppress(Exception):
            _torch_outside.poll()
        batch = original(self)
        with contextlib.suppress(Exception):
            for tensor, name in tensors_in(batch, _names.get(self, "DataLoader"), DEEPEST, MOST):
                _label(tensor, name)
        return batch
    return __next__


def _label(tensor, name):
    device, space = _place(tensor)
    if device:
        _native.space_label(device, space, storage_of(tensor).data_ptr(), name, _native.INPUT)
    else:
        _native.label(tensor, name, _native.INPUT)


def _place(tensor):
    """The device and the space of a tensor outside PyTorch's allocators."""
    if tensor.device.type != "cpu":
        return None, None
    if tensor.is_shared():
        return _native.SHARED_DEVICE, _native.TORCH_SPACE
    if _cuda.is_initialized() and tensor.is_pinned():
        return "cpu", _native.PINNED_SPACE
    return None, None
