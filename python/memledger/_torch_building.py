"""Names for models from the moment they exist, called or not.

A module that gets a parameter, a buffer or a child is noted. The modules noted are named when the
model is about to be used: converted, loaded, given to an optimizer, called; or when the program
ends. A name counts from the allocation of its block on, so nothing is lost by that.

Weights that come from a file are a second copy until the model has them: their names begin with
`loading`.

SPDX-License-Identifier: Apache-2.0
"""
import atexit
import contextlib
import functools
import gc
import sys

from . import _native, _torch_compiled, _torch_outside
from ._in_front import put
from ._naming import tensors_in

DEEPEST = 4  # a checkpoint has its weights in a dict of dicts

_name_tree = None
_parameter = _tensor = None  # classes
_unused_is_defined = False


def watch(torch, name_tree, name_state):
    """Precondition: inside all_or_nothing()."""
    global _name_tree, _parameter, _tensor
    _name_tree, _parameter, _tensor = name_tree, torch.nn.Parameter, torch.Tensor
    module, building = torch.nn.Module, _native.scoped_building
    _note_registrations(torch, module)
    put(module, "__setstate__", _noting_state(module.__setstate__))
    put(module, "_apply", building(module._apply, after=_note_replaced))
    put(module, "state_dict", building(module.state_dict))
    put(module, "load_state_dict", building(module.load_state_dict, number=1,
                                            before=_label_weights))
    put(torch, "load", building(torch.load, number=1, after=_label_file))
    optimizer = torch.optim.Optimizer
    put(optimizer, "load_state_dict",
        building(optimizer.load_state_dict, number=1, before=_label_state,
                 after=lambda args, kwargs, result: name_state(args[0])))
    if hasattr(torch.utils, "swap_tensors"):
        put(torch.utils, "swap_tensors", _swapping(torch.utils.swap_tensors))
    _native.set_namer(name_new)
    atexit.register(_name_at_exit)


def note_all():
    """Notes the modules that exist already, for a recording that begins."""
    global _unused_is_defined
    _unused_is_defined = False
    base = sys.modules["torch"].nn.Module
    for thing in gc.get_objects():
        if issubclass(type(thing), base):
            _native.note_new(thing)
    name_new()


# ---- What is new -----------------------------------------------------------------


def _note_registrations(torch, module):
    """PyTorch tells of registrations from 2.0 on."""
    from torch.nn.modules import module as tells
    if not hasattr(tells, "register_module_module_registration_hook"):
        put(module, "__setattr__", _noting_assignment(module.__setattr__, (module, torch.Tensor)))
        for name in ("register_parameter", "register_buffer", "add_module"):
            put(module, name, _noting(getattr(module, name)))
        return
    is_compiling = _torch_compiled.is_compiling_in(torch)
    makes_graph = _torch_compiled.makes_graph_in(torch)

    def note(module, name, value):
        if is_compiling():
            return  # a constant for the compiler, which goes on
        if not makes_graph():
            _note(module, name, value)
    _torch_compiled.hide(torch, note)
    for kind in ("parameter", "buffer", "module"):
        getattr(tells, f"register_module_{kind}_registration_hook")(note)


def _note(module, name, value):
    """Called before the module has the value. One that it had may be freed then: it gets its name
    now. Errors must not reach the program."""
    with contextlib.suppress(Exception):
        for kind in ("_parameters", "_buffers", "_modules"):
            old = module.__dict__.get(kind, {}).get(name)
            if old is not None and old is not value and not _is_named(old):
                name_new()
        _native.note_new(module)
        _label_new(module, name, value)


def _label_new(module, name, value):
    """A name in case the module is gone before it has a better one."""
    global _unused_is_defined
    if type(value) is _parameter or type(value) is _tensor:
        if not _unused_is_defined:
            _native.define_outermost(_native.UNUSED_MODULE)
            _unused_is_defined = True
        category = _native.PARAMETER if type(value) is _parameter else _native.BUFFER
        label = f"{_native.UNUSED_MODULE}.{type(module).__name__}.{name}"
        _native.label_loaded(value, label, category)
        _torch_outside.record_new(value, label, category)


def _is_named(old):
    return (_native.module_name(old) or _native.tracked_name(old)) is not None


def _noting(original):
    @functools.wraps(original)
    def note_and_call(self, *args, **kwargs):
        name, value = (*args, None, None)[:2] if args else (kwargs.get("name"), None)
        _note(self, name, value)
        return original(self, *args, **kwargs)
    return note_and_call


def _noting_assignment(original, kinds):
    @functools.wraps(original)
    def __setattr__(self, name, value):
        if isinstance(value, kinds):
            _note(self, name, value)
        original(self, name, value)
    return __setattr__


def _noting_state(original):
    """For a module that is copied or read from a file."""
    @functools.wraps(original)
    def __setstate__(self, state):
        original(self, state)
        with contextlib.suppress(Exception):
            _native.note_new(self)
    return __setstate__


def _swapping(original):
    """PyTorch refuses to swap tensors that have weak references, as those have that are tracked.
    Each keeps its name."""
    @functools.wraps(original)
    def swap_tensors(t1, t2):
        kept = [(tensor, _native.untrack(tensor)) for tensor in (t1, t2)]
        try:
            return original(t1, t2)
        finally:
            for tensor, name in kept:
                if name is not None:
                    _native.track(tensor, *name)
    return swap_tensors


def _note_replaced(args, kwargs, result):
    """PyTorch may put other tensors in the place of a module's, without a registration, or move
    them out of its allocators."""
    module = args[0]
    named = [(tensor, _native.tracked_name(tensor), category)
             for tensors, category in ((module.parameters(), _native.PARAMETER),
                                       (module.buffers(), _native.BUFFER))
             for tensor in tensors]
    if any(name is None for _, name, _ in named):
        _native.note_new(module)
    else:
        _torch_outside.record(named)


# ---- Naming ----------------------------------------------------------------------


def name_new():
    """Names the modules noted since the last time, each by the tree that it is part of."""
    modules = _native.take_new()
    inner = {id(child) for module in modules for child in module._modules.values()}
    roots = {}
    for module in modules:
        root = _native.module_root(module)
        if root is None:  # to ask a compiled module whether it is true may raise an exception
            root = module
        if id(root) not in inner:
            roots[id(root)] = root
    for root in roots.values():
        _name_tree(root)


def _name_at_exit():
    """Errors must not be the last words of the program."""
    with contextlib.suppress(Exception):
        name_new()


# ---- Weights from files ----------------------------------------------------------


def _label_file(args, kwargs, loaded):
    """Only names: a file may contain anything."""
    _label_all(loaded, _native.LOADING_MODULE, _native.OTHER, DEEPEST)


def _label_weights(args, kwargs):
    _label_copy(_state_dict(args, kwargs), _native.PARAMETER, 1)


def _label_state(args, kwargs):
    _label_copy(_state_dict(args, kwargs), _native.OPTIMIZER_STATE, DEEPEST)


def _label_copy(state, category, depth):
    _native.define_outermost(_native.LOADING_MODULE)
    _label_all(state, _native.LOADING_MODULE, category, depth)


def _state_dict(args, kwargs):
    return args[1] if len(args) > 1 else (kwargs or {}).get("state_dict")


def _label_all(thing, name, category, depth):
    for tensor, label in tensors_in(thing, name, depth):
        _native.label_loaded(tensor, label, category)
