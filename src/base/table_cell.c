/* table_cell.c: see table_cell.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table_cell.h"

#include <string.h>

#include "table_parts.h"
#include "utf8.h"

#define ELLIPSIS_WIDTH 1
#define TITLE_GAP 2   /* between a name and its class */
#define TITLE_LEAST 5 /* columns of a class that still say something */

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

/* The indentation and the name before two spaces. */
static struct ml_table_text titled_name(const struct ml_table_text *text)
{
    struct ml_table_text name = {.bytes = text->bytes};

    while (name.len < text->len && text->bytes[name.len] == ' ')
        name.len++;
    while (name.len < text->len && strncmp(text->bytes + name.len, "  ", 2) != 0)
        name.len++;
    name.width = ml_utf8_width(name.bytes, name.len);
    return name;
}

/* The name and as much of the class as fits; no class if that would be next to nothing. */
static int put_titled(const struct ml_table_text *text, size_t width, struct ml_buf *out)
{
    struct ml_table_text rest, name = titled_name(text);
    size_t start = name.len + TITLE_GAP;
    int r;

    if (start >= text->len || name.width + TITLE_GAP + TITLE_LEAST > width)
        return put_clipped_or_whole(&name, width, out);
    rest = (struct ml_table_text){.bytes = text->bytes + start, .len = text->len - start};
    rest.width = ml_utf8_width(rest.bytes, rest.len);
    r = ml_buf_append(out, text->bytes, start);
    return r < 0 ? r : put_clipped_or_whole(&rest, width - name.width - TITLE_GAP, out);
}

int ml_table_cell_put(const struct ml_table_text *text, enum ml_align align, size_t width,
                      struct ml_buf *out)
{
    int r;

    if (text->width > width && align == ML_PARTS)
        return ml_table_parts_put(text, width, out);
    if (text->width > width && align == ML_PLACE)
        return put_place(text, width, out);
    if (text->width > width && align == ML_TITLED)
        return put_titled(text, width, out);
    if (align != ML_RIGHT || text->width > width)
        return put_clipped_or_whole(text, width, out);
    r = ml_buf_fill(out, ' ', width - text->width);
    return r < 0 ? r : ml_buf_append(out, text->bytes, text->len);
}
