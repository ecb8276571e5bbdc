/* simulate_ranks.c: write the digests, or the traces, of a simulated job into a folder, one for
 * each rank.
 *
 *     simulate_ranks FOLDER RANKS STEPS LAYERS STAGES NOISE SEED [SHAPE...] [RANK[-RANK]=FAULT...]
 *     simulate_ranks FOLDER RANKS --from TRACE NOISE SEED [RANK[-RANK]=FAULT...]
 *
 * The first makes digests of a model of a transformer, the second traces from the recording of one
 * rank. Faults are the names below. Shapes: `unnamed` leaves the coordinates out of the places, the
 * first and last stage of an `uneven` pipeline have fewer layers, `experts` and `named-experts` add
 * experts (simulated_rank.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest_store.h"
#include "recorded_rank.h"
#include "simulated_rank.h"

#define RANKS_MOST (UINT32_C(1) << 20)

static const char *const fault_names[FAULTS] = {
    [FAULT_NONE] = "none",       [FAULT_LONGER] = "longer",       [FAULT_LEAK] = "leak",
    [FAULT_KILLED] = "killed",   [FAULT_MISSING] = "missing",     [FAULT_OOM] = "oom",
    [FAULT_MODULE] = "module",   [FAULT_UNSHARDED] = "unsharded", [FAULT_GATHERED] = "gathered",
    [FAULT_STOPPED] = "stopped",
};

/* @faults  by rank. @return whether the argument makes sense */
static bool plant(const char *argument, enum fault *faults, uint32_t ranks)
{
    unsigned first, last;
    char name[32];

    if (sscanf(argument, "%u-%u=%31s", &first, &last, name) != 3) {
        if (sscanf(argument, "%u=%31s", &first, name) != 2)
            return false;
        last = first;
    }
    for (int fault = 0; fault < FAULTS; fault++)
        if (strcmp(fault_names[fault], name) == 0 && first <= last && last < ranks) {
            for (unsigned rank = first; rank <= last; rank++)
                faults[rank] = (enum fault)fault;
            return true;
        }
    return false;
}

static bool shape(const char *argument, struct simulated_job *job)
{
    bool *known = strcmp(argument, "unnamed") == 0         ? &job->unnamed
                  : strcmp(argument, "uneven") == 0        ? &job->uneven
                  : strcmp(argument, "experts") == 0       ? &job->experts
                  : strcmp(argument, "named-experts") == 0 ? &job->named_experts
                                                           : NULL;

    if (known)
        *known = true;
    return known;
}

/* @at  the arguments after the numbers */
static bool read_faults(char **at, struct simulated_job *job, enum fault **ret_faults)
{
    if (job->ranks < 1 || job->ranks > RANKS_MOST)
        return false;
    *ret_faults = calloc(job->ranks, sizeof(**ret_faults));
    for (; *ret_faults && *at; at++)
        if (!shape(*at, job) && !plant(*at, *ret_faults, job->ranks))
            return false;
    return *ret_faults;
}

static bool read_arguments(char **argv, struct simulated_job *job, enum fault **ret_faults)
{
    job->ranks = (uint32_t)strtoul(argv[2], NULL, 10);
    job->steps = (uint32_t)strtoul(argv[3], NULL, 10);
    job->layers = (uint32_t)strtoul(argv[4], NULL, 10);
    job->stages = (uint32_t)strtoul(argv[5], NULL, 10);
    job->noise = strtod(argv[6], NULL);
    job->seed = strtoull(argv[7], NULL, 10);
    if (job->steps < 2 || job->stages < 1 || job->ranks % job->stages || job->layers < job->stages)
        return false;
    return read_faults(argv + 8, job, ret_faults);
}

/* The second form. */
static int simulate_from_trace(char **argv)
{
    struct simulated_job job = {.ranks = (uint32_t)strtoul(argv[2], NULL, 10)};
    struct ml_error err = {.text = "wrong arguments"};
    struct recording recording = {0};
    enum fault *faults = NULL;
    char path[4096];
    int r = -1;

    job.noise = strtod(argv[5], NULL);
    job.seed = strtoull(argv[6], NULL, 10);
    if (read_faults(argv + 7, &job, &faults))
        r = recording_open(&recording, argv[4], &err);
    for (uint32_t rank = 0; r == 0 && rank < job.ranks; rank++) {
        snprintf(path, sizeof(path), "%s/%u.mled", argv[1], (unsigned)rank);
        if (faults[rank] != FAULT_MISSING)
            r = recorded_rank(&recording, &job, rank, faults[rank], path, &err);
    }
    if (r < 0)
        fprintf(stderr, "simulate_ranks: %s\n", err.text);
    recording_close(&recording);
    free(faults);
    return r < 0 ? 1 : 0;
}

static int write_rank(const struct simulated_job *job, const char *folder, uint32_t rank,
                      enum fault fault)
{
    struct ml_digest digest;
    struct ml_error err = {.text = "out of memory"};
    char path[4096];
    int r = simulate_rank(job, rank, fault, &digest);

    snprintf(path, sizeof(path), "%s/%u.mled" ML_DIGEST_SUFFIX, folder, (unsigned)rank);
    if (r == 0)
        r = ml_digest_store_write(&digest, path, true, &err);
    if (r < 0)
        fprintf(stderr, "simulate_ranks: %s\n", err.text);
    ml_digest_release(&digest);
    return r;
}

int main(int argc, char **argv)
{
    struct simulated_job job = {0};
    enum fault *faults = NULL;
    int r = 0;

    if (argc >= 7 && strcmp(argv[3], "--from") == 0)
        return simulate_from_trace(argv);
    if (argc < 8 || !read_arguments(argv, &job, &faults)) {
        fprintf(stderr, "usage: simulate_ranks FOLDER RANKS STEPS LAYERS STAGES NOISE SEED "
                        "[SHAPE...] [RANK[-RANK]=FAULT...]\n"
                        "       simulate_ranks FOLDER RANKS --from TRACE NOISE SEED "
                        "[RANK[-RANK]=FAULT...]\n");
        r = -1;
    }
    for (uint32_t rank = 0; r == 0 && rank < job.ranks; rank++)
        if (faults[rank] != FAULT_MISSING)
            r = write_rank(&job, argv[1], rank, faults[rank]);
    free(faults);
    return r < 0 ? 1 : 0;
}
