/* moment_table.h: the moments of a pyramid that is being made, each of them once.
 *
 * The steps of a training repeat, so that most columns have moments that others have, too. A tile
 * of such columns has only the numbers of its moments; the moments are in pages of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_MOMENT_TABLE_H
#define ML_ANALYZE_MOMENT_TABLE_H

#include "column_picker.h"
#include "intern.h"
#include "number_rows.h"

/* All zero: empty. */
struct ml_moment_table {
    struct ml_intern numbers;                /* of each composition */
    ML_VEC(struct ml_band_composition) page; /* those that are in no page yet */
    ml_numbers pages;                        /* their first blocks */
};

void ml_moment_table_release(struct ml_moment_table *table);

/* Finds the numbers of moments, and adds those that are new.
 * @ret    appended to
 * @return 1; 0 if so many are new that the table would not help: nothing has changed; -ENOMEM */
int ml_moment_table_refer(struct ml_moment_table *table,
                          const struct ml_band_composition *const *moments, size_t count,
                          ml_numbers *ret);

#endif
