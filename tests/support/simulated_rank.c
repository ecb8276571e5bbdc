/* simulated_rank.c: see simulated_rank.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulated_rank.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "memledger/memledger.h"
#include "simulated_noise.h"

#define MIB (UINT64_C(1) << 20)
#define RANKS_PER_HOST 8
#define STEP_NS UINT64_C(250000000)
#define START_WALL_NS UINT64_C(1750000000000000000)
#define LEAK_BYTES_A_STEP (8 * MIB)
#define ROUTING_DEVIATION 0.15 /* of the tokens that experts get */
#define EXPERT_RANKS 4         /* among which the experts are divided */

/* A digest that is being made. */
struct maker {
    const struct simulated_job *job;
    enum fault fault;
    uint32_t number, stage;
    uint64_t random;
    double size; /* of the rank's sizes to those of the model */
    struct ml_digest *digest;
    struct ml_digest_rank *rank;
    ml_numbers sizes; /* by cell, without noise */
    size_t leak_cell;
};

/* ---- Noise ------------------------------------------------------------------------ */

/* A factor near 1. */
static double noise(struct maker *m)
{
    return simulated_noise(&m->random, m->job->noise);
}

static uint64_t scale(uint64_t bytes, double factor)
{
    return (uint64_t)((double)bytes * factor);
}

/* ---- The model ---------------------------------------------------------------------- */

static int add_cell(struct maker *m, uint32_t module, uint32_t category, uint64_t bytes)
{
    const struct ml_digest_cell cell = {module, category};
    const bool follows_input = category == MEMLEDGER_ACTIVATION || category == MEMLEDGER_INPUT;

    if (m->fault == FAULT_LONGER && follows_input)
        bytes += bytes / 2;
    if (m->fault == FAULT_UNSHARDED && category == MEMLEDGER_OPTIMIZER_STATE)
        bytes *= 8;
    if (category == MEMLEDGER_ACTIVATION)
        m->leak_cell = m->rank->cells.len;
    if (ml_vec_push(&m->rank->cells, cell) < 0)
        return -ENOMEM;
    return ml_vec_push(&m->sizes, scale(bytes, m->size));
}

static int add_module(struct maker *m, uint32_t parent, const char *path)
{
    struct ml_digest *digest = m->digest;
    struct ml_digest_module module = {.parent = parent,
                                      .path = ml_arena_dup(&digest->arena, path, strlen(path))};

    return module.path ? ml_vec_push(&digest->modules, module) : -ENOMEM;
}

/* @activation_bytes  of one micro-batch */
static int add_weights(struct maker *m, uint32_t parent, const char *path, uint64_t bytes,
                       uint64_t activation_bytes)
{
    uint32_t module = (uint32_t)m->digest->modules.len;
    uint64_t batches = m->job->stages - m->stage;
    int r = add_module(m, parent, path);

    if (r == 0)
        r = add_cell(m, module, MEMLEDGER_PARAMETER, bytes);
    if (r == 0)
        r = add_cell(m, module, MEMLEDGER_GRADIENT, bytes);
    if (r == 0)
        r = add_cell(m, module, MEMLEDGER_OPTIMIZER_STATE, bytes / 2);
    if (r == 0 && activation_bytes > 0)
        r = add_cell(m, module, MEMLEDGER_ACTIVATION, activation_bytes * batches);
    return r;
}

static int add_experts(struct maker *m, uint32_t parent, uint32_t layer)
{
    char path[64];

    if (!m->job->experts && !m->job->named_experts)
        return 0;
    snprintf(path, sizeof(path), "layers.%u.experts.%u", (unsigned)layer,
             (unsigned)(m->job->named_experts ? m->number % EXPERT_RANKS : 0));
    return add_weights(m, parent, path, 96 * MIB,
                       scale(120 * MIB, simulated_noise(&m->random, ROUTING_DEVIATION)));
}

