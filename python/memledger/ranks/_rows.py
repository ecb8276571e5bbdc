"""The rows of one trace, as Arrow batches with job and rank: the C core reads the trace, where the
caller is. A trace of a whole node has several ranks.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import Any, Iterator, List, Optional

from memledger import _reading
from . import _digests, _schema
from ._schema import pyarrow


class Ranks:
    """Which rank each process of a trace belongs to."""

    def __init__(self, trace: _reading.Trace):
        processes = list(trace.processes)
        of_process = {row["process"]: row["rank"] for row in processes}
        self.known = sorted({rank for rank in of_process.values() if rank is not None})
        if self.known:
            self.job = next(_digests.job_of(row["place"]) for row in processes
                            if row["rank"] is not None)
        else:
            self.job = _digests.own_job(trace.path)
            self.known = [0]
            of_process = dict.fromkeys(of_process, 0)
        # Samples of a device have no process: they are the rank's if there is only one.
        self.of_none = self.known[0] if len(self.known) == 1 else None
        numbers = range(max(of_process, default=-1) + 1)
        self._table = pyarrow.array([of_process.get(n) for n in numbers], pyarrow.int64())
        self._only = set(of_process.values()) == {self.of_none}

    def of(self, processes: Any) -> Any:
        """The ranks of a column of processes."""
        if self._only:
            return pyarrow.repeat(pyarrow.scalar(self.of_none, pyarrow.int64()), len(processes))
        ranks = self._table.take(processes)
        if self.of_none is None:
            return ranks
        missing = processes.is_null()
        return pyarrow.compute.if_else(missing, self.of_none, ranks)


def _signed(batch: Any, fields: List[Any]) -> List[Any]:
    """Its columns with the types of the table. The bits of an unsigned number stay."""
    return [batch.column(f.name) if batch.schema.field(f.name).type == f.type
            else batch.column(f.name).cast(f.type, safe=False) for f in fields]


def of_trace(path: str, table: str, columns: Optional[List[str]] = None,
             salvage: bool = False) -> Iterator[Any]:
    """Batches of (job, rank, columns…); texts are dictionaries. Tables of definitions without a
    process (scopes, stacks) are repeated for each rank, so that a join by job and rank finds them."""
    trace = _reading.read(path, salvage=salvage)
    ranks = Ranks(trace)
    fields = [f for f in _schema.fields(table) if columns is None or f.name in columns]
    names = [*_schema.KEYS, *(f.name for f in fields)]
    for batch in pyarrow.RecordBatchReader.from_stream(getattr(trace, table)):
        job = pyarrow.repeat(pyarrow.scalar(ranks.job), batch.num_rows)
        values = _signed(batch, fields)
        if "process" in batch.schema.names:
            found = ranks.of(batch.column("process"))
            yield pyarrow.record_batch([job, found, *values], names=names)
            continue
        for rank in ranks.known:
            same = pyarrow.repeat(pyarrow.scalar(rank, pyarrow.int64()), batch.num_rows)
            yield pyarrow.record_batch([job, same, *values], names=names)


def of_digest(path: str, table: str, columns: Optional[List[str]] = None,
              salvage: bool = False) -> Iterator[Any]:
    yield pyarrow.RecordBatch.from_pylist(_digests.rows(path, salvage)[table],
                                          schema=_schema.schema(table, columns))


def batches(path: str, table: str, columns: Optional[List[str]] = None,
            salvage: bool = False) -> Iterator[Any]:
    """The rows of a table, of a trace or a digest."""
    if table in _schema.OF_DIGEST:
        return of_digest(path, table, columns, salvage)
    return of_trace(_digests.trace_of(path), table, columns, salvage)


def plain_batches(path: str, table: str, columns: Optional[List[str]] = None,
                  salvage: bool = False) -> Iterator[Any]:
    """The same with plain texts, for engines that have no dictionaries."""
    wanted = _schema.schema(table, columns)
    for batch in batches(path, table, columns, salvage):
        yield pyarrow.record_batch([batch.column(f.name).cast(f.type) for f in wanted],
                                   schema=wanted)
