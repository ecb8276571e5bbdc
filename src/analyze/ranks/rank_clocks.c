/* rank_clocks.c: how far the clocks of the hosts differ.
 *
 * Ranks begin each step together, because they wait for each other at the end of the one before.
 * The wall clocks of two hosts therefore differ by about as much as the times at which their ranks
 * began the same steps do. The median over all steps is the difference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host_settings.h"
#include "rank_parts.h"

#define STEPS_LEAST 3
#define STEPS_MOST 32 /* more do not make it more precise */

static uint64_t begin_wall_ns(const struct ml_rank_row *row, size_t step)
{
    return row->source->digest->start_wall_ns + row->of->rows.items[step].begin_ns;
}

/* Each has the step. */
static uint64_t median_begin(const struct ml_rank_row *const *rows, size_t count, size_t step,
                             uint64_t *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = begin_wall_ns(rows[i], step);
    return ml_rank_median(values, count);
}

/* Steps that every rank has. */
static size_t common_steps(const struct ml_ranks *ranks)
{
    size_t steps = SIZE_MAX;

    for (size_t i = 0; i < ranks->rows.len; i++)
        if (ranks->rows.items[i].of->steps_per_row == ranks->steps_per_column)
            steps = ml_min_u64(steps, ranks->rows.items[i].of->rows.len);
        else
            return 0;
    return steps == SIZE_MAX ? 0 : steps;
}

static uint64_t error_of(const struct ml_digest *digest)
{
    for (size_t i = 0; i < digest->settings.len; i++)
        if (strcmp(digest->settings.items[i].key, ML_SETTING_CLOCK_ERROR) == 0)
            return strtoull(digest->settings.items[i].value, NULL, 10);
    return 0;
}

/* Room for the values of a median, and the medians of all hosts by step. */
struct times {
    size_t steps;
    uint64_t *values;
    uint64_t all[STEPS_MOST];
};

/* @rows  those of one host */
static int add_clock(struct ml_ranks *ranks, const struct ml_rank_row *const *rows, size_t count,
                     struct times *times)
{
    const uint64_t middle = UINT64_C(1) << 63;
    uint64_t differences[STEPS_MOST];
    struct ml_rank_clock clock = {.host = rows[0]->host,
                                  .error_ns = error_of(rows[0]->source->digest)};

    for (size_t step = 0; step < times->steps; step++)
        differences[step] =
            middle + median_begin(rows, count, step, times->values) - times->all[step];
    clock.ahead_ns = (int64_t)(ml_rank_median(differences, times->steps) - middle);
    return ml_vec_push(&ranks->clocks, clock);
}

static int by_host(const void *a, const void *b)
{
    const struct ml_rank_row *x = *(const struct ml_rank_row *const *)a;
    const struct ml_rank_row *y = *(const struct ml_rank_row *const *)b;
    int order = strcmp(x->host, y->host);

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* @rows  room for all of them: sorted by host here, so that thousands of hosts take no time */
static int add_clocks(struct ml_ranks *ranks, const struct ml_rank_row **rows, struct times *times)
{
    size_t count = ranks->rows.len;
    int r = 0;

    for (size_t i = 0; i < count; i++)
        rows[i] = &ranks->rows.items[i];
    qsort(rows, count, sizeof(*rows), by_host);
    for (size_t step = 0; step < times->steps; step++)
        times->all[step] = median_begin(rows, count, step, times->values);
    for (size_t i = 0, next; r == 0 && i < count; i = next) {
        for (next = i + 1; next < count && strcmp(rows[i]->host, rows[next]->host) == 0; next++)
            ;
        r = add_clock(ranks, rows + i, next - i, times);
    }
    return r;
}

int ml_rank_clocks(struct ml_ranks *ranks)
{
    struct times times = {.steps = ml_min_u64(common_steps(ranks), STEPS_MOST)};
    const struct ml_rank_row **rows;
    int r = -ENOMEM;

    if (ranks->hosts < 2 || times.steps < STEPS_LEAST)
        return 0;
    times.values = calloc(ranks->rows.len, sizeof(*times.values));
    rows = calloc(ranks->rows.len, sizeof(*rows));
    if (times.values && rows)
        r = add_clocks(ranks, rows, &times);
    free(times.values);
    free(rows);
    return r;
}
