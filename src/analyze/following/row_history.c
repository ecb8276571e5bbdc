/* row_history.c: see row_history.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "row_history.h"

#include <errno.h>
#include <stdlib.h>

#include "second_history.h"

static int by_row(const void *a, const void *b)
{
    const struct ml_row_bytes *x = a, *y = b;

    return x->row < y->row ? -1 : x->row > y->row;
}

void ml_row_history_release(struct ml_row_history *h)
{
    for (size_t i = 0; i < ML_ROW_SECONDS + 1; i++)
        ml_vec_release(&h->seconds[i].rows);
    ml_map_release(&h->peaks);
    *h = (struct ml_row_history){0};
}

static int raise_peaks(struct ml_row_history *h, const struct ml_row_bytes *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t peak = 0;

        if (ml_map_get(&h->peaks, rows[i].row, &peak) ? rows[i].bytes <= peak
                                                      : ml_map_len(&h->peaks) >= ML_ROWS_MAX)
            continue;
        if (ml_map_put(&h->peaks, rows[i].row, rows[i].bytes) < 0)
            return -ENOMEM;
    }
    return 0;
}

static struct ml_row_second *slot_of(struct ml_row_history *h, uint64_t second)
{
    return &h->seconds[second % (ML_ROW_SECONDS + 1)];
}

int ml_row_history_put(struct ml_row_history *h, uint64_t question, uint64_t time_ns,
                       struct ml_row_bytes *rows, size_t count)
{
    uint64_t second = time_ns / ML_NS_PER_SECOND;
    struct ml_row_second *slot;

    if (h->begun && h->question != question)
        ml_row_history_release(h);
    if (raise_peaks(h, rows, count) < 0)
        return -ENOMEM;
    if (h->begun && second <= h->last_second)
        return 0;
    if (!h->begun)
        h->first_second = second;
    h->question = question;
    h->begun = true;
    h->last_second = second;
    slot = slot_of(h, second);
    slot->second = second;
    slot->rows.len = 0;
    for (size_t i = 0; i < count && i < ML_ROWS_MAX; i++)
        if (ml_vec_push(&slot->rows, rows[i]) < 0)
            return -ENOMEM;
    ml_vec_sort(&slot->rows, by_row);
    return 0;
}

/* The oldest kept second of the last minute; NULL: none but the last. */
static const struct ml_row_second *oldest(const struct ml_row_history *h)
{
    uint64_t from = h->last_second > ML_ROW_SECONDS ? h->last_second - ML_ROW_SECONDS : 0;

    if (from < h->first_second)
        from = h->first_second;
    for (uint64_t second = from; second < h->last_second; second++) {
        const struct ml_row_second *slot = &h->seconds[second % (ML_ROW_SECONDS + 1)];

        if (slot->second == second)
            return slot;
    }
    return NULL;
}

bool ml_row_history_growth(const struct ml_row_history *h, uint64_t row, uint64_t bytes,
                           int64_t *ret)
{
    const struct ml_row_second *slot = h->begun ? oldest(h) : NULL;
    const struct ml_row_bytes asked = {.row = row}, *found;

    if (!slot)
        return false;
    found = slot->rows.len ? bsearch(&asked, slot->rows.items, slot->rows.len,
                                     sizeof(slot->rows.items[0]), by_row)
                           : NULL;
    *ret = (int64_t)(bytes - (found ? found->bytes : 0));
    return true;
}

uint64_t ml_row_history_peak(const struct ml_row_history *h, uint64_t row)
{
    uint64_t peak = 0;

    ml_map_get(&h->peaks, row, &peak);
    return peak;
}
