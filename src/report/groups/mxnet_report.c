/* mxnet_report.c: see mxnet_report.h.
 *
 * Python's pprint lays out the entries in the script, by these rules:
 * an object that fits into 80 characters is one line; else a list has a line for each tuple, a
 * tuple that is still too long one for each item, and a string that is too long breaks at spaces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_report.h"

#include <ctype.h>
#include <string.h>

#include "float_text.h"
#include "utf8.h"

#define GIB (1024.0 * 1024.0 * 1024.0)
#define WIDTH 80
#define IN_LIST 1  /* characters before a tuple … */
#define IN_TUPLE 2 /* … and before an item of one that has several lines */

/* ---- Python's repr ------------------------------------------------------ */

/* Invalid bytes and control characters are written as numbers. */
static int put_character(struct ml_buf *out, const char *at, size_t len, char quote,
                         size_t *ret_bytes)
{
    uint32_t c = (unsigned char)*at;
    size_t bytes = ml_utf8_decode(at, len, &c);

    *ret_bytes = bytes ? bytes : 1;
    if (c == '\n' || c == '\r' || c == '\t')
        return ml_buf_printf(out, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    if (bytes == 0 || c < 0x20 || (c >= 0x7f && c <= 0xa0))
        return ml_buf_printf(out, "\\x%02x", c);
    if (c == (uint32_t)quote || c == '\\')
        return ml_buf_printf(out, "\\%c", (char)c);
    return ml_buf_append(out, at, bytes);
}

static int put_string(struct ml_buf *out, const char *text, size_t len)
{
    char quote = memchr(text, '\'', len) && !memchr(text, '"', len) ? '"' : '\'';
    size_t bytes;
    int r = ml_buf_append(out, &quote, 1);

    for (size_t i = 0; r == 0 && i < len; i += bytes)
        r = put_character(out, text + i, len - i, quote, &bytes);
    return r < 0 ? r : ml_buf_append(out, &quote, 1);
}

static int put_number(struct ml_buf *out, uint64_t bytes)
{
    char number[32];

    return ml_buf_puts(out, ml_format_python_float(number, (double)bytes / GIB));
}

static int put_tuple(struct ml_buf *out, const struct ml_group_entry *e)
{
    int r = ml_buf_puts(out, "(");

    if (r == 0)
        r = put_string(out, e->tag, strlen(e->tag));
    if (r == 0)
        r = ml_buf_puts(out, ", ");
    if (r == 0)
        r = put_number(out, e->bytes);
    return r < 0 ? r : ml_buf_puts(out, ")");
}

/* ---- pprint ------------------------------------------------------------- */

/* Characters in the buffer from `begin` on. */
static size_t width_from(const struct ml_buf *out, size_t begin)
{
    return ml_utf8_width((const char *)out->data + begin, out->len - begin);
}

/* The word at `text` with the spaces after it. */
static size_t word_len(const char *text)
{
    size_t len = 0;

    while (text[len] && !isspace((unsigned char)text[len]))
        len++;
    while (text[len] && isspace((unsigned char)text[len]))
        len++;
    return len;
}

/* Whether the string takes no more characters; leaves the buffer unchanged.
 * @return 1, 0 or -ENOMEM */
static int string_fits(struct ml_buf *out, const char *text, size_t len, size_t room)
{
    size_t begin = out->len;
    int r = put_string(out, text, len);

    if (r == 0)
        r = width_from(out, begin) <= room;
    out->len = begin;
    return r;
}

/* Breaks the text into lines of as many words as fit. */
static int put_broken_string(struct ml_buf *out, const char *text)
{
    size_t len = 0; /* of the line so far */
    int r = 0;

    while (r == 0 && text[len]) {
        size_t next = len + word_len(text + len);
        size_t room = text[next] ? WIDTH - IN_TUPLE : WIDTH - IN_TUPLE - 1;

        r = len == 0 ? 1 : string_fits(out, text, next, room);
        if (r > 0) {
            len = next;
            r = 0;
            continue;
        }
        if (r == 0)
            r = put_string(out, text, len);
        if (r == 0)
            r = ml_buf_puts(out, "\n  ");
        text += len;
        len = 0;
    }
    return r < 0 ? r : put_string(out, text, len);
}

static int put_broken_tuple(struct ml_buf *out, const struct ml_group_entry *e)
{
    size_t len = strlen(e->tag);
    int r = string_fits(out, e->tag, len, WIDTH - IN_TUPLE - 1), fits = r;

    if (r >= 0)
        r = ml_buf_puts(out, "(");
    if (r == 0)
        r = fits ? put_string(out, e->tag, len) : put_broken_string(out, e->tag);
    if (r == 0)
        r = ml_buf_puts(out, ",\n  ");
    if (r == 0)
        r = put_number(out, e->bytes);
    return r < 0 ? r : ml_buf_puts(out, ")");
}

static int put_item(struct ml_buf *out, const struct ml_group_entry *e)
{
    size_t begin = out->len;
    int r = put_tuple(out, e);

    if (r < 0 || width_from(out, begin) <= WIDTH - IN_LIST - 1)
        return r;
    out->len = begin;
    return put_broken_tuple(out, e);
}

static int put_list(struct ml_buf *out, const struct ml_group *group, const char *between,
                    int put(struct ml_buf *, const struct ml_group_entry *))
{
    int r = ml_buf_puts(out, "[");

    for (size_t i = 0; r == 0 && i < group->entries.len; i++) {
        r = ml_buf_puts(out, i ? between : "");
        if (r == 0)
            r = put(out, &group->entries.items[i]);
    }
    return r < 0 ? r : ml_buf_puts(out, "]");
}

static int put_entries(struct ml_buf *out, const struct ml_group *group)
{
    size_t begin = out->len;
    int r = put_list(out, group, ", ", put_tuple);

    if (r == 0 && width_from(out, begin) > WIDTH) {
        out->len = begin;
        r = put_list(out, group, ",\n ", put_item);
    }
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

/* ---- The report --------------------------------------------------------- */

int ml_mxnet_text(const struct ml_grouping *grouping, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < grouping->groups.len; i++) {
        const struct ml_group *g = &grouping->groups.items[i];
        double gib = (double)g->bytes / GIB;

        if (g->is_untrackable) {
            r = ml_buf_printf(out, "Untrackable Consumption: %f\n", gib);
            continue;
        }
        r = ml_buf_printf(out, "Keyword: %s, Total Consumption: %f\nEntries:\n", g->name, gib);
        if (r == 0)
            r = put_entries(out, g);
    }
    return r;
}
