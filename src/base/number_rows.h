/* number_rows.h: tables of numbers as bytes, for checkpoints and their directory.
 *
 * A table is `varint tag, varint length, varint rows, varint fields, rows × fields varints`. A
 * reader skips a tag that it does not know, ignores fields at the end of a row that it does not
 * know, and takes 0 for those that the file lacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_NUMBER_ROWS_H
#define ML_BASE_NUMBER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vec.h"

typedef ML_VEC(uint64_t) ml_numbers;

/* Appends one table. `values` has whole rows of `fields` numbers. @return 0 or -ENOMEM */
int ml_rows_put(struct ml_buf *out, uint32_t tag, const ml_numbers *values, size_t fields);

/* Appends a record of bytes: `varint tag, varint length, bytes`. @return 0 or -ENOMEM */
int ml_record_put(struct ml_buf *out, uint32_t tag, const void *bytes, size_t len);

/* Appends one number. @return 0 or -ENOMEM */
int ml_number_put(struct ml_buf *out, uint64_t number);

/* One record, of either kind. */
struct ml_record {
    uint64_t tag;
    const uint8_t *in, *end;
};

/* The record at *in, which is moved to the next one.
 * @return 1, 0 at the end, -EBADMSG */
int ml_record_next(const uint8_t **in, const uint8_t *end, struct ml_record *ret);

/* A table that is being read. */
struct ml_rows {
    uint64_t left; /* rows */
    uint64_t fields;
    const uint8_t *in, *end;
};

/* @return 0, or -EBADMSG if the record cannot have that many numbers */
int ml_rows_open(const struct ml_record *record, struct ml_rows *ret);

/* The next row: its first `count` numbers.
 * @return 1, 0 at the end, -EBADMSG */
int ml_rows_next(struct ml_rows *rows, uint64_t *values, size_t count);

#endif
