"""scope() and step(): names for parts of the program. They cost next to nothing, and do nothing
without a recording.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib

from . import _native


def plain_text(name):
    """The recorder's form of a name."""
    return str(name).replace("\0", "").encode(errors="replace").decode()


class scope(contextlib.ContextDecorator):
    """Allocations of the thread inside belong to `name`:

        with memledger.scope("augment"):
            ...

    or, for each call of a function, @memledger.scope("augment")."""

    def __init__(self, name):
        self.name = plain_text(name)

    def __enter__(self):
        _native.user_push(self.name)
        return self

    def __exit__(self, *exception):
        _native.user_pop()
        return False


def step(number=None):
    """Step `number` begins now; without a number, the next one. From the first call on,
    optimizers' steps and calls of modules no longer begin steps."""
    if number is not None:
        number = int(number)
        if number < 0:
            raise ValueError(f"step {number}: steps are numbered from 0")
    _native.step(number)
