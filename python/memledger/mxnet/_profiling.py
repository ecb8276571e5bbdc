"""Whether this process has a profile: the way into a recording, and settings that were
made before there is one.

Under `memledger run` there is one from the start. Elsewhere the profiler's first run
begins one, as memledger.start() does.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys
import warnings

from .. import _native, _recording
from .._library import find_library
from .._printable import printable

_waiting = []  # settings, call by call, that no recording has been told of
_has_run = False
_cannot_run = False  # and the user knows why

_NOT_RUN = "the profiler has not run; call set_config() and set_state('run') first"


def _say(text):
    print(f"memledger: {printable(text)}", file=sys.stderr)


def is_recorded():
    """Tells the recording what was set before it began."""
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
        _native.load(find_library())  # which knows what is allowed
    except OSError:
        pass  # told when the profiler is to run
    _native.profiler_config(settings)
    _waiting.append([(key, os.path.abspath(value) if key == "filename" else value)
                     for key, value in settings])


def begin():
    """Makes sure of a recording. False where there can be none."""
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
    return _has_run


def ask(question, *arguments, needs_run=False):
    """What the recorder's collector answers; None where it cannot, which ends no training.
    `needs_run`: to ask before the profiler has run is the caller's mistake."""
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
