"""Names for the tensors that datasets keep, from which a DataLoader makes batches.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools

from . import _native
from ._in_front import put

DEEPEST = 3  # a subset of a concatenation of datasets
MOST = 64    # of a list: a dataset may keep each sample by itself


def watch(torch):
    """Precondition: inside all_or_nothing()."""
    loader = torch.utils.data.DataLoader
    put(loader, "__init__", _naming_dataset(loader.__init__))


def _naming_dataset(original):
    @functools.wraps(original)
    def __init__(self, dataset, *args, **kwargs):
        original(self, dataset, *args, **kwargs)
        with contextlib.suppress(Exception):  # a dataset may be anything
            _label(dataset, "dataset", DEEPEST)
    return __init__


def _label(thing, name, depth):
    if hasattr(thing, "data_ptr") and hasattr(thing, "storage_offset"):
        _native.label_loaded(thing, name, _native.INPUT)
    elif depth and isinstance(thing, (list, tuple)):
        for place, value in enumerate(thing[:MOST]):
            _label(value, f"{name}.{place}", depth - 1)
    elif depth and hasattr(thing, "__getitem__"):
        for key, value in list(getattr(thing, "__dict__", {}).items()):
            _label(value, f"{name}.{key}", depth - 1)
