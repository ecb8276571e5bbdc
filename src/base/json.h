/* json.h: write JSON into a buffer.
 *
 * The writer adds commas, colons and, when pretty, line breaks and two spaces of indentation.
 * Output is always valid UTF-8.
 *
 *     ml_json_init(&j, &out, true);
 *     ml_json_begin_object(&j);
 *     ml_json_kv_u64(&j, "bytes", bytes);
 *     ml_json_key(&j, "stack");
 *     ml_json_begin_array(&j);
 *     ml_json_cstr(&j, "main");
 *     ml_json_end_array(&j);
 *     ml_json_end_object(&j);
 *     r = ml_json_finish(&j);
 *
 * Calls return nothing: the first failure is kept, later calls do nothing, and ml_json_finish
 * returns it. Misuse (a value without a key in an object, an end without its begin, two values
 * at the top) fails with -EINVAL. Only the buffer, which the caller owns, needs releasing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_JSON_H
#define ML_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vec.h"

/* Objects and arrays that may be open at once; more is -EOVERFLOW. */
#define ML_JSON_DEPTH_MAX 4096

struct ml_json {
    struct ml_buf *out;
    bool pretty;
    bool first;                               /* the innermost container is still empty */
    bool after_key;                           /* a key was written, its value was not */
    int error;                                /* the first failure */
    size_t depth;                             /* containers open */
    uint8_t is_object[ML_JSON_DEPTH_MAX / 8]; /* one bit per open container */
};

/* Start a document, appended to `out`, which must outlive the writer and need not be empty. */
void ml_json_init(struct ml_json *json, struct ml_buf *out, bool pretty);

/* End the document; a pretty one ends with a line break.
 * @return 0, -ENOMEM, -EOVERFLOW, or -EINVAL when the calls did not write exactly one complete
 *         value; the contents of `out` are then useless */
int ml_json_finish(struct ml_json *json);

void ml_json_begin_object(struct ml_json *json);
void ml_json_end_object(struct ml_json *json);
void ml_json_begin_array(struct ml_json *json);
void ml_json_end_array(struct ml_json *json);

/* The key of the next value. */
void ml_json_key(struct ml_json *json, const char *key);

/* Any bytes; those that are not UTF-8 become U+FFFD, one each. */
void ml_json_string(struct ml_json *json, const char *s, size_t len);

/* A NUL-terminated string; NULL is written as null. */
void ml_json_cstr(struct ml_json *json, const char *s);

/* All digits, also beyond 2^53, where JavaScript's numbers stop being exact. */
void ml_json_u64(struct ml_json *json, uint64_t v);
void ml_json_i64(struct ml_json *json, int64_t v);

/* The fewest digits that read back to the same number. NaN and infinities, which JSON lacks,
 * become null. */
void ml_json_double(struct ml_json *json, double v);

/* 1234567 as 1234.567: nanoseconds where a format has microseconds. Always three decimals. */
void ml_json_thousandths(struct ml_json *json, uint64_t v);

void ml_json_bool(struct ml_json *json, bool v);
void ml_json_null(struct ml_json *json);

/* A key and its value. */
void ml_json_kv_string(struct ml_json *json, const char *key, const char *s, size_t len);
void ml_json_kv_cstr(struct ml_json *json, const char *key, const char *s);
void ml_json_kv_u64(struct ml_json *json, const char *key, uint64_t v);
void ml_json_kv_i64(struct ml_json *json, const char *key, int64_t v);
void ml_json_kv_double(struct ml_json *json, const char *key, double v);
void ml_json_kv_bool(struct ml_json *json, const char *key, bool v);
void ml_json_kv_null(struct ml_json *json, const char *key);

#endif
