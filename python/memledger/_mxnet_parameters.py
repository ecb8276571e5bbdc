"""Names Gluon's parameters, their gradients, and the blocks that contain them.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import threading
import weakref

from . import _mxnet_arrays, _native
from ._in_front import put
from ._naming import FirstModel, new_name


class _Saving(threading.local):
    copies = None  # (parameter, copy) of each while this thread saves parameters


_paths = weakref.WeakKeyDictionary()  # parameter -> its path, if it has no name itself
_saving = _Saving()
_first = FirstModel()


def install(gluon):
    parameter = gluon.parameter.Parameter
    for name in ("_init_impl", "_init_grad", "cast"):  # where a parameter gets its arrays
        put(parameter, name, _watching(getattr(parameter, name)))
    put(parameter, "_reduce", _keeping_copy(parameter._reduce))
    if hasattr(gluon.parameter, "ParameterDict"):  # in MXNet 1
        install_saving(gluon.parameter.ParameterDict, "save")


def _watching(method):
    @functools.wraps(method)
    def method_and_watch(self, *args, **kwargs):
        result = method(self, *args, **kwargs)
        try:
            _mxnet_arrays.watch(self, _arrays_of)
        except Exception:  # an unknown kind of parameter
            pass
        return result
    return method_and_watch


def name_of(parameter):
    """MXNet 1 names each parameter after its blocks. In MXNet 2 the name is just `weight`, and
    the path identifies it."""
    return _paths.get(parameter) or parameter.name


def _arrays_of(parameter):
    name = name_of(parameter)
    for array in parameter._data or ():
        yield array, name, _category_of(parameter)
    for array in parameter._grad or ():
        yield array, name, _native.GRADIENT


def _category_of(parameter):
    trained = parameter.grad_req != "null"
    learnt = trained or getattr(parameter, "_differentiable", True)
    return _native.PARAMETER if learnt else _native.BUFFER


def begin_recording(things):
    """Names all blocks that are in no other, and all parameters."""
    import mxnet
    block, parameter = mxnet.gluon.Block, mxnet.gluon.Parameter
    blocks = [thing for thing in things if issubclass(type(thing), block)]
    inner = {id(_child(child)) for owner in blocks for child in owner._children.values()}
    _first.begin_recording()
    for thing in things:
        if issubclass(type(thing), parameter):
            _mxnet_arrays.watch(thing, _arrays_of)
    for outermost in blocks:
        if id(outermost) not in inner and outermost._collect_params_with_prefix():
            name_tree(outermost)


# ---- Saving -------------------------------------------------------------------------


def install_saving(owner, *names):
    """Wraps those functions of a class that write parameters to a file."""
    for name in names:
        if name in vars(owner):
            put(owner, name, _naming_copies(vars(owner)[name]))


def _keeping_copy(reduce):
    @functools.wraps(reduce)
    def reduce_and_keep(self, *args, **kwargs):
        copy = reduce(self, *args, **kwargs)
        if _saving.copies is not None:
            _saving.copies.append((self, copy))
        return copy
    return reduce_and_keep


def _naming_copies(save):
    """Saving copies each parameter. Once the file is written, the copies have their memory."""
    @functools.wraps(save)
    def save_and_name(*args, **kwargs):
        outer, _saving.copies = _saving.copies, []
        try:
            return save(*args, **kwargs)
        finally:
            copies, _saving.copies = _saving.copies, outer
            _name_copies(copies)
    return save_and_name


def _name_copies(copies):
    try:
        for parameter, copy in copies:
            _mxnet_arrays.label_now(copy, name_of(parameter), _category_of(parameter))
    except Exception:  # an unknown kind of parameter
        pass


# ---- Blocks -------------------------------------------------------------------------


def name_tree(root):
    """Names an outermost block that was called, its descendants, and their parameters."""
    kind = type(root).__name__
    _native.name_module(root, _native.module_name(root) or new_name(kind, root), kind)
    for path, block in _below(root, ""):
        _native.name_module(block, path, type(block).__name__)
    _name_parameters(root)


def _child(child):
    """MXNet 2 refers to children weakly."""
    return child() if isinstance(child, weakref.ref) else child


def _below(block, prefix):
    for name, child in block._children.items():
        child = _child(child)
        if child is not None:
            yield prefix + name, child
            yield from _below(child, f"{prefix}{name}.")


def _blocks(root):
    yield root
    for _, block in _below(root, ""):
        yield block


def _name_parameters(root):
    parameters = root._collect_params_with_prefix()
    if not any(hasattr(p, "_uuid") for p in parameters.values()):
        return  # they already have names
    owner = _first.prefix(root, _blocks(root), bool(parameters))
    for path, parameter in parameters.items():
        name = owner + path
        if _paths.get(parameter) != name:
            _paths[parameter] = name
            _mxnet_arrays.watch(parameter, _arrays_of)
