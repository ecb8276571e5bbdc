"""What `memledger export --format parquet` runs.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import argparse
import os
import sys


def main() -> None:
    parser = argparse.ArgumentParser(prog="memledger export --format parquet")
    parser.add_argument("--output", required=True)
    parser.add_argument("--table")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--salvage", action="store_true")
    parser.add_argument("trace")
    options = parser.parse_args()
    try:
        from memledger import TraceError
        from .ranks import export
    except ImportError as error:
        sys.exit(f"memledger: export --format parquet: {error}; or name an "
                 "interpreter that has it in MEMLEDGER_PYTHON")
    try:
        if not os.path.isfile(options.trace):
            raise FileNotFoundError(f"{options.trace}: no such file")
        export([options.trace], options.output, [options.table] if options.table else None,
               force=options.force, salvage=options.salvage)
    except (OSError, TraceError, ValueError) as error:
        sys.exit(f"memledger: {error}")
    print(options.output)
