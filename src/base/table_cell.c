/* table_cell.c: see table_cell.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table_cell.h"

#include <string.h>

#include "utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_WIDTH 1

int ml_table_cut_put(const struct ml_table_text *text, const struct ml_name_cut *cut, size_t width,
                     struct ml_buf *out)
{
    size_t start = out->len, shown;
    int r = ml_name_cut_put(text, cut, out);

    if (r < 0)
        return r;
    shown = ml_utf8_width((const char *)out->data + start, out->len - start);
    return shown < width ? ml_buf_fill(out, ' ', width - shown) : 0;
}

/* The first `head` columns of a text that is too wide, and the last ones. */
static int put_clipped(const struct ml_table_text *text, size_t width, size_t head,
                       struct ml_buf *out)
{
    struct ml_name_cut cut = ml_name_cut_after(text, width, head);

    return ml_table_cut_put(text, &cut, width, out);
}

/* Both the start and the end matter in symbols and paths. */
static int put_clipped_or_whole(const struct ml_table_text *text, size_t width, struct ml_buf *out)
{
    int r;

    if (text->width > width)
        return put_clipped(text, width, width / 2, out);
    r = ml_buf_append(out, text->bytes, text->len);
    return r < 0 ? r : ml_buf_fill(out, ' ', width - text->width);
}

/* The text up to the next part, and the parts from here on. */
static struct ml_table_text first_part(const struct ml_table_text *text, size_t *ret_parts)
{
    struct ml_table_text part = *text;
    const char *at = text->bytes;

    for (*ret_parts = 1; (at = strstr(at, ML_TABLE_BETWEEN)); at += strlen(ML_TABLE_BETWEEN)) {
        if ((*ret_parts)++ == 1)
            part.len = (size_t)(at - text->bytes);
    }
    part.width = ml_utf8_width(part.bytes, part.len);
    return part;
}

/* Where there is no room for all: the others are an ellipsis. */
static int put_first(const struct ml_table_text *part, size_t width, struct ml_buf *out)
{
    static const char others[] = ML_TABLE_BETWEEN ELLIPSIS;
    size_t rest = strlen(ML_TABLE_BETWEEN) + ELLIPSIS_WIDTH;
    size_t room = width > rest + ELLIPSIS_WIDTH ? width - rest : 0;
    size_t shown = part->width < room ? part->width : room;
    int r;

    if (room == 0)
        return put_clipped_or_whole(part, width, out);
    r = put_clipped_or_whole(part, shown, out);
    if (r == 0)
        r = ml_buf_puts(out, others);
    return r < 0 ? r : ml_buf_fill(out, ' ', room - shown);
}

/* What short parts leave goes to those behind them. */
static int put_parts(struct ml_table_text text, size_t width, struct ml_buf *out)
{
    size_t between = strlen(ML_TABLE_BETWEEN), parts;

    for (;;) {
        struct ml_table_text part = first_part(&text, &parts);
        size_t gaps = (parts - 1) * between;
        size_t share = width > gaps ? (width - gaps) / parts : 0;
        int r;

        if (parts == 1)
            return put_clipped_or_whole(&text, width, out);
        if (share < ML_TABLE_SHRINK_LEAST)
            return put_first(&part, width, out);
        share = part.width < share ? part.width : share;
        r = put_clipped_or_whole(&part, share, out);
        if (r == 0)
            r = ml_buf_puts(out, ML_TABLE_BETWEEN);
        if (r < 0)
            return r;
        width -= share + between;
        text.bytes += part.len + between;
        text.len -= part.len + between;
        text.width -= part.width + between;
    }
}

/* How much of "folder/file.py:12 function" stands before the function; 0: it is no place. */
static size_t place_len(const struct ml_table_text *text)
{
    const char *end = text->bytes + text->len;

    for (const char *at = text->bytes; (at = memchr(at, ':', (size_t)(end - at))); at++) {
        const char *digit = at + 1;

        while (digit < end && *digit >= '0' && *digit <= '9')
            digit++;
        if (digit > at + 1 && digit < end && *digit == ' ')
            return (size_t)(digit - text->bytes);
    }
    return 0;
}

static int put_place(const struct ml_table_text *text, size_t width, struct ml_buf *out)
{
    struct ml_table_text place = {.bytes = text->bytes, .len = place_len(text)};
    size_t room = width - ELLIPSIS_WIDTH;
    size_t head = ml_clip_utf8(text->bytes, text->len, room);

    place.width = ml_utf8_width(place.bytes, place.len);
    if (place.len == 0)
        return put_clipped(text, width, width / 2, out);
    if (place.width > width)
        return put_clipped(&place, width, 0, out);
    if (head < place.len)
        return put_clipped_or_whole(&place, width, out);
    return put_clipped(text, width, room, out);
}

int ml_table_cell_put(const struct ml_table_text *text, enum ml_align align, size_t width,
                      struct ml_buf *out)
{
    int r;

    if (text->width > width && align == ML_PARTS)
        return put_parts(*text, width, out);
    if (text->width > width && align == ML_PLACE)
        return put_place(text, width, out);
    if (align != ML_RIGHT || text->width > width)
        return put_clipped_or_whole(text, width, out);
    r = ml_buf_fill(out, ' ', width - text->width);
    return r < 0 ? r : ml_buf_append(out, text->bytes, text->len);
}
