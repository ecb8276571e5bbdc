"""MXNet's blocks, trainers, executors and arrays, by name, for the recorder.

Installed when mxnet has been imported under `memledger run`, or by the first run of
memledger.mxnet.profiler without it. The program is unchanged except for wrappers around some of
MXNet's functions; code that runs often is in C (python/native/module_calls.c, phase_calls.c).

SPDX-License-Identifier: Apache-2.0
"""
import atexit
import functools
import inspect
import itertools
import weakref

from . import _mxnet_arrays, _mxnet_executors, _mxnet_optimizers, _mxnet_parameters, _native
from ._in_front import all_or_nothing, in_front, is_in_front, put

_arguments = weakref.WeakKeyDictionary()  # class of blocks -> the names of its inputs


def install():
    """Called once mxnet has been imported."""
    import mxnet
    if is_in_front(mxnet.gluon.Block.__call__):
        return
    with all_or_nothing():
        _install_all(mxnet)
    atexit.register(_mxnet_arrays.look, waited=True)


def begin_recording(things):
    """Names what already exists, for a recording that begins in a running process. `things`: all
    objects of Python."""
    _mxnet_parameters.begin_recording(things)
    _mxnet_optimizers.begin_recording(things)
    _mxnet_executors.begin_recording(things)
    _mxnet_arrays.look()


def _install_all(mxnet):
    _mxnet_arrays.install(mxnet.nd.NDArray)
    _install_blocks(mxnet.gluon.Block)
    _install_autograd(mxnet)
    _mxnet_parameters.install(mxnet.gluon)
    _mxnet_optimizers.install(mxnet)
    _install_trainer(mxnet.gluon.Trainer)
    _mxnet_executors.install(mxnet)
    _install_kvstore(mxnet.kvstore.KVStore)
    _install_waits(mxnet)


# ---- Blocks -------------------------------------------------------------------------


def _install_blocks(block):
    """Wraps the functions of each class that has its own; these call each other. Classes for NumPy
    arrays have a copy of every function of their base classes."""
    for kind in (block, *_below(block)):
        if "__call__" in vars(kind) and not is_in_front(vars(kind)["__call__"]):
            put(kind, "__call__", in_front(_native.scoped_module, kind.__call__,
                                           _mxnet_parameters.name_tree, _before_block,
                                           _after_block))
        _mxnet_parameters.install_saving(kind, "save_parameters", "export")


def _below(kind):
    for inner in kind.__subclasses__():
        yield inner
        yield from _below(inner)


def _before_block(args, kwargs):
    names = _argument_names(type(args[0]))
    for name, array in zip(names, args[1:]):
        _mxnet_arrays.label_input(array, name)
    for name, array in (kwargs or {}).items():
        _mxnet_arrays.label_input(array, name)


def _after_block(args, kwargs, _):
    """Arrays that were not computed yet when the block was called may have memory by now."""
    _before_block(args, kwargs)
    _mxnet_arrays.look()


def _argument_names(kind):
    named = _arguments.get(kind)
    if named is None:
        named = _arguments[kind] = _named_arguments(kind)
    return itertools.chain(named, (f"input.{i}" for i in itertools.count()))


def _named_arguments(kind):
    """The arguments of the method that the block's author wrote."""
    hybrid = getattr(kind, "hybrid_forward", None)
    base = next((k for k in kind.__mro__ if k.__module__ == "mxnet.gluon.block"), None)
    own = hybrid if hybrid and hybrid is not getattr(base, "hybrid_forward", None) else None
    try:
        parameters = list(inspect.signature(own or kind.forward).parameters.values())
    except (TypeError, ValueError):
        return ()
    plain = [p.name for p in parameters
             if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return tuple(plain[2 if own else 1:])  # without self, and F


# ---- Phases -------------------------------------------------------------------------


def _install_autograd(mxnet):
    autograd, array = mxnet.autograd, mxnet.nd.NDArray
    for owner in (autograd, array):
        put(owner, "backward", in_front(_native.scoped_phase, owner.backward, after=_look,
                                        number=_native.PHASE_BACKWARD))
    put(autograd, "grad", in_front(_native.scoped_phase, autograd.grad, number=_native.PHASE_BACKWARD))
    _watch_recording(autograd._RecordingStateScope)


def _look(*_):
    _mxnet_arrays.look()


def _watch_recording(scope):
    """Code that autograd records is forward, whether it calls a block or not."""
    enter, leave = scope.__enter__, scope.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        result = enter(self)
        if self._enter_is_record:
            _native.enter_phase(_native.PHASE_FORWARD)
        return result

    @functools.wraps(leave)
    def __exit__(self, *exception):
        if self._enter_is_record:
            _native.leave_phase()
        return leave(self, *exception)
    put(scope, "__enter__", __enter__)
    put(scope, "__exit__", __exit__)


# ---- Training -----------------------------------------------------------------------


def _install_trainer(trainer):
    for name, is_step in (("step", 1), ("update", 1), ("allreduce_grads", 0)):
        put(trainer, name, in_front(_native.scoped_trainer, getattr(trainer, name),
                                    _name_of_optimizer, after=_look, number=is_step))
    put(trainer, "__init__", _mxnet_optimizers.making(trainer.__init__))


def _name_of_optimizer(trainer):
    return _mxnet_optimizers.name_of(trainer._optimizer)


def _install_kvstore(store):
    """The array that a store keeps for a key, and its sum."""
    for name in ("init", "broadcast", "push", "pushpull"):
        put(store, name, _in_scope_of_key(getattr(store, name)))


def _is_plain(key):
    """The key as a name; a key that cannot be one must not raise in the program."""
    return isinstance(key, int) or (isinstance(key, str) and key.isprintable())


def _in_scope_of_key(method):
    @functools.wraps(method)
    def method_in_scope(self, key, *args, **kwargs):
        first = key[0] if isinstance(key, (list, tuple)) and key else key
        _native.user_push(f"kvstore:{first}" if _is_plain(first) else "kvstore")
        try:
            return method(self, key, *args, **kwargs)
        finally:
            _native.user_pop()
    return method_in_scope


# ---- Waiting ------------------------------------------------------------------------


def _install_waits(mxnet):
    """After a wait for the engine, arrays have their memory."""
    array = mxnet.nd.NDArray
    for name in ("wait_to_read", "asnumpy"):
        put(array, name, _looking(getattr(array, name)))
    waitall = _looking(mxnet.nd.waitall)
    for place in (mxnet.nd, mxnet.nd.ndarray, mxnet.npx):
        if hasattr(place, "waitall"):
            put(place, "waitall", waitall)


def _looking(wait):
    @functools.wraps(wait)
    def wait_and_look(*args, **kwargs):
        result = wait(*args, **kwargs)
        _mxnet_arrays.look(waited=True)
        return result
    return wait_and_look
