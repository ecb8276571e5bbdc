"""Begins and ends the recording that `memledger attach` asks for. begin() runs
on the main thread, between two of its instructions, and end() on a thread that the command has made.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

from . import _cuda_late, _late, _native, _recording


def _find_again(package):
    """In a container each recording brings its own copy of the package, and takes it away at the
    end: modules that are imported from now on come from the folder `package`."""
    own = __name__.rpartition(".")[0]
    for name, module in list(sys.modules.items()):
        if (name == own or name.startswith(own + ".")) and getattr(module, "__path__", None):
            if not os.path.isdir(module.__path__[0]):
                module.__path__[:] = [os.path.join(package, *name.split("."))]


def begin(session, library, path, package):
    """Joins the session; the recorder is loaded already. Leaves it to the recorder alone if
    anything fails. If the recorder has joined before, because this thread was waiting, adds the
    existing blocks and the names."""
    try:
        _find_again(package)
        _native.load(library)
        joined = _native.recording()
        if joined:
            _late.meet_torch()
        else:
            _late.switch_on(library)
        if joined or _native.join(session) == 0:
            _native.steps_from_zero()  # how many the program has made is not known
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
