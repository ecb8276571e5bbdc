/* gzip_output.c: see gzip_output.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gzip_output.h"

#include <errno.h>
#include <limits.h>

#define GZIP_HEADER 16 /* added to the window bits: gzip's header, not zlib's */
#define ROOM 16384

int ml_gzip_init(struct ml_gzip *gzip, struct ml_output *out)
{
    *gzip = (struct ml_gzip){.out = out};
    return deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP_HEADER,
                        8, Z_DEFAULT_STRATEGY) == Z_OK
               ? 0
               : -ENOMEM;
}

void ml_gzip_release(struct ml_gzip *gzip)
{
    deflateEnd(&gzip->stream);
}

/* Runs zlib until it has no more output. */
static int drain(struct ml_gzip *gzip, int how)
{
    struct ml_buf *text = &gzip->out->text;
    int r = 0;

    do {
        r = ml_buf_reserve(text, ROOM);
        if (r < 0)
            return r;
        gzip->stream.next_out = text->data + text->len;
        gzip->stream.avail_out = ROOM;
        if (deflate(&gzip->stream, how) == Z_STREAM_ERROR)
            return -EIO;
        text->len += ROOM - gzip->stream.avail_out;
        r = ml_output_line(gzip->out);
    } while (r == 0 && gzip->stream.avail_out == 0);
    return r;
}

int ml_gzip_put(struct ml_gzip *gzip, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    int r = 0;

    while (r == 0 && len > 0) {
        size_t part = len < INT_MAX ? len : INT_MAX;

        gzip->stream.next_in = (Bytef *)at;
        gzip->stream.avail_in = (uInt)part;
        r = drain(gzip, Z_NO_FLUSH);
        at += part;
        len -= part;
    }
    return r;
}

int ml_gzip_finish(struct ml_gzip *gzip)
{
    gzip->stream.avail_in = 0;
    return drain(gzip, Z_FINISH);
}
