/* block_columns.h: the mean number of bytes of many blocks in each column of a picture. Only the
 * lifetimes include it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BLOCK_COLUMNS_H
#define ML_ANALYZE_BLOCK_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "vec.h"

struct ml_block_columns {
    uint64_t from_ns;
    double column_ns;
    ML_VEC(double) parts; /* bytes of blocks that begin or end in it, by their share of it */
    ML_VEC(double) steps; /* the change of bytes that are there for whole columns */
};

/* @to_ns  after `from_ns`
 * @return 0 or -ENOMEM; release in both cases */
int ml_block_columns_init(struct ml_block_columns *columns, uint64_t from_ns, uint64_t to_ns,
                          size_t count);
void ml_block_columns_release(struct ml_block_columns *columns);

/* Adds a block, of which only the part inside the columns counts. */
void ml_block_columns_add(struct ml_block_columns *columns, uint64_t bytes, uint64_t begin_ns,
                          uint64_t end_ns);

/* @ret  one for each column */
void ml_block_columns_means(const struct ml_block_columns *columns, uint64_t *ret);

#endif
