"""scope() and step(): names for what the program does. They cost next to nothing and
do nothing where nothing is recorded.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib

from . import _native


def plain_text(name):
    """What the recorder takes for a name."""
    return str(name).replace("\0", "").encode(errors="replace").decode()


class scope(contextlib.ContextDecorator):
    """What the thread allocates inside belongs to `name`:

        with memledger.scope("augment"):
            ...

    or, of each call of a function, @memledger.scope("augment")."""

    def __init__(self, name):
        self.name = plain_text(name)

    def __enter__(self):
        _native.user_push(self.name)
        return self

    def __exit__(self, *exception):
        _native.user_pop()
        return False


def step(number=None):
    """Step `number` begins now; without a number, the one after the last. From the first
    call on, steps of optimizers and calls of modules begin none."""
    if number is not None:
        number = int(number)
        if number < 0:
            raise ValueError(f"step {number}: steps are numbered from 0")
    _native.step(number)
