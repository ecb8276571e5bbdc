"""Calls waiting functions when a module that memledger hooks has been imported.

Kept small: every Python under `memledger run` that imports one of them loads it.

SPDX-License-Identifier: Apache-2.0
"""
import sys

_waiting = {}  # name -> functions to call once it is imported


def say(text):
    """Prints on stderr, if the program has a working one."""
    try:
        sys.stderr.write(f"memledger: {text}\n")
    except Exception:
        pass


def wait(name, callback, *args):
    """Registers a function to be called once. Its errors are dropped: they must not break the
    program's import."""
    waiting = _waiting.setdefault(name, [])
    if (callback, args) not in waiting:
        waiting.append((callback, args))


class _Finder:
    """The first finder, for the names of when_imported."""
    watches_for_memledger = True
    names = set()

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return find(name, path, target) if name in cls.names else None


def when_imported(name, callback, *args):
    """Calls callback(module, *args) now, or when the program has imported it; its errors are
    dropped."""
    def call():
        callback(sys.modules[name], *args)
    if name in sys.modules:
        try:
            call()
        except Exception:
            pass
        return
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    if name not in _Finder.names:
        _Finder.names.add(name)
        wait(name, call)


def is_awaited(name):
    return bool(_waiting.get(name))


def find(name, path, target):
    """The spec from the finders that are not ours (watches_for_memledger). Libraries may look
    for PyTorch long before they import it, so the waiting functions are called by the loader,
    after the import."""
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
        return  # the class may load other modules too

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
        pass  # a loader that cannot be wrapped: the program runs without names
