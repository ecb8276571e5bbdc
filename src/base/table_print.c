/* table_print.c: the lines of a table, see table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "name_cut.h"
#include "table.h"
#include "table_cell.h"
#include "utf8.h"

#define GAP 2 /* columns between two cells */

/* A column that is too narrow for its cells. */
struct narrow {
    size_t dropped;              /* bytes that all its names begin with */
    struct ml_table_text *names; /* its cells without them; NULL: they fit */
    struct ml_name_cut *cuts;    /* how each is shown; all zero: as its alignment says */
};

/* One table being printed: where to, and the widths that were decided. */
struct printer {
    const struct ml_table *table;
    struct ml_buf *out;
    ML_VEC(size_t) widths;
    struct narrow *narrow; /* for each column */
    size_t rows;
};

static size_t total_width(const struct printer *p)
{
    size_t total = (p->widths.len - 1) * GAP;

    for (size_t i = 0; i < p->widths.len; i++)
        total += p->widths.items[i];
    return total;
}

/* The widest column that may still shrink, of those that are kept or of the others, or NULL. */
static size_t *widest(struct printer *p, bool kept)
{
    size_t *best = NULL;

    for (size_t i = 0; i < p->widths.len; i++) {
        const struct ml_table_column *column = &p->table->columns.items[i];
        size_t *width = &p->widths.items[i];

        if (column->align != ML_RIGHT && column->kept == kept && *width > ML_TABLE_SHRINK_LEAST &&
            (!best || *width > *best))
            best = width;
    }
    return best;
}

static size_t *next_to_shrink(struct printer *p)
{
    size_t *wide = widest(p, false);

    return wide ? wide : widest(p, true);
}

static const struct ml_table_text *cell_at(const struct printer *p, size_t row, size_t column)
{
    static const struct ml_table_text none = {.bytes = ""};
    size_t i = row * p->table->columns.len + column;

    return i < p->table->cells.len ? &p->table->cells.items[i] : &none;
}

/* The text without its start, but for names that do not have it. */
static struct ml_table_text without_start(const struct ml_table_text *text, size_t dropped)
{
    struct ml_table_text rest = *text;

    if (dropped == 0 || ml_name_is_apart(text))
        return rest;
    rest.bytes += dropped;
    rest.len -= dropped;
    rest.width = ml_utf8_width(rest.bytes, rest.len);
    return rest;
}

/* Where a common start may end: behind a word of a sentence, else behind a part of a path. */
static size_t common_start(const struct ml_table_text *names, size_t count, enum ml_align align)
{
    size_t words = align == ML_LEFT ? ml_names_common(names, count, " ") : 0;

    if (align == ML_RIGHT || align == ML_PARTS || align == ML_TITLED)
        return 0;
    return words ? words : ml_names_common(names, count, align == ML_PLACE ? "/" : "./:");
}

/* Copies the column's cells, and drops what all of them begin with. */
static int drop_start(struct printer *p, size_t column)
{
    const struct ml_table_column *c = &p->table->columns.items[column];
    struct narrow *n = &p->narrow[column];
    size_t width = c->title.width;

    n->names = malloc((p->rows + 1) * sizeof(*n->names));
    if (!n->names)
        return -ENOMEM;
    for (size_t row = 0; row < p->rows; row++)
        n->names[row] = *cell_at(p, row, column);
    n->dropped = common_start(n->names, p->rows, c->align);
    for (size_t row = 0; row < p->rows; row++) {
        n->names[row] = without_start(&n->names[row], n->dropped);
        width = n->names[row].width > width ? n->names[row].width : width;
    }
    p->widths.items[column] = width;
    return 0;
}

static int decide_widths(struct printer *p, size_t width)
{
    size_t total, *wide;
    int r = 0;

    for (size_t i = 0; i < p->table->columns.len && r == 0; i++)
        r = ml_vec_push(&p->widths, p->table->columns.items[i].width);
    if (r < 0)
        return r;
    total = total_width(p);
    while (width > 0 && total > width && (wide = next_to_shrink(p))) {
        size_t column = (size_t)(wide - p->widths.items);

        if (p->narrow[column].names)
            --*wide;
        else
            r = drop_start(p, column);
        if (r < 0)
            return r;
        total = total_width(p);
    }
    return 0;
}

/* ---- Columns that are too narrow ------------------------------------------ */

