/* markdown_table.c: see markdown_table.h. Unlike the tables of reports, whose cells are cut,
 * these hold sentences: a cell that is too wide continues below.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "markdown_table.h"

#include <string.h>

#include "arena.h"
#include "markdown_inline.h"
#include "utf8.h"

#define COLUMNS_MAX 16
#define COLUMN_LEAST 8 /* a column does not get narrower */
#define GAP 2          /* columns between two cells */

struct table {
    struct ml_arena arena;
    size_t indent, columns, widths[COLUMNS_MAX];
    ML_VEC(const char *) cells; /* row after row */
};

static size_t text_width(const char *text)
{
    return ml_utf8_width(text, strlen(text));
}

/* The cell's text up to the next '|' that is not escaped. */
static size_t cell_len(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (at[i] == '|' && (i == 0 || at[i - 1] != '\\'))
            return i;
    return len;
}

/* "a\|b" is "a|b", also inside code. */
static size_t unescape_bars(char *text, size_t len)
{
    size_t to = 0;

    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\\' && i + 1 < len && text[i + 1] == '|')
            i++;
        text[to++] = text[i];
    }
    return to;
}

static int add_cell(struct table *t, const char *at, size_t len, size_t column)
{
    struct ml_buf text = {0};
    char *raw;
    const char *cell;
    int r;

    while (len > 0 && *at == ' ')
        at++, len--;
    while (len > 0 && at[len - 1] == ' ')
        len--;
    raw = ml_arena_dup(&t->arena, at, len);
    if (!raw)
        return -ENOMEM;
    r = ml_markdown_inline(raw, unescape_bars(raw, len), &text);
    cell = r == 0 ? ml_arena_dup(&t->arena, text.data, text.len) : NULL;
    ml_buf_release(&text);
    if (!cell)
        return -ENOMEM;
    if (t->widths[column] < text_width(cell))
        t->widths[column] = text_width(cell);
    return ml_vec_push(&t->cells, cell);
}

/* A row has as many cells as the first one; missing ones are empty. */
static int add_row(struct table *t, const char *line, size_t len)
{
    bool first = t->columns == 0;
    size_t column = 0;
    int r = 0;

    for (size_t at = 1; r == 0 && at < len && column < (first ? COLUMNS_MAX : t->columns);) {
        size_t cell = cell_len(line + at, len - at);

        r = add_cell(t, line + at, cell, column++);
        at += cell + 1;
    }
    if (first)
        t->columns = column;
    while (r == 0 && column < t->columns)
        r = add_cell(t, "", 0, column++);
    return r;
}

static bool is_rule(const char *line, size_t len)
{
    return strspn(line, "|-: ") >= len;
}

static int read_table(struct table *t, const char *lines, size_t *ret_len)
{
    const char *at = lines, *row;
    int r = 0;

    while (r == 0 && *(row = at + strspn(at, " ")) == '|') {
        size_t len = strcspn(row, "\n"), trimmed = len;

        while (trimmed > 1 && row[trimmed - 1] == ' ')
            trimmed--;
        if (!is_rule(row, len))
            r = add_row(t, row, trimmed);
        at = row + len + (row[len] == '\n');
    }
    *ret_len = (size_t)(at - lines);
    return r;
}

/* Whether a word that is too long may end a line behind this byte. */
static bool may_break_after(const char *at)
{
    return strchr("-_./=,(", at[0]) && at[1] != '-' && at[1] != '\0' && at[1] != ' ';
}

/* The width of the longest word, or of the longest part that must stay in one line. */
static size_t longest_part(const char *text, bool whole_words)
{
    size_t longest = 0;

    for (const char *part = text, *at = text; *at; at++)
        if (at[1] == '\0' || at[1] == ' ' || (!whole_words && may_break_after(at))) {
            size_t width = ml_utf8_width(part, (size_t)(at + 1 - part));

            longest = width > longest ? width : longest;
            part = at + 1 + (at[1] == ' ');
        }
    return longest;
}

/* The width of each column below which words break, or if not `whole_words`, below which they
 * break inside a part. */
