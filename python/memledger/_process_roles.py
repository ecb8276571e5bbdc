"""What a process of multiprocessing is, for the recorder: a worker of PyTorch's DataLoader, or
the name that multiprocessing gave it.

Installed when multiprocessing.util has been imported under `memledger run`.

SPDX-License-Identifier: Apache-2.0
"""
import sys
from multiprocessing import context, process, util

_LOADER = "torch.utils.data._utils.worker"
_HELPERS = ("forkserver", "resource_tracker")  # python -c "from multiprocessing.forkserver …"


def install():
    """Has each process say its role as it begins, forked or spawned. No frame of ours stays on
    its stack."""
    if getattr(util, "tells_memledger", False):
        return
    util.tells_memledger = True
    util.register_after_fork(util, lambda _: _tell(_role_of(process.current_process())))
    spawned = getattr(context, "SpawnProcess", None)
    if "_after_fork" in getattr(spawned, "__dict__", ()):  # since Python 3.11; does not ask util
        begin = spawned._after_fork

        def _after_fork():
            begin()
            _tell(_role_of(process.current_process()))
        spawned._after_fork = staticmethod(_after_fork)
    for helper in _HELPERS:
        if any(f"multiprocessing.{helper} import" in arg
               for arg in getattr(sys, "orig_argv", ())[1:4]):
            _tell(f"multiprocessing {helper}")


def _tell(role):
    """The process is the program's: what goes wrong here is not its business."""
    try:
        from . import _native
        _native.process_role(role)
    except Exception:
        pass


def _role_of(current):
    """It must not fail either: a target may be anything."""
    try:
        return _loader_worker(current) or f"multiprocessing {current.name}"
    except Exception:
        return "multiprocessing worker"


def _loader_worker(current):
    target = getattr(current, "_target", None)
    if getattr(target, "__module__", None) != _LOADER:
        return None
    code = target.__code__
    named = dict(zip(code.co_varnames[:code.co_argcount], current._args), **current._kwargs)
    return f"DataLoader worker {named['worker_id']}"
