"""Packages that this part of memledger needs and that pip installs on request.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import importlib
from types import ModuleType


def need(module: str, extra: str) -> ModuleType:
    """Imports a module of an optional package. Raises ImportError that names the way to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(f"{package} is missing ({error}); "
                          f"install it with: pip install 'memledger[{extra}]'") from None
