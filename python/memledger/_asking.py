"""Asks the command for the numbers and pictures of a trace.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Dict, List, Optional

from ._library import find_command
from ._native import TraceError

_PREFIX = "memledger: "


def environment() -> Dict[str, str]:
    """Without the variables that set options: an answer depends on the arguments alone."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MEMLEDGER_")}


def options_of(settings: Dict[str, Any]) -> List[str]:
    """{"at": "peak", "salvage": True, "device": None} -> ["--at=peak", "--salvage"]."""
    given = [(name.replace("_", "-"), value) for name, value in settings.items()
             if value is not None and value is not False]
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in given]


def command_line(verb: str, path: str, settings: Dict[str, Any]) -> List[str]:
    return [find_command(), verb, *options_of(settings), "--", path]


def ask(verb: str, path: str, patience_s: Optional[float] = None, **settings: Any) -> bytes:
    """What the command prints. Raises TraceError with its message, or TimeoutExpired."""
    done = subprocess.run(command_line(verb, path, settings), stdin=subprocess.DEVNULL,
                          capture_output=True, env=environment(), timeout=patience_s)
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip() or f"{verb} ended with {done.returncode}"
        raise TraceError(message[len(_PREFIX):] if message.startswith(_PREFIX) else message)
    return done.stdout


def ask_json(verb: str, path: str, **settings: Any) -> Dict[str, Any]:
    return json.loads(ask(verb, path, json=True, **settings))


def as_list(keys: Any) -> Optional[str]:
    """"module", or ["module", "category"]: as for --by."""
    return keys if keys is None or isinstance(keys, str) else ",".join(keys)
