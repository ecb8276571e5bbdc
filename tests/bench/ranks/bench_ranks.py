#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ask questions of the traces of a whole job with DuckDB and with a Spark cluster on loopback.

Records RANKS programs, asks every question of memledger.ranks with DuckDB and with Spark on 1, 2 and 4
executor cores, kills a worker in the middle, and compares all answers row by row. Beside it the
allocations of a few ranks in pandas. The exit status is 1 if rows differ.

Each asking process has the wall time and CPU time of itself and, for Spark, of the cluster. A line tells how much
CPU time the rest of the machine had meanwhile, the driver's Java included: wall times say something only if that is
little."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from spark_cluster import Cluster

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
PYTHON = os.environ["SPARK_PYTHON"]
MEMLEDGER = os.environ["MEMLEDGER"]
EVENTS_A_STEP = 3331
WORKERS = 2
ALL = ("peaks", "categories", "modules", "steps", "growth", "ledger", "outliers", "allocated", "churn")
ENVIRONMENT = {"PYTHONPATH": str(BUILD / "python"), "MEMLEDGER_COMMAND": MEMLEDGER, "PYSPARK_PYTHON": PYTHON}


def record(folder, ranks, events):
    """One trace for each rank, as Slurm would start them."""
    os.makedirs(folder)
    program = BUILD / "tests/bench/bench_training"
    for rank in range(ranks):
        steps = events // EVENTS_A_STEP + (rank % 7 == 3)
        subprocess.run([MEMLEDGER, "run", "-q", "--checkpoints=never", "--sample-hz=0", "-o", f"{folder}/%r.mled", "--",
                        program, "--steps", str(steps)], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"SLURM_PROCID": str(rank), "SLURM_NTASKS": str(ranks),
                                         "SLURM_JOB_ID": "bench", "SLURM_NODEID": str(rank // 8)})
    return [f"{folder}/{rank}.mled" for rank in range(ranks)]


def cpu_of_group(pid):
    """Seconds of CPU of all processes in a session, and of those that they waited for."""
    total = 0
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split() if entry.name.isdigit() else []
        except OSError:
            continue
        if words and int(words[3]) == pid:
            total += sum(map(int, words[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def machine_cpu():
    """Seconds of CPU that all programs have had, and seconds that the host of a virtual machine took."""
    with open("/proc/stat", encoding="utf-8") as f:
        user, nice, system, _, _, interrupts, soft, steal = map(int, f.readline().split()[1:9])
    tick = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + interrupts + soft) / tick, steal / tick


def ask(engine, out, traces, hidden=None, **more):
    """Starts ask_job.py. @hidden  a folder that the process shall not see"""
    line = [PYTHON, str(HERE / "ask_job.py"), engine, out, *traces]
    if hidden:
        line = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', hidden, *line]
    with open(out + ".err", "w", encoding="utf-8") as errors:
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=errors, text=True,
                                   env=os.environ | ENVIRONMENT | more, start_new_session=True)
    process.errors = out + ".err"
    return process


def finish(process):
    """@return what it printed"""
    out, _ = process.communicate()
    if process.returncode:
        with open(process.errors, encoding="utf-8") as f:
            raise RuntimeError(f"ask_job.py ended with {process.returncode}: {f.read()[-2000:]}")
    return json.loads(out.strip().splitlines()[-1])


def timed(process, start=None):
    """@start  when the process was started; None: now"""
    start, before = start or time.monotonic(), os.times()
    found = finish(process)
    after = os.times()
    found["wall_s"] = time.monotonic() - start
    found["cpu_s"] = after.children_user + after.children_system - before.children_user - before.children_system
    return found


def half_done(path, question):
    """Whether half of the tasks have ended that read the traces for this question."""
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as f:
        now, share = f.read().split()
    return now == question and 0.5 <= float(share) < 1


def on_spark(folder, traces, cores, kill_in=None):
    """@kill_in  the question in the middle of which a worker is killed"""
    out, tasks = f"{folder}/spark-{cores}-{kill_in}.json", f"{folder}/tasks-{cores}-{kill_in}"
    hidden = os.path.dirname(traces[0]) if os.geteuid() == 0 else None
    scratch = tempfile.mkdtemp(prefix="cluster-", dir=folder)
    with Cluster(PYTHON, scratch, workers=WORKERS, cores_each=2) as cluster:
        idle = sum(cpu_of_group(worker.pid) for worker in cluster.workers)
        busy, stolen = machine_cpu()
        start = time.monotonic()
        process = ask("spark", out, traces, hidden, SPARK_MASTER=cluster.address, SPARK_CORES=str(cores),
                      SPARK_WORKERS=str(WORKERS), SPARK_TASKS_FILE=tasks)
        killed = False
        while kill_in and not killed and process.poll() is None:
            time.sleep(0.1)
            if half_done(tasks, kill_in):
                cluster.kill(cluster.workers[1])
                killed = True
        found = timed(process, start)
        found["cluster_cpu_s"] = sum(cpu_of_group(worker.pid) for worker in cluster.workers) - idle
        found["killed"] = killed
        found["others_cpu_s"] = machine_cpu()[0] - busy - found["cluster_cpu_s"] - found["cpu_s"]
        found["stolen_s"] = machine_cpu()[1] - stolen
    return out, found


def in_pandas(folder, traces):
    files = []
    for n, trace in enumerate(traces):
        files.append(f"{folder}/{n}.json")
        subprocess.run([MEMLEDGER, "export", "--format", "json", "--table", "allocations", "-f", "-o", files[-1],
                        trace], check=True, stdout=subprocess.DEVNULL)
    process = subprocess.Popen([PYTHON, HERE / "load_pandas.py", *files], stdout=subprocess.PIPE, text=True)
    found = timed(process)
    found["json_bytes"] = sum(map(os.path.getsize, files))
    for file in files:
        os.remove(file)
    return found


def compare_pandas(folder, traces, counts):
    """Prints each, and what the last two imply for all ranks: these rarely fit into memory."""
    counts = sorted({min(count, len(traces)) for count in counts})
    line = "  pandas, %d ranks: %s, CPU %.1f s, %d MB, %d rows, JSON of %d MB"
    names = ("cpu_s", "peak_kib", "rows", "json_bytes")
    all_found = []
    for count in counts:
        found = in_pandas(folder, traces[:count])
        all_found.append([found[name] for name in names])
        cpu, peak, rows, size = all_found[-1]
        print(line % (count, "%.1f s" % found["seconds"], cpu, peak // 1024, rows, size // 1_000_000), flush=True)
    if len(counts) > 1 and counts[-1] < len(traces):
        more = (len(traces) - counts[-1]) / (counts[-1] - counts[-2])
        cpu, peak, rows, size = [last + more * (last - before) for before, last in zip(*all_found[-2:])]
        print(line % (len(traces), "extrapolated", cpu, peak // 1024, rows, size // 1_000_000), flush=True)


def compare(answers, reference):
    """@return questions whose rows differ, and the number of rows"""
    with open(answers, encoding="utf-8") as first, open(reference, encoding="utf-8") as second:
        found, wanted = json.load(first), json.load(second)
    return [name for name in found if found[name] != wanted[name]], sum(map(len, found.values()))


def show(name, found, cpu):
    parts = found["seconds"]
    heavy = parts.get("allocated", 0), parts.get("churn", 0)
    print("  %-34s %8.1f %8.1f %14.1f %10.1f %8.1f %9.0f" % (
        name, found["wall_s"], cpu, sum(parts.values()) - sum(heavy), *heavy, found["peak_kib"] / 1024), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--events", type=int, default=1_000_000, help="of each rank")
    parser.add_argument("--cores", type=int, action="append", help="of Spark's executors, each in turn (1, 2, 4)")
    parser.add_argument("--pandas-ranks", type=int, action="append", help="so many ranks in pandas (1, 4, 8)")
    parser.add_argument("--traces", help="a folder with the traces of an earlier run, or for this one")
    parser.add_argument("--part", choices=("duckdb", "spark", "killed", "pandas"), action="append")
    parser.add_argument("--kill-in", default="allocated", help="the question that a worker is killed in")
    parser.add_argument("--question", action="append", help="only this one; DuckDB is asked all")
    args = parser.parse_args()
    questions = args.question or ALL
    os.environ["QUESTIONS"] = ",".join(questions)
    parts = args.part or ["duckdb", "spark", "killed", "pandas"]
    differ = []
    with tempfile.TemporaryDirectory(prefix="memledger-") as folder:
        where = os.path.abspath(args.traces or f"{folder}/traces")
        traces = ([f"{where}/{rank}.mled" for rank in range(args.ranks)] if os.path.exists(where)
                  else record(where, args.ranks, args.events))
        print("%d ranks, %d MB of traces" % (args.ranks, sum(map(os.path.getsize, traces)) // 1_000_000))
        print("  %-34s %8s %8s %14s %10s %8s %9s" % ("", "wall s", "CPU s", "of digests, s", "allocated", "churn",
                                                  "asking MB"))
        reference = f"{where}.answers"
        if "duckdb" in parts:
            found = timed(ask("duckdb", reference, traces, QUESTIONS=",".join(ALL)))
            show("DuckDB", found, found["cpu_s"])
        runs = [(cores, None) for cores in args.cores or (1, 2, 4)] if "spark" in parts else []
        runs += [(2, args.kill_in)] if "killed" in parts else []
        for cores, kill_in in runs:
            out, found = on_spark(folder, traces, cores, kill_in)
            if kill_in and not found["killed"]:
                raise RuntimeError("the job ended before a worker was killed")
            name = f"Spark, {cores} cores" + (f", a worker killed in {kill_in}" if kill_in else "")
            show(name, found, found["cpu_s"] + found["cluster_cpu_s"])
            wrong, rows = compare(out, reference)
            print("    %d rows, %s; the driver %s the traces" % (
                rows, f"{wrong} DIFFER" if wrong else "all equal to DuckDB's",
                "sees" if found["sees_traces"] else "cannot see"))
            print("    CPU of the rest of the machine meanwhile: %.0f s; taken by its host: %.0f s" % (
                found["others_cpu_s"], found["stolen_s"]), flush=True)
            differ += wrong
        if "pandas" in parts:
            compare_pandas(folder, traces, args.pandas_ranks or (1, 4, 8))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
