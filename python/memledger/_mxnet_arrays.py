"""Labels for arrays of MXNet's, which mostly get their memory after they were made, on
threads of the engine's.

An array cannot be referred to weakly, and a reference would keep its memory. So what is
remembered is who owns it, weakly, and a function that says which arrays the owner has,
by what names. They are looked at when a step has come to a natural end: until each has
been found in one place twice, since the first time its block may not have been recorded
yet. Those of sparse arrays are looked at for ever: their blocks move.

SPDX-License-Identifier: Apache-2.0
"""
import weakref

from . import _native

_ENOUGH = 2  # looks that find an array in the same place
# So many looks are made at an owner, by whether the program has just waited for the
# engine; then they become rare.
_OFTEN = {False: 8, True: 64}

_waiting = {}  # id of the owner -> what is known of it
_class = ()  # mxnet.nd.NDArray


def install(array_class):
    global _class
    _class = array_class


def is_array(thing):
    """Other things of MXNet's have handles too: symbols, for one."""
    return isinstance(thing, _class)


class _Waiting:
    """An owner, and where its arrays were: name -> (place, in how many looks)."""

    def __init__(self, owner, arrays_of):
        key = self.key = id(owner)
        self.owner = weakref.ref(owner, lambda _: _waiting.pop(key, None))
        self.arrays_of = arrays_of
        self.found = {}
        self.looks = {False: 0, True: 0}
        self.has_sparse = False  # when it was looked at last

    def look(self, waited):
        """Labels what is there. Whether there is nothing more to be found."""
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
        """Whether this look is one of those that are not made any more."""
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
    """By its class: to ask MXNet would be a call that its profiler sees."""
    return type(array).__name__ in ("RowSparseNDArray", "CSRNDArray")


def watch(owner, arrays_of):
    """The owner has new arrays: arrays_of(owner) gives (array, name, category) of each."""
    _waiting[id(owner)] = _Waiting(owner, arrays_of)


def look(waited=False):
    """Labels arrays that have got their memory."""
    # Not items(): the garbage collector may run while they are made, and owners end.
    for waiting in list(_waiting.values()):
        if _is_done(waiting, waited) and _waiting.get(waiting.key) is waiting:
            _waiting.pop(waiting.key, None)


def _is_done(waiting, waited):
    """One that goes wrong is not looked at again: the program shall not hear of it."""
    try:
        return waiting.look(waited)
    except Exception:
        return True


def label_input(thing, name):
    """An array, or each of a list of them, if it has memory."""
    if is_array(thing):
        handle = thing.handle.value
        if _native.mxnet_place(handle):
            _native.mxnet_label(handle, name, _native.INPUT)
    elif isinstance(thing, (list, tuple)):
        for i, part in enumerate(thing):
            label_input(part, name if len(thing) == 1 else f"{name}.{i}")
