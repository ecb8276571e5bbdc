"""PyTorch's modules, optimizers and tensors, by name, for the recorder.

Installed when torch has been imported under `memledger run`. The program is unchanged except
for wrappers around some of PyTorch's functions. The frequent work is in C
(python/native/module_calls.c); this module does what is rare: names, and optimizers' state.
_torch_building.py names models that have not been called yet.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import itertools
import weakref

from . import _native, _torch_building, _torch_compiled
from ._in_front import all_or_nothing, is_in_front, put
from ._naming import new_name

# Classes of modules that wrap another: paths leave out their part, because the model's author
# does not know it. The last has the name of the module in it.
WRAPPERS = {"DataParallel": "module", "DistributedDataParallel": "module",
            "FullyShardedDataParallel": "_fsdp_wrapped_module", "OptimizedModule": "_orig_mod"}
WRAPPER_PARTS = ("_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.")

_first = None    # a weak reference to the first model with parameters
_kept = weakref.WeakKeyDictionary()  # optimizer -> its steps, and its state as last seen
_optimizers = weakref.WeakSet()


def install():
    """Called once torch has been imported."""
    import torch
    _native.set_tensor_class(torch.Tensor)
    module = torch.nn.Module
    if isinstance(module.__call__, _native.ScopedCall):
        return
    with all_or_nothing():
        put(module, "__call__", _native.scoped_module(module.__call__, name_tree))
        put(module, "_replicate_for_data_parallel",
            _naming_copies(module._replicate_for_data_parallel))
        put(torch.autograd, "backward", _native.scoped_backward(torch.autograd.backward))
        _watch_optimizers(torch)
        _torch_compiled.hide(torch, name_state)
        _torch_building.watch(torch, name_tree, name_state_now)
        _torch_compiled.watch(torch, _name_traced_state)
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
            _native.name_module(module, path, type(_original(module)).__name__, outermost)
        if path and _original(module) is not module:
            _native.mark_compiled(module)
        if module is model or module._parameters or module._buffers:
            _native.define_module(module)
    owner = _owner(model)
    for path, tensor in root.named_parameters():
        _native.track(tensor, owner + _clean(path, prefix), _native.PARAMETER)
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
    prefix, outermost, compiled = "", None, []
    while True:
        kind = type(root).__name__
        if _original(root) is not root:
            compiled.append(root)
        else:
            outermost = root if outermost is None else outermost
            _native.name_module(root, _native.module_name(root) or new_name(kind, root), kind,
                                outermost)
        inner = getattr(root, WRAPPERS.get(kind, ""), None)
        if inner is None:
            break
        prefix += WRAPPERS[kind] + "."
        root = inner
    for wrapper in reversed(compiled):
        _name_compiled(wrapper)
    return prefix, root, outermost


def _original(module):
    """The module that PyTorch's compiler made this one of, or itself."""
    if type(module).__name__ != "OptimizedModule":
        return module
    return getattr(module, WRAPPERS["OptimizedModule"], module)


def _name_compiled(wrapper):
    module = _original(wrapper)
    _native.name_module(wrapper, _native.module_name(module), type(module).__name__)
    _native.mark_compiled(wrapper)


def _clean(path, prefix):
    """The path as the model's author knows it; "" for the outermost."""
    if prefix.startswith(path + "."):
        return ""
    if path.startswith(prefix):
        path = path[len(prefix):]
    path += "."
    for part in WRAPPER_PARTS:
        path = path.replace(part, "")
    return path[:-1]


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
