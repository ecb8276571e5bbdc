"""PyTorch's modules, optimizers and tensors, by name, for the recorder.

Installed when torch has been imported under `memledger run`. The program is unchanged except
for wrappers around some of PyTorch's functions. The frequent work is in C
(python/native/module_calls.c); this module does what is rare: names, and optimizers' state.
_torch_building.py names models that have not been called yet, _torch_caches.py keys and values.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import itertools
import os
import weakref

from . import _ddp_buckets, _fsdp, _fsdp_flat, _native, _private_pools, _torch_batches, \
    _torch_building, _torch_caches, _torch_compiled, _torch_data, _torch_outside, _wrappers
from ._in_front import all_or_nothing, is_in_front, put
from ._naming import joint_name, new_name

# Registered buffers in which models keep keys and values while they generate.
CACHE_BUFFERS = frozenset(("cache_k", "cache_v", "k_cache", "key_cache", "kv_cache", "v_cache",
                           "value_cache"))

_undefined = []  # weak references to modules that were named within a call
_first = None    # a weak reference to the first model with parameters
_kept = weakref.WeakKeyDictionary()  # optimizer -> its steps, and its state as last seen
_optimizers = weakref.WeakSet()


def install():
    """Called once torch has been imported."""
    import torch
    _native.set_tensor_classes(torch.Tensor, torch.nn.Parameter)
    _native.set_grad_query(torch.is_grad_enabled)
    _native.set_torch_folder(os.path.join(os.path.dirname(torch.__file__), ""))
    _native.set_joiner(joint_name)
    module = torch.nn.Module
    if isinstance(module.__call__, _native.ScopedCall):
        return
    with all_or_nothing():
        put(module, "__call__", _native.scoped_module(module.__call__, name_tree,
                                                      after=_finish_call))
        put(module, "_replicate_for_data_parallel",
            _naming_copies(module._replicate_for_data_parallel))
        _watch_functions(torch.autograd.Function)
        put(torch.autograd, "backward", _native.scoped_backward(torch.autograd.backward))
        _watch_optimizers(torch)
        _torch_compiled.hide(torch, name_state)
        _torch_building.watch(torch, name_tree, name_state_now)
        _torch_data.watch(torch)
        _torch_outside.watch(torch)
        _torch_batches.watch(torch)
        _torch_compiled.watch(torch, _name_traced_state)
        _ddp_buckets.watch(torch, _torch_building.name_new)
        _private_pools.watch(torch)
    _fsdp.watch(_torch_building.name_new)
    _fsdp_flat.watch(_torch_building.name_new)
    _torch_caches.use(torch, label_of)
    _native.torch_begin()


def begin_recording():
    """Repeats all names for a recording that begins in a running process."""
    _kept.clear()
    _torch_outside.forget()
    install()
    _torch_building.note_all()
    _native.track_again()
    _native.step_again()


def name_tree(root):
    """Names an outermost module, its descendants, and their parameters and buffers."""
    model, outermost = _name_outermost(root)
    owner, tracked, named = _owner(model), set(), []
    for path, module in _wrappers.named_modules(root):
        if path:
            _name_module(module, path, outermost)
        if module is model or module._parameters or module._buffers:
            if not _native.define_module(module):
                _undefined.append(weakref.ref(module))
        prefix = f"{owner}{path}." if path else owner
        named += _track(module._parameters, prefix, _native.PARAMETER, tracked, outermost)
        named += _track(module._buffers, prefix, _native.BUFFER, tracked)
    _torch_outside.record(named)


def _track(tensors, prefix, category, tracked, model=None):
    """A tensor that several modules share has its first name. Returns the tensors with their labels
    and categories."""
    named = []
    for name, tensor in tensors.items():
        if tensor is not None and id(tensor) not in tracked:
            tracked.add(id(tensor))
            flat = _fsdp_flat.flat_name(tensor, prefix)
            kind = _native.KV_CACHE if name in CACHE_BUFFERS else category
            _native.track(tensor, flat or prefix + name, kind, flat is not None, model)
            named.append((tensor, flat or prefix + name, kind))
    return named


def _finish_call(args, kwargs, result):
    """After the call of an outermost module."""
    while _undefined:
        module = _undefined.pop()()
        if module is not None:
            _native.define_module(module)
    _torch_caches.label_result(result)


def label_of(module):
    """What the labels of a named module's tensors begin with."""
    name, root = _native.module_name(module), _native.module_root(module)
    first = _first() if _first else None
    if first is None or root is None or root is _native.module_root(first):
        return name
    owner = _native.module_name(root)
    return owner if module is root else f"{owner}.{name}"


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


def _name_outermost(root):
    """Names an outermost module and those that it merely wraps. Returns the innermost of them, and
    the outermost that is in paths."""
    modules = _wrappers.chain(root)
    model = modules[-1]
    outermost = next(module for module in modules
                     if module is model or not _wrappers.is_compiled(module))
    name = _native.module_name(model) or new_name(_wrappers.class_name(model), model)
    for module in modules:
        _name_module(module, name, outermost)
    return model, outermost


def _name_module(module, name, outermost):
    _native.name_module(module, name, _wrappers.class_name(module), outermost)
    if len(_wrappers.chain(module)) > 1:
        _native.mark_wrapper(module)


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


def _watch_optimizers(torch):
    """PyTorch wraps an optimizer class's step when its first instance is created; this wraps it
    right after that."""
    base = torch.optim.Optimizer
    name = "_patch_step_function" if hasattr(base, "_patch_step_function") else "_hook_for_profile"
    prepare = getattr(base, name)

    @functools.wraps(prepare)
    def prepare_and_watch(self):
        _torch_building.name_new()
        prepare(self)
        _optimizers.add(self)
        _watch_steps(torch, type(self), self)
    put(base, name, prepare_and_watch)
    for kind in _below(base):
        if getattr(kind.step, "hooked", False):  # not the first instance
            _watch_steps(torch, kind)


def _watch_steps(torch, kind, optimizer=None):
    _native.optimizer_made(optimizer)
    if not is_in_front(kind.step):
        put(kind, "step", _step_in_front(torch, kind.step))


def _step_in_front(torch, original):
    """A Python function: PyTorch's compiler does not call another kind of object from a graph. It
    compiles the original inside, and sees only that where it traces a function that calls step."""
    scoped = _native.scoped_optimizer(original, after=name_state)
    is_compiling = _torch_compiled.is_compiling_in(torch)

    @functools.wraps(original)
    def step(*args, **kwargs):
        if is_compiling():
            return original(*args, **kwargs)
        return scoped(*args, **kwargs)
    step.is_memledgers = True
    _torch_compiled.hide(torch, step, with_callees=False)
    return step


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


def _name_traced_state():
    """A step inside a compiled function is never called: its state is made when it is traced."""
    for optimizer in list(_optimizers):
        if optimizer not in _kept:
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
