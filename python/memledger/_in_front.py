"""Functions of the package's own in front of others.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import threading

_ABSENT = object()
_here = threading.local()  # .undo: inside all_or_nothing(), (owner, name, what was there)


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


def put(owner, name, function):
    """Sets what a class or a module of the program's has under a name."""
    undo = getattr(_here, "undo", None)
    before = vars(owner).get(name, _ABSENT)
    setattr(owner, name, function)
    if undo is not None:
        undo.append((owner, name, before))


@contextlib.contextmanager
def all_or_nothing():
    """What put() does inside is undone where an exception ends it: half of the names would
    be wrong ones."""
    undo = _here.undo = []
    try:
        yield
    except BaseException:
        for owner, name, before in reversed(undo):
            with contextlib.suppress(Exception):  # the others are put back all the same
                _put_back(owner, name, before)
        raise
    finally:
        _here.undo = None


def _put_back(owner, name, before):
    if before is _ABSENT:
        delattr(owner, name)  # it was inherited
    else:
        setattr(owner, name, before)
