"""Names for the keys and values that models keep while they generate: the cache classes of Hugging
Face's transformers, of any version, and the tuples that models return.

A cache changes one layer at a time (`update`), or all of them (`reorder_cache`). The wrappers
around these methods label the tensors of the layers that a call has changed, by the path of the
attention module that called it.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import sys
import weakref

from . import _native, _torch_compiled
from ._in_front import all_or_nothing, put, watch_subclasses
from ._naming import tensors_in

# Methods that change one layer, which is their first integer, and those that change all.
OF_A_LAYER = ("update", "update_conv_state", "update_indexer", "update_recurrent_state",
              "update_ssm_state")
OF_ALL_LAYERS = ("batch_repeat_interleave", "batch_select_indices", "crop", "early_initialization",
                 "reorder_cache")

# What a layer's tuple has; the last two in models with an encoder.
IN_TUPLES = ("keys", "values", "cross.keys", "cross.values")

DEEPEST = 2  # tensors may be in a tuple, in a list or a dict of the layer

_paths = weakref.WeakKeyDictionary()  # cache -> {layer: the path of its attention module}
_label_of = None  # a function: the path of a module in labels
_is_compiling = None


def use(torch, label_of):
    """Called once torch has been imported."""
    global _label_of, _is_compiling
    _label_of = label_of
    _is_compiling = _torch_compiled.is_compiling_in(torch)


def install():
    """Called once transformers.cache_utils has been imported."""
    base = sys.modules["transformers.cache_utils"].Cache
    if hasattr(base, "_memledger_watches"):
        return
    with all_or_nothing():
        put(base, "_memledger_watches", True)
        _watch(base)
        watch_subclasses(base, _watch)  # some models define a class of caches


def _watch(kind):
    for names, watching in ((OF_A_LAYER, _watching_layer), (OF_ALL_LAYERS, _watching_all)):
        for name in names:
            if callable(vars(kind).get(name)):
                put(kind, name, watching(vars(kind)[name]))


# ---- Calls -----------------------------------------------------------------------
#
# PyTorch's compiler traces these functions. It takes is_compiling() for a constant, and sees only
# the original.


def _watching_layer(original):
    @functools.wraps(original)
    def change_and_label(self, *args, **kwargs):
        if _is_compiling():
            return original(self, *args, **kwargs)
        layer = _layer_number(args, kwargs)
        _meet(self, layer)
        result = original(self, *args, **kwargs)
        _label(self, layer)
        return result
    return change_and_label


def _watching_all(original):
    @functools.wraps(original)
    def change_and_label(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if not _is_compiling():
            for layer in range(_count(self)):
                _label(self, layer)
        return result
    return change_and_label


def _layer_number(args, kwargs):
    return next((arg for arg in args if type(arg) is int), kwargs.get("layer_idx"))


def label_result(result):
    """Labels a cache in the result of a model that no wrapper has seen, because it consists of
    tuples, or because compiled code has filled it."""
    past = result.get("past_key_values") if isinstance(result, dict) else None
    if isinstance(past, tuple):
        for number, layer in enumerate(past):
            _label_tensors(dict(zip(IN_TUPLES, layer)), f"layer {number}")
    elif past is not None and past not in _paths:
        for number in range(_count(past)):
            _label(past, number)


# ---- Labels ----------------------------------------------------------------------


def _meet(cache, layer):
    """A copy of a cache, such as that of a prompt, has tensors before its first call, which
    replaces them: they are labelled now."""
    with contextlib.suppress(Exception):
        paths = _paths.setdefault(cache, {})
        if layer not in paths:
            paths[layer] = _path_here() or f"layer {layer}"
            _label(cache, layer)


def _path_here():
    """The path of the module that the thread is in, as labels of parameters have it."""
    module = _native.innermost_module()
    return _label_of(module) if module is not None else None


def _label(cache, layer):
    with contextlib.suppress(Exception):
        path = _paths.get(cache, {}).get(layer, f"layer {layer}")
        for name, held in _held(cache, layer).items():
            _label_tensors(held, f"{path}.{name}")


def _label_tensors(held, name):
    for tensor, label in tensors_in(held, name, DEEPEST):
        if tensor.dim():  # not a count of tokens
            _native.label(tensor, label, _native.KV_CACHE)


# ---- What caches hold ------------------------------------------------------------
#
# Since transformers 4.54 a cache is a list of layers, each an object; before, it had a list of
# tensors for the keys of all layers and another for the values.


def _count(cache):
    layers = getattr(cache, "layers", None)
    if layers is not None:
        return len(layers)
    return max((len(held) for held in vars(cache).values() if isinstance(held, list)), default=0)


def _held(cache, layer):
    """{attribute: what the layer has there}"""
    layers = getattr(cache, "layers", None)
    if layers is not None:
        return vars(layers[layer]) if layer < len(layers) else {}
    return {name: held[layer] for name, held in vars(cache).items()
            if isinstance(held, list) and layer < len(held)}
