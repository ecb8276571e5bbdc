/* rank_growth.c: ranks whose memory grows from step to step.
 *
 * The memory at the ends of the steps after the first two is cut into quarters. A rank leaks if
 * each quarter lies above the one before, and if it grew by more than the floor and by far more
 * than its peers did. If more than half of the peers grow, they all count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "rank_parts.h"

#define WARM_UP_STEPS 2
#define QUARTERS 4
#define ROWS_LEAST 6 /* after the warm-up */

static size_t first_row(const struct ml_digest_rank *of)
{
    return of->steps_per_row >= WARM_UP_STEPS ? 1 : WARM_UP_STEPS;
}

struct span {
    uint64_t least, most;
};

static struct span quarter(const struct ml_digest_rank *of, size_t number)
{
    size_t first = first_row(of), rows = of->rows.len - first;
    size_t from = first + rows * number / QUARTERS, to = first + rows * (number + 1) / QUARTERS;
    struct span span = {UINT64_MAX, 0};

    for (size_t i = from; i < to; i++) {
        span.least = ml_min_u64(span.least, of->rows.items[i].end_bytes);
        span.most = ml_max_u64(span.most, of->rows.items[i].end_bytes);
    }
    return span;
}

/* What it grew by from the first step to the last; 0 if it did not grow all the time. */
static uint64_t grown(const struct ml_digest_rank *of)
{
    size_t first = first_row(of);
    struct span before;

    if (of->rows.len < first + ROWS_LEAST)
        return 0;
    before = quarter(of, 0);
    for (size_t i = 1; i < QUARTERS; i++) {
        struct span next = quarter(of, i);

        if (next.least <= before.most)
            return 0;
        before = next;
    }
    return of->rows.items[of->rows.len - 1].end_bytes - of->rows.items[first].end_bytes;
}

static uint64_t steps_between(const struct ml_digest_rank *of)
{
    return ml_max_u64((of->rows.len - 1 - first_row(of)) * of->steps_per_row, 1);
}

/* More than this is a leak, among these peers. */
static uint64_t allowed_growth(struct ml_ranks *ranks, size_t group, const uint64_t *all,
                               uint64_t *values)
{
    const struct ml_rank_group *g = &ranks->groups.items[group];
    uint64_t median, deviation,
        floor = ml_max_u64((uint64_t)(ML_RANK_FLOOR_SHARE * (double)g->median_bytes),
                           ML_RANK_FLOOR_BYTES);
    size_t count = 0;

    for (size_t i = 0; i < ranks->rows.len; i++)
        if (ranks->rows.items[i].group == group)
            values[count++] = all[i];
    median = ml_rank_median(values, count);
    if (median > floor)
        return floor; /* most of them leak */
    for (size_t i = 0; i < count; i++)
        values[i] = values[i] > median ? values[i] - median : median - values[i];
    deviation = (uint64_t)(1.4826 * (double)ml_rank_median(values, count));
    return ml_max_u64(floor, median + (uint64_t)(ML_RANK_DEVIATIONS * (double)deviation));
}

int ml_rank_growth(struct ml_ranks *ranks)
{
    uint64_t *all = calloc(2 * ranks->rows.len + 1, sizeof(*all));

    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < ranks->rows.len; i++)
        all[i] = grown(ranks->rows.items[i].of);
    for (size_t g = 0; g < ranks->groups.len; g++) {
        uint64_t allowed = allowed_growth(ranks, g, all, all + ranks->rows.len);

        for (size_t i = 0; i < ranks->rows.len; i++)
            if (ranks->rows.items[i].group == g && all[i] > allowed)
                ranks->rows.items[i].growth_bytes = all[i] / steps_between(ranks->rows.items[i].of);
    }
    free(all);
    return 0;
}
