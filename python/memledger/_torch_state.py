"""Labels for the state of PyTorch's optimizers: by the parameter to which it belongs and its key,
such as `fc.weight.exp_avg`; by the optimizer and the key if it belongs to no single parameter, such
as the history of LBFGS, whose tensors hold all parameters in a row.

Lists of tensors have one label: most of them are histories, in which a tensor changes its place.

SPDX-License-Identifier: Apache-2.0
"""
import itertools
import weakref

from . import _native
from ._naming import tensors_in

DEEPEST = 4  # lists and dicts within a parameter's state

_seen = weakref.WeakKeyDictionary()  # optimizer -> Seen
_optimizers = weakref.WeakSet()


class Seen:
    """What an optimizer's state was when it was last labelled."""

    def __init__(self):
        self.steps = 0
        self.look = None       # the dict, and its length
        self.tensors = set()   # their ids
        self.is_replaced = False

    def is_due(self, state):
        """Usually the state exists after the first step and stays. Some optimizers add to it later:
        it is due again after 2, 4, 8, ... steps. Some replace it in each step."""
        self.steps += 1
        look = (id(state), len(state))
        is_new, self.look = look != self.look, look
        return is_new or self.is_replaced or not self.steps & (self.steps - 1)

    def note(self, tensors):
        found = {id(tensor) for tensor in tensors}
        self.is_replaced = bool(self.tensors - found)
        self.tensors = found


def meet(optimizer):
    """A new optimizer."""
    _optimizers.add(optimizer)


def forget():
    """A recording begins."""
    _seen.clear()


def name_after_step(optimizer):
    seen = _seen.get(optimizer)
    if seen is None:
        seen = _seen[optimizer] = Seen()
    if seen.is_due(optimizer.state):
        seen.note(name_now(optimizer))


def name_traced():
    """A step inside a compiled function is never called: its state is made when it is traced."""
    for optimizer in list(_optimizers):
        if optimizer not in _seen:
            name_now(optimizer)


def name_now(optimizer):
    """Returns the tensors that it has labelled."""
    labelled = list(_labels(optimizer))
    for tensor, label in labelled:
        _native.label_loaded(tensor, label, _native.OPTIMIZER_STATE)
    return [tensor for tensor, _ in labelled]


def _labels(optimizer):
    """Pairs of a tensor and its label."""
    state, owner = optimizer.state, type(optimizer).__name__
    parameters = list(_parameters(optimizer))
    is_flat = len(state) == 1 and len(parameters) > 1
    for name, parameter in parameters:
        held = list(_tensors(state.get(parameter), name))
        if is_flat and _has_all(held, parameters):
            held = _tensors(state[parameter], owner)
        yield from held
    for key, value in list(state.items()):
        if not hasattr(key, "data_ptr"):
            yield from _tensors(value, f"{owner}.{key}")
    for group in optimizer.param_groups:
        yield from _tensors({key: value for key, value in group.items() if key != "params"}, owner)


def _tensors(held, name):
    return tensors_in(held, name, DEEPEST, places=False)


def _has_all(held, parameters):
    """Whether a tensor is as large as all parameters together."""
    elements = sum(parameter.numel() for _, parameter in parameters)
    return any(tensor.numel() == elements for tensor, _ in held)


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
