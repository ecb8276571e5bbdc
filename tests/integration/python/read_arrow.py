# read_arrow.py TRACE: prints a trace's tables as read by pyarrow, polars, pandas and DuckDB, as
# JSON. test_read_arrow.py runs it if these are installed.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

import duckdb
import memledger
import pandas
import polars
import pyarrow
import pyarrow.compute as compute

trace = memledger.read(sys.argv[1])


def of_pyarrow():
    table = pyarrow.table(trace.allocations)
    table.validate(full=True)
    counted = table.filter(table["counted"])
    left = counted.filter(counted["free_ns"].is_null())
    return [counted.num_rows, compute.sum(counted["bytes"]).as_py() or 0,
            compute.sum(left["bytes"]).as_py() or 0]


def of_polars():
    table = polars.DataFrame(trace.allocations).filter(polars.col("counted"))
    return [table.height, table["bytes"].sum(),
            table.filter(polars.col("free_ns").is_null())["bytes"].sum()]


def of_pandas():
    table = pyarrow.table(trace.allocations).to_pandas()
    if hasattr(pandas.DataFrame, "from_arrow"):
        table = pandas.DataFrame.from_arrow(trace.allocations)
    table = table[table["counted"]]
    return [len(table), int(table["bytes"].sum()),
            int(table[table["free_ns"].isna()]["bytes"].sum())]


def of_duckdb():
    allocations = trace.allocations  # noqa: F841: DuckDB finds it by its name
    return list(map(int, duckdb.sql(
        "select count(*), coalesce(sum(bytes), 0), "
        "coalesce(sum(bytes) filter (free_ns is null), 0) "
        "from allocations where counted").fetchone()))


def texts_by_all():
    """Rows by scope and category, however each of them keeps its texts."""
    arrow = pyarrow.table(trace.allocations)
    columns = [arrow[name].cast("string").to_pylist() for name in ("space", "category")]
    wanted = sorted(zip(*columns))
    frame = polars.DataFrame(trace.allocations)
    assert sorted(zip(frame["space"].cast(str), frame["category"].cast(str))) == wanted
    plain = trace.allocations.to_dict()
    assert sorted(zip(plain["space"], plain["category"])) == wanted
    return len(set(wanted))


def every_table():
    rows = {}
    for name, table in trace.tables.items():
        arrow = pyarrow.table(table)
        arrow.validate(full=True)
        assert arrow.schema == pyarrow.schema(table), name
        assert arrow.num_rows == len(table) == polars.DataFrame(table).height, name
        assert arrow.to_pylist() == list(table), name
        rows[name] = len(table)
    return rows


def early_release():
    """A reader that takes one batch and goes, the trace gone before it."""
    reader = pyarrow.RecordBatchReader.from_stream(memledger.read(sys.argv[1]).events)
    batch = reader.read_next_batch()
    del reader
    batch.validate(full=True)
    return batch.num_rows


def damaged():
    try:
        pyarrow.table(memledger.read(sys.argv[2]).events)
    except Exception as error:
        return str(error)
    return ""


print(json.dumps({
    "pyarrow": of_pyarrow(),
    "polars": of_polars(),
    "pandas": of_pandas(),
    "duckdb": of_duckdb(),
    "texts": texts_by_all(),
    "rows": every_table() if len(trace.events) < 10000 else {},
    "first_batch": early_release(),
    "damaged": damaged() if len(sys.argv) > 2 else None,
}))
