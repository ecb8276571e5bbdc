/* moment_table.c: see moment_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "moment_table.h"

#include <errno.h>

#include "pyramid.h"

#define MOMENTS_MAX (ML_PYRAMID_PAGES_MAX * ML_PYRAMID_PAGE) /* 14 MB while it is made */

void ml_moment_table_release(struct ml_moment_table *table)
{
    ml_intern_release(&table->numbers);
    ml_vec_release(&table->page);
    ml_vec_release(&table->pages);
}

/* @return how many different ones are not in the table, or -ENOMEM */
static int64_t count_new(const struct ml_moment_table *t,
                         const struct ml_band_composition *const *moments, size_t count)
{
    struct ml_intern others = {0};
    int64_t r = 0;

    for (size_t i = 0; r >= 0 && i < count; i++)
        if (ml_intern_find(&t->numbers, moments[i], sizeof(*moments[i])) < 0)
            r = ml_intern_put(&others, moments[i], sizeof(*moments[i]), NULL);
    if (r >= 0)
        r = ml_intern_len(&others);
    ml_intern_release(&others);
    return r < 0 ? -ENOMEM : r;
}

static int refer(struct ml_moment_table *t, const struct ml_band_composition *moment,
                 ml_numbers *ret)
{
    bool is_new = false;
    int64_t number = ml_intern_put(&t->numbers, moment, sizeof(*moment), &is_new);

    if (number < 0 || (is_new && ml_vec_push(&t->page, *moment) < 0))
        return -ENOMEM;
    return ml_vec_push(ret, (uint64_t)number);
}

int ml_moment_table_refer(struct ml_moment_table *table,
                          const struct ml_band_composition *const *moments, size_t count,
                          ml_numbers *ret)
{
    int64_t others = count_new(table, moments, count);
    int r = 0;

    if (others < 0)
        return -ENOMEM;
    if (2 * (size_t)others > count || ml_intern_len(&table->numbers) + others > MOMENTS_MAX)
        return 0;
    for (size_t i = 0; r == 0 && i < count; i++)
        r = refer(table, moments[i], ret);
    return r < 0 ? r : 1;
}
