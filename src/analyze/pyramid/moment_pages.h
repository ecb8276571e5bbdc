/* moment_pages.h: the moments of a pyramid that tiles refer to by their numbers.
 *
 * Pages are read when one of their moments is wanted, and kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_MOMENT_PAGES_H
#define ML_ANALYZE_MOMENT_PAGES_H

#include "number_rows.h"
#include "pyramid.h"

/* Reads a record of moments: of a tile, whose columns have two each, or of a page.
 * @each   moments for one of its count
 * @max    room in `ret`
 * @return 1, 0 if the record is of another sort, or -EBADMSG */
int ml_moments_get(const struct ml_record *record, enum ml_bands_by by, size_t each, size_t max,
                   struct ml_bands_moment *ret, size_t *ret_count);

struct ml_moment_page {
    struct ml_bands_moment *moments; /* NULL: not read */
    size_t count;
};

/* Initialise the first two. */
struct ml_moment_pages {
    const struct ml_pyramid *pyramid;
    enum ml_bands_by by;
    ML_VEC(struct ml_moment_page) list;
    struct ml_buf bytes;
};

void ml_moment_pages_release(struct ml_moment_pages *pages);

/* @return 0, -EBADMSG, or another negative errno */
int ml_moment_pages_find(struct ml_moment_pages *pages, uint64_t number,
                         struct ml_bands_moment *ret);

#endif
