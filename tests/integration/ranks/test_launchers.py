#!/usr/bin/env python3
# test_launchers.py: each process of a job records its place, whichever launcher started it: by the
# variables that launchers set, and under a real mpirun, with one command in front of it or one for
# each rank.
#
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import tempfile

import harness
from harness import MEMLEDGER, check, equal, plain, program, report, run

# Variables of rank 5 of 8, on the second of two nodes, and the place that they say.
LAUNCHERS = {
    "torchrun": ({"RANK": 5, "WORLD_SIZE": 8, "LOCAL_RANK": 1, "LOCAL_WORLD_SIZE": 4, "GROUP_RANK": 1,
                  "TORCHELASTIC_RUN_ID": "j1"},
                 "rank=5 world_size=8 local_rank=1 local_world_size=4 node=1 launcher=torchrun job=j1"),
    "deepspeed": ({"RANK": 5, "WORLD_SIZE": 8, "LOCAL_RANK": 1, "LOCAL_SIZE": 4, "CROSS_RANK": 1, "CROSS_SIZE": 2},
                  "rank=5 world_size=8 local_rank=1 local_world_size=4 node=1 launcher=deepspeed"),
    "kubeflow": ({"RANK": 5, "WORLD_SIZE": 8}, "rank=5 world_size=8 launcher=env"),
    "slurm": ({"SLURM_PROCID": 5, "SLURM_NTASKS": 8, "SLURM_LOCALID": 1, "SLURM_NODEID": 1, "SLURM_JOB_ID": 4711},
              "rank=5 world_size=8 local_rank=1 node=1 launcher=slurm job=4711"),
    "slurm and torchrun": ({"SLURM_PROCID": 1, "SLURM_NTASKS": 2, "SLURM_JOB_ID": 4711, "RANK": 5, "WORLD_SIZE": 8,
                            "LOCAL_RANK": 1, "TORCHELASTIC_RUN_ID": "none"},
                           "rank=5 world_size=8 local_rank=1 launcher=torchrun job=4711"),
    "openmpi": ({"OMPI_COMM_WORLD_RANK": 5, "OMPI_COMM_WORLD_SIZE": 8, "OMPI_COMM_WORLD_LOCAL_RANK": 1,
                 "OMPI_COMM_WORLD_LOCAL_SIZE": 4, "PMIX_RANK": 5},
                "rank=5 world_size=8 local_rank=1 local_world_size=4 launcher=openmpi"),
    "mpich": ({"PMI_RANK": 5, "PMI_SIZE": 8, "MPI_LOCALRANKID": 1, "MPI_LOCALNRANKS": 4},
              "rank=5 world_size=8 local_rank=1 local_world_size=4 launcher=mpich"),
    "horovod": ({"HOROVOD_RANK": 5, "HOROVOD_SIZE": 8, "HOROVOD_LOCAL_RANK": 1, "HOROVOD_LOCAL_SIZE": 4,
                 "HOROVOD_CROSS_RANK": 1, "OMPI_COMM_WORLD_RANK": 5},
                "rank=5 world_size=8 local_rank=1 local_world_size=4 node=1 launcher=horovod"),
    "dmlc": ({"DMLC_ROLE": "worker", "DMLC_TASK_ID": 5, "DMLC_NUM_WORKER": 8},
             "rank=5 world_size=8 launcher=dmlc"),
    "jax": ({"JAX_PROCESS_ID": 5, "JAX_NUM_PROCESSES": 8}, "rank=5 world_size=8 launcher=jax"),
    "a worker of Ray without a job": ({"RANK": 5, "WORLD_SIZE": 8, "RAY_JOB_ID": "ffffffff"},
                                      "rank=5 world_size=8 launcher=env"),
    "kubernetes": ({"JOB_COMPLETION_INDEX": 5, "MEMLEDGER_JOB": "pods", "MEMLEDGER_WORLD_SIZE": 8},
                   "rank=5 world_size=8 launcher=kubernetes job=pods"),
}
OF_LAUNCHERS = {name for variables, _ in LAUNCHERS.values() for name in variables}
PLAIN = {name: value for name, value in os.environ.items() if name not in OF_LAUNCHERS}


def places(trace):
    """The rows of its processes: rank and place."""
    return report("sql", trace, "select rank, place from processes order by rank")["rows"]


def test_variables():
    for name, (variables, place) in LAUNCHERS.items():
        env = PLAIN | {key: str(value) for key, value in variables.items()}
        done = run(program("trains"), 2, trace="%r.mled", options=["-qf"], env=env)
        equal(done.code, 0, f"exit code under {name}", done)
        equal(places("5.mled"), [[5, place]], f"the place under {name}")


def test_server_of_dmlc():
    """Servers have numbers of their own."""
    env = PLAIN | {"DMLC_ROLE": "server", "DMLC_TASK_ID": "5", "DMLC_NUM_WORKER": "8"}
    equal(run(program("trains"), 2, options=["-q"], env=env).code, 0, "exit code")
    equal(places("t.mled"), [[None, None]], "the place of a server")


def mpirun(*words):
    """Three ranks; root and few processors are fine."""
    if not shutil.which("mpirun"):
        raise harness.Skip("there is no mpirun", machine=True)
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader", "-n", "3", *words]


def check_job(found):
    equal((found["world_size"], found["present"], found["findings"]), (3, 3, []), "the job")
    equal([(row["rank"], row["steps"]) for row in found["ranks"]], [(0, 3), (1, 3), (2, 3)], "ranks")
    for row in found["ranks"]:
        for part in (f"rank={row['rank']}", f"local_rank={row['rank']}", "world_size=3", "local_world_size=3",
                     "launcher=openmpi", "job="):
            check(part in row["place"], f"place lacks {part}", row["place"])


def test_mpirun_inside():
    """A recording for each rank."""
    with tempfile.TemporaryDirectory() as folder:
        done = plain(*mpirun(MEMLEDGER, "run", "-q", "-o", f"{folder}/%r.mled", "--", program("trains"), "2"), env=PLAIN)
        equal(done.returncode, 0, "exit code of mpirun", done.stderr)
        equal(sorted(os.listdir(folder)), sorted(f"{n}.mled{end}" for n in range(3) for end in ("", ".digest")), "files")
        check_job(report("ranks", folder))


def test_mpirun_outside():
    """One recording of all ranks; mpirun itself has none."""
    done = run(*mpirun(program("trains"), "2"), options=["-q"], env=PLAIN)
    equal(done.code, 0, "exit code of mpirun", done)
    check_job(report("ranks", "t.mled"))


if __name__ == "__main__":
    harness.main(globals())
