/* html_blob.c: see html_blob.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "html_blob.h"

#include <errno.h>
#include <limits.h>

#include <zlib.h>

#define GZIP_HEADER 16 /* added to the window bits: gzip's header, not zlib's */

static int compress_all(const void *bytes, size_t len, struct ml_buf *out)
{
    z_stream stream = {0};
    int r;

    if (len > UINT_MAX / 2 || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                           MAX_WBITS + GZIP_HEADER, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return -ENOMEM;
    r = ml_buf_reserve(out, deflateBound(&stream, len));
    if (r == 0) {
        stream.next_in = (Bytef *)(uintptr_t)bytes;
        stream.avail_in = (uInt)len;
        stream.next_out = out->data;
        stream.avail_out = (uInt)(out->cap < UINT_MAX ? out->cap : UINT_MAX);
        r = deflate(&stream, Z_FINISH) == Z_STREAM_END ? 0 : -ENOMEM;
        out->len = stream.total_out;
    }
    deflateEnd(&stream);
    return r;
}

/* Three bytes as four characters; absent ones as '='. */
static void put_group(const uint8_t *at, size_t left, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)at[0] << 16;

    bits |= left > 1 ? (uint32_t)at[1] << 8 : 0;
    bits |= left > 2 ? at[2] : 0;
    out[0] = digits[bits >> 18];
    out[1] = digits[bits >> 12 & 63];
    out[2] = '=';
    out[3] = '=';
    if (left > 1)
        out[2] = digits[bits >> 6 & 63];
    if (left > 2)
        out[3] = digits[bits & 63];
}

static int put_base64(const struct ml_buf *bytes, struct ml_buf *out)
{
    int r = ml_buf_reserve(out, (bytes->len + 2) / 3 * 4);

    for (size_t i = 0; i < bytes->len && r == 0; i += 3) {
        put_group(bytes->data + i, bytes->len - i, (char *)out->data + out->len);
        out->len += 4;
    }
    if (r == 0)
        out->data[out->len] = '\0';
    return r;
}

int ml_html_blob(const void *bytes, size_t len, struct ml_buf *out)
{
    struct ml_buf packed = {0};
    int r = compress_all(bytes, len, &packed);

    if (r == 0)
        r = put_base64(&packed, out);
    ml_buf_release(&packed);
    return r;
}
