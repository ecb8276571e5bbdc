"""memledger.ranks: the traces of a whole job as tables, and questions about them.

    job = memledger.ranks.open("traces")                    # DuckDB, on this machine
    job = memledger.ranks.open("traces", engine="spark", session=spark)
    job.peaks().to_pandas()

`memledger help ranks-python` explains tables and questions.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

from ._job import Job, open
from ._parquet import export

__all__ = ["Job", "export", "open"]
