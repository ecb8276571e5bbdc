# sitecustomize.py: what every Python under `memledger run` begins with: the name
# `memledger` is the package that belongs to the command, and PyTorch is watched from
# the moment it has been imported. Then comes the user's own sitecustomize, which
# this one hides.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys
from _frozen_importlib_external import PathFinder

_HERE = os.path.dirname(os.path.abspath(__file__))


def _packages():
    """The folder that has the package: beside this one, or, in a wheel, around it."""
    beside = os.path.dirname(_HERE)
    return beside if os.path.isdir(os.path.join(beside, "memledger")) else os.path.dirname(beside)


class _Finder:
    """First among the finders. Watches for one import at a time."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "memledger":
            return PathFinder.find_spec(name, [_packages()])
        if name == "torch":
            return _watched(name, path, target)
        return None


def _watched(name, path, target):
    """What the other finders find, with our own work done after it was imported."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = find(name, path, target) if find and finder is not _Finder else None
        if spec is not None:
            _call_after_import(spec.loader)
            return spec
    return None


def _call_after_import(loader):
    original = getattr(loader, "exec_module", None)
    if original is None or getattr(original, "tells_memledger", False):
        return

    def exec_module(module):
        vars(loader).pop("exec_module", None)
        original(module)
        _install()
    exec_module.tells_memledger = True
    try:
        loader.exec_module = exec_module
    except AttributeError:
        pass  # a loader that cannot be told: the program runs, without names


def _install():
    try:
        from memledger import _torch
        _torch.install()
    except Exception as error:
        if os.environ.get("MEMLEDGER_DEBUG"):
            sys.stderr.write(f"memledger: modules have no names: {error!r}\n")


def _pass_on():
    """The user's own sitecustomize, as if this one were not there."""
    sys.path[:] = [p for p in sys.path if os.path.abspath(p) != _HERE]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None:
        return
    module = type(sys)("sitecustomize")
    module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("MEMLEDGER_SESSION"):
    sys.meta_path.insert(0, _Finder)
_pass_on()
