"""Names the arrays of symbols' executors, and of MXNet 1's Module, which has executors.

SPDX-License-Identifier: Apache-2.0
"""
import functools

from . import _mxnet_arrays, _mxnet_optimizers, _native
from ._in_front import in_front, put

_INPUT_ENDINGS = ("data", "label")  # of inputs that are not declared, before their numbers
_DIGITS = "0123456789"


def install(mxnet):
    symbol = mxnet.symbol.Symbol
    executor = mxnet.executor.Executor
    for name in ("simple_bind", "bind", "_simple_bind", "_bind"):
        if hasattr(symbol, name):
            put(symbol, name, _naming(getattr(symbol, name)))
    if hasattr(executor, "reshape"):
        put(executor, "reshape", _naming(executor.reshape))
    put(executor, "forward", in_front(_native.scoped_phase, executor.forward, name_of,
                                      after=_look, number=_native.RUN))
    put(executor, "backward", in_front(_native.scoped_phase, executor.backward, after=_look,
                                       number=_native.PHASE_BACKWARD))
    if hasattr(mxnet, "module"):
        _install_modules(mxnet.module.Module)
    iterator = mxnet.io.NDArrayIter
    for name in ("reset", "hard_reset"):  # __init__ calls reset, which replaces shuffled arrays
        put(iterator, name, _watching(getattr(iterator, name), _arrays_of_data))


def begin_recording(things):
    """Names the arrays that already exist."""
    import mxnet
    module = mxnet.module.Module if hasattr(mxnet, "module") else ()
    for thing in things:
        if issubclass(type(thing), mxnet.executor.Executor):
            _watch(thing, set())
        elif issubclass(type(thing), mxnet.io.NDArrayIter):
            _mxnet_arrays.watch(thing, _arrays_of_data)
        elif issubclass(type(thing), module):
            _mxnet_arrays.watch(thing, _arrays_of_module)


def name_of(thing):
    """The name of a symbol, or of an executor's symbol."""
    symbol = getattr(thing, "_symbol", thing)
    name = getattr(symbol, "name", None) or getattr(thing, "_output_names", ["Executor"])[0]
    return str(name)


def _look(*_):
    _mxnet_arrays.look()


def _naming(bind):
    """Memory allocated while a symbol is bound belongs to it, like the graph's memory."""
    scoped = in_front(_native.scoped_phase, bind, name_of, number=_native.PHASE_FORWARD)

    @functools.wraps(bind)
    def bind_and_name(self, *args, **kwargs):
        executor = scoped(self, *args, **kwargs)
        try:
            _watch(executor, {k for k, v in kwargs.items() if _is_shape(v)})
        except Exception:  # an unknown kind of executor
            pass
        return executor
    return bind_and_name


def _is_shape(value):
    """Arguments whose shape simple_bind gets are inputs."""
    return isinstance(value, (tuple, list)) and all(isinstance(n, int) for n in value)


def _watch(executor, inputs):
    _mxnet_arrays.watch(executor, functools.partial(_arrays_of, inputs=inputs))


def _arrays_of(executor, inputs):
    for name, array in executor.arg_dict.items():
        is_input = name in inputs if inputs else name.rstrip(_DIGITS).endswith(_INPUT_ENDINGS)
        yield from _present(array, name, _native.INPUT if is_input else _native.PARAMETER)
    for name, array in executor.grad_dict.items():
        yield from _present(array, name, _native.GRADIENT)
    for name, array in executor.aux_dict.items():
        yield from _present(array, name, _native.BUFFER)


def _present(array, name, category):
    if array is not None:
        yield array, name, category


# ---- Module -------------------------------------------------------------------------


def _install_modules(module):
    put(module, "bind", _watching(module.bind, _arrays_of_module))
    for name in ("init_params", "get_params", "set_params", "init_optimizer"):
        put(module, name, _in_own_scope(getattr(module, name)))
    put(module, "init_optimizer", _mxnet_optimizers.making(module.init_optimizer))
    put(module, "forward", in_front(_native.scoped_phase, module.forward, name_of,
                                    _before_forward, number=_native.RUN))
    put(module, "backward", in_front(_native.scoped_phase, module.backward, after=_look,
                                     number=_native.PHASE_BACKWARD))
    put(module, "update", in_front(_native.scoped_trainer, module.update, _name_of_optimizer,
                                   after=_look, number=1))


def _in_own_scope(method):
    """Functions that move parameters make copies without an operator."""
    @functools.wraps(method)
    def method_in_scope(self, *args, **kwargs):
        _native.user_push(method.__name__)
        try:
            return method(self, *args, **kwargs)
        finally:
            _native.user_pop()
    return method_in_scope


def _watching(method, arrays_of):
    @functools.wraps(method)
    def method_and_watch(self, *args, **kwargs):
        result = method(self, *args, **kwargs)
        _mxnet_arrays.watch(self, arrays_of)
        return result
    return method_and_watch


def _arrays_of_module(module):
    """A Module keeps copies of its parameters in addition to those of its executors."""
    for name, array in (module._arg_params or {}).items():
        yield array, name, _native.PARAMETER
    for name, array in (module._aux_params or {}).items():
        yield array, name, _native.BUFFER


def _arrays_of_data(iterator):
    """An iterator over arrays in memory has copies of all of them."""
    for name, array in (*iterator.data, *iterator.label):
        if _mxnet_arrays.is_array(array):  # not a file of HDF5
            yield array, name, _native.INPUT


def _name_of_optimizer(module):
    return type(module._optimizer).__name__


def _before_forward(args, kwargs):
    """forward(self, data_batch, is_train=None)"""
    module = args[0]
    batch = args[1] if len(args) > 1 else (kwargs or {}).get("data_batch")
    for names, arrays in ((module.data_names, batch.data), (module.label_names, batch.label)):
        for name, array in zip(names, arrays or ()):
            _mxnet_arrays.label_input(array, name)
