/* number_rows.c: see number_rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "number_rows.h"

#include <errno.h>

#include "varint.h"

int ml_number_put(struct ml_buf *out, uint64_t number)
{
    if (ml_buf_reserve(out, ML_VARINT_MAX) < 0)
        return -ENOMEM;
    out->len = (size_t)(ml_varint_put(out->data + out->len, number) - out->data);
    return 0;
}

int ml_record_put(struct ml_buf *out, uint32_t tag, const void *bytes, size_t len)
{
    if (ml_number_put(out, tag) < 0 || ml_number_put(out, len) < 0)
        return -ENOMEM;
    return ml_buf_append(out, bytes, len);
}

int ml_rows_put(struct ml_buf *out, uint32_t tag, const ml_numbers *values, size_t fields)
{
    size_t rows = values->len / fields, bytes = ml_varint_len(rows) + ml_varint_len(fields);
    uint8_t *to;

    for (size_t i = 0; i < values->len; i++)
        bytes += ml_varint_len(values->items[i]);
    if (ml_number_put(out, tag) < 0 || ml_number_put(out, bytes) < 0 ||
        ml_buf_reserve(out, bytes) < 0)
        return -ENOMEM;
    to = ml_varint_put(out->data + out->len, rows);
    to = ml_varint_put(to, fields);
    for (size_t i = 0; i < values->len; i++)
        to = ml_varint_put(to, values->items[i]);
    out->len += bytes;
    return 0;
}

int ml_record_next(const uint8_t **in, const uint8_t *end, struct ml_record *ret)
{
    const uint8_t *at = *in;
    uint64_t len = 0;

    if (at == end)
        return 0;
    at = ml_varint_get(at, end, &ret->tag);
    if (at)
        at = ml_varint_get(at, end, &len);
    if (!at || len > (size_t)(end - at))
        return -EBADMSG;
    ret->in = at;
    ret->end = *in = at + len;
    return 1;
}

int ml_rows_open(const struct ml_record *record, struct ml_rows *ret)
{
    *ret = (struct ml_rows){.end = record->end};
    ret->in = ml_varint_get(record->in, record->end, &ret->left);
    if (ret->in)
        ret->in = ml_varint_get(ret->in, record->end, &ret->fields);
    if (!ret->in || ret->fields == 0 || ret->left > (size_t)(ret->end - ret->in) / ret->fields)
        return -EBADMSG;
    return 0;
}

int ml_rows_next(struct ml_rows *rows, uint64_t *values, size_t count)
{
    uint64_t number;

    if (rows->left == 0)
        return 0;
    rows->left--;
    for (size_t i = 0; i < count; i++)
        values[i] = 0;
    for (size_t i = 0; i < rows->fields; i++) {
        rows->in = ml_varint_get(rows->in, rows->end, &number);
        if (!rows->in)
            return -EBADMSG;
        if (i < count)
            values[i] = number;
    }
    return 1;
}