static void find_leasts(const struct table *t, bool whole_words, size_t *ret)
{
    for (size_t i = 0; i < t->columns; i++)
        ret[i] = COLUMN_LEAST;
    for (size_t i = 0; i < t->cells.len; i++) {
        size_t width = longest_part(t->cells.items[i], whole_words);

        if (width > ret[i % t->columns])
            ret[i % t->columns] = width;
    }
}

/* Takes from the widest column until the table fits or no column is above its least width. */
static void shrink(struct table *t, size_t width, const size_t *leasts)
{
    size_t total = t->indent + (t->columns - 1) * GAP;

    for (size_t i = 0; i < t->columns; i++)
        total += t->widths[i];
    for (; total > width; total--) {
        size_t widest = t->columns;

        for (size_t i = 0; i < t->columns; i++)
            if (t->widths[i] > leasts[i] &&
                (widest == t->columns || t->widths[i] > t->widths[widest]))
                widest = i;
        if (widest == t->columns)
            return;
        t->widths[widest]--;
    }
}

/* Words stay whole if that is possible, else they break at punctuation, else anywhere. */
static void fit(struct table *t, size_t width)
{
    size_t leasts[COLUMNS_MAX];

    find_leasts(t, true, leasts);
    shrink(t, width, leasts);
    find_leasts(t, false, leasts);
    shrink(t, width, leasts);
    for (size_t i = 0; i < t->columns; i++)
        leasts[i] = COLUMN_LEAST;
    shrink(t, width, leasts);
}

/* The bytes of a word that is too long which fit. */
static size_t part_len(const char *text, size_t fits)
{
    for (size_t len = fits; len > 0; len--)
        if (may_break_after(text + len - 1))
            return len;
    return fits;
}

/* The bytes of the text that fit into a line: whole words, or a part of a word that is too long. */
static size_t line_len(const char *text, size_t width)
{
    size_t fits = ml_clip_utf8(text, strlen(text), width), len = fits;

    if (text[fits] == '\0' || text[fits] == ' ')
        return fits;
    while (len > 0 && text[len] != ' ')
        len--;
    return len > 0 ? len : part_len(text, fits);
}

static bool has_text(const char *const *rest, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rest[i][0])
            return true;
    return false;
}

/* One line of a row; the cells continue in the next. */
static int put_line(const struct table *t, const char **rest, struct ml_buf *out)
{
    int r = ml_buf_fill(out, ' ', t->indent);

    for (size_t i = 0; r == 0 && i < t->columns; i++) {
        size_t len = line_len(rest[i], t->widths[i]);
        size_t pad = t->widths[i] - ml_utf8_width(rest[i], len) + GAP;

        r = ml_buf_append(out, rest[i], len);
        rest[i] += len;
        rest[i] += strspn(rest[i], " ");
        if (r == 0 && i + 1 < t->columns)
            r = ml_buf_fill(out, ' ', pad);
    }
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->len--;
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

static int put_row(const struct table *t, size_t row, struct ml_buf *out)
{
    const char *rest[COLUMNS_MAX];
    int r = 0;

    memcpy(rest, t->cells.items + row * t->columns, t->columns * sizeof(*rest));
    while (r == 0 && has_text(rest, t->columns))
        r = put_line(t, rest, out);
    return r;
}

static int put_rule(const struct table *t, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < t->columns; i++) {
        r = ml_buf_fill(out, ' ', i ? GAP : t->indent);
        if (r == 0)
            r = ml_buf_fill(out, '-', t->widths[i]);
    }
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

int ml_markdown_table(const char *lines, const struct ml_style *style, size_t indent,
                      struct ml_buf *out, size_t *ret_len)
{
    struct table t = {.indent = indent};
    int r = read_table(&t, lines, ret_len);

    if (r == 0 && t.columns > 0) {
        if (style->width)
            fit(&t, style->width);
        r = put_row(&t, 0, out);
        if (r == 0)
            r = put_rule(&t, out);
        for (size_t row = 1; r == 0 && row < t.cells.len / t.columns; row++)
            r = put_row(&t, row, out);
    }
    ml_vec_release(&t.cells);
    ml_arena_release(&t.arena);
    return r;
}