static int add_layer(struct maker *m, uint32_t layer)
{
    uint32_t module = (uint32_t)m->digest->modules.len;
    char path[64];
    int r;

    snprintf(path, sizeof(path), "layers.%u", (unsigned)layer);
    r = add_module(m, 0, path);
    snprintf(path, sizeof(path), "layers.%u.attention", (unsigned)layer);
    if (r == 0)
        r = add_weights(m, module, path, 24 * MIB, 60 * MIB);
    snprintf(path, sizeof(path), "layers.%u.mlp", (unsigned)layer);
    if (r == 0)
        r = add_weights(m, module, path, 48 * MIB, 90 * MIB);
    return r < 0 ? r : add_experts(m, module, layer);
}

/* The number of the first layer of a stage; the stage after the last has that of all layers. */
static uint32_t first_layer(const struct simulated_job *job, uint32_t stage)
{
    uint32_t parts = job->uneven ? 2 * job->stages - 2 : job->stages;
    uint32_t before = job->uneven && stage > 0 ? 2 * stage - 1 : stage;

    return job->layers * (before < parts ? before : parts) / parts;
}

static int add_model(struct maker *m)
{
    uint32_t first = first_layer(m->job, m->stage), after = first_layer(m->job, m->stage + 1);
    int r = add_module(m, 0, "");

    if (r == 0)
        r = add_cell(m, 0, MEMLEDGER_INPUT, 4 * MIB);
    if (r == 0)
        r = add_cell(m, 0, MEMLEDGER_COMMUNICATION, 200 * MIB);
    if (r == 0 && m->stage == 0)
        r = add_weights(m, 0, "embedding", 256 * MIB, 16 * MIB);
    for (uint32_t i = first; r == 0 && i < after; i++)
        r = add_layer(m, i);
    if (r == 0 && m->stage + 1 == m->job->stages)
        r = add_weights(m, 0, "head", 256 * MIB, 300 * MIB);
    if (r == 0 && m->fault == FAULT_MODULE)
        r = add_weights(m, 0, "adapter", 64 * MIB, 0);
    if (r == 0 && m->fault == FAULT_GATHERED)
        r = add_cell(m, 0, MEMLEDGER_GATHERED, 2048 * MIB);
    return r;
}

/* ---- Steps ------------------------------------------------------------------------ */

static bool ends_early(enum fault fault)
{
    return fault == FAULT_KILLED || fault == FAULT_OOM || fault == FAULT_STOPPED;
}

/* Whether it is still live when the step has ended. */
static bool is_kept(uint32_t category)
{
    return category != MEMLEDGER_ACTIVATION && category != MEMLEDGER_INPUT;
}

/* Adds a line of the matrix. */
static int add_step(struct maker *m, uint64_t step)
{
    const uint64_t leaked = m->fault == FAULT_LEAK ? step * LEAK_BYTES_A_STEP : 0;
    const double size = noise(m);
    struct ml_digest_row row = {.number = step, .end_bytes = leaked};

    row.begin_ns = step * STEP_NS + (uint64_t)(1e6 * simulated_random(&m->random));
    row.end_ns = (step + 1) * STEP_NS;
    for (size_t i = 0; i < m->rank->cells.len; i++) {
        bool kept = is_kept(m->rank->cells.items[i].category);
        uint64_t bytes = scale(m->sizes.items[i], kept ? 1 : size * noise(m));

        if (i == m->leak_cell)
            bytes += leaked;
        row.peak_bytes += bytes;
        row.end_bytes += kept ? bytes : 0;
        if (ml_vec_push(&m->rank->values, bytes) < 0)
            return -ENOMEM;
    }
    return ml_vec_push(&m->rank->rows, row);
}

