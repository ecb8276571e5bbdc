"""PyTorch's modules, optimizers and tensors, by name, for the recorder.

Installed when torch has been imported under `memledger run`. The program is unchanged except
for wrappers around some of PyTorch's functions. The frequent work is in C
(python/native/module_calls.c); this module does what is rare: names. _torch_building.py names
models that have not been called yet, _torch_caches.py keys and values, _torch_state.py what
optimizers keep.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import os
import weakref

from . import _captured_passes, _ddp_buckets, _fsdp, _fsdp_flat, _job_place, _kv_pools, _native, \
    _private_pools, _process_groups, _torch_batches, _torch_building, _torch_caches, \
    _torch_compiled, _torch_data, _torch_kept, _torch_outside, _torch_state, _torch_tracing, \
    _wrappers
from ._in_front import all_or_nothing, below, is_in_front, put
from ._naming import FirstModel, joint_name, new_name, parts_of

_undefined = []  # weak references to modules that were named within a call
_first = FirstModel()


def install():
    """Called once torch has been imported."""
    import torch
    _native.set_tensor_classes(torch.Tensor, torch.nn.Parameter)
    _native.set_grad_query(torch.is_grad_enabled)
    for module in (torch, os, _native):  # PyTorch, the standard library, this package
        _native.pass_over(os.path.join(os.path.dirname(module.__file__), ""))
    _native.set_joiner(joint_name)
    _learn_fields(torch)
    module = torch.nn.Module
    if isinstance(module.__call__, _native.ScopedCall):
        return
    _torch_compiled.hide_package(torch)
    with all_or_nothing():
        put(module, "__call__", _native.scoped_module(module.__call__, name_tree,
                                                      after=_finish_call))
        put(module, "_replicate_for_data_parallel",
            _naming_copies(module._replicate_for_data_parallel))
        _watch_functions(torch.autograd.Function)
        put(torch.autograd, "backward", _native.scoped_backward(torch.autograd.backward))
        _watch_optimizers(torch)
        _torch_building.watch(torch, name_tree, _torch_state.name_now)
        _torch_data.watch(torch)
        _torch_outside.watch(torch)
        _torch_batches.watch(torch)
        _torch_compiled.watch(torch, _torch_building.name_new, _torch_state.name_traced)
        _ddp_buckets.watch(torch, _torch_building.name_new)
        _private_pools.watch(torch)
        _process_groups.watch(torch)
    _torch_tracing.watch()
    _captured_passes.watch()
    for function in (name_tree, _finish_call, joint_name.__wrapped__, _torch_building.name_new,
                     _torch_state.name_after_step, _torch_state.name_traced):
        _torch_compiled.hide(torch, function)  # called while a compiled function runs
    _job_place.watch()
    _kv_pools.watch()
    _fsdp.watch(_torch_building.name_new)
    _fsdp_flat.watch(_torch_building.name_new)
    _torch_caches.use(torch, label_of)
    _torch_kept.use(torch)
    _native.torch_begin()


def _learn_fields(torch):
    """Tensors whose memory is known, so that later ones need not be asked. No allocation of
    PyTorch: they are parts of a buffer. Without an answer all are asked."""
    with contextlib.suppress(Exception):
        parts = torch.frombuffer(bytearray(4096), dtype=torch.float32)
        tensor, parameter, gradient = (parts[at:at + 7].detach() for at in (11, 331, 577))
        parameter.requires_grad_().grad = gradient
        _native.learn_tensor_fields(tensor, parameter, gradient)


def begin_recording():
    """Repeats all names for a recording that begins in a running process."""
    _torch_state.forget()
    _torch_outside.forget()
    _torch_kept.forget()
    _first.begin_recording()
    install()
    _torch_building.note_all()
    _native.track_again()
    _native.step_again()


def name_tree(root):
    """Names an outermost module, its descendants, and their parameters and buffers."""
    if _wrappers.is_captured(root):
        for module in _wrappers.chain(root):
            _native.hide_module(module)
        return
    model, outermost = _name_outermost(root)
    owner = _first.prefix(model, model.modules(), next(model.parameters(), None) is not None)
    tracked, named, prefixes = set(), [], []
    is_graph = _wrappers.is_graph(model)
    for path, module in _wrappers.named_modules(root):
        if path:
            _name_module(module, path, outermost)
        if module is model or module._parameters or module._buffers:
            if not _native.define_module(module):
                _undefined.append(weakref.ref(module))
        prefix = f"{owner}{path}." if path else owner
        if is_graph:
            tracked.update(_named_by_others(module))
        named += _track(module, module._parameters, prefix, _native.PARAMETER, tracked, outermost)
        named += _track(module, module._buffers, prefix, _native.BUFFER, tracked)
        prefixes.append((module, prefix))
    for module, prefix in prefixes:
        _torch_kept.label(module, prefix)
    _torch_outside.record(named)


def _named_by_others(module):
    """The ids of its tensors that have names already."""
    return {id(tensor) for tensors in (module._parameters, module._buffers)
            for tensor in tensors.values()
            if tensor is not None and _native.tracked_name(tensor) is not None}


def _track(module, tensors, prefix, category, tracked, model=None):
    """A tensor that several modules share has its first name. Returns the tensors with their labels
    and categories."""
    named = []
    for name, tensor in tensors.items():
        if tensor is not None and id(tensor) not in tracked:
            tracked.add(id(tensor))
            flat = _fsdp_flat.flat_name(tensor, prefix)
            is_cache = category == _native.BUFFER and _torch_kept.is_cache(module, name, tensor)
            kind = _native.KV_CACHE if is_cache else category
            _native.track(tensor, flat or prefix + name, kind, flat is not None, model)
            for part, label in parts_of(tensor, prefix + name):
                _native.label(part, label, kind)
            named.append((tensor, flat or prefix + name, kind))
    return named


def _finish_call(args, kwargs, result):
    """After the call of an outermost module."""
    while _undefined:
        module = _undefined.pop()()
        if module is not None:
            _native.define_module(module)
    _torch_caches.label_result(result)
    _torch_kept.label_caches()


def label_of(module):
    """What the labels of a named module's tensors begin with."""
    name, root = _native.module_name(module), _native.module_root(module)
    if (_first.reference is None or root is None
            or root is _native.module_root(_first.model())):
        return name
    owner = _native.module_name(root)
    return owner if module is root else f"{owner}.{name}"


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
        _torch_state.meet(self)
        _watch_steps(torch, type(self), self)
    put(base, name, prepare_and_watch)
    for kind in below(base):
        if getattr(kind.step, "hooked", False):  # not the first instance
            _watch_steps(torch, kind)


def _watch_steps(torch, kind, optimizer=None):
    _native.optimizer_made(optimizer)
    if not is_in_front(kind.step):
        put(kind, "step", _step_in_front(torch, kind.step))


def _step_in_front(torch, original):
    """A Python function: PyTorch's compiler does not call another kind of object from a graph. It
    compiles the original inside, and sees only that where it traces a function that calls step."""
    scoped = _native.scoped_optimizer(original, after=_torch_state.name_after_step)
    is_compiling = _torch_compiled.is_compiling_in(torch)

    @functools.wraps(original)
    def step(*args, **kwargs):
        if is_compiling():
            return original(*args, **kwargs)
        return scoped(*args, **kwargs)
    step.is_memledgers = True
    return step
