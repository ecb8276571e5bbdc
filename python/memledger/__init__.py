"""memledger: where every byte of GPU and host memory went.

SPDX-License-Identifier: Apache-2.0
"""
from typing import Any

# Loaded when first asked for: the command and `memledger run` start without them.
_LAZY = {
    "Table": "_reading",
    "Trace": "_reading",
    "TraceError": "_reading",
    "read": "_reading",
}


def __getattr__(name: str) -> Any:
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
