/* table_parts.c: see table_parts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table_parts.h"

#include <string.h>

#include "name_cut.h"
#include "table_cell.h"
#include "utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_WIDTH 1
#define NAME_LEAST 4 /* columns of a name before its place */

static const char between[] = ML_TABLE_BETWEEN;
static const char left_out[] = ML_TABLE_BETWEEN ELLIPSIS;
#define BETWEEN_WIDTH (sizeof(between) - 1)
#define LEFT_OUT_WIDTH (BETWEEN_WIDTH + ELLIPSIS_WIDTH)

static struct ml_table_text text_of(const char *bytes, size_t len)
{
    return (struct ml_table_text){.bytes = bytes, .len = len, .width = ml_utf8_width(bytes, len)};
}

/* ---- Parts ----------------------------------------------------------------- */

/* Where the next separator begins, or the end. */
static const char *part_end(const char *from, const char *end)
{
    const char *at = memmem(from, (size_t)(end - from), between, BETWEEN_WIDTH);

    return at ? at : end;
}

static struct ml_table_text last_part(const struct ml_table_text *text)
{
    const char *end = text->bytes + text->len, *from = text->bytes, *next;

    while ((next = part_end(from, end)) < end)
        from = next + BETWEEN_WIDTH;
    return text_of(from, (size_t)(end - from));
}

/* Where " (file.py:12)" begins in a part; its length: it has no place. */
static size_t place_start(const struct ml_table_text *part)
{
    size_t at = part->len;

    if (at < 2 || part->bytes[at - 1] != ')')
        return part->len;
    while (at > 0 && part->bytes[at - 1] != ' ')
        at--;
    return at > 1 && part->bytes[at] == '(' ? at - 1 : part->len;
}

/* ---- Without folders -------------------------------------------------------- */

static int put_without_folder(const struct ml_table_text *part, struct ml_buf *out)
{
    size_t place = place_start(part);
    const char *slash =
        place < part->len ? memrchr(part->bytes + place, '/', part->len - place) : NULL;
    size_t from = slash ? (size_t)(slash + 1 - part->bytes) : place;
    int r = ml_buf_append(out, part->bytes, place);

    if (r == 0 && slash)
        r = ml_buf_puts(out, " (");
    return r < 0 ? r : ml_buf_append(out, part->bytes + from, part->len - from);
}

static int drop_folders(const struct ml_table_text *text, struct ml_buf *ret)
{
    const char *from = text->bytes, *end = text->bytes + text->len;
    int r = 0;

    while (r == 0) {
        const char *next = part_end(from, end);
        struct ml_table_text part = text_of(from, (size_t)(next - from));

        r = put_without_folder(&part, ret);
        if (next == end)
            break;
        if (r == 0)
            r = ml_buf_puts(ret, between);
        from = next + BETWEEN_WIDTH;
    }
    return r;
}

/* ---- One part ----------------------------------------------------------------- */

static int put_cut(const struct ml_table_text *text, size_t width, size_t head, struct ml_buf *out)
{
    struct ml_name_cut cut = ml_name_cut_after(text, width, head);

    return ml_table_cut_put(text, &cut, width, out);
}

/* The arguments of a C++ function matter less than its name, the end of an address does not. */
static int put_name(const struct ml_table_text *name, size_t width, struct ml_buf *out)
{
    bool arguments = memchr(name->bytes, '(', name->len);

    return put_cut(name, width, arguments ? width - ELLIPSIS_WIDTH : width / 2, out);
}

static int put_part(const struct ml_table_text *part, size_t width, struct ml_buf *out)
{
    size_t at = place_start(part);
    struct ml_table_text name = text_of(part->bytes, at);
    struct ml_table_text place = text_of(part->bytes + at, part->len - at);
    int r;

    if (place.len == 0)
        return put_name(part, width, out);
    if (part->width <= width || place.width + NAME_LEAST > width)
        return put_cut(part, width, width / 2, out);
    r = put_cut(&name, width - place.width, width - place.width - ELLIPSIS_WIDTH, out);
    return r < 0 ? r : ml_buf_append(out, place.bytes, place.len);
}

/* ---- Which parts ---------------------------------------------------------------- */

/* The bytes of the first parts that fit with the last one, 0: not even the first. The last one
 * begins at `last`. */
static size_t first_parts(const struct ml_table_text *text, size_t last, size_t room)
{
    const char *end = text->bytes + last;
    size_t fits = 0;

    for (const char *from = text->bytes; from < end;) {
        const char *next = part_end(from, text->bytes + text->len);
        size_t len = (size_t)(next - text->bytes);

        if (ml_utf8_width(text->bytes, len) > room || !strncmp(from, ELLIPSIS, strlen(ELLIPSIS)))
            break;
        fits = len;
        from = next + BETWEEN_WIDTH;
    }
    return fits;
}

/* "first < … < last". */
static int put_ends(const struct ml_table_text *first, const struct ml_table_text *last,
                    bool adjacent, size_t width, struct ml_buf *out)
{
    size_t gap = adjacent ? BETWEEN_WIDTH : LEFT_OUT_WIDTH + BETWEEN_WIDTH;
    size_t room = width > gap ? width - gap : 0, half = room / 2;
    size_t first_width = last->width < half ? room - last->width : room - half;
    int r = 0;

    if (first->width < first_width)
        first_width = first->width;
    r = put_part(first, first_width, out);
    if (r == 0 && !adjacent)
        r = ml_buf_puts(out, left_out);
    if (r == 0)
        r = ml_buf_puts(out, between);
    return r < 0 ? r : put_part(last, room - first_width, out);
}

/* "first < …", where there is room for one. */
static int put_first(const struct ml_table_text *first, size_t width, struct ml_buf *out)
{
    size_t room = width > LEFT_OUT_WIDTH + ELLIPSIS_WIDTH ? width - LEFT_OUT_WIDTH : 0;
    size_t shown = first->width < room ? first->width : room;
    int r;

    if (room == 0)
        return put_part(first, width, out);
    r = put_part(first, shown, out);
    if (r == 0)
        r = ml_buf_puts(out, left_out);
    return r < 0 ? r : ml_buf_fill(out, ' ', room - shown);
}

static int put_some(const struct ml_table_text *text, size_t width, struct ml_buf *out)
{
    struct ml_table_text last = last_part(text);
    size_t last_at = (size_t)(last.bytes - text->bytes);
    size_t gaps = LEFT_OUT_WIDTH + BETWEEN_WIDTH;
    size_t room = width > last.width + gaps ? width - last.width - gaps : 0;
    const char *next = part_end(text->bytes, text->bytes + text->len);
    struct ml_table_text first = text_of(text->bytes, (size_t)(next - text->bytes));
    size_t many = first_parts(text, last_at, room);

    if (last_at == 0)
        return put_part(text, width, out);
    if (many > 0)
        first = text_of(text->bytes, many);
    else if (width < gaps + 2 * ML_TABLE_SHRINK_LEAST)
        return put_first(&first, width, out);
    return put_ends(&first, &last, first.len + BETWEEN_WIDTH == last_at, width, out);
}

int ml_table_parts_put(const struct ml_table_text *text, size_t width, struct ml_buf *out)
{
    struct ml_buf shorter = {0};
    int r = drop_folders(text, &shorter);

    if (r == 0) {
        struct ml_table_text t = text_of((const char *)shorter.data, shorter.len);

        r = t.width <= width ? put_part(&t, width, out) : put_some(&t, width, out);
    }
    ml_buf_release(&shorter);
    return r;
}
