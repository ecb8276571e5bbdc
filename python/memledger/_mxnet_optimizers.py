"""Names the state that MXNet's optimizers keep for each parameter.

An MXNet optimizer creates a state for a parameter: one array, several, or none. The state does
not name its arrays; the optimizer's class decides, with the names that MXNet's own operators
use.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import weakref

from . import _mxnet_arrays, _mxnet_parameters, _native
from ._in_front import in_front, put

_MOMENTUM = ("momentum",)
_MOMENTS = ("mean", "variance")
# The class's name in lower case, as MXNet registers it -> slots.
_SLOTS = {
    "sgd": _MOMENTUM, "nag": _MOMENTUM, "signum": _MOMENTUM, "lars": _MOMENTUM,
    "lbsgd": _MOMENTUM, "dcasgd": ("momentum", "previous_weight"),
    "adam": _MOMENTS, "adamw": _MOMENTS, "adamax": _MOMENTS, "nadam": _MOMENTS,
    "adabelief": _MOMENTS, "lamb": _MOMENTS, "lans": _MOMENTS,
    "adagrad": ("history",), "groupadagrad": ("history",),
    "adadelta": ("accumulated_g", "accumulated_delta"),
    "ftrl": ("z", "n"), "ftml": ("d_0", "v_0", "z_0"),
}
_RMSPROP = {1: ("n", "g", "delta"), 2: ("g", "n", "delta")}  # by MXNet's version
_COPY = "weight32"  # of a parameter of half precision

_version = 1
_base = None  # mxnet.optimizer.Optimizer
_known = weakref.WeakKeyDictionary()  # updater -> its states as last seen


def install(mxnet):
    global _version, _base
    _version = int(mxnet.__version__.split(".")[0])
    _base = mxnet.optimizer.Optimizer
    updater = mxnet.optimizer.Updater
    put(updater, "__call__", in_front(_native.scoped_trainer, updater.__call__, name_of_updater,
                                      after=after_update))
    put(updater, "set_states", _forgetting(updater.set_states))


def begin_recording(things):
    """Names the state that already exists."""
    import mxnet
    trainers = (mxnet.gluon.Trainer, *([mxnet.module.Module] if hasattr(mxnet, "module") else []))
    for thing in things:
        if issubclass(type(thing), mxnet.optimizer.Updater):
            _known.pop(thing, None)
            after_update(thing)
        elif issubclass(type(thing), trainers) and getattr(thing, "_optimizer", None) is not None:
            _native.optimizer_made(None)


def making(method):
    """Wraps functions that create an optimizer: from then on it makes steps, not calls of
    blocks."""
    @functools.wraps(method)
    def make_and_tell(self, *args, **kwargs):
        result = method(self, *args, **kwargs)
        _native.optimizer_made(None)
        return result
    return make_and_tell


def name_of(optimizer):
    return type(optimizer).__name__


def name_of_updater(updater):
    return name_of(updater.optimizer)


def after_update(updater):
    """An updater creates the state of a parameter at its first update."""
    look = id(updater.states), len(updater.states)
    if _known.get(updater) != look:
        _known[updater] = look
        _mxnet_arrays.watch(updater, _arrays_of)


def _forgetting(set_states):
    @functools.wraps(set_states)
    def set_states_and_forget(self, *args, **kwargs):
        set_states(self, *args, **kwargs)
        _known.pop(self, None)
    return set_states_and_forget


def _arrays_of(updater):
    optimizer = updater.optimizer
    for index, state in list(updater.states.items()):
        name = _parameter_name(optimizer, index)
        for slot, array in _named(optimizer, state):
            yield array, f"{name}.{slot}", _native.OPTIMIZER_STATE


def _parameter_name(optimizer, index):
    parameter = getattr(optimizer, "param_dict", {}).get(index)
    if parameter is not None:
        return _mxnet_parameters.name_of(parameter)
    return getattr(optimizer, "idx2name", {}).get(index, index)


def _slots(optimizer, count):
    for kind in type(optimizer).__mro__:
        name = kind.__name__.lower()
        if name == "rmsprop":
            return _RMSPROP[_version] if count > 1 else ("n",)
        if name in _SLOTS:
            return _SLOTS[name]
    return ("state",) if count == 1 else tuple(f"state_{i}" for i in range(count))


def _named(optimizer, state):
    """(slot, array) for each array of a state."""
    copy, state = _take_copy(optimizer, state)
    if copy is not None:
        yield _COPY, copy
    parts = state if isinstance(state, (list, tuple)) else (state,)
    slots = _slots(optimizer, len(parts))
    for i, part in enumerate(parts):
        if _mxnet_arrays.is_array(part):
            yield (slots[i] if i < len(slots) else f"state_{i}"), part


def _take_copy(optimizer, state):
    """The parameter's copy in full precision, if any, and the rest: MXNet puts it first, but
    some optimizers of 1.x that create it themselves put it last."""
    if not getattr(optimizer, "multi_precision", False) or not isinstance(state, tuple) \
            or len(state) != 2:
        return None, state
    if isinstance(state[1], (list, tuple)):
        return state
    if len(_slots(optimizer, 1)) != 1:
        return None, state
    its_own = type(optimizer).create_state_multi_precision is not _base.create_state_multi_precision
    return (state[1], state[0]) if its_own else state
