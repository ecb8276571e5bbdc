"""Tells when `import torch` is done, to all who wait for it.

Light: every Python under `memledger run` that imports PyTorch loads it.

SPDX-License-Identifier: Apache-2.0
"""
import sys

_waiting = []  # to be called when PyTorch has been imported


def wait(callback):
    """Has it called, once; what goes wrong in it is its own business."""
    if callback not in _waiting:
        _waiting.append(callback)


def find_torch(path, target):
    """What finders find that are not ours (watches_for_memledger). Libraries may look for
    PyTorch long before they import it, so those who wait are told by the loader, when it
    has done its work."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        ours = getattr(finder, "watches_for_memledger", False)
        spec = find("torch", path, target) if find and not ours else None
        if spec is not None:
            _tell_after_import(spec.loader)
            return spec
    return None


def _tell_after_import(loader):
    original = getattr(loader, "exec_module", None)
    if original is None or getattr(original, "tells_memledger", False):
        return

    def exec_module(module):
        vars(loader).pop("exec_module", None)
        original(module)
        while _waiting:
            _waiting.pop(0)()
    exec_module.tells_memledger = True
    try:
        loader.exec_module = exec_module
    except AttributeError:
        pass  # a loader that cannot be told: the program runs, without names
