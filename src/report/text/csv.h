/* csv.h: rows of comma-separated values, as in RFC 4180 except for the line ends,
 * which are plain.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_CSV_H
#define ML_REPORT_CSV_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

/* The next cell of a row, with a comma before it unless it is the first.
 * @return 0 or -ENOMEM, as all of these */
int ml_csv_text(struct ml_buf *out, const char *text);
int ml_csv_u64(struct ml_buf *out, uint64_t value);
int ml_csv_i64(struct ml_buf *out, int64_t value);

/* A text of unknown origin. With `safe` a text that a spreadsheet would run as a formula (it begins
 * with = + - @, a tab or a carriage return) gets an apostrophe before it. */
int ml_csv_name(struct ml_buf *out, const char *text, bool safe);

/* No value: nothing between the commas; "" as the first cell, since the line may have no other
 * cell. */
int ml_csv_null(struct ml_buf *out);
int ml_csv_end(struct ml_buf *out);

#endif
