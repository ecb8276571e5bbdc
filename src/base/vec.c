/* vec.c: see vec.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vec.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOST_DIGITS 20 /* of 64 bits */

/* Capacity for `len + extra` items: half more than there was, to keep the cost of an append
 * constant. False when the size overflows. */
static bool next_cap(size_t cap, size_t len, size_t extra, size_t item_bytes, size_t *ret)
{
    size_t most = (size_t)PTRDIFF_MAX / item_bytes;
    size_t want = cap + cap / 2; /* cap <= most: does not overflow */

    if (len > most || extra > most - len)
        return false;
    if (want < len + extra)
        want = len + extra;
    if (want < 8)
        want = 8;
    *ret = want < most ? want : most;
    return true;
}

int ml_vec_grow(void *items_field, size_t len, size_t *cap, size_t extra, size_t item_bytes)
{
    void *items;
    size_t new_cap;

    if (extra <= *cap - len)
        return 0;
    if (!next_cap(*cap, len, extra, item_bytes, &new_cap))
        return -ENOMEM;
    /* The field is a `type *`; memcpy lets one function serve all types. */
    memcpy(&items, items_field, sizeof(items));
    items = realloc(items, new_cap * item_bytes);
    if (!items)
        return -ENOMEM;
    memcpy(items_field, &items, sizeof(items));
    *cap = new_cap;
    return 0;
}

void ml_buf_init(struct ml_buf *buf)
{
    *buf = (struct ml_buf){0};
}

void ml_buf_release(struct ml_buf *buf)
{
    free(buf->data);
    ml_buf_init(buf);
}

void ml_buf_clear(struct ml_buf *buf)
{
    buf->len = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

int ml_buf_reserve(struct ml_buf *buf, size_t extra)
{
    int r;

    if (extra == SIZE_MAX)
        return -ENOMEM;
    r = ml_vec_grow(&buf->data, buf->len, &buf->cap, extra + 1, 1);
    if (r == 0)
        buf->data[buf->len] = '\0';
    return r;
}

int ml_buf_append(struct ml_buf *buf, const void *bytes, size_t len)
{
    int r = ml_buf_reserve(buf, len);

    if (r < 0)
        return r;
    if (len > 0)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return 0;
}

int ml_buf_puts(struct ml_buf *buf, const char *text)
{
    return ml_buf_append(buf, text, strlen(text));
}

int ml_buf_fill(struct ml_buf *buf, uint8_t byte, size_t count)
{
    int r = ml_buf_reserve(buf, count);

    if (r < 0)
        return r;
    memset(buf->data + buf->len, byte, count);
    buf->len += count;
    buf->data[buf->len] = '\0';
    return 0;
}

/* The digits of a number, with a minus sign if it is negative. */
static int put_digits(struct ml_buf *buf, uint64_t value, bool negative)
{
    char digits[MOST_DIGITS + 1], *end = digits + sizeof(digits), *at = end;

    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    if (negative)
        *--at = '-';
    return ml_buf_append(buf, at, (size_t)(end - at));
}

int ml_buf_u64(struct ml_buf *buf, uint64_t value)
{
    return put_digits(buf, value, false);
}

int ml_buf_i64(struct ml_buf *buf, int64_t value)
{
    return put_digits(buf, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
}

/* Format into the free space. Returns the length that the text needs, which is
 * complete when it is less than the space; negative when the format is bad. */
static int format_behind(struct ml_buf *buf, const char *fmt, va_list args)
{
    va_list copy;
    int len;

    va_copy(copy, args);
    len = vsnprintf((char *)buf->data + buf->len, buf->cap - buf->len, fmt, copy);
    va_end(copy);
    return len;
}

int ml_buf_vprintf(struct ml_buf *buf, const char *fmt, va_list args)
{
    int len, r;

    r = ml_buf_reserve(buf, 0);
    if (r < 0)
        return r;
    len = format_behind(buf, fmt, args);
    if (len >= 0 && (size_t)len >= buf->cap - buf->len) {
        buf->data[buf->len] = '\0';
        r = ml_buf_reserve(buf, (size_t)len);
        if (r < 0)
            return r;
        len = format_behind(buf, fmt, args);
    }
    if (len < 0) {
        buf->data[buf->len] = '\0';
        return -EINVAL;
    }
    buf->len += (size_t)len;
    return 0;
}

int ml_buf_printf(struct ml_buf *buf, const char *fmt, ...)
{
    va_list args;
    int r;

    va_start(args, fmt);
    r = ml_buf_vprintf(buf, fmt, args);
    va_end(args);
    return r;
}
