"""Spark on a cluster: each task runs the C core on one trace, or on several digests, where the
executor is, and hands Arrow batches on. The driver has the names of the traces only.

memledger must be installed where the executors run.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterator, List, Optional, Tuple

from . import _digests, _rows, _schema
from ._engine import Engine, Uses, plain
from ._schema import pyarrow


def _types(schema: Any) -> str:
    """An Arrow schema in Spark's words."""
    words = {"int64": "bigint", "string": "string", "bool": "boolean", "binary": "binary"}
    return ", ".join(f"`{f.name}` {words[str(f.type)]}" for f in schema)

TASKS_A_CORE = 2


# ---- In the executors -----------------------------------------------------------


def _named(batches: Iterator[Any], paths: List[str]) -> Iterator[str]:
    """The paths whose numbers the batches have."""
    for batch in batches:
        for number in batch.column("id").to_pylist():
            yield paths[number]


def _scan(batches: Iterator[Any], paths: List[str], table: str, columns: Optional[List[str]],
          salvage: bool) -> Iterator[Any]:
    for path in _named(batches, paths):
        yield from _rows.plain_batches(path, table, columns, salvage)


_DIGESTS = pyarrow.schema([("trace", pyarrow.string()), ("digest", pyarrow.binary())])


def _digest(batches: Iterator[Any], paths: List[str], salvage: bool) -> Iterator[Any]:
    for path in _named(batches, paths):
        yield pyarrow.record_batch([[_digests.trace_of(path)],
                                    [_digests.content(path, salvage)]], schema=_DIGESTS)


# ---- In the driver ---------------------------------------------------------------


class SparkEngine(Engine):
    def __init__(self, traces: List[str], tables: Optional[str], salvage: bool, session: Any):
        self._traces, self._tables, self._salvage = traces, tables, salvage
        # Views of its own; the cluster is that of the caller.
        self._session = session.newSession()

    def _map(self, function: Callable[..., Iterator[Any]], schema: Any, tasks: int) -> Any:
        """The rows that the function makes of all traces, in so many tasks."""
        numbers = self._session.range(0, len(self._traces), 1, tasks)
        return numbers.mapInArrow(partial(function, paths=self._traces, salvage=self._salvage),
                                  _types(schema))

    def _tasks_of_digests(self) -> int:
        """A digest is read in milliseconds, less than a task costs."""
        cores = self._session.sparkContext.defaultParallelism
        return min(len(self._traces), TASKS_A_CORE * cores)

    def _table(self, table: str, columns: Optional[List[str]]) -> Any:
        schema = _schema.schema(table, columns)
        if self._tables is None:
            tasks = self._tasks_of_digests() if table in _schema.OF_DIGEST else len(self._traces)
            return self._map(partial(_scan, table=table, columns=columns), schema, tasks)
        folder = f"{self._tables}/{table}"
        stored = ", ".join(_types([f]) for f in _schema.schema(table) if f.name not in _schema.KEYS)
        keys = _types([f for f in schema if f.name in _schema.KEYS])
        return (self._session.read.schema(f"{stored}, {keys}").parquet(folder)
                .select([f.name for f in schema]))

    def query(self, sql: str, uses: Uses) -> Any:
        for table, columns in uses.items():
            self._table(table, columns).createOrReplaceTempView(table)
        return plain(self._session.sql(sql).toArrow())

    def digests(self) -> Iterator[Tuple[str, bytes]]:
        for row in self._map(_digest, _DIGESTS, self._tasks_of_digests()).collect():
            yield row["trace"], bytes(row["digest"])
