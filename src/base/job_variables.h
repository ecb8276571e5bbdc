/* job_variables.h: the environment variables by which launchers tell a process its place in a
 * distributed job. The recorder reads them in each process, the command for the name of a trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_JOB_VARIABLES_H
#define ML_JOB_VARIABLES_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"

/* The variables of one launcher; NULL: it has none for this. Values of two launchers are never
 * mixed: under Slurm, torchrun's WORLD_SIZE counts processes and SLURM_NTASKS counts nodes. */
struct ml_job_launcher {
    const char *name;
    const char *rank;
    const char *world_size;
    const char *local_rank;
    const char *local_world_size;
    const char *node;
    const char *condition; /* a variable that must be set as well; NULL: none */
    const char *value;     /* that it must have; NULL: any */
};

/* In the order of trust: a launcher of nodes comes after one of processes, which it may start. */
static const struct ml_job_launcher ml_job_launchers[] = {
    {"deepspeed", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE",
     NULL},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "LOCAL_RANK",
     NULL},
    {"horovod", "HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE",
     "HOROVOD_CROSS_RANK", NULL, NULL},
    /* MXNet's: servers and the scheduler have numbers of their own. */
    {"dmlc", "DMLC_TASK_ID", "DMLC_NUM_WORKER", NULL, NULL, NULL, "DMLC_ROLE", "worker"},
    {"jax", "JAX_PROCESS_ID", "JAX_NUM_PROCESSES", NULL, NULL, NULL, NULL, NULL},
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", NULL, NULL, NULL},
    {"mvapich", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
     "MV2_COMM_WORLD_LOCAL_SIZE", NULL, NULL, NULL},
    {"mpich", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", NULL, NULL, NULL},
    {"pmix", "PMIX_RANK", NULL, NULL, NULL, NULL, NULL, NULL},
    /* PyTorch's own names, set by hand or, for each pod, by Kubeflow, which may start torchrun. */
    {"env", "RANK", "WORLD_SIZE", NULL, NULL, NULL, NULL, NULL},
    {"slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", NULL, "SLURM_NODEID", NULL, NULL},
    /* Kubernetes does not tell a pod how many there are. */
    {"kubernetes", "JOB_COMPLETION_INDEX", "MEMLEDGER_WORLD_SIZE", NULL, NULL, NULL, NULL, NULL},
};

/* The job's own name, the first that is set. */
static const char *const ml_job_names[] = {"MEMLEDGER_JOB", "SLURM_JOB_ID",        "PBS_JOBID",
                                           "LSB_JOBID",     "TORCHELASTIC_RUN_ID", "RAY_JOB_ID",
                                           "PMIX_NAMESPACE"};

static inline int ml_job_launcher_applies(const struct ml_job_launcher *launcher)
{
    const char *found = launcher->condition ? getenv(launcher->condition) : "";

    return found && (!launcher->value || strcmp(found, launcher->value) == 0);
}

/* The launcher whose rank is set and is a number, else NULL. */
static inline const struct ml_job_launcher *ml_job_launcher(void)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(ml_job_launchers); i++) {
        const char *rank = getenv(ml_job_launchers[i].rank);

        if (rank && *rank >= '0' && *rank <= '9' && ml_job_launcher_applies(&ml_job_launchers[i]))
            return &ml_job_launchers[i];
    }
    return NULL;
}

/* NULL: no job. torchrun calls a job without a name "none"; a worker that Ray started before there
 * was a job for it has "ffffffff". */
static inline const char *ml_job_name(void)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(ml_job_names); i++) {
        const char *name = getenv(ml_job_names[i]);

        if (name && *name && strcmp(name, "none") != 0 && strcmp(name, "ffffffff") != 0)
            return name;
    }
    return NULL;
}

#endif
