"""Wraps functions of the program with functions of the package.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import threading

_ABSENT = object()
_here = threading.local()  # .undo: inside all_or_nothing(), (owner, name, old value)


def in_front(make, original, *args, **kwargs):
    """The wrapper from `make` as a Python function: MXNet's class decorators (use_np) look for
    functions and would skip another kind of callable."""
    scoped = make(original, *args, **kwargs)

    @functools.wraps(original)
    def call_in_front(*args, **kwargs):
        return scoped(*args, **kwargs)
    call_in_front.is_memledgers = True
    return call_in_front


def is_in_front(function):
    return getattr(function, "is_memledgers", False)


def then(original, label):
    """The function, and label(result, *args, **kwargs) after it. An error in that must not reach
    the program: another version of it has blocks without names."""
    @functools.wraps(original)
    def call_and_label(*args, **kwargs):
        result = original(*args, **kwargs)
        with contextlib.suppress(Exception):
            label(result, *args, **kwargs)
        return result
    return call_and_label


def put(owner, name, function):
    """Sets an attribute of a class or module of the program."""
    undo = getattr(_here, "undo", None)
    before = vars(owner).get(name, _ABSENT)
    setattr(owner, name, function)
    if undo is not None:
        undo.append((owner, name, before))


def below(kind):
    """All classes derived from a class."""
    for inner in kind.__subclasses__():
        yield inner
        yield from below(inner)


def watch_subclasses(base, watch):
    """Calls watch(kind) for all classes derived from a class of the program, also for those that
    are defined later. Precondition: the class has no __init_subclass__ of its own."""
    def __init_subclass__(cls, **kwargs):
        super(base, cls).__init_subclass__(**kwargs)
        watch(cls)
    put(base, "__init_subclass__", classmethod(__init_subclass__))
    for kind in below(base):
        watch(kind)


@contextlib.contextmanager
def all_or_nothing():
    """Undoes all put() calls inside if an exception ends the block, because incomplete hooks
    would give wrong names."""
    undo = _here.undo = []
    try:
        yield
    except BaseException:
        for owner, name, before in reversed(undo):
            with contextlib.suppress(Exception):  # restore the others all the same
                _put_back(owner, name, before)
        raise
    finally:
        _here.undo = None


def _put_back(owner, name, before):
    if before is _ABSENT:
        delattr(owner, name)  # it had been inherited
    else:
        setattr(owner, name, before)
