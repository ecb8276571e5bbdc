"""PyTorch's modules, optimizers and tensors, by name, for the recorder.

Installed when torch has been imported under `memledger run`. The program is unchanged except
for wrappers around some of PyTorch's functions. The frequent work is in C
(python/native/module_calls.c); this module does what is rare: names, and optimizers' state.
_torch_building.py names models that have not been called yet.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import itertools
import os
import weakref

from . import _native, _torch_building, _torch_data
from ._in_front import all_or_nothing, put
from ._naming import new_name

# Classes of modules that wrap another: paths leave out their part, because the model's author
# does not know it. The last has no memory of its own either.
WRAPPERS = {"DataParallel": "module", "DistributedDataParallel": "module",
            "FullyShardedDataParallel": "_fsdp_wrapped_module", "OptimizedModule": "_orig_mod"}
WRAPPER_PARTS = ("_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.")

_first = None    # a weak reference to the first model with parameters
_kept = weakref.WeakKeyDictionary()  # optimizer -> its steps, and its state as last seen


def install():
    """Called once torch has been imported."""
    import torch
    _native.set_tensor_class(torch.Tensor)
    _native.set_grad_query(torch.is_grad_enabled)
    _native.set_torch_folder(os.path.join(os.path.dirname(torch.__file__), ""))
    module = torch.nn.Module
    if isinstance(module.__call__, _native.ScopedCall):
        return
    with all_or_nothing():
        put(module, "__call__", _native.scoped_module(module.__call__, name_tree))
        put(module, "_replicate_for_data_parallel",
            _naming_copies(module._replicate_for_data_parallel))
        _watch_functions(torch.autograd.Function)
        put(torch.autograd, "backward", _native.scoped_backward(torch.autograd.backward))
        _watch_optimizers(torch.optim.Optimizer)
        _torch_building.watch(torch, name_tree, name_state_now)
        _torch_data.watch(torch)
    _native.torch_begin()


def begin_recording():
    """Repeats all names for a recording that begins in a running process."""
    _kept.clear()
    install()
    _torch_building.note_all()
    _native.track_again()
    _native.step_again()


def name_tree(root):
    """Names an outermost module, its descendants, and their parameters and buffers."""
    prefix, model, outermost = _name_wrappers(root)
    for path, module in root.named_modules():
        path = _clean(path, prefix)
        if path:
            _native.name_module(module, path, type(module).__name__, outermost)
        if module is model or module._parameters or module._buffers:
            _native.define_module(module)
    owner = _owner(model)
    for path, tensor in root.named_parameters():
        _native.track(tensor, owner + _clean(path, prefix), _native.PARAMETER, outermost)
    for path, tensor in root.named_buffers():
        _native.track(tensor, owner + _clean(path, prefix), _native.BUFFER)


def _owner(model):
    """The prefix that distinguishes a model's tensors from those of others: empty for the first
    model, usually the only one. A model that contains the first replaces it."""
    global _first
    first = _first() if _first else None
    if next(model.parameters(), None) is not None:
        if first is None or any(module is first for module in model.modules()):
            _first = weakref.ref(model)
            return ""
    return "" if model is first else f"{_native.module_name(model)}."


def _name_wrappers(root):
    """Names the outermost module and the modules that it merely wraps. Returns the part of the
    paths that belongs to them, the innermost wrapped module, and the outermost one that is in
    paths."""
    prefix, outermost = "", None
    while True:
        kind = type(root).__name__
        hidden = kind == "OptimizedModule"
        if outermost is None and not hidden:
            outermost = root
        _native.name_module(root, _native.module_name(root) or new_name(kind, root), kind,
                            outermost or root)
        inner = getattr(root, WRAPPERS.get(kind, ""), None)
        if inner is None:
            return prefix, root, outermost or root
        if hidden:
            _native.hide_module(root)
        prefix += WRAPPERS[kind] + "."
        root = inner


def _clean(path, prefix):
    """The path as the model's author knows it; "" for the outermost."""
    if prefix.startswith(path + "."):
        return ""
    if path.startswith(prefix):
        path = path[len(prefix):]
    for part in WRAPPER_PARTS:
        path = path.replace(part, "")
    return path


def _naming_copies(replicate):
    """nn.DataParallel runs copies of a module, which get its name."""
    @functools.wraps(replicate)
    def _replicate_for_data_parallel(self):
        if _native.module_name(self) is None:
            name_tree(self)
        copy = replicate(self)
        _native.name_copy(copy, self)
        return copy
    return _replicate_for_data_parallel


def _watch_functions(base):
    """Function.apply is a class method; before PyTorch 2.0 it is inherited from C."""
    apply = next(vars(kind)["apply"] for kind in base.__mro__ if "apply" in vars(kind))
    put(base, "apply", classmethod(_native.scoped_function(getattr(apply, "__func__", apply))))


def _watch_optimizers(base):
    """PyTorch wraps an optimizer class's step when its first instance is created; this wraps it
    right after that."""
    name = "_patch_step_function" if hasattr(base, "_patch_step_function") else "_hook_for_profile"
    prepare = getattr(base, name)

    @functools.wraps(prepare)
    def prepare_and_watch(self):
        _torch_building.name_new()
        prepare(self)
        _watch_steps(type(self), self)
    put(base, name, prepare_and_watch)
    for kind in _below(base):
        if getattr(kind.step, "hooked", False):  # not the first instance
            _watch_steps(kind)


def _watch_steps(kind, optimizer=None):
    _native.optimizer_made(optimizer)
    if not isinstance(kind.step, _native.ScopedCall):
        put(kind, "step", _native.scoped_optimizer(kind.step, after=name_state))


def _below(kind):
    for inner in kind.__subclasses__():
        yield inner
        yield from _below(inner)


def name_state(optimizer):
    """Names an optimizer's state for each parameter when it has changed: usually once, after
    its first step."""
    state = optimizer.state
    steps, looked = _kept.get(optimizer, (0, None))
    look = (id(state), len(state))
    steps += 1
    _kept[optimizer] = (steps, look)
    # Some add state later: check again after 2, 4, 8, … steps.
    if look != looked or not steps & (steps - 1):
        name_state_now(optimizer)


def name_state_now(optimizer):
    state = optimizer.state
    for name, parameter in _parameters(optimizer):
        for slot, value in state.get(parameter, {}).items():
            for tensor in value if isinstance(value, (list, tuple)) else (value,):
                if hasattr(tensor, "data_ptr"):
                    _native.label(tensor, f"{name}.{slot}", _native.OPTIMIZER_STATE)


def _parameters(optimizer):
    """Its parameters with their names; those outside all modules by group and index."""
    counter = itertools.count()
    for number, group in enumerate(optimizer.param_groups):
        for parameter in group["params"]:
            place = next(counter)
            name = _native.tracked_name(parameter)
            if name is None:
                name = f"param_groups.{number}.{place}"
                _native.track(parameter, name, _native.PARAMETER)
            yield name, parameter
