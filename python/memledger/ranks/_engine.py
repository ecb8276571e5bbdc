"""The interface that each engine has, and how a question becomes a query.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import _schema
from ._schema import pyarrow

# Tables with the columns that the query uses; None: all.
Uses = Dict[str, Optional[List[str]]]


class Engine(ABC):
    @abstractmethod
    def query(self, sql: str, uses: Uses) -> Any:
        """The answer as a pyarrow.Table."""

    @abstractmethod
    def digests(self) -> Iterator[Tuple[str, bytes]]:
        """The digest of each trace, with the name of the trace."""

    def close(self) -> None:
        """Releases what the engine made for itself."""


def uses_of(sql: str) -> Uses:
    """The tables that occur in a query, with the columns that it can use: those whose names occur
    anywhere in it. A star other than that of count(*) uses all."""
    words = set(re.findall(r"\w+", sql.lower()))
    star = "*" in re.sub(r"count\s*\(\s*\*\s*\)", "", sql.lower())
    return {table: None if star else [f.name for f in _schema.fields(table) if f.name in words]
            for table in _schema.TABLES if table in words}


def plain(answer: Any) -> Any:
    """With the same types from every engine: texts are `string`."""
    texts = {f.name: pyarrow.string() for f in answer.schema
             if pyarrow.types.is_large_string(f.type) or pyarrow.types.is_dictionary(f.type)}
    if not texts:
        return answer.replace_schema_metadata(None)
    return answer.cast(pyarrow.schema([pyarrow.field(f.name, texts.get(f.name, f.type))
                                       for f in answer.schema]))
