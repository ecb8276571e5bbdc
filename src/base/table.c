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

void ml_table_keep(struct ml_table *table, size_t column)
{
    if (column < table->columns.len)
        table->columns.items[column].kept = true;
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
