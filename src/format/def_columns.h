/* def_columns.h: the records of a definitions block in columns, layout 1.
 *
 * All first fields of all stacks are adjacent, then all second ones, and numbers that rise are
 * differences: a program with many stacks has a fifth of the bytes. Readers turn the columns back
 * into records. No memory is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_DEF_COLUMNS_H
#define ML_DEF_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

/* The most bytes that ml_def_columns_put writes for so many bytes of records. */
size_t ml_def_columns_room(size_t records_bytes);

/* Writes records that ml_def_put wrote. Returns the number of bytes, 0 if there is a record that
 * columns cannot have. */
size_t ml_def_columns_put(uint8_t *out, const uint8_t *records, size_t len);

/* The room that ml_def_columns_get needs, 0 if the columns claim more than they can contain. */
size_t ml_def_columns_records_room(const uint8_t *in, size_t len);

/* Writes the records. Returns the number of their bytes, 0 if the columns are damaged. */
size_t ml_def_columns_get(const uint8_t *in, size_t len, uint8_t *out);

#endif