/* Of columns whose cells are cut in a way of their own: cells that look alike and are not. */
static int tell_apart(struct printer *p, size_t column)
{
    struct narrow *n = &p->narrow[column];
    uint64_t *looks = malloc((p->rows + 1) * sizeof(*looks));
    struct ml_buf shown = {0};
    int r = looks ? 0 : -ENOMEM;

    for (size_t row = 0; row < p->rows && r == 0; row++) {
        ml_buf_clear(&shown);
        r = ml_table_cell_put(&n->names[row], p->table->columns.items[column].align,
                              p->widths.items[column], &shown);
        looks[row] = ml_name_look(shown.data, shown.len);
    }
    if (r == 0)
        r = ml_names_tell_apart(n->names, p->rows, p->widths.items[column], looks, n->cuts);
    ml_buf_release(&shown);
    free(looks);
    return r;
}

/* Decides how the cells of each narrow column are cut. */
static int decide_cuts(struct printer *p)
{
    int r = 0;

    for (size_t i = 0; i < p->widths.len && r == 0; i++) {
        struct narrow *n = &p->narrow[i];

        if (!n->names)
            continue;
        n->cuts = calloc(p->rows + 1, sizeof(*n->cuts));
        if (!n->cuts)
            return -ENOMEM;
        r = p->table->columns.items[i].align == ML_LEFT
                ? ml_names_cut(n->names, p->rows, p->widths.items[i], n->cuts)
                : tell_apart(p, i);
    }
    return r;
}

static void release_narrow(struct printer *p)
{
    for (size_t i = 0; p->narrow && i < p->table->columns.len; i++) {
        free(p->narrow[i].names);
        free(p->narrow[i].cuts);
    }
    free(p->narrow);
}

/* Ends the line that began at `start`, without the spaces at its end. */
static int end_line(struct printer *p, size_t start)
{
    struct ml_buf *out = p->out;

    while (out->len > start && out->data[out->len - 1] == ' ')
        out->len--;
    return ml_buf_append(out, "\n", 1);
}

/* "Each scope begins with model.encoder." above the table, for each column that dropped it. */
static int put_starts(struct printer *p, size_t width)
{
    int r = 0;

    for (size_t i = 0; i < p->widths.len && r == 0; i++) {
        const struct narrow *n = &p->narrow[i];
        const struct ml_table_text *title = &p->table->columns.items[i].title;
        size_t row = 0, start = p->out->len, shown;

        if (n->dropped == 0)
            continue;
        while (ml_name_is_apart(cell_at(p, row, i)))
            row++;
        r = ml_buf_printf(p->out, "Each %s begins with", title->len ? title->bytes : "name");
        shown = ml_utf8_width(cell_at(p, row, i)->bytes, n->dropped) + p->out->len - start + 1;
        if (r == 0)
            r = ml_buf_puts(p->out, shown > width ? "\n  " : " ");
        if (r == 0)
            r = ml_buf_append(p->out, cell_at(p, row, i)->bytes, n->dropped);
        if (r == 0)
            r = end_line(p, start);
    }
    return r;
}

/* ---- Lines ------------------------------------------------------------------ */

static int put_text(struct printer *p, const struct ml_table_text *text, size_t column)
{
    return ml_table_cell_put(text, p->table->columns.items[column].align, p->widths.items[column],
                             p->out);
}

static int put_cell(struct printer *p, size_t row, size_t column)
{
    const struct narrow *n = &p->narrow[column];

    if (!n->names)
        return put_text(p, cell_at(p, row, column), column);
    if (n->cuts[row].to == 0) /* its own way, or empty */
        return put_text(p, &n->names[row], column);
    return ml_table_cut_put(&n->names[row], &n->cuts[row], p->widths.items[column], p->out);
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
            r = put_text(p, &p->table->columns.items[i].title, i);
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
            r = put_cell(p, row, i);
    }
    return r < 0 ? r : end_line(p, start);
}

static int put_table(struct printer *p)
{
    int r = 0;

    if (has_header(p->table)) {
        r = put_header(p);
        if (r == 0)
            r = put_underline(p);
    }
    for (size_t row = 0; row < p->rows && r == 0; row++)
        r = put_row(p, row);
    return r;
}

int ml_table_print(const struct ml_table *table, struct ml_buf *out, size_t width)
{
    struct printer p = {.table = table, .out = out, .rows = ml_table_rows(table)};
    int r;

    if (table->error < 0)
        return table->error;
    if (table->columns.len == 0)
        return 0;
    p.narrow = calloc(table->columns.len, sizeof(*p.narrow));
    r = p.narrow ? decide_widths(&p, width) : -ENOMEM;
    if (r == 0)
        r = decide_cuts(&p);
    if (r == 0)
        r = put_starts(&p, width);
    if (r == 0)
        r = put_table(&p);
    release_narrow(&p);
    ml_vec_release(&p.widths);
    return r;
}
