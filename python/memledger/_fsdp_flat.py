"""Names for FullyShardedDataParallel (FSDP1), which keeps all parameters of a module in one flat
parameter: that, the weights that it gathers from all ranks, and the buffers of its collectives.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools

from . import _native
from ._importing import when_imported
from ._in_front import all_or_nothing, put, then
from ._naming import joint_name, module_of

_HANDLES = ("torch.distributed.fsdp._flat_param",  # from PyTorch 2.1 on
            "torch.distributed.fsdp.flat_param")
_RUNTIME = "torch.distributed.fsdp._runtime_utils"


def watch(name_new):
    """Installs itself when the program imports FSDP1."""
    for module in _HANDLES:
        when_imported(module, _install, name_new)
    when_imported(_RUNTIME, _install_reduction)


def flat_name(tensor, prefix):
    """The name of a flat parameter of the module with that prefix; None for other tensors."""
    parts = getattr(tensor, "_fqns", None)
    if not parts:
        return None
    return _native.tracked_name(tensor) or joint_name(tuple(prefix + part for part in parts))


def _install(module, name_new):
    handle = module.FlatParamHandle
    with all_or_nothing():
        put(handle, "__init__", _naming_flat(handle.__init__, name_new))
        put(handle, "_alloc_padded_unsharded_flat_param",
            then(handle._alloc_padded_unsharded_flat_param, _label_gathered))


def _naming_flat(original, name_new):
    """The flat parameter takes the place of its parts."""
    @functools.wraps(original)
    def __init__(self, params, *args, **kwargs):
        params = list(params)
        with contextlib.suppress(Exception):
            name_new()
        names = tuple(filter(None, map(_native.tracked_name, params)))
        original(self, params, *args, **kwargs)
        if names:
            _native.track(self.flat_param, joint_name(names), _native.PARAMETER, True)
    return __init__


def _label_gathered(gathered, handle):
    name = _native.tracked_name(handle.flat_param)
    if name is not None:
        _native.track(gathered, name, _native.GATHERED, True)


def _install_reduction(module):
    put(module, "_get_reduce_scatter_tensors",
        then(module._get_reduce_scatter_tensors, _label_reduction))


def _label_reduction(result, state, unsharded_grad):
    sent, received = result
    name = _native.tracked_name(state._handle.flat_param)
    if name is not None:
        _native.label(sent, module_of(name) + "reduce_scatter", _native.COMMUNICATION)
        _native.label(received, name, _native.GRADIENT)
