"""memledger.read: a trace as tables.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import os
from html import escape
from typing import Any, Dict, Iterator, List, Optional, Union

from memledger import _asking, _native, _showing
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
    """An open trace: `info`, a table for each attribute, and the answers of the command:
    `summary()`, `tree()`, `table()`, `plot()` and `view()`. A notebook shows it as a summary with a
    picture."""

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
        try:
            self._reader = _native.Reader(path, salvage)
        except TraceError as error:  # the command's words
            raise TraceError(str(error).replace("--salvage", "salvage=True")) from None
        self.path = os.fsdecode(path)
        self._salvage = salvage
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

    def tree(self, at: str = "peak", *, device: Optional[str] = None,
             depth: Optional[int] = None, min_percent: float = 0) -> _showing.Rows:
        """The memory of each module at an instant: the rows of `memledger tree --json`."""
        answer = _asking.ask_json("tree", self.path, at=at, device=device, depth=depth,
                                  min=min_percent, salvage=self._salvage)
        return _showing.Rows(answer["rows"], hidden=("depth", "name", "modules", "hidden_modules"))

    def table(self, by: Union[str, List[str]] = "module,category", at: str = "peak", *,
              device: Optional[str] = None, top: int = 1000) -> _showing.Rows:
        """Live memory at an instant by any keys: the groups of `memledger table --json`."""
        answer = _asking.ask_json("table", self.path, by=_asking.as_list(by), at=at, device=device,
                                  top=top, salvage=self._salvage)
        return _showing.Rows(answer["groups"])

    def plot(self, kind: str = "timeline", **options: Any) -> _showing.Picture:
        """A drawing of `memledger plot`; `options` are its own: by="module", at="end", width=800."""
        return _showing.draw(self.path, kind=kind, salvage=self._salvage, **options)

    def view(self, *, inline: Optional[bool] = None,
             height: int = 700) -> Union[_showing.Page, _showing.Viewer]:
        """Opens the page of `memledger view` in the browser. In a notebook, or with inline=True,
        returns the page of `memledger export --format html`, which the notebook shows."""
        if _showing.in_notebook() if inline is None else inline:
            return _showing.page(self.path, height, salvage=self._salvage)
        return _showing.Viewer(self.path, open_browser=True)

    def _repr_html_(self) -> str:
        text = _showing.summary_html(self.path, self.summary())
        try:
            return text + self.plot()._repr_html_()
        except (TraceError, OSError) as error:  # such as a trace without allocations
            return text + f"<p>{escape(str(error))}</p>"

    def __repr__(self) -> str:
        return f"<memledger trace {self.path!r}: {self.info['events']} events>"


def read(path: Union[str, bytes, os.PathLike], *, salvage: bool = False) -> Trace:
    """Opens a trace. `salvage`: skip damaged blocks instead of failing.

    Raises TraceError for a file that is damaged or not a trace, OSError (such as
    FileNotFoundError) for one that cannot be opened.
    """
    return Trace(path, salvage)
