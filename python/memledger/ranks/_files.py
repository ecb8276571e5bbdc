"""The files of a job: traces and digests, found as `memledger ranks` finds them.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import glob
import os
from typing import Iterable, List, Union

from ._digests import SUFFIX, trace_of

Paths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]

TRACE = ".mled"


def _in_folder(folder: str) -> List[str]:
    return [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
            if name.endswith((TRACE, TRACE + SUFFIX))]


def find(paths: Paths) -> List[str]:
    """A path for each trace, absolute and in order: that of the trace, or of a digest without one.
    `paths`: files, folders with the folders in them, and patterns (`traces/*.mled`)."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: List[str] = []
    for path in map(os.fspath, given):
        if os.path.isdir(path):
            found += _in_folder(path)
        else:
            found += glob.glob(path) if glob.has_magic(path) else [path]
    traces = {trace_of(os.path.abspath(path)): os.path.abspath(path)
              for path in sorted(found, reverse=True)}  # that of the trace is the shorter one
    if not traces:
        raise FileNotFoundError(f"{', '.join(map(os.fspath, given))}: no traces ({TRACE}) and no "
                                f"digests ({TRACE}{SUFFIX}); record with memledger run -o "
                                f"traces/%r{TRACE}")
    return [traces[trace] for trace in sorted(traces)]
