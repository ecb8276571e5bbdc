/* table.c: see table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "printable.h"
#include "utf8.h"

#define GAP 2          /* columns between two cells */
#define SHRINK_LEAST 8 /* the narrowest left-aligned column */
#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_WIDTH 1

void ml_table_init(struct ml_table *table)
{
    *table = (struct ml_table){0};
}

void ml_table_release(struct ml_table *table)
{
    ml_arena_release(&table->arena);
    ml_buf_release(&table->scratch);
    ml_vec_release(&table->columns);
    ml_vec_release(&table->cells);
    ml_table_init(table);
}

static int keep_error(struct ml_table *table, int r)
{
    if (table->error == 0)
        table->error = r;
    return table->error;
}

/* In place, since nothing gets longer. Returns the new length. */
static size_t make_safe(char *text, size_t len)
{
    size_t to = 0;

    for (size_t at = 0; at < len;) {
        uint32_t codepoint;
        size_t bytes = ml_utf8_decode(text + at, len - at, &codepoint);

        if (bytes == 0 || ml_is_unsafe(codepoint)) {
            text[to++] = bytes == 1 && (codepoint == '\n' || codepoint == '\t') ? ' ' : '?';
            at += bytes > 0 ? bytes : 1;
            continue;
        }
        memmove(text + to, text + at, bytes);
        to += bytes;
        at += bytes;
    }
    text[to] = '\0';
    return to;
}

static int copy_text(struct ml_table *table, const char *text, struct ml_table_text *ret)
{
    size_t len = strlen(text);
    char *copy = ml_arena_dup(&table->arena, text, len);

    if (!copy)
        return -ENOMEM;
    len = make_safe(copy, len);
    *ret = (struct ml_table_text){.bytes = copy, .len = len, .width = ml_utf8_width(copy, len)};
    return 0;
}

int ml_table_column(struct ml_table *table, const char *title, enum ml_align align)
{
    struct ml_table_column column = {.align = align};
    int r = table->cells.len > 0 ? -EINVAL : table->error;

    if (r == 0)
        r = copy_text(table, title, &column.title);
    if (r == 0) {
        column.width = column.title.width;
        r = ml_vec_push(&table->columns, column);
    }
    return keep_error(table, r);
}

int ml_table_cell(struct ml_table *table, const char *text)
{
    struct ml_table_text cell;
    int r = table->columns.len == 0 ? -EINVAL : table->error;

    if (r == 0)
        r = copy_text(table, text ? text : "", &cell);
    if (r == 0)
        r = ml_vec_push(&table->cells, cell);
    if (r == 0) {
        size_t i = (table->cells.len - 1) % table->columns.len;
        struct ml_table_column *column = &table->columns.items[i];

        if (column->width < cell.width)
            column->width = cell.width;
    }
    return keep_error(table, r);
}

int ml_table_cellf(struct ml_table *table, const char *fmt, ...)
{
    va_list args;
    int r;

    ml_buf_clear(&table->scratch);
    va_start(args, fmt);
    r = ml_buf_vprintf(&table->scratch, fmt, args);
    va_end(args);
    if (r < 0)
        return keep_error(table, r);
    return ml_table_cell(table, (const char *)table->scratch.data);
}

size_t ml_table_rows(const struct ml_table *table)
{
    size_t columns = table->columns.len;

    return columns > 0 ? (table->cells.len + columns - 1) / columns : 0;
}

/* One table being printed: its destination and column widths. */
struct printer {
    const struct ml_table *table;
    struct ml_buf *out;
    ML_VEC(size_t) widths;
};

static size_t total_width(const struct printer *p)
{
    size_t total = (p->widths.len - 1) * GAP;

    for (size_t i = 0; i < p->widths.len; i++)
        total += p->widths.items[i];
    return total;
}

/* The widest column that may still shrink, or NULL. */
static size_t *widest(struct printer *p)
{
    size_t *best = NULL;

    for (size_t i = 0; i < p->widths.len; i++) {
        size_t *width = &p->widths.items[i];

        if (p->table->columns.items[i].align != ML_RIGHT && *width > SHRINK_LEAST &&
            (!best || *width > *best))
            best = width;
    }
    return best;
}

