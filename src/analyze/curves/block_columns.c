/* block_columns.c: see block_columns.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_columns.h"

#include <errno.h>
#include <math.h>

int ml_block_columns_init(struct ml_block_columns *columns, uint64_t from_ns, uint64_t to_ns,
                          size_t count)
{
    int r = 0;

    *columns = (struct ml_block_columns){
        .from_ns = from_ns,
        .column_ns = (double)(to_ns - from_ns) / (double)(count ? count : 1),
    };
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = ml_vec_push(&columns->parts, 0.0);
        if (r == 0)
            r = ml_vec_push(&columns->steps, 0.0);
    }
    return r;
}

void ml_block_columns_release(struct ml_block_columns *columns)
{
    ml_vec_release(&columns->parts);
    ml_vec_release(&columns->steps);
}

/* In columns from the first one, inside the picture. */
static double place_of(const struct ml_block_columns *columns, uint64_t ns)
{
    double place =
        ns <= columns->from_ns ? 0 : (double)(ns - columns->from_ns) / columns->column_ns;

    return fmin(place, (double)columns->parts.len);
}

void ml_block_columns_add(struct ml_block_columns *columns, uint64_t bytes, uint64_t begin_ns,
                          uint64_t end_ns)
{
    double begin = place_of(columns, begin_ns), end = place_of(columns, end_ns);
    size_t count = columns->parts.len, first = (size_t)begin, last = (size_t)end;

    if (first >= count)
        return;
    if (first == last) {
        columns->parts.items[first] += (double)bytes * (end - begin);
        return;
    }
    columns->parts.items[first] += (double)bytes * ((double)first + 1 - begin);
    if (first + 1 < count)
        columns->steps.items[first + 1] += (double)bytes;
    if (last < count) {
        columns->steps.items[last] -= (double)bytes;
        columns->parts.items[last] += (double)bytes * (end - (double)last);
    }
}

void ml_block_columns_means(const struct ml_block_columns *columns, uint64_t *ret)
{
    double whole = 0;

    for (size_t i = 0; i < columns->parts.len; i++) {
        whole += columns->steps.items[i];
        ret[i] = (uint64_t)fmin(fmax(whole + columns->parts.items[i] + 0.5, 0), (double)INT64_MAX);
    }
}
