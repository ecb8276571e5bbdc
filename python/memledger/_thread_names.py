"""The names of Python's threads, for the recorder.

Installed when threading has been imported under `memledger run`. The extension is loaded
when the first thread starts, so that a program without threads does without it.

SPDX-License-Identifier: Apache-2.0
"""
import threading

# Of threads that Python did not start itself: the system knows a better name.
_UNNAMED = ("MainThread", "Dummy-")


def install():
    """Has each thread say its name as it starts. No frame of ours stays on its stack."""
    thread = threading.Thread
    begin, name = thread._set_ident, thread.name
    if getattr(begin, "tells_memledger", False):
        return

    def _set_ident(self):
        begin(self)
        _tell(self)

    def set_name(self, value):
        name.fset(self, value)
        if self.ident == threading.get_ident():
            _tell(self)

    _set_ident.tells_memledger = True
    thread._set_ident = _set_ident
    thread.name = property(name.fget, set_name, name.fdel, name.__doc__)


def _tell(thread):
    """The thread is the program's: what goes wrong here is not its business."""
    try:
        if not thread.name.startswith(_UNNAMED):
            from . import _native
            _native.thread_name(thread.name)
    except Exception:
        pass