static int decide_widths(struct printer *p, size_t width)
{
    size_t total, *shrinking;

    for (size_t i = 0; i < p->table->columns.len; i++) {
        int r = ml_vec_push(&p->widths, p->table->columns.items[i].width);

        if (r < 0)
            return r;
    }
    total = total_width(p);
    while (width > 0 && total > width && (shrinking = widest(p))) {
        --*shrinking;
        total--;
    }
    return 0;
}

/* Where the last `columns` columns of the text begin. */
static size_t tail_start(const struct ml_table_text *text, size_t columns)
{
    size_t at = ml_clip_utf8(text->bytes, text->len, text->width - columns);

    /* A wide character that straddles the cut is left out. */
    while (ml_utf8_width(text->bytes + at, text->len - at) > columns) {
        uint32_t codepoint;

        at += ml_utf8_decode(text->bytes + at, text->len - at, &codepoint);
    }
    return at;
}

/* The text without its bytes from `head` to `tail`. */
static int put_without(struct printer *p, const struct ml_table_text *text, size_t head,
                       size_t tail, size_t width)
{
    size_t shown = ml_utf8_width(text->bytes, head) + ELLIPSIS_WIDTH +
                   ml_utf8_width(text->bytes + tail, text->len - tail);
    int r = ml_buf_append(p->out, text->bytes, head);

    if (r == 0)
        r = ml_buf_puts(p->out, ELLIPSIS);
    if (r == 0)
        r = ml_buf_append(p->out, text->bytes + tail, text->len - tail);
    return r < 0 ? r : ml_buf_fill(p->out, ' ', width - shown);
}

/* The start and the end of a text that is wider than its column: both matter in
 * symbols and paths. */
static int put_clipped(struct printer *p, const struct ml_table_text *text, size_t width)
{
    size_t room = width - ELLIPSIS_WIDTH;

    return put_without(p, text, ml_clip_utf8(text->bytes, text->len, room - room / 2),
                       tail_start(text, room / 2), width);
}