/* The first line of the matrix is a copy of the one with the highest peak. */
static int add_steps(struct maker *m)
{
    struct ml_digest_rank *rank = m->rank;
    size_t best = 0, width = rank->cells.len;
    int r = 0;

    rank->steps = ends_early(m->fault) ? m->job->steps * 6 / 10 : m->job->steps;
    rank->steps_per_row = 1;
    for (size_t i = 0; r == 0 && i < width; i++)
        r = ml_vec_push(&rank->values, 0);
    for (uint64_t step = 0; r == 0 && step < rank->steps; step++) {
        r = add_step(m, step);
        if (r == 0 && rank->rows.items[step].peak_bytes > rank->rows.items[best].peak_bytes)
            best = step;
    }
    if (r == 0)
        memcpy(rank->values.items, rank->values.items + (best + 1) * width,
               width * sizeof(*rank->values.items));
    return r < 0
               ? r
               : ml_vec_push(&rank->devices,
                             ((struct ml_digest_device){"cuda:0", rank->rows.items[best].peak_bytes,
                                                        rank->rows.items[best].begin_ns}));
}

/* ---- The rank --------------------------------------------------------------------- */

static int add_place(struct maker *m)
{
    const struct simulated_job *job = m->job;
    uint32_t peers = job->ranks / job->stages;
    char text[160], coordinates[64] = "";

    if (!job->unnamed)
        snprintf(coordinates, sizeof(coordinates), " pp=%u dp=%u", (unsigned)m->stage,
                 (unsigned)(m->number % peers));
    snprintf(text, sizeof(text), "rank=%u world_size=%u local_rank=%u job=simulated%s",
             (unsigned)m->number, (unsigned)job->ranks, (unsigned)(m->number % RANKS_PER_HOST),
             coordinates);
    m->rank->place = ml_arena_dup(&m->digest->arena, text, strlen(text));
    snprintf(text, sizeof(text), "node%u", (unsigned)(m->number / RANKS_PER_HOST));
    m->digest->host = ml_arena_dup(&m->digest->arena, text, strlen(text));
    return m->rank->place && m->digest->host ? 0 : -ENOMEM;
}

static void set_end(struct maker *m)
{
    struct ml_digest_rank *rank = m->rank;

    rank->end_ns = rank->steps * STEP_NS;
    rank->ending = ML_ENDING_EXIT;
    rank->ooms = m->fault == FAULT_OOM;
    rank->exit_code = m->fault == FAULT_OOM;
    if (m->fault == FAULT_KILLED || m->fault == FAULT_STOPPED) {
        rank->ending = ML_ENDING_SIGNAL;
        rank->signal = m->fault == FAULT_KILLED ? SIGKILL : SIGTERM;
    }
}

static void set_facts(struct maker *m)
{
    struct ml_digest *digest = m->digest;

    set_end(m);
    digest->command = "python train.py";
    digest->start_wall_ns = START_WALL_NS;
    digest->end_ns = m->rank->end_ns;
    digest->events = m->rank->steps * 100000;
    digest->trace_bytes = digest->events * 8;
    m->rank->rank = m->number + 1;
    m->rank->pid = 1000 + m->number;
    m->rank->processes = 1;
    m->rank->command = digest->command;
}

int simulate_rank(const struct simulated_job *job, uint32_t rank, enum fault fault,
                  struct ml_digest *ret)
{
    struct maker m = {.job = job, .fault = fault, .number = rank, .digest = ret};
    int r;

    *ret = (struct ml_digest){0};
    m.stage = rank / (job->ranks / job->stages);
    m.random = (job->seed << 32) + rank;
    simulated_random(&m.random);
    m.size = noise(&m);
    r = ml_vec_push(&ret->ranks, (struct ml_digest_rank){0});
    m.rank = ret->ranks.items;
    if (r == 0)
        r = add_model(&m);
    if (r == 0)
        r = add_steps(&m);
    if (r == 0)
        r = add_place(&m);
    if (r == 0)
        set_facts(&m);
    ml_vec_release(&m.sizes);
    return r;
}
