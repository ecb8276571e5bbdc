# sitecustomize.py: runs first in every Python under `memledger run`. It makes `memledger` the
# package that belongs to the command, and hooks PyTorch, Lightning, transformers, MXNet, JAX, threading
# and multiprocessing once they are imported. Then it runs the user's own sitecustomize, which this one
# hides.
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys
from _frozen_importlib_external import PathFinder

# What the program imports, and the module of the package that is installed then.
_WATCHED = {"torch": "_torch", "mxnet": "_mxnet", "threading": "_thread_names",
            "multiprocessing.util": "_process_roles", "jax._src.distributed": "_jax",
            "lightning.pytorch.strategies.strategy": "_lightning",
            "pytorch_lightning.strategies.strategy": "_lightning",
            "transformers.cache_utils": "_torch_caches"}
_HERE = os.path.dirname(os.path.abspath(__file__))
_SESSION = os.environ.get("MEMLEDGER_SESSION")  # a program may clear its environment


def _packages():
    """The folder that contains the package: beside this one, or its parent in a wheel."""
    beside = os.path.dirname(_HERE)
    return beside if os.path.isdir(os.path.join(beside, "memledger")) else os.path.dirname(beside)


class _Finder:
    """The first finder."""
    watches_for_memledger = True

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "memledger":
            return PathFinder.find_spec(name, [_packages()])
        if name in _WATCHED:
            return _watched(name, path, target)
        return None


def _watched(name, path, target):
    """The spec of the other finders, with our hook after the import."""
    try:
        from memledger import _importing
        _importing.wait(name, _INSTALL[name])
    except Exception:
        return None  # an incomplete package: the program runs without names
    return _importing.find(name, path, target)


def _install(name):
    """Hooks everything or nothing; the program continues either way."""
    try:
        from importlib import import_module
        import_module(f"memledger.{_WATCHED[name]}").install()
    except Exception as error:
        # No message for a missing package, or an extension that this Python cannot load.
        unusual = not isinstance(error, ImportError) or os.environ.get("MEMLEDGER_DEBUG")
        if unusual and _is_first_to_say(name):
            from memledger import _importing
            names = "module names" if name in ("torch", "mxnet") else "its names"
            _importing.say(f"cannot hook {name}: {names} are off: {error!r}")


def _is_first_to_say(name):
    """Once per run, not once per process: the process that creates the file prints it. The
    command removes the file with the session (session_place.c)."""
    path = os.path.join(_SESSION, f"told-{name}")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    except OSError:
        pass  # print it too often rather than never
    return True


# One finder per name, so that each hook runs once.
_INSTALL = {name: lambda name=name: _install(name) for name in _WATCHED}


def _pass_on():
    """The user's own sitecustomize, as if this one were not there."""
    sys.path[:] = [p for p in sys.path if os.path.normpath(p) != _HERE]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None:
        return
    module = type(sys)("sitecustomize")
    module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if _SESSION:
    sys.meta_path.insert(0, _Finder)
    for _name in _WATCHED.keys() & sys.modules.keys():  # a .pth file may import anything
        _install(_name)
_pass_on()
