"""Functions of the package's own in front of others.

SPDX-License-Identifier: Apache-2.0
"""
import functools


def in_front(make, original, *args, **kwargs):
    """What `make` puts in front of a function, as a function of Python's: MXNet's decorators
    for classes (use_np) look for those, and would leave out a callable of another kind."""
    scoped = make(original, *args, **kwargs)

    @functools.wraps(original)
    def call_in_front(*args, **kwargs):
        return scoped(*args, **kwargs)
    call_in_front.is_memledgers = True
    return call_in_front


def is_in_front(function):
    return getattr(function, "is_memledgers", False)
