"""Finds the optimizers of a program, and their state for a parameter.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import gc
import weakref

_optimizers = weakref.WeakSet()


def watch(torch):
    """Knows all optimizers from now on, also those that exist already."""
    base = torch.optim.Optimizer
    if hasattr(base.__init__, "_memledger_watches"):
        return
    base.__init__ = _remembering(base.__init__)
    base.__setstate__ = _remembering(base.__setstate__)  # copied or unpickled
    for thing in gc.get_objects():
        if issubclass(type(thing), base):
            _optimizers.add(thing)


def _remembering(fill):
    @functools.wraps(fill)
    def fill_and_remember(self, *args, **kwargs):
        fill(self, *args, **kwargs)
        _optimizers.add(self)

    fill_and_remember._memledger_watches = True
    return fill_and_remember


def state_of(parameter, torch):
    """The tensors that optimizers keep for a parameter."""
    return [tensor for optimizer in list(_optimizers)
            for value in _parts(optimizer.state.get(parameter))
            for tensor in _parts(value)
            if isinstance(tensor, torch.Tensor)]


def _parts(value):
    """Most optimizers keep a dict for a parameter; it may be anything."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, (list, tuple)) else (value,)
