"""Tells when `import torch` or `import mxnet` is done, to all who wait for it.

Light: every Python under `memledger run` that imports one of them loads it.

SPDX-License-Identifier: Apache-2.0
"""
import sys

_waiting = {}  # name -> what is to be called when it has been imported


def say(text):
    """On stderr, where the program has one that works."""
    try:
        sys.stderr.write(f"memledger: {text}\n")
    except Exception:
        pass


def wait(name, callback, *args):
    """Has it called, once. Its errors are dropped: the import is the program's."""
    waiting = _waiting.setdefault(name, [])
    if (callback, args) not in waiting:
        waiting.append((callback, args))


def find(name, path, target):
    """What finders find that are not ours (watches_for_memledger). Libraries may look for
    PyTorch long before they import it, so those who wait are told by the loader, when it
    has done its work."""
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        ours = getattr(finder, "watches_for_memledger", False)
        spec = find_spec(name, path, target) if find_spec and not ours else None
        if spec is not None:
            _tell_after_import(name, spec.loader)
            return spec
    return None


def _tell_after_import(name, loader):
    original = getattr(loader, "exec_module", None)
    if original is None or isinstance(loader, type) or getattr(original, "tells_memledger", False):
        return  # a class may load other modules too

    def exec_module(module):
        vars(loader).pop("exec_module", None)
        original(module)
        waiting = _waiting.get(name, [])
        while waiting:
            callback, args = waiting.pop(0)
            try:
                callback(*args)
            except Exception:
                pass
    exec_module.tells_memledger = True
    try:
        loader.exec_module = exec_module
    except Exception:
        pass  # a loader that cannot be told: the program runs, without names
