#!/usr/bin/env python3
# test_job_tables.py: the traces of a job as Parquet, by the command, and in DuckDB, by
# memledger.ranks: the rows of the traces, and the figures of `memledger ranks`.
#
# pyarrow and DuckDB are the real ones, from PyPI.
#
# SPDX-License-Identifier: Apache-2.0
import functools
import json
import os
import re

import harness
import pypi
from harness import MEMLEDGER, check, contains, equal, plain, program, report, run

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ["TEST_SOURCE"]
REQUIREMENTS = os.path.join(SOURCE, "scripts", "requirements-arrow.txt")
WORLD = 5
LAYERS = (3, 4, 3)  # of ranks 0 to 2; 3 and 4 are in one trace


@functools.cache
def python():
    return os.path.join(pypi.environment(REQUIREMENTS, os.path.join(os.environ["PYPI_FOLDER"], "arrow")),
                        "bin", "python")


def environment(**more):
    return os.environ | {"PYTHONPATH": os.environ["TEST_PACKAGE"], "MEMLEDGER_COMMAND": MEMLEDGER,
                         "MEMLEDGER_PYTHON": python()} | more


def make_job(folder):
    """Three ranks with a trace each, and a node with two and their launcher in one."""
    os.mkdir(folder)
    job = os.environ | {"SLURM_JOB_ID": "77", "SLURM_NTASKS": str(WORLD)}
    for rank, layers in enumerate(LAYERS):
        equal(run(program("trains"), layers, trace=f"{folder}/%r.mled", options=["-q"],
                  env=job | {"SLURM_PROCID": str(rank)}).code, 0, "exit code")
    one = f"SLURM_PROCID=$i {program('trains')} 3"
    equal(run("/bin/sh", "-c", f"for i in 3 4; do {one}; done; true", trace=f"{folder}/node.mled",
              options=["-q", "--heap"], env=job).code, 0, "exit code")


def export(*words, **more):
    return plain(MEMLEDGER, "export", "--format", "parquet", *words, env=environment(**more))


def test_job():
    make_job("traces")
    for name in ("0", "1", "2", "node"):
        done = export("-o", "tables", f"traces/{name}.mled")
        equal((done.returncode, done.stdout), (0, "tables\n"), "export", done.stderr)
    jobs = sorted(os.listdir("tables/allocations/job=77"))
    equal(jobs, ["rank=0", "rank=1", "rank=2", "rank=3", "rank=4", "rank=__HIVE_DEFAULT_PARTITION__"],
          "folders")
    done = plain(python(), os.path.join(HERE, "job_tables.py"), "traces", "tables", env=environment())
    equal(done.returncode, 0, "exit code of job_tables.py", done.stderr)
    found = json.loads(done.stdout)
    check(all(rows > 50 for rows in found["rows"]), "rows of the traces", found["rows"])
    same_as_the_report(found["answers"], report("ranks", "traces"))
    counts(found["answers"])
    contains(found["errors"]["exists"], "overwrite it with force", "an existing file")
    contains(found["errors"]["table"], "there is no table 'thread'", "a wrong table")
    contains(found["errors"]["engine"], "'duckdb' and 'spark'", "a wrong engine")


def same_as_the_report(answers, ranks):
    peaks = {row["rank"]: row for row in ranks["ranks"]}
    equal([(row["rank"], row["peak_bytes"], row["device"], row["steps"]) for row in answers["peaks"]],
          [(rank, peaks[rank]["peak_bytes"], peaks[rank]["device"], peaks[rank]["steps"])
           for rank in range(WORLD)], "peaks")
    equal([f["text"] for f in answers["outliers"]], [f["text"] for f in ranks["findings"]], "findings")
    names = {row["rank"]: os.path.basename(row["file"]) for row in answers["report"]["ranks"]}
    equal(names, {0: "0.mled", 1: "1.mled", 2: "2.mled", 3: "node.mled", 4: "node.mled"}, "names")
    for rank in range(WORLD):
        equal(sum(row["bytes"] for row in answers["categories"] if row["rank"] == rank),
              peaks[rank]["peak_bytes"], f"categories of rank {rank}")


def counts(answers):
    for rank in range(len(LAYERS)):
        summary = report("summary", f"traces/{rank}.mled")
        rows = [row for row in answers["allocated"] if row["rank"] == rank]
        equal(sum(row["allocations"] for row in rows), summary["allocations"], "allocations")
        equal(sum(row["bytes"] for row in rows), summary["allocated_bytes"], "bytes")
    equal(sum(row["bytes"] for row in answers["churn"]),
          sum(row["bytes"] for row in answers["allocated"]), "bytes of all modules")
    equal([row["rank"] for row in answers["growth"]], list(range(WORLD)), "growth")


def test_page():
    """The Python of the page works as it is written there."""
    make_job("traces")
    with open(os.path.join(SOURCE, "docs", "ranks-python.md")) as f:
        code = "\n".join(re.findall(r"^```python\n(.*?)^```", f.read(), re.M | re.S))
    done = plain(python(), "-c", code + "\nassert top.num_rows > 0", env=environment())
    equal(done.returncode, 0, "exit code of the page's code", done.stderr)


def test_refusals():
    """Each names the way out."""
    make_job("traces")
    done = export("traces/0.mled", MEMLEDGER_PYTHON="/usr/bin/no-python")
    check(done.returncode == 1, "no interpreter")
    contains(done.stderr, "MEMLEDGER_PYTHON", "no interpreter")
    bare = os.path.join(os.getcwd(), "bare")
    equal(plain("/usr/bin/python3", "-m", "venv", "--without-pip", bare).returncode, 0, "venv")
    done = export("traces/0.mled", MEMLEDGER_PYTHON=f"{bare}/bin/python")
    check(done.returncode == 1, "no pyarrow")
    contains(done.stderr, "pip install 'memledger[parquet]'", "no pyarrow")
    equal(export("-o", "out", "traces/0.mled").returncode, 0, "exit code")
    done = export("-o", "out", "traces/0.mled")
    contains(done.stderr, "exists; overwrite it with force (-f)", "the second time")
    equal(export("-f", "-o", "out", "traces/0.mled").returncode, 0, "exit code with -f")
    contains(export("--table", "thread", "-o", "out", "traces/0.mled").stderr, "no table 'thread'", "table")
    with open("bad.mled", "wb") as f:
        f.write(b"no trace" * 100)
    done = export("-o", "out", "bad.mled")
    check(done.returncode == 1 and "Traceback" not in done.stderr, "a file that is no trace", done.stderr)
    contains(done.stderr, "bad.mled", "a file that is no trace")


harness.main(globals())
