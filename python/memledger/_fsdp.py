"""Names for fully_shard (FSDP2): the shards of parameters, the weights that it gathers from all
ranks, and the buffers in which they are exchanged.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools

from . import _native
from ._importing import when_imported
from ._in_front import all_or_nothing, put, then
from ._naming import common_module
from ._wrappers import class_name

# Where its classes are, from PyTorch 2.6 on and before.
_PACKAGES = ("torch.distributed.fsdp._fully_shard", "torch.distributed._composable.fsdp")


def watch(name_new):
    """Installs itself when the program imports FSDP2."""
    for package in _PACKAGES:
        when_imported(f"{package}._fsdp_param_group", _install, name_new)


def _install(module, name_new):
    parameter, group = module.FSDPParam, module.FSDPParamGroup
    with all_or_nothing():
        put(parameter, "_init_sharded_param",
            _naming_shard(parameter._init_sharded_param, name_new))
        put(group, "unshard", then(group.unshard, _label_all_gather))
        put(group, "wait_for_unshard", then(group.wait_for_unshard, _label_gathered))
        put(group, "post_backward",
            then(_in_its_module(group.post_backward), _label_reduce_scatter))


def _in_its_module(original):
    """The outermost group exchanges its gradients when all nodes of backward have run: no node says
    whose memory it is."""
    @functools.wraps(original)
    def post_backward(self, *args, **kwargs):
        layers = None
        with contextlib.suppress(Exception):
            layers = _packed_layers(self)
        if layers is None:
            return original(self, *args, **kwargs)

        def inside():
            _native.enter_layer(0)
            return original(self, *args, **kwargs)
        return _native.scoped_region(inside, namer=layers, number=1)()
    return post_backward


def _packed_layers(group):
    """For scoped_region; None: a node runs, or the module has no name."""
    module = group.modules[0] if _native.is_outermost() else None
    root = _native.module_root(module) if module is not None else None
    if root is None:
        return None
    name, path = _native.module_name(root), _native.module_name(module)
    return _native.pack_layers([(name, class_name(root),
                                 "" if path == name else path, class_name(module))])


def _naming_shard(original, name_new):
    """A shard has the name of the parameter that it is a part of."""
    @functools.wraps(original)
    def _init_sharded_param(self, param, *args, **kwargs):
        name = _name_of(param, name_new)
        original(self, param, *args, **kwargs)
        if name is not None:
            _native.track(self.sharded_param, name, _native.PARAMETER)
    return _init_sharded_param


def _name_of(parameter, name_new):
    with contextlib.suppress(Exception):
        if _native.tracked_name(parameter) is None:
            name_new()
    return _native.tracked_name(parameter)


def _label_gathered(_, group):
    for parameter in group.fsdp_params:
        name = _native.tracked_name(parameter.sharded_param)
        for tensor in parameter.all_gather_outputs if name else ():
            _native.track(tensor, name, _native.GATHERED, True)


def _label_all_gather(_, group, *args, **kwargs):
    result = group._all_gather_result
    if result is not None:
        _label_buffer(group, result.all_gather_output, "all_gather")


def _label_reduce_scatter(_, group, *args, **kwargs):
    """The context keeps the last buffers; it is one for all groups."""
    context = group.comm_ctx
    states = getattr(context, "reduce_scatter_states", None)
    state = states[-1] if states else getattr(context, "reduce_scatter_state", None)
    if state is not None:
        _label_buffer(group, state.reduce_scatter_input, "reduce_scatter")


def _label_buffer(group, tensor, purpose):
    names = [_native.tracked_name(parameter.sharded_param) for parameter in group.fsdp_params]
    names = [name for name in names if name]
    module = common_module(names) if names else ""
    _native.label(tensor, module + purpose, _native.COMMUNICATION)
