"""Feature maps by layer: which module allocated the blocks that forward leaves.

The recorder logs the blocks of forward; at each boundary of a module the new ones belong to the
innermost module that was running. The log is one for the process, so all models share this.
Modules that run in several threads at once, as those of DataParallel, share it too: a block may
then belong to a module of another thread.

SPDX-License-Identifier: Apache-2.0
"""
import threading

from . import _native

OUTSIDE = "(outside layers)"


class _Thread(threading.local):
    def __init__(self):
        self.running = []  # the modules' keys, innermost last


_thread = _Thread()
_owners = {}  # address -> key of the module that allocated the block


def _attribute():
    """The blocks since the last boundary belong to the innermost module."""
    key = _thread.running[-1] if _thread.running else None
    for address in _native.log_take():
        _owners[address] = key


def begin():
    """A forward pass begins, or one within backward."""
    _attribute()
    _thread.running.clear()
    _native.log_forward(True)


def end():
    _attribute()
    _thread.running.clear()
    _native.log_forward(False)


def enter(key):
    _attribute()
    _thread.running.append(key)


def leave(key):
    """Modules inside that an exception ended end with it."""
    _attribute()
    if key in _thread.running:
        while _thread.running.pop() != key:
            pass


def bytes_by_key(devices):
    """The live bytes of forward's blocks, by the key of the module that allocated them."""
    _attribute()
    sums = {}
    for address, key in list(_owners.items()):
        found = _native.live_find(address)
        if not found or found[2] != _native.PHASE_FORWARD:
            del _owners[address]
        elif found[1] in devices:
            sums[key] = sums.get(key, 0) + found[0]
    return sums
