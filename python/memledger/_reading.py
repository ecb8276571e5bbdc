"""memledger.read: a trace as tables.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator, List, Optional, Union

from memledger import _native
from memledger._native import TraceError

__all__ = ["Table", "Trace", "TraceError", "read"]


class Table:
    """One table of a trace. Nothing is read before it is needed.

    pyarrow, polars, pandas and DuckDB accept it directly, through Arrow's PyCapsule interface:
    `pyarrow.table(t)`, `polars.DataFrame(t)`. Without them, iterate over it: each row is a
    dict.
    """

    def __init__(self, reader: _native.Reader, name: str):
        self._reader = reader
        self._rows: Optional[int] = None
        self.name = name
        self.columns: List[str] = reader.columns(name)

    def __arrow_c_schema__(self) -> Any:
        return self._reader.schema(self.name)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        # A consumer that wants another schema must cast; the protocol allows that.
        return self._reader.stream(self.name)

    def batches(self) -> Iterator[Dict[str, list]]:
        """Up to 65,536 rows at a time, as lists by column."""
        stream = self._reader.stream(self.name)
        while True:
            batch = self._reader.next(self.name, stream)
            if batch is None:
                return
            yield batch

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        for batch in self.batches():
            for row in zip(*batch.values()):
                yield dict(zip(self.columns, row))

    def __len__(self) -> int:
        if self._rows is None:
            self._rows = self._reader.count(self.name)
        return self._rows

    def __bool__(self) -> bool:
        return any(True for _ in self.batches())

    def to_dict(self) -> Dict[str, list]:
        """All rows as lists by column."""
        whole: Dict[str, list] = {column: [] for column in self.columns}
        for batch in self.batches():
            for column, values in batch.items():
                whole[column] += values
        return whole

    def __repr__(self) -> str:
        return f"<memledger table {self.name}: {', '.join(self.columns)}>"


class Trace:
    """An open trace: `info`, a table for each attribute, and `summary()`."""

    events: Table
    allocations: Table
    scopes: Table
    stacks: Table
    threads: Table
    processes: Table
    spaces: Table
    labels: Table
    marks: Table
    samples: Table

    def __init__(self, path: Union[str, bytes, os.PathLike], salvage: bool = False):
        self._reader = _native.Reader(path, salvage)
        self.path = os.fsdecode(path)
        for name in _native.TABLES:
            setattr(self, name, Table(self._reader, name))

    @property
    def tables(self) -> Dict[str, Table]:
        return {name: getattr(self, name) for name in _native.TABLES}

    @property
    def info(self) -> Dict[str, Any]:
        """Facts about the file: times, events, settings of the run, damage."""
        return self._reader.info()

    def summary(self, top: int = 10) -> Dict[str, Any]:
        """The result of `memledger summary --json`. `top`: scopes and labels to list."""
        return json.loads(self._reader.summary(top))

    def __repr__(self) -> str:
        return f"<memledger trace {self.path!r}: {self.info['events']} events>"


def read(path: Union[str, bytes, os.PathLike], *, salvage: bool = False) -> Trace:
    """Opens a trace. `salvage`: skip damaged blocks instead of failing.

    Raises TraceError for a file that is damaged or not a trace, OSError (such as
    FileNotFoundError) for one that cannot be opened.
    """
    return Trace(path, salvage)
