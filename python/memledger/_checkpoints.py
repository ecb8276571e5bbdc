"""Activation checkpointing: forward passes that torch.utils.checkpoint repeats within backward.

A repeated function is part of forward again: what it allocates are feature maps, not gradients.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools

from . import _native

# Functions that take one that backward repeats, and which argument that is: for reentrant
# checkpoints, for others in PyTorch up to 2.0, from 2.1 on, and in 2.15, where the last but one
# only calls the last.
_TAKERS = (("CheckpointFunction.forward", 1), ("_checkpoint_without_reentrant", 0),
           ("_checkpoint_without_reentrant_generator", 0),
           ("_checkpoint_without_reentrant_generator_impl", 0))


@contextlib.contextmanager
def recomputing(begins, ends):
    """Calls `begins` and `ends` if this is within backward, and puts it into phase forward."""
    before = _native.set_phase(_native.PHASE_FORWARD)
    if before != _native.PHASE_BACKWARD:
        _native.set_phase(before)
        yield
        return
    begins()
    try:
        yield
    finally:  # PyTorch ends a repetition early by an exception
        ends()
        _native.set_phase(before)


def watch(begins, ends):
    """Calls both around each function that is repeated within backward, from now on."""
    import torch.utils.checkpoint as module
    for path, place in _TAKERS:
        *owner, name = path.split(".")
        owner = getattr(module, owner[0], None) if owner else module
        taker = getattr(owner, name, None)
        if taker and not hasattr(taker, "_memledger_takes"):
            wrapper = _wrapping(taker, place, begins, ends)
            setattr(owner, name, staticmethod(wrapper) if isinstance(owner, type) else wrapper)


def _wrapping(taker, place, begins, ends):
    @functools.wraps(taker)
    def take(*args, **kwargs):
        if place < len(args):
            repeated = _repeatable(args[place], begins, ends)
            args = (*args[:place], repeated, *args[place + 1:])
        return taker(*args, **kwargs)

    take._memledger_takes = True
    return take


def _repeatable(function, begins, ends):
    def call(*args, **kwargs):
        with recomputing(begins, ends):
            return function(*args, **kwargs)
    return call
