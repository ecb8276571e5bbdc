/* row_history.h: what the rows of a live list had during the last minute, and the most they had
 * since the list was first shown. Rows are known by a hash of their names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ROW_HISTORY_H
#define ML_ANALYZE_ROW_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "map.h"
#include "vec.h"

#define ML_ROW_SECONDS 60
#define ML_ROWS_MAX 4096 /* beyond, small rows have no history */

struct ml_row_bytes {
    uint64_t row, bytes;
};

struct ml_row_second {
    uint64_t second;
    ML_VEC(struct ml_row_bytes) rows; /* by hash */
};

/* All zero bytes is an empty one. */
struct ml_row_history {
    uint64_t question; /* a hash: another one empties the history */
    bool begun;
    uint64_t first_second, last_second;
    struct ml_row_second seconds[ML_ROW_SECONDS + 1];
    struct ml_map peaks; /* row -> bytes */
};

/* Keeps the rows of one moment; of each second, the first moment counts for growth.
 * @rows   sorted here
 * @return 0 or -ENOMEM */
int ml_row_history_put(struct ml_row_history *h, uint64_t question, uint64_t time_ns,
                       struct ml_row_bytes *rows, size_t count);

/* The growth of a row over the last minute, or since the list was first shown.
 * @return false if that was less than a second ago */
bool ml_row_history_growth(const struct ml_row_history *h, uint64_t row, uint64_t bytes,
                           int64_t *ret);

/* The most that the row had at any of these moments. */
uint64_t ml_row_history_peak(const struct ml_row_history *h, uint64_t row);
void ml_row_history_release(struct ml_row_history *h);

#endif
