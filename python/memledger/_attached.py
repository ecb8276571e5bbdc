"""Begins and ends the recording that `memledger attach` asks for. begin() runs
on the main thread, between two of its instructions, and end() on a thread that the command has made.

SPDX-License-Identifier: Apache-2.0
"""
from . import _cuda_late, _late, _native, _recording


def begin(session, library, path):
    """Joins the session; the recorder is loaded already. Leaves it to the recorder alone if
    anything fails."""
    try:
        _native.load(library)
        _late.switch_on(library)
        if _native.join(session) == 0:
            _cuda_late.hook_ctypes()
            _cuda_late.tell_segments()
            _recording.follow(path, session)
            _begin_mxnet()
    except Exception as error:
        from . import _importing
        _importing.say(f"memledger attach: names are off: {error!r}")


def _begin_mxnet():
    try:
        from . import _mxnet_late
    except ImportError:
        return  # a build without MXNet
    _mxnet_late.begin()


def end():
    _recording.unfollow()
