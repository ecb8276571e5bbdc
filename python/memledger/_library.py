"""Finds the recorder and the command: the package may be in a build folder, an installation or
a wheel.

SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil

_HERE = os.path.dirname(os.path.abspath(__file__))

# Relative to this folder: in a wheel, in PREFIX/lib/memledger/python/memledger, in
# BUILD/python/memledger.
_LIBRARIES = ("recorder", "../..", "../../src/capture")
COMMANDS = ("bin", "../../../../bin", "../../src/cli")


def first(folders, name, mode):
    for folder in folders:
        path = os.path.normpath(os.path.join(_HERE, folder, name))
        if os.path.isfile(path) and os.access(path, mode):
            return path
    return None


def find_library():
    """The path of libmemledger.so; raises FileNotFoundError if there is none."""
    path = os.environ.get("MEMLEDGER_LIBRARY") or first(_LIBRARIES, "libmemledger.so", os.R_OK)
    if not path:
        raise FileNotFoundError(f"libmemledger.so is not beside {_HERE}; install memledger again, "
                                "or name it in MEMLEDGER_LIBRARY")
    return path


def find_command():
    """The path of the command `memledger`; raises FileNotFoundError if there is none."""
    path = (os.environ.get("MEMLEDGER_COMMAND") or first(COMMANDS, "memledger", os.X_OK)
            or shutil.which("memledger"))
    if not path:
        raise FileNotFoundError("the command memledger is not in PATH; install memledger again, "
                                "or name it in MEMLEDGER_COMMAND")
    return path
