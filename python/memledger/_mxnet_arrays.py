"""Labels MXNet's arrays, most of which get their memory after they are created, on threads of
the engine.

Arrays do not support weak references, and a strong one would keep their memory. So this module
keeps a weak reference to the owner, and a function that returns the owner's arrays with their
names. It checks them at the natural end of a step, until each has been found in the same place
twice, because the first time its block may not have been recorded yet. It keeps checking sparse
arrays, because their blocks move.

SPDX-License-Identifier: Apache-2.0
"""
import weakref

from . import _native

_ENOUGH = 2  # checks that find an array in the same place
# The number of checks of an owner, by whether the program has just waited for the engine; after
# that they become rare.
_OFTEN = {False: 8, True: 64}

_waiting = {}  # id of the owner -> its _Waiting
_class = ()  # mxnet.nd.NDArray


def install(array_class):
    global _class
    _class = array_class


def is_array(thing):
    """Other MXNet objects have handles too, symbols for example."""
    return isinstance(thing, _class)


class _Waiting:
    """An owner, and where its arrays were: name -> (place, number of checks)."""

    def __init__(self, owner, arrays_of):
        key = self.key = id(owner)
        self.owner = weakref.ref(owner, lambda _: _waiting.pop(key, None))
        self.arrays_of = arrays_of
        self.found = {}
        self.looks = {False: 0, True: 0}
        self.has_sparse = False  # at the last check

    def look(self, waited):
        """Labels the arrays that have memory. Returns whether all are found."""
        owner = self.owner()
        if owner is None:
            return True
        if self._is_rare(waited) and not self.has_sparse:
            return False
        entries = list(self.arrays_of(owner))
        self.has_sparse = any(is_sparse(array) for array, _, _ in entries)
        found = [self._label(at, *entry) for at, entry in enumerate(entries)]
        return all(found)

    def _is_rare(self, waited):
        """Whether to skip this check."""
        self.looks[waited] += 1
        looks = self.looks[waited]
        return looks > _OFTEN[waited] and looks & (looks - 1)

    def _label(self, at, array, name, category):
        place = _native.mxnet_place(array.handle.value)
        last, times = self.found.get(at, (0, 0))
        if place != last:
            times = 0
        if place and times < _ENOUGH:
            _native.mxnet_label(array.handle.value, name, category)
            times += 1
        self.found[at] = place, times
        return times == _ENOUGH and not is_sparse(array)


def is_sparse(array):
    """Decides by class, because MXNet's profiler would see a call of MXNet."""
    return type(array).__name__ in ("RowSparseNDArray", "CSRNDArray")


def watch(owner, arrays_of):
    """The owner has new arrays: arrays_of(owner) gives (array, name, category) of each."""
    _waiting[id(owner)] = _Waiting(owner, arrays_of)


def look(waited=False):
    """Labels arrays that have received their memory."""
    # Not items(): the garbage collector may run meanwhile and remove owners.
    for waiting in list(_waiting.values()):
        if _is_done(waiting, waited) and _waiting.get(waiting.key) is waiting:
            _waiting.pop(waiting.key, None)


def _is_done(waiting, waited):
    """An owner that raises is not checked again; the error must not reach the program."""
    try:
        return waiting.look(waited)
    except Exception:
        return True


def label_now(array, name, category):
    """Labels the array if it has memory."""
    handle = array.handle.value
    if _native.mxnet_place(handle):
        _native.mxnet_label(handle, name, category)


def label_input(thing, name):
    """An array, or each of a list of them, if it has memory."""
    if is_array(thing):
        label_now(thing, name, _native.INPUT)
    elif isinstance(thing, (list, tuple)):
        for i, part in enumerate(thing):
            label_input(part, name if len(thing) == 1 else f"{name}.{i}")
