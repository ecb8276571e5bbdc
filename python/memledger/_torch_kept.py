"""Tensors that modules keep as plain attributes, which PyTorch does not register: constants such as
a mask or a table of frequencies, and the keys and values of models that implement their own cache.

Constants are labelled once, when their module gets its name. A cache may be made or replaced in
any call: modules with an attribute of that purpose are looked at again after each call of an
outermost module.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import weakref

from . import _native
from ._late import storage_of
from ._naming import joint_name, tensors_in

# Buffers and attributes in which models keep keys and values while they generate.
CACHE_NAMES = frozenset(("cache_k", "cache_v", "k_cache", "key_cache", "kv_cache", "v_cache",
                         "value_cache"))
CACHE_CLASS = "kvcache"  # within the name of a class, without its underscores
FEWEST_DIMENSIONS = 3    # of keys; not a position, not an index
DEEPEST = 1              # keys and values may be in a tuple

_tensor = None  # the class
_holders = {}   # id of a module with a cache -> a weak reference to it, what its labels begin with
_seen = {}      # address of a cache's storage -> a weak reference to the tensor, its label


def use(torch):
    """Called once torch has been imported."""
    global _tensor
    _tensor = torch.Tensor


def forget():
    """A recording begins."""
    _seen.clear()


def is_cache(module, name, tensor):
    """Whether a registered buffer has keys or values."""
    if name in CACHE_NAMES:
        return True
    return (CACHE_CLASS in type(module).__name__.lower().replace("_", "")
            and tensor.dim() >= FEWEST_DIMENSIONS)


def label(module, prefix):
    """Labels the constants of a module. Precondition: its parameters and buffers are tracked, and
    so are those of all modules whose tensors its attributes may be."""
    for name, value in list(vars(module).items()):
        if name in CACHE_NAMES:
            _holders[id(module)] = (weakref.ref(module), prefix)
        elif type(value) is _tensor and not value.requires_grad:
            _native.label_loaded(value, prefix + name, _native.BUFFER)


def label_caches():
    """Labels keys and values that are new."""
    if not _holders:
        return
    names = {}
    with contextlib.suppress(Exception):
        for key, (reference, prefix) in list(_holders.items()):
            module = reference()
            if module is None:
                del _holders[key]
            else:
                _add_caches(names, module, prefix)
    seen = {}
    for address, (tensor, labels) in names.items():
        name = joint_name(tuple(labels))
        known, old = _seen.get(address, (None, None))
        if old != name or known() is not tensor:
            _native.label_loaded(tensor, name, _native.KV_CACHE)
        seen[address] = (weakref.ref(tensor), name)
    _seen.clear()
    _seen.update(seen)


def _add_caches(names, module, prefix):
    """Adds (tensor, labels) by the address of the storage: layers may share one. A list is one of
    transformers, whose caches were modules for a while: _torch_caches.py names its tensors."""
    for name, value in list(vars(module).items()):
        if name in CACHE_NAMES and not isinstance(value, list):
            for tensor, text in tensors_in(value, prefix + name, DEEPEST, places=False):
                address = storage_of(tensor).data_ptr()
                names.setdefault(address, (tensor, []))[1].append(text)