static int put_clipped_or_whole(struct printer *p, const struct ml_table_text *text, size_t width)
{
    int r;

    if (text->width > width)
        return put_clipped(p, text, width);
    r = ml_buf_append(p->out, text->bytes, text->len);
    return r < 0 ? r : ml_buf_fill(p->out, ' ', width - text->width);
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

/* When not all parts fit: the first, and an ellipsis for the others. */
static int put_first(struct printer *p, const struct ml_table_text *part, size_t width)
{
    static const char others[] = ML_TABLE_BETWEEN ELLIPSIS;
    size_t rest = strlen(ML_TABLE_BETWEEN) + ELLIPSIS_WIDTH;
    size_t room = width > rest + ELLIPSIS_WIDTH ? width - rest : 0;
    size_t shown = part->width < room ? part->width : room;
    int r;

    if (room == 0)
        return put_clipped_or_whole(p, part, width);
    r = put_clipped_or_whole(p, part, shown);
    if (r == 0)
        r = ml_buf_puts(p->out, others);
    return r < 0 ? r : ml_buf_fill(p->out, ' ', room - shown);
}

/* Short parts leave their spare columns to the parts after them. */
static int put_parts(struct printer *p, struct ml_table_text text, size_t width)
{
    size_t between = strlen(ML_TABLE_BETWEEN), parts;

    for (;;) {
        struct ml_table_text part = first_part(&text, &parts);
        size_t gaps = (parts - 1) * between;
        size_t share = width > gaps ? (width - gaps) / parts : 0;
        int r;

        if (parts == 1)
            return put_clipped_or_whole(p, &text, width);
        if (share < SHRINK_LEAST)
            return put_first(p, &part, width);
        share = part.width < share ? part.width : share;
        r = put_clipped_or_whole(p, &part, share);
        if (r == 0)
            r = ml_buf_puts(p->out, ML_TABLE_BETWEEN);
        if (r < 0)
            return r;
        width -= share + between;
        text.bytes += part.len + between;
        text.len -= part.len + between;
        text.width -= part.width + between;
    }
}

/* The length of "folder/file.py:12" in "folder/file.py:12 function"; 0: the text is not a
 * place. */
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

static int put_place(struct printer *p, const struct ml_table_text *text, size_t width)
{
    struct ml_table_text place = {.bytes = text->bytes, .len = place_len(text)};
    size_t room = width - ELLIPSIS_WIDTH;
    size_t head = ml_clip_utf8(text->bytes, text->len, room);

    place.width = ml_utf8_width(place.bytes, place.len);
    if (place.len == 0)
        return put_clipped(p, text, width);
    if (place.width > width)
        return put_without(p, &place, 0, tail_start(&place, room), width);
    if (head < place.len)
        return put_clipped_or_whole(p, &place, width);
    return put_without(p, text, head, text->len, width);
}

static int put_cell(struct printer *p, const struct ml_table_text *text, size_t column)
{
    size_t width = p->widths.items[column];
    bool right = p->table->columns.items[column].align == ML_RIGHT;
    int r;

    if (text->width > width && p->table->columns.items[column].align == ML_PARTS)
        return put_parts(p, *text, width);
    if (text->width > width && p->table->columns.items[column].align == ML_PLACE)
        return put_place(p, text, width);
    if (!right || text->width > width)
        return put_clipped_or_whole(p, text, width);
    r = ml_buf_fill(p->out, ' ', width - text->width);
    return r < 0 ? r : ml_buf_append(p->out, text->bytes, text->len);
}

/* Ends the line that began at `start`, without the spaces at its end. */
static int end_line(struct printer *p, size_t start)
{
    struct ml_buf *out = p->out;

    while (out->len > start && out->data[out->len - 1] == ' ')
        out->len--;
    return ml_buf_append(out, "\n", 1);
}

static bool has_header(const struct ml_table *table)
{
    for (size_t i = 0; i < table->columns.len; i++)
        if (table->columns.items[i].title.len > 0)
            return true;
    return false;
}

static int put_header(struct printer *p)
{
    size_t start = p->out->len;
    int r = 0;

    for (size_t i = 0; i < p->widths.len && r == 0; i++) {
        r = ml_buf_fill(p->out, ' ', i > 0 ? GAP : 0);
        if (r == 0)
            r = put_cell(p, &p->table->columns.items[i].title, i);
    }
    return r < 0 ? r : end_line(p, start);
}

static int put_underline(struct printer *p)
{
    size_t start = p->out->len;
    int r = 0;

    for (size_t i = 0; i < p->widths.len && r == 0; i++) {
        r = ml_buf_fill(p->out, ' ', i > 0 ? GAP : 0);
        if (r == 0)
            r = ml_buf_fill(p->out, '-', p->widths.items[i]);
    }
    return r < 0 ? r : end_line(p, start);
}

static int put_row(struct printer *p, size_t row)
{
    size_t first = row * p->widths.len;
    size_t start = p->out->len;
    int r = 0;

    for (size_t i = 0; i < p->widths.len && first + i < p->table->cells.len && r == 0; i++) {
        r = ml_buf_fill(p->out, ' ', i > 0 ? GAP : 0);
        if (r == 0)
            r = put_cell(p, &p->table->cells.items[first + i], i);
    }
    return r < 0 ? r : end_line(p, start);
}

static int put_table(struct printer *p)
{
    size_t rows = ml_table_rows(p->table);
    int r = 0;

    if (has_header(p->table)) {
        r = put_header(p);
        if (r == 0)
            r = put_underline(p);
    }
    for (size_t row = 0; row < rows && r == 0; row++)
        r = put_row(p, row);
    return r;
}

int ml_table_print(const struct ml_table *table, struct ml_buf *out, size_t width)
{
    struct printer p = {.table = table, .out = out};
    int r;

    if (table->error < 0)
        return table->error;
    if (table->columns.len == 0)
        return 0;
    r = decide_widths(&p, width);
    if (r == 0)
        r = put_table(&p);
    ml_vec_release(&p.widths);
    return r;
}
