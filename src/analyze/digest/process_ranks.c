/* process_ranks.c: see process_ranks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "process_ranks.h"

#include <errno.h>
#include <string.h>

#include "digest.h"
#include "event_names.h"
#include "job_variables.h"

#define RANKS_MAX 65536 /* of a trace */

/* 1 + its rank in the job; 0: none. */
static uint32_t rank_of(const struct ml_trace *trace, const struct ml_process *process)
{
    uint64_t rank;

    if (process->place &&
        ml_place_number(ml_trace_string(trace, process->place, NULL), "rank", &rank))
        return rank < UINT32_MAX ? (uint32_t)rank + 1 : 0;
    return process->role ? ml_role_rank(ml_trace_string(trace, process->role, NULL)) : 0;
}

/* How much the launcher of a process knows: a lower number is a closer one. A program that tells
 * its rank without a launcher knows best. */
static size_t launcher_of(const struct ml_trace *trace, const struct ml_process *process)
{
    const char *at = process->place ? ml_trace_string(trace, process->place, NULL) : NULL;
    const char *key, *value;
    size_t key_len, value_len;

    while (ml_place_next(&at, &key, &key_len, &value, &value_len))
        if (key_len == strlen("launcher") && memcmp(key, "launcher", key_len) == 0)
            for (size_t i = 0; i < ML_ARRAY_SIZE(ml_job_launchers); i++)
                if (strlen(ml_job_launchers[i].name) == value_len &&
                    memcmp(ml_job_launchers[i].name, value, value_len) == 0)
                    return i + 1;
    return 0;
}

/* Slurm starts torchrun, which starts the ranks: only those of the closest launcher count. */
static size_t closest_launcher(const struct ml_trace *trace)
{
    size_t closest = SIZE_MAX;

    for (uint32_t i = 0; i < ml_trace_processes(trace); i++)
        if (rank_of(trace, ml_trace_process(trace, i)) > 0)
            closest = ml_min_u64(closest, launcher_of(trace, ml_trace_process(trace, i)));
    return closest;
}

static int64_t add_rank(struct ml_rank_table *table, uint32_t rank)
{
    for (size_t i = 0; i < table->ranks.len; i++)
        if (table->ranks.items[i] == rank)
            return (int64_t)i;
    if (table->ranks.len == RANKS_MAX)
        return -1;
    return ml_vec_push(&table->ranks, rank) < 0 ? -ENOMEM : (int64_t)table->ranks.len - 1;
}

int ml_rank_table_init(struct ml_rank_table *table, const struct ml_trace *trace)
{
    size_t closest = closest_launcher(trace);
    int r = 0;

    *table = (struct ml_rank_table){0};
    if (closest == SIZE_MAX)
        r = ml_vec_push(&table->ranks, 0);
    for (uint32_t i = 0; r == 0 && i < ml_trace_processes(trace); i++) {
        const struct ml_process *process = ml_trace_process(trace, i);
        uint32_t rank = rank_of(trace, process);
        int64_t index = 0;

        if (closest != SIZE_MAX)
            index = rank && launcher_of(trace, process) == closest ? add_rank(table, rank) : -1;
        r = index == -ENOMEM
                ? -ENOMEM
                : ml_vec_push(&table->of_process, (uint32_t)(index < 0 ? 0 : index + 1));
    }
    return r;
}

void ml_rank_table_release(struct ml_rank_table *table)
{
    ml_vec_release(&table->ranks);
    ml_vec_release(&table->of_process);
}

uint32_t ml_rank_table_of(const struct ml_rank_table *table, uint32_t process)
{
    uint32_t index = table->of_process.items[process];

    return index ? table->ranks.items[index - 1] : 0;
}

bool ml_trace_has_ranks(const struct ml_trace *trace)
{
    return closest_launcher(trace) != SIZE_MAX;
}
