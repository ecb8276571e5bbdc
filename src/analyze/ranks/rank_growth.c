/* rank_growth.c: ranks whose memory grows from step to step.
 *
 * A step keeps what is live at its end and at the end of every later one: other threads may free
 * the rest a little later. The steps after the first two are cut into quarters. A rank grows if
 * each quarter keeps more than the one before, by more than a floor and by more than any step gave
 * back. The floor is lower if each step adds about the same: then a few steps suffice. A rank leaks
 * if it grew by far more than its peers changed. If more than half of the peers grow, all that grow
 * leak.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "rank_parts.h"

#define WARM_UP_STEPS 2
#define QUARTERS 4
#define ROWS_LEAST 6        /* after the warm-up */
#define STEADY_ROWS_LEAST 4 /* the same, if each step adds about the same */
/* What such a step adds: this much, or this share of the peak. */
#define STEADY_STEP_BYTES (UINT64_C(1) << 20)
#define STEADY_STEP_SHARE 0.001

static size_t first_row(const struct ml_digest_rank *of)
{
    return of->steps_per_row >= WARM_UP_STEPS ? 1 : WARM_UP_STEPS;
}

static size_t quarter_row(const struct ml_digest_rank *of, size_t quarter)
{
    size_t first = first_row(of);

    return first + (of->rows.len - first) * quarter / QUARTERS;
}

/* From this row on, the first with the least at its end. */
static size_t lowest_row(const struct ml_digest_rank *of, size_t row)
{
    size_t lowest = row;

    for (size_t i = row + 1; i < of->rows.len; i++)
        if (of->rows.items[i].end_bytes < of->rows.items[lowest].end_bytes)
            lowest = i;
    return lowest;
}

static uint64_t kept(const struct ml_digest_rank *of, size_t row)
{
    return of->rows.items[lowest_row(of, row)].end_bytes;
}

static bool is_long_enough(const struct ml_digest_rank *of)
{
    return of->rows.len >= first_row(of) + STEADY_ROWS_LEAST;
}

/* From the first quarter to the last. */
static int64_t drift(const struct ml_digest_rank *of)
{
    if (!is_long_enough(of))
        return 0;
    return (int64_t)(kept(of, quarter_row(of, QUARTERS - 1)) - kept(of, first_row(of)));
}

static uint64_t steps_between(const struct ml_digest_rank *of)
{
    size_t from = lowest_row(of, first_row(of)), to = lowest_row(of, quarter_row(of, QUARTERS - 1));

    return ml_max_u64((to - from) * of->steps_per_row, 1);
}

static bool grows_each_quarter(const struct ml_digest_rank *of)
{
    for (size_t i = 1; i < QUARTERS; i++)
        if (kept(of, quarter_row(of, i)) <= kept(of, quarter_row(of, i - 1)))
            return false;
    return true;
}

/* The most that the end of a step had and a later one had not. */
static uint64_t most_given_back(const struct ml_digest_rank *of)
{
    uint64_t most = 0;

    for (size_t i = first_row(of); i < of->rows.len; i++)
        most = ml_max_u64(most, of->rows.items[i].end_bytes - kept(of, i));
    return most;
}

/* Each row adds between half and twice the mean. */
static bool is_steady(const struct ml_digest_rank *of)
{
    size_t first = first_row(of), last = quarter_row(of, QUARTERS - 1);
    double mean = (double)drift(of) / (double)(last - first);

    for (size_t i = first + 1; i < of->rows.len; i++) {
        double added =
            (double)of->rows.items[i].end_bytes - (double)of->rows.items[i - 1].end_bytes;

        if (added < mean / 2 || added > mean * 2)
            return false;
    }
    return true;
}

static double steady_floor(const struct ml_digest_rank *of, double peak_bytes)
{
    return fmin((double)STEADY_STEP_BYTES, STEADY_STEP_SHARE * peak_bytes) *
           (double)steps_between(of) * (1 - 1e-6);
}

/* @peak_bytes  of its peers */
static bool grows(const struct ml_digest_rank *of, double peak_bytes)
{
    double grown = (double)drift(of);

    if (grown <= (double)ML_RANK_FLOOR_BYTES || !grows_each_quarter(of))
        return false;
    if (is_steady(of) && grown >= steady_floor(of, peak_bytes))
        return true;
    return of->rows.len >= first_row(of) + ROWS_LEAST && grown > ML_RANK_FLOOR_SHARE * peak_bytes &&
           grown > (double)most_given_back(of);
}

/* ---- Peers ------------------------------------------------------------------------ */

/* How far the ranks of a group changed. */
struct changes {
    int64_t median, deviation;
    bool most_grow;
};

static int by_change(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* The lower one; sorts the values. */
static int64_t median_change(int64_t *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_change);
    return values[(count - 1) / 2];
}

/* @values  room for all rows */
static struct changes changes_of(const struct ml_ranks *ranks, size_t group, int64_t *values)
{
    double peak_bytes = (double)ranks->groups.items[group].median_bytes;
    struct changes c = {0};
    size_t count = 0, growing = 0;

    for (size_t i = 0; i < ranks->rows.len; i++) {
        if (ranks->rows.items[i].group != group)
            continue;
        growing += grows(ranks->rows.items[i].of, peak_bytes);
        values[count++] = drift(ranks->rows.items[i].of);
    }
    if (count == 0)
        return c;
    c.most_grow = 2 * growing > count;
    c.median = median_change(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = values[i] > c.median ? values[i] - c.median : c.median - values[i];
    c.deviation = (int64_t)(1.4826 * (double)median_change(values, count));
    return c;
}

static bool leaks(const struct ml_rank_row *row, double peak_bytes, const struct changes *c)
{
    return grows(row->of, peak_bytes) &&
           (double)drift(row->of) > ML_RANK_DEVIATIONS * (double)row->error_bytes &&
           (c->most_grow ||
            (double)(drift(row->of) - c->median) > ML_RANK_DEVIATIONS * (double)c->deviation);
}

int ml_rank_growth(struct ml_ranks *ranks)
{
    int64_t *values = calloc(ranks->rows.len + 1, sizeof(*values));

    if (!values)
        return -ENOMEM;
    for (size_t g = 0; g < ranks->groups.len; g++) {
        const struct changes c = changes_of(ranks, g, values);

        for (size_t i = 0; i < ranks->rows.len; i++) {
            struct ml_rank_row *row = &ranks->rows.items[i];

            if (row->group == g && leaks(row, (double)ranks->groups.items[g].median_bytes, &c))
                row->growth_bytes = (uint64_t)drift(row->of) / steps_between(row->of);
        }
    }
    free(values);
    return 0;
}
