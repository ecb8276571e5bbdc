# SPDX-License-Identifier: Apache-2.0
"""ask_job.py duckdb|spark OUT TRACE...: asks questions of memledger.ranks. Writes the rows to OUT as
JSON, and prints seconds by question and the memory of this process.

QUESTIONS has the questions, separated by commas. For spark: SPARK_MASTER, SPARK_CORES, SPARK_WORKERS, and SPARK_TASKS_FILE,
a file for the question that is being answered and the share of its first stage that has ended."""
import json
import os
import resource
import sys
import threading
import time

import memledger.ranks


def spark_session():
    """One executor on each worker, with its share of the cores: each further executor is a Java virtual machine that
    compiles the same code again."""
    from pyspark.sql import SparkSession
    cores = int(os.environ["SPARK_CORES"])
    settings = {
        "spark.cores.max": str(cores),
        "spark.executor.cores": str(max(1, cores // int(os.environ["SPARK_WORKERS"]))),
        "spark.executor.memory": "768m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.network.timeout": "60s",
        "spark.executor.heartbeatInterval": "5s",
    }
    builder = SparkSession.builder.master(os.environ["SPARK_MASTER"]).appName("memledger")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def tell_progress(context, asked, path):
    """Writes the question and how much of the stage that reads the traces has ended, for a caller that wants to disturb
    it. @asked  a list whose last entry is the question"""
    tracker = context.statusTracker()
    while True:
        question = asked[-1]
        stages = filter(None, map(tracker.getStageInfo, tracker.getActiveStageIds()))
        share = max((stage.numCompletedTasks / stage.numTasks for stage in stages), default=0)
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write(f"{question} {share}")
        os.replace(path + ".new", path)
        time.sleep(0.1)


def main():
    engine, out, *traces = sys.argv[1:]
    session = spark_session() if engine == "spark" else None
    asked = ["none"]
    if session and os.environ.get("SPARK_TASKS_FILE"):
        threading.Thread(target=tell_progress, daemon=True,
                         args=(session.sparkContext, asked, os.environ["SPARK_TASKS_FILE"])).start()
    answers, seconds = {}, {}
    with memledger.ranks.open(traces, engine=engine, session=session) as job:
        for name in os.environ["QUESTIONS"].split(","):
            asked.append(name)
            start = time.monotonic()
            answers[name] = getattr(job, name)().to_pylist()
            seconds[name] = time.monotonic() - start
    with open(out, "w", encoding="utf-8") as f:
        json.dump(answers, f)
    print(json.dumps({"seconds": seconds, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                      "sees_traces": os.path.exists(traces[0])}))


main()
