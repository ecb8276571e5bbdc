# job_tables.py TRACES TABLES: answers of memledger.ranks on a job and on its export, as JSON.
# test_job_tables.py runs it where pyarrow and DuckDB are installed.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys

import memledger
import memledger.ranks
import pyarrow.dataset

TRACES, TABLES = sys.argv[1:3]
QUESTIONS = ("peaks", "categories", "modules", "steps", "growth", "ledger", "allocated", "churn")


def same_rows(trace):
    """Parquet has the rows of memledger.read. @return how many"""
    number = os.path.basename(trace).split(".")[0]
    count = 0
    for name, table in memledger.read(trace).tables.items():
        rows = [{key: value for key, value in row.items() if key != "rank"} for row in table]
        count += len(rows)
        if rows:
            stored = pyarrow.dataset.dataset(f"{TABLES}/{name}/job=77/rank={number}", format="parquet")
            assert stored.to_table().to_pylist() == rows, (trace, name)
    return count


def answers(job):
    found = {name: getattr(job, name)().to_pylist() for name in QUESTIONS}
    found["sql"] = job.sql("select rank, count(*) as n, count(distinct module) as modules, "
                           "min(bytes) as least from allocations "
                           "group by rank order by rank nulls last").to_pylist()
    return found


def of_traces_and_tables():
    """The same answers from traces and from Parquet. @return those of the traces"""
    with memledger.ranks.open(TRACES) as job, memledger.ranks.open(TABLES) as stored:
        found = answers(job)
        assert answers(stored) == found
        found["outliers"] = job.outliers().to_pylist()
        found["report"] = job.report()
    return found


def errors():
    said = {}
    for name, call in {
            "exists": lambda: memledger.ranks.export(TRACES, TABLES, ["threads"]),
            "table": lambda: memledger.ranks.export(TRACES, TABLES, ["thread"]),
            "engine": lambda: memledger.ranks.open(TRACES, engine="dask"),
            "nothing": lambda: memledger.ranks.open("/usr/bin/no-traces")}.items():
        try:
            call()
        except (OSError, ValueError) as error:
            said[name] = str(error)
    return said


traces = sorted(os.path.join(TRACES, name) for name in os.listdir(TRACES) if name.endswith(".mled"))
print(json.dumps({"rows": [same_rows(trace) for trace in traces if "node" not in trace],
                  "answers": of_traces_and_tables(), "errors": errors()}))
