"""A job: its files, an engine, and the questions.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import os
import tempfile
from typing import Any, Dict, List, Optional

from memledger import _asking
from . import _files, _questions, _schema
from ._digests import SUFFIX
from ._engine import Engine, uses_of


class Job:
    """The traces of one or more jobs. Answers are pyarrow tables. Use it in a `with` statement, or
    close() it: DuckDB's tables may take as much room as the traces."""

    def __init__(self, engine: Engine):
        self._engine = engine

    def sql(self, query: str) -> Any:
        """The answer to any query on the tables of the job, which all have `job` and `rank`."""
        return self._engine.query(query, uses_of(query))

    def peaks(self) -> Any:
        """The peak of each rank on its main device."""
        return self.sql(_questions.PEAKS)

    def categories(self) -> Any:
        """The peak of each rank by category."""
        return self.sql(_questions.CATEGORIES)

    def modules(self) -> Any:
        """The peaks of all ranks together by module and category."""
        return self.sql(_questions.MODULES)

    def steps(self) -> Any:
        """The peak of each step: lowest, highest and sum of all ranks."""
        return self.sql(_questions.STEPS)

    def growth(self) -> Any:
        """How much the memory at the end of a step grows, by rank."""
        return self.sql(_questions.GROWTH)

    def ledger(self) -> Any:
        """The ledgers of all devices at their peaks, added up."""
        return self.sql(_questions.LEDGER)

    def allocated(self) -> Any:
        """All allocations of the run by rank and category: number, bytes and lifetime."""
        return self.sql(_questions.ALLOCATED)

    def churn(self) -> Any:
        """All allocations of the run by module and category, the most bytes first."""
        return self.sql(_questions.CHURN)

    def report(self, job: Optional[str] = None) -> Dict[str, Any]:
        """The result of `memledger ranks --json`: findings with their reasons, headroom, clocks.
        Only digests are copied here. `job`: this one; default: the one that began last."""
        with tempfile.TemporaryDirectory() as folder:
            names: List[str] = []
            for trace, digest in self._engine.digests():
                with open_private(os.path.join(folder, f"{len(names)}{_files.TRACE}{SUFFIX}")) as f:
                    f.write(digest)
                names.append(trace)
            answer = _asking.ask_json("ranks", folder, job=job)
            for rank in answer["ranks"]:
                number = os.path.basename(rank["file"])[:-len(_files.TRACE)]
                rank["file"] = names[int(number)]
        return answer

    def outliers(self, job: Optional[str] = None) -> Any:
        """The findings of `report`: ranks that differ from their peers, leak, failed or are missing,
        each with its reason in words."""
        rows = self.report(job)["findings"]
        names = ("kind", "cause", "ranks", "worst_rank", "bytes", "category", "module", "shared",
                 "text")
        return _schema.pyarrow.table({name: _schema.pyarrow.array(
            [row.get(name) for row in rows], _TYPES.get(name, _schema.pyarrow.string()))
            for name in names})

    def close(self) -> None:
        self._engine.close()

    def __enter__(self) -> "Job":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


_TYPES = {"ranks": _schema.pyarrow.list_(_schema.pyarrow.int64()),
          "worst_rank": _schema.pyarrow.int64(), "bytes": _schema.pyarrow.int64()}


def open_private(path: str) -> Any:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _is_export(paths: Any) -> bool:
    """Whether it is a folder that `export` wrote."""
    return isinstance(paths, (str, os.PathLike)) and any(
        os.path.isdir(os.path.join(os.fspath(paths), table)) for table in _schema.TABLES)


def open(paths: _files.Paths, engine: str = "duckdb", *, session: Any = None,
         connection: Any = None, salvage: bool = False) -> Job:
    """Opens the traces of a job, or an export of them to Parquet.

    paths: traces, digests, folders with them, patterns; or the folder of an export
    engine: "duckdb" for this machine, "spark" for a cluster
    session: the SparkSession; without it, that which is active, or a new one
    connection: a DuckDB connection to use; without it, a new one in memory
    salvage: skip damaged blocks
    """
    if engine not in ("duckdb", "spark"):
        raise ValueError(f"there is no engine {engine!r}; there are 'duckdb' and 'spark'")
    tables = os.path.abspath(os.fspath(paths)) if _is_export(paths) else None
    traces = [] if tables else _files.find(paths)
    if engine == "duckdb":
        from ._duckdb_engine import DuckdbEngine
        return Job(DuckdbEngine(traces, tables, salvage, connection))
    from ._needs import need
    if session is None:
        session = need("pyspark.sql", "spark").SparkSession.builder.getOrCreate()
    from ._spark_engine import SparkEngine
    return Job(SparkEngine(traces, tables, salvage, session))
