"""memledger: where every byte of GPU and host memory went.

Works under `memledger run` and in a plain `python train.py` or a notebook; see
`memledger help python`, and `memledger help python-read` for reading traces.

SPDX-License-Identifier: Apache-2.0
"""
MYPY = False
if MYPY:  # every Python under `memledger run` that imports threading loads this file
    from typing import Any

# Loaded on first use: the command, and every Python under `memledger run` that imports PyTorch,
# do not need them.
_LAZY = {
    "MemoryProfiler": "_memory_profiler",
    "Table": "_reading",
    "Trace": "_reading",
    "TraceError": "_reading",
    "live": "_live",
    "metrics": "_metrics",
    "peak": "_live",
    "profile": "_profile",
    "read": "_reading",
    "recording": "_recording",
    "scope": "_marks",
    "start": "_recording",
    "step": "_marks",
    "stop": "_recording",
}
__all__ = sorted(_LAZY)


def __getattr__(name: str) -> "Any":
    if name == "__version__":
        from memledger import _native
        return _native.version
    if name not in _LAZY:
        raise AttributeError(f"module 'memledger' has no attribute {name!r}")
    from importlib import import_module
    value = getattr(import_module("memledger." + _LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list:
    return sorted([*globals(), *_LAZY, "__version__"])
