#!/usr/bin/env python3
# test_rank_report.py: `memledger ranks` names the ranks of a real training that differ, and why: one
# with longer sequences, one that keeps its outputs. One command in front of all ranks, and one for
# each of them; missing and killed ranks.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import tempfile

import harness
from harness import check, equal, program, report, run
from torch_support import PYTHON, need_torch

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "rank_training.py")


def findings(*traces):
    return [(f["kind"], f["cause"], f["ranks"], f.get("category"), f["module"])
            for f in report("ranks", *traces)["findings"]]


def test_training():
    need_torch()
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "all.mled")
        result = run(PYTHON, os.path.join(HERE, "start_four.py"), PROGRAM, "--long", "1", "--leak",
                     "2", trace=trace, options=["-qf", "--sample-hz", "0"],
                     env={**os.environ, "OMP_NUM_THREADS": "1"})
        equal(result.code, 0, "exit code", result)
        check(os.path.exists(trace + ".digest"), "run writes the digest of a job")
        found = report("ranks", folder)
        equal((found["job"], found["world_size"], found["present"]), ("four", 4, 4), "the job")
        kinds = {f["kind"]: f for f in found["findings"]}
        equal(sorted(kinds), ["above", "leaks"], "findings", found["findings"])
        equal((kinds["leaks"]["ranks"], kinds["leaks"]["category"], kinds["leaks"]["module"]),
              ([2], "activation", "head"), "the leak")
        equal((kinds["above"]["ranks"], kinds["above"]["cause"]), ([1], "longer_input"),
              "the outlier")
        check(2.5 < kinds["above"]["ratio"] < 3.6, "three times the activations",
              kinds["above"]["ratio"])
        for row in found["ranks"]:
            equal(row["steps"], 10, "steps of each rank")
        os.remove(trace)  # the digest alone is enough
        equal(report("ranks", folder)["findings"], found["findings"], "findings of the digest")


def test_groups():
    """Coordinates of Megatron and DeepSpeed, the job of Ray."""
    need_torch()
    for words, place in [(["megatron"], "rank=0 world_size=1 dp=3 tp=1 pp=2"), (["deepspeed"], "rank=0 world_size=1 ep=2"),
                         (["ray"], "rank=0 world_size=1 launcher=ray job=01000000")]:
        result = run(PYTHON, os.path.join(HERE, "place_modules.py"), *words, options=["-qf", "--sample-hz", "0"])
        equal(result.code, 0, "exit code", result)
        equal(report("sql", result.trace, "select place from processes where place is not null")["rows"], [[place]],
              f"the place with {words}")


def test_jax():
    """jax.distributed.initialize says the number of the process."""
    result = run(PYTHON, os.path.join(HERE, "jax_process.py"), "5", "8", options=["-qf", "--sample-hz", "0"],
                 env={**os.environ, "MEMLEDGER_JOB": "pods"})
    equal(result.code, 0, "exit code", result)
    equal(report("sql", result.trace, "select rank, place from processes")["rows"],
          [[5, "job=pods rank=5 world_size=8"]], "the place of a process of JAX")


def record(folder, rank, command, size=4):
    return run(*command, trace=os.path.join(folder, "%r.mled"), options=["-qf"],
               env={**os.environ, "SLURM_PROCID": str(rank), "SLURM_NTASKS": str(size),
                    "SLURM_JOB_ID": "77", "SLURM_NODEID": "0"})


def test_one_for_each():
    """Slurm's variables, one command for each rank: one is missing, one is killed."""
    with tempfile.TemporaryDirectory() as folder:
        for rank in (0, 1):
            equal(record(folder, rank, [program("trains")]).code, 0, "exit code")
        check(record(folder, 3, ["/bin/sh", "-c", "kill -9 $$"]).code != 0, "killed")
        equal(sorted(name for name in os.listdir(folder) if name.endswith(".mled")),
              ["0.mled", "1.mled", "3.mled"], "names of traces")
        found = report("ranks", folder)
        equal((found["job"], found["world_size"], found["present"]), ("77", 4, 3), "the job")
        kinds = [(f["kind"], f["ranks"]) for f in found["findings"]]
        equal(kinds, [("killed", [3]), ("missing", [2])], "findings")


def test_stale_digest():
    """A digest of another trace of that name is made again."""
    with tempfile.TemporaryDirectory() as folder:
        equal(record(folder, 0, [program("trains")], 1).code, 0, "exit code")
        trace = os.path.join(folder, "0.mled")
        equal(findings(folder), [], "findings")
        shutil.copy(trace + ".digest", trace + ".kept")
        with open(trace + ".digest", "r+b") as digest:
            digest.truncate(100)
        equal(findings(folder), [], "findings of a damaged digest")
        with open(trace + ".digest", "rb") as new, open(trace + ".kept", "rb") as old:
            equal(new.read(), old.read(), "the digest is made again, and the same")


if __name__ == "__main__":
    harness.main(globals())
