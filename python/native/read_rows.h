/* read_rows.h: an Arrow batch as plain Python lists.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_READ_ROWS_H
#define ML_READ_ROWS_H

#include "native.h"

#include "read_table.h"

/* {column: [value, ...]}. @return a new reference, NULL with an exception set */
PyObject *ml_rows_of(const struct ml_table_kind *kind, const struct ArrowArray *batch);

#endif
