# times.py: how long each job took: on this machine if it has run here, else on the one that wrote
# expected_times.txt.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os

from folders import SOURCE

TABLE = os.path.join(SOURCE, "tests", "suite", "expected_times.txt")
RESULTS = os.path.join(SOURCE, "build", "test-results.json")
UNKNOWN = (5.0, 2.5)
GROWTH = 1.1  # from one run to the next, at most

HEAD = """\
# The usual duration and CPU time of each job of `make test`, in seconds, on 2 cores. They decide what
# runs side by side and what is printed as the time left, not whether a test passes. `make test`
# replaces them by those of runs in the same clone; `tests/suite/run_tests.py --write-times`
# writes these here.
"""


def results():
    """Of the last run here."""
    try:
        with open(RESULTS, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return []


def read():
    """@return (folder, name) -> (seconds, cpu_seconds)"""
    times = {}
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                folder, name, seconds, cpu_seconds = line.split()
                times[folder, name] = float(seconds), float(cpu_seconds)
    for entry in results():
        if entry["result"] == "passed":
            times[entry["folder"], entry["name"]] = entry["seconds"], entry["cpu_seconds"]
    return times


def keep(jobs):
    """Shorter times count at once, longer ones slowly: beside other programs a test takes longer. Those
    that did not run this time keep what is known of them."""
    known = {(entry["folder"], entry["name"]): entry for entry in results()}
    for job in jobs:
        entry = {"folder": job.folder, "name": job.name, "result": job.result,
                 "seconds": round(job.seconds, 2), "cpu_seconds": round(job.cpu_seconds, 2)}
        before = known.get((job.folder, job.name))
        if before and before["result"] == "passed":
            if job.result != "passed":
                continue
            for time in ("seconds", "cpu_seconds"):
                entry[time] = min(entry[time], round(before[time] * GROWTH + 0.01, 2))
        known[job.folder, job.name] = entry
    os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
    partial = RESULTS + ".part"
    with open(partial, "w", encoding="utf-8") as file:
        json.dump(list(known.values()), file, indent=1)
    os.replace(partial, RESULTS)


def write_table():
    rows = sorted((e["folder"], e["name"], e["seconds"], e["cpu_seconds"])
                  for e in results() if e["result"] == "passed")
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(HEAD)
        for folder, name, seconds, cpu_seconds in rows:
            file.write(f"{folder} {name} {seconds:.1f} {cpu_seconds:.1f}\n")
