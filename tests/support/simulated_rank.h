/* simulated_rank.h: the digest of one rank of a job that never ran, to test `memledger ranks` with
 * more ranks than a machine can start.
 *
 * The model has layers of two modules, an embedding before them and a head after them. Each stage
 * of a pipeline holds its part of the layers, and the earlier a stage, the more micro-batches it
 * has activations of. Layers may have experts, whose activations vary by 15 % from rank to rank and
 * from step to step. All other sizes vary a little from rank to rank and from step to step. Equal
 * seeds give equal digests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SIMULATED_RANK_H
#define ML_SIMULATED_RANK_H

#include "digest.h"

enum fault {
    FAULT_NONE,
    FAULT_LONGER,    /* half as much again of inputs and activations */
    FAULT_LEAK,      /* 8 MiB a step more of activations in one module */
    FAULT_KILLED,    /* by SIGKILL after 60 % of the steps */
    FAULT_MISSING,   /* no digest */
    FAULT_OOM,       /* a refused allocation after 60 % of the steps, exit code 1 */
    FAULT_MODULE,    /* one more module */
    FAULT_UNSHARDED, /* eight times the optimizer state */
    FAULT_GATHERED,  /* gathered weights that stay */
    FAULT_STOPPED,   /* by SIGTERM after 60 % of the steps */
    FAULTS,
};

struct simulated_job {
    uint32_t ranks, steps, layers;
    uint32_t stages;    /* of the pipeline; 1: none */
    bool unnamed;       /* no coordinates in the places of the ranks */
    bool uneven;        /* the first and the last stage have half as many layers */
    bool experts;       /* activations of experts follow the tokens that a router sends there */
    bool named_experts; /* the same, and experts have other names on each of four ranks */
    double noise;       /* the standard deviation of a size, as a share of it */
    uint64_t seed;
};

/* @ret  to be released, after a failure too
 * @return 0 or -ENOMEM */
int simulate_rank(const struct simulated_job *job, uint32_t rank, enum fault fault,
                  struct ml_digest *ret);

#endif
