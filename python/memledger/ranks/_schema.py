"""The tables of a job and their columns: those of a trace, and those of its digest.

Each table begins with `job` and `rank`. Types are those that every engine has: signed integers,
texts and truth values. Addresses from 2^63 on are negative, as in SQLite.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from typing import Any, List, Optional

from memledger import _native
from ._needs import need

pyarrow: Any = need("pyarrow", "parquet")

KEYS = ("job", "rank")

_NUMBER, _TEXT = pyarrow.int64(), pyarrow.string()

# Tables of the digest: a few kilobytes for each rank, whatever the size of the trace.
_OF_DIGEST = {
    "ranks": {
        "trace": _TEXT, "host": _TEXT, "place": _TEXT, "command": _TEXT, "pid": _NUMBER,
        "processes": _NUMBER, "device": _TEXT, "peak_bytes": _NUMBER, "peak_time_ns": _NUMBER,
        "steps": _NUMBER, "ended": _TEXT, "exit_code": _NUMBER, "signal": _NUMBER, "ooms": _NUMBER,
        "allocations": _NUMBER, "lost": _NUMBER, "start_wall_ns": _NUMBER, "start_ns": _NUMBER,
        "end_ns": _NUMBER,
    },
    "rank_devices": {"device": _TEXT, "peak_bytes": _NUMBER, "peak_time_ns": _NUMBER},
    "rank_steps": {
        "step_row": _NUMBER, "number": _NUMBER, "steps": _NUMBER, "begin_ns": _NUMBER,
        "end_ns": _NUMBER, "peak_bytes": _NUMBER, "end_bytes": _NUMBER,
    },
    "rank_modules": {"step_row": _NUMBER, "module": _TEXT, "category": _TEXT, "bytes": _NUMBER},
    "rank_ledger": {"device": _TEXT, "part": _TEXT, "entry": _TEXT, "bytes": _NUMBER},
}

OF_TRACE: List[str] = list(_native.TABLES)
OF_DIGEST: List[str] = list(_OF_DIGEST)
TABLES: List[str] = OF_TRACE + OF_DIGEST


def signed(kind: Any) -> Any:
    """The type of a column that the C core hands out as `kind`."""
    if pyarrow.types.is_unsigned_integer(kind):
        return _NUMBER
    return kind


class _Capsule:
    """A table without a trace, for pyarrow.schema."""

    def __init__(self, name: str):
        self._name = name

    def __arrow_c_schema__(self) -> Any:
        return _native.Reader.schema(self._name)


def fields(table: str) -> List[Any]:
    """Its columns without job and rank. Texts of a trace are dictionaries."""
    if table in _OF_DIGEST:
        return [pyarrow.field(name, kind) for name, kind in _OF_DIGEST[table].items()]
    if table not in OF_TRACE:
        raise ValueError(f"there is no table {table!r}; there are {', '.join(TABLES)}")
    return [pyarrow.field(f.name, signed(f.type)) for f in pyarrow.schema(_Capsule(table))
            if f.name not in KEYS]


def schema(table: str, columns: Optional[List[str]] = None) -> Any:
    """With job and rank, and texts as plain texts. `columns`: only these, and the first two."""
    plain = [pyarrow.field(f.name, _TEXT if pyarrow.types.is_dictionary(f.type) else f.type)
             for f in fields(table) if columns is None or f.name in columns]
    return pyarrow.schema([pyarrow.field("job", _TEXT), pyarrow.field("rank", _NUMBER), *plain])
