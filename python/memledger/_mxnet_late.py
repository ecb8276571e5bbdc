"""MXNet in a process that used it before the recording began: its arrays, and their names.

SPDX-License-Identifier: Apache-2.0
"""
import sys

from . import _importing, _native
from ._living import living_objects


def begin():
    """Now, or when the program has imported MXNet."""
    if "mxnet" in sys.modules:
        _meet(sys.modules["mxnet"])
    else:
        _importing.wait_late("mxnet", _hook)


def _hook():
    if _native.recording():
        _native.patch_mxnet()
        from . import _mxnet
        _mxnet.install()


def _meet(mxnet):
    """Records the arrays first, because a name belongs to a recorded block."""
    from . import _mxnet
    things = living_objects()
    _record(mxnet.nd.NDArray, things)
    _hook()
    _mxnet.begin_recording(things)


def _record(kind, things):
    """Blocks that have their memory already. An array without memory gets it from the engine later,
    which is recorded then; nothing here waits for that. A second look decides, because the first
    may come while a thread of the engine is allocating the block."""
    arrays = list(_arrays(kind, things))
    places = [_native.mxnet_place(array.handle.value) for array in arrays]
    for array, place in zip(arrays, places):
        if place and _native.mxnet_place(array.handle.value) == place:
            _native.mxnet_seed(array.handle.value)


def _arrays(kind, things):
    """All arrays that Python knows of, and their gradients, which only MXNet may refer to."""
    for thing in things:
        if not issubclass(type(thing), kind):
            continue
        try:
            if not thing.handle:
                continue
            yield thing
            if thing.grad is not None:
                yield thing.grad
        except Exception:  # an array that is not complete yet
            continue
