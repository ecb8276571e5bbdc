"""DuckDB on this machine, over Parquet files: those of an export, or of a folder that the engine
fills with the tables that a question needs.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Iterator, List, Optional, Tuple

from . import _digests, _parquet, _schema
from ._engine import Engine, Uses, plain
from ._needs import need


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class DuckdbEngine(Engine):
    def __init__(self, traces: List[str], tables: Optional[str], salvage: bool,
                 connection: Any = None):
        duckdb: Any = need("duckdb", "duckdb")
        self._traces, self._salvage = traces, salvage
        # Removed by close(), else at the end of the program.
        self._own = None if tables else tempfile.TemporaryDirectory(prefix="memledger-")
        self._folder = tables or self._own.name
        self._connection = connection.cursor() if connection else duckdb.connect()
        self._views: set = set()

    def query(self, sql: str, uses: Uses) -> Any:
        for table in uses:
            if table not in self._views:
                self._view(table)
        return plain(self._connection.execute(sql).arrow())

    def _view(self, table: str) -> None:
        folder = os.path.join(self._folder, table)
        if not os.path.isdir(folder) and self._traces:
            _parquet.export(self._traces, self._folder, [table], salvage=self._salvage)
        rows = (f"read_parquet({_quoted(folder + '/*/*/*.parquet')}, hive_partitioning=true, "
                "hive_types={'job': varchar, 'rank': varchar})")
        if not os.path.isdir(folder):  # no trace has a row
            columns = ", ".join(f"cast(null as {_type(f)}) as {f.name}"
                                for f in _schema.schema(table))
            rows = f"(select {columns} where false)"
        # DuckDB does not know Hive's folder for null.
        names = ", ".join("try_cast(rank as bigint) as rank" if f.name == "rank" else f'"{f.name}"'
                          for f in _schema.schema(table))
        self._connection.execute(f'create temp view "{table}" as select {names} from {rows}')
        self._views.add(table)

    def digests(self) -> Iterator[Tuple[str, bytes]]:
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            made = pool.map(lambda path: _digests.content(path, self._salvage), self._traces)
            yield from zip(map(_digests.trace_of, self._traces), made)

    def close(self) -> None:
        self._connection.close()
        if self._own:
            self._own.cleanup()


def _type(field: Any) -> str:
    return {"int64": "bigint", "string": "varchar", "bool": "boolean"}[str(field.type)]
