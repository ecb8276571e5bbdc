/* vec.h: growable memory: a byte buffer and a typed vector.
 *
 * Both are plain structs whose fields callers read directly; they own one heap block, grow by
 * half of what they hold, and start empty without allocating (all zero bytes is a valid empty
 * one). A failed call leaves the contents unchanged. Not thread-safe.
 *
 *     struct ml_buf out;
 *     ml_buf_init(&out);
 *     r = ml_buf_printf(&out, "%d blocks\n", n);
 *     ml_buf_release(&out);
 *
 *     ML_VEC(struct event) events = {0};
 *     r = ml_vec_push(&events, event);
 *     for (size_t i = 0; i < events.len; i++)
 *         use(&events.items[i]);
 *     ml_vec_release(&events);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_VEC_H
#define ML_BASE_VEC_H

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "compiler.h"

/* Bytes, or text. Every append keeps a NUL at data[len], not counted in len;
 * data is NULL until the first append or reserve. */
struct ml_buf {
    uint8_t *data;
    size_t len, cap;
};

void ml_buf_init(struct ml_buf *buf);

/* Frees the memory and leaves an empty buffer that can be used again. */
void ml_buf_release(struct ml_buf *buf);

/* Removes the bytes and keeps the memory. */
void ml_buf_clear(struct ml_buf *buf);

/* Make room for `extra` more bytes (and the NUL) behind len, which the caller
 * may then fill and count itself. @return 0 or -ENOMEM */
int ml_buf_reserve(struct ml_buf *buf, size_t extra);

/* Append a copy. `bytes` must not point into the buffer itself.
 * @return 0 or -ENOMEM */
int ml_buf_append(struct ml_buf *buf, const void *bytes, size_t len);

/* Append a NUL-terminated string. @return 0 or -ENOMEM */
int ml_buf_puts(struct ml_buf *buf, const char *text);

/* Append `count` times the same byte. @return 0 or -ENOMEM */
int ml_buf_fill(struct ml_buf *buf, uint8_t byte, size_t count);

/* Append a number in decimal digits, several times as fast as printf.
 * @return 0 or -ENOMEM */
int ml_buf_u64(struct ml_buf *buf, uint64_t value);
int ml_buf_i64(struct ml_buf *buf, int64_t value);

/* Append formatted text. @return 0, -ENOMEM, or -EINVAL for a format that the C library
 * rejects */
int ml_buf_printf(struct ml_buf *buf, const char *fmt, ...) ML_PRINTF(2, 3);
int ml_buf_vprintf(struct ml_buf *buf, const char *fmt, va_list args) ML_PRINTF(2, 0);

/* A vector of `type`; use in a declaration, a struct member or a typedef. */
#define ML_VEC(type)                                                                               \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t len, cap;                                                                           \
    }

/* The macros take a pointer to the vector and evaluate it more than once. */
#define ml_vec_init(v) ((void)((v)->items = NULL, (v)->len = 0, (v)->cap = 0))

/* Make room for n more items behind len. @return 0 or -ENOMEM */
#define ml_vec_reserve(v, n) ml_vec_grow(&(v)->items, (v)->len, &(v)->cap, (n), sizeof(*(v)->items))

/* Append one item, evaluated once, after the vector has grown; a
 * compound literal needs no parentheses. @return 0 or -ENOMEM */
#define ml_vec_push(v, ...)                                                                        \
    (((v)->len < (v)->cap || ml_vec_reserve((v), 1) == 0)                                          \
         ? ((v)->items[(v)->len] = (__VA_ARGS__), (v)->len++, 0)                                   \
         : -ENOMEM)

/* Sorts with qsort(), which must not get the NULL of an empty vector. */
#define ml_vec_sort(v, compare)                                                                    \
    ((v)->len > 1 ? qsort((v)->items, (v)->len, sizeof(*(v)->items), (compare)) : (void)0)

/* Removes the items and keeps the memory. */
#define ml_vec_clear(v) ((void)((v)->len = 0))

/* Frees the memory and leaves an empty vector that can be used again. */
#define ml_vec_release(v) (free((v)->items), ml_vec_init(v))

/* Implements ml_vec_reserve: grows the block that the pointer at `items_field` points to, so
 * that `extra` items fit after `len`.
 * @return 0 or -ENOMEM */
int ml_vec_grow(void *items_field, size_t len, size_t *cap, size_t extra, size_t item_bytes);

#endif
