#!/usr/bin/env python3
# test_read_arrow.py: pyarrow, polars, pandas and DuckDB import the tables of a trace directly,
# and find the figures of `memledger summary` in them.
#
# The real ones, from PyPI.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import json
import os
import shutil

import harness
import pypi
from harness import check, contains, equal, plain, report, run

HERE = os.path.dirname(os.path.abspath(__file__))
REQUIREMENTS = os.path.join(os.environ["TEST_SOURCE"], "scripts", "requirements-arrow.txt")
CORPUS = sorted(glob.glob(os.path.join(os.environ["TEST_TRACES"], "*.mled")))
READERS = ("pyarrow", "polars", "pandas", "duckdb")


def read(*traces):
    folder = pypi.environment(REQUIREMENTS, os.path.join(os.environ["PYPI_FOLDER"], "arrow"))
    done = plain(os.path.join(folder, "bin", "python"), os.path.join(HERE, "read_arrow.py"),
                 *traces, env=os.environ | {"PYTHONPATH": os.environ["TEST_PACKAGE"]})
    equal(done.returncode, 0, f"exit code for {traces}", done.stderr)
    return json.loads(done.stdout)


def same_as_the_summary(trace, found):
    summary = report("summary", trace)
    wanted = [summary[key] for key in ("allocations", "allocated_bytes", "live_bytes")]
    for reader in READERS:
        equal(found[reader], wanted, f"allocations, bytes and bytes left by {reader}")


def test_a_training_run():
    trace = run(harness.program("training_like")).trace
    found = read(trace)
    same_as_the_summary(trace, found)
    equal(found["rows"]["labels"], 1, "labels")


def test_many_batches():
    """Names come up late: dictionaries differ from batch to batch."""
    script = "for i in range(60000): a = bytearray(1000 + i % 100)"
    trace = run("/usr/bin/python3", "-S", "-c", script, options=["--heap=all"]).trace
    damaged = shutil.copy(trace, "damaged.mled")
    with open(damaged, "r+b") as f:
        f.seek(os.path.getsize(damaged) // 2)
        f.write(b"\0damage\0")
    found = read(trace, damaged)
    same_as_the_summary(trace, found)
    equal(found["first_batch"], 65536, "rows of a batch")
    contains(found["damaged"], "damaged.mled", "the reason that pyarrow gives")
    check(found["texts"] > 1, "one space only")


def test_stored_traces():
    for path in CORPUS:
        found = read(path)
        # Absurd sizes: DuckDB adds up beyond 64 bits, the others come round.
        rows = {tuple(value % 2**64 for value in found[reader]) for reader in READERS}
        equal(len(rows), 1, f"answers on {path}: {found}")


harness.main(globals())
