"""Traces as Parquet files, in folders by table, job and rank:

    FOLDER/allocations/job=4711/rank=3/node17.parquet

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple
from urllib.parse import quote

from . import _digests, _files, _rows, _schema
from ._needs import need

pyarrow = _schema.pyarrow
parquet: Any = need("pyarrow.parquet", "parquet")

NULL = "__HIVE_DEFAULT_PARTITION__"  # Hive's name for the folder of null
_PART = ".part"


def _folder_of(job: str, rank: Optional[int]) -> str:
    # Hive escapes what a folder's name cannot contain.
    return os.path.join(f"job={quote(job, safe=' ')}", f"rank={NULL if rank is None else rank}")


class _Files:
    """The files of one table of one trace, one for each rank: complete or absent."""

    def __init__(self, folder: str, name: str, table: str, force: bool):
        self._folder, self._name, self._force = os.path.join(folder, table), name, force
        self._schema = pyarrow.schema(_schema.fields(table))
        self._writers: Dict[str, Any] = {}

    def _writer(self, job: str, rank: Optional[int]) -> Any:
        path = os.path.join(self._folder, _folder_of(job, rank), self._name)
        if path not in self._writers:
            if os.path.exists(path) and not self._force:
                raise FileExistsError(f"{path} exists; overwrite it with force (-f), or choose "
                                      "another folder")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._writers[path] = parquet.ParquetWriter(path + _PART, self._schema,
                                                        compression="zstd")
        return self._writers[path]

    def write(self, batch: Any) -> None:
        for job, rank, part in _by_rank(batch):
            self._writer(job, rank).write_batch(part)

    def commit(self) -> List[str]:
        for path, writer in self._writers.items():
            writer.close()
            os.replace(path + _PART, path)
        return list(self._writers)

    def abort(self) -> None:
        for path, writer in self._writers.items():
            writer.close()
            os.remove(path + _PART)


def _by_rank(batch: Any) -> Iterator[Tuple[str, Optional[int], Any]]:
    """The parts of a batch for each rank, without the columns that are in the folder's name. All
    rows have one job."""
    if batch.num_rows == 0:
        return
    job, ranks = batch.column("job")[0].as_py(), batch.column("rank")
    values = batch.select([name for name in batch.schema.names if name not in _schema.KEYS])
    distinct = ranks.unique().to_pylist()
    for rank in distinct:
        if len(distinct) == 1:
            yield job, rank, values
        else:
            same = ranks.is_null() if rank is None else pyarrow.compute.equal(ranks, rank)
            yield job, rank, values.filter(same)


def _name(path: str) -> str:
    return os.path.basename(_digests.trace_of(path)) + ".parquet"


def export_table(path: str, folder: str, table: str, force: bool = False,
                 salvage: bool = False) -> List[str]:
    """Writes one table of one trace. @return the files"""
    files = _Files(folder, _name(path), table, force)
    try:
        for batch in _rows.batches(path, table, salvage=salvage):
            files.write(batch)
    except BaseException:
        files.abort()
        raise
    return files.commit()


def export(paths: _files.Paths, folder: str, tables: Optional[Iterable[str]] = None, *,
           force: bool = False, salvage: bool = False) -> List[str]:
    """Writes traces as Parquet, several at a time. Files of other traces in the folder stay.

    paths: traces, folders or patterns
    tables: only these; all without it
    force: overwrite files of an earlier export
    @return the files
    """
    found = _files.find(paths)
    names = [_name(path) for path in found]
    same = sorted({name for name in names if names.count(name) > 1})
    if same:
        raise ValueError(f"{len(same)} names occur more than once, such as {same[0]}: export these "
                         "traces into folders of their own")
    work = [(path, table) for path in found for table in tables or _schema.TABLES]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        written = pool.map(lambda task: export_table(task[0], os.fspath(folder), task[1],
                                                     force, salvage), work)
        return [path for files in written for path in files]
