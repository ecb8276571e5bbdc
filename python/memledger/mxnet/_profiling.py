"""Starts a recording for the profiler, and keeps settings made before there is one.

Under `memledger run` there is a recording from the start. Elsewhere the profiler's first run
starts one, as memledger.start() does.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys
import warnings

from .. import _native, _recording
from .._library import find_library
from .._printable import printable

_waiting = []  # settings, call by call, that no recording has received yet
_has_run = False
_cannot_run = False  # and the user has been told why

_NOT_RUN = "the profiler has not run; call set_config() and set_state('run') first"


def _say(text):
    print(f"memledger: {printable(text)}", file=sys.stderr)


def is_recorded():
    """Passes settings made before the recording to it."""
    if not _native.recording():
        return False
    while _waiting:
        _native.profiler_config(_waiting.pop(0))
    return True


def configure(settings):
    """`settings`: pairs of str. All are checked before one is set."""
    if is_recorded():
        _native.profiler_config(settings)
        return
    try:
        _native.load(find_library())  # which checks the values
    except OSError:
        pass  # reported when the profiler starts
    _native.profiler_config(settings)
    _waiting.append([(key, os.path.abspath(value) if key == "filename" else value)
                     for key, value in settings])


def begin():
    """Makes sure that there is a recording. False if that fails."""
    global _has_run, _cannot_run
    if not is_recorded() and not _cannot_run:
        try:
            path = _recording.start()
            _say(f"the profiler runs: this process is recorded into {path}")
        except (OSError, RuntimeError, MemoryError) as error:
            _cannot_run = True
            _say(f"the profiler does nothing: {error}")
    _has_run = is_recorded()
    if _has_run and "mxnet" in sys.modules:
        _native.patch_mxnet()
        if _native.recording() != _native.RECORDED_FROM_START:  # else `memledger run` has done it
            _install_names()
    return _has_run


def _install_names():
    """Hooks MXNet's Python classes, so that their arrays have names from now on."""
    from .. import _mxnet
    try:
        _mxnet.install()
    except Exception as error:  # the program continues without names
        _say(f"cannot hook mxnet: module names are off: {error!r}")


def ask(question, *arguments, needs_run=False):
    """The collector's reply; None with a warning if it fails, so that training continues.
    `needs_run`: raises if the profiler has not run yet."""
    if needs_run and not _has_run and not _cannot_run and not _native.recording():
        raise _native.profiler_error_class()(_NOT_RUN)
    if not is_recorded():
        return None
    try:
        return question(*arguments)
    except _native.profiler_error_class() as error:
        if needs_run and not _has_run:
            raise
        warnings.warn(f"memledger: {error}", stacklevel=3)
        return None
