/* markdown_text.c: see markdown_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "markdown_text.h"

#include <string.h>

#include "markdown_inline.h"
#include "markdown_table.h"
#include "paragraph.h"

#define FENCE "```"
#define CODE_INDENT 4

struct page {
    const char *at; /* the start of a line */
    const struct ml_style *style;
    struct ml_buf *out;
    size_t list_indent; /* of the last list item's text; 0: not in a list */
};

static size_t line_len(const char *line)
{
    return strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
    line += line_len(line);
    return line + (*line == '\n');
}

static size_t indent_of(const char *line)
{
    return strspn(line, " ");
}

static bool is_blank(const char *line)
{
    return line[indent_of(line)] == '\n' || line[indent_of(line)] == '\0';
}

static bool is_fence(const char *line)
{
    return strncmp(line + indent_of(line), FENCE, strlen(FENCE)) == 0;
}

/* "- item" or "1. item": where its text begins; 0: not an item. */
static size_t item_start(const char *line)
{
    size_t at = indent_of(line), digits = strspn(line + at, "0123456789");

    if (digits > 0 && line[at + digits] == '.' && line[at + digits + 1] == ' ')
        return at + digits + 2;
    return (line[at] == '-' || line[at] == '*') && line[at + 1] == ' ' ? at + 2 : 0;
}

static bool is_row(const struct page *p, const char *line)
{
    size_t indent = indent_of(line);

    return line[indent] == '|' && indent < p->list_indent + CODE_INDENT;
}

/* Whether the line ends the paragraph before it. */
static bool ends_paragraph(const struct page *p, const char *line)
{
    return is_blank(line) || *line == '#' || is_row(p, line) || is_fence(line) ||
           item_start(line) > 0;
}

static int put_heading(struct page *p)
{
    size_t marks = strspn(p->at, "# ");
    struct ml_buf text = {0};
    int r = ml_markdown_inline(p->at + marks, line_len(p->at) - marks, &text);

    if (r == 0 && text.len)
        r = ml_report_title(p->out, p->style, "%s", (const char *)text.data);
    ml_buf_release(&text);
    p->at = next_line(p->at);
    p->list_indent = 0;
    return r;
}

static int put_code_line(struct page *p, size_t skipped)
{
    size_t len = line_len(p->at);
    int r = len > skipped ? ml_buf_fill(p->out, ' ', CODE_INDENT) : 0;

    if (r == 0 && len > skipped)
        r = ml_buf_append(p->out, p->at + skipped, len - skipped);
    p->at = next_line(p->at);
    return r < 0 ? r : ml_buf_puts(p->out, "\n");
}

static int put_fenced(struct page *p)
{
    size_t skipped = indent_of(p->at);
    int r = 0;

    p->at = next_line(p->at);
    while (r == 0 && *p->at && !is_fence(p->at))
        r = put_code_line(p, skipped);
    p->at = next_line(p->at);
    return r;
}

/* A paragraph or the text of a list item, which begins `skipped` bytes into the line. */
static int put_paragraph(struct page *p, size_t skipped, size_t indent)
{
    struct ml_buf source = {0}, text = {0};
    int r = 0;

    do {
        if (source.len)
            r = ml_buf_puts(&source, " ");
        if (r == 0)
            r = ml_buf_append(&source, p->at + skipped, line_len(p->at) - skipped);
        p->at = next_line(p->at);
        skipped = indent_of(p->at);
    } while (r == 0 && *p->at && !ends_paragraph(p, p->at));
    if (r == 0)
        r = ml_buf_puts(&text, "");
    if (r == 0)
        r = ml_markdown_inline((const char *)source.data, source.len, &text);
    if (r == 0)
        r = ml_report_paragraph(p->out, p->style, indent, (const char *)text.data);
    ml_buf_release(&source);
    ml_buf_release(&text);
    return r;
}

/* A line that is not indented ends the list. */
static void leave_list(struct page *p)
{
    if (indent_of(p->at) < p->list_indent)
        p->list_indent = 0;
}

static int put_item(struct page *p)
{
    size_t start = item_start(p->at);
    int r = ml_buf_append(p->out, p->at, start);

    p->list_indent = start;
    return r < 0 ? r : put_paragraph(p, start, start);
}

/* A table, which belongs to a list item if it is indented below one. */
static int put_table(struct page *p)
{
    size_t len;
    int r;

    leave_list(p);
    r = ml_markdown_table(p->at, p->style, p->list_indent, p->out, &len);
    p->at += len;
    return r;
}

/* One empty line, however many there are. */
static int put_gap(struct page *p)
{
    while (*p->at && is_blank(p->at))
        p->at = next_line(p->at);
    return *p->at ? ml_buf_puts(p->out, "\n") : 0;
}

/* A paragraph, which continues a list item if it is indented below one. */
static int put_text(struct page *p)
{
    size_t indent = indent_of(p->at);
    int r;

    leave_list(p);
    r = ml_buf_fill(p->out, ' ', p->list_indent);
    return r < 0 ? r : put_paragraph(p, indent, p->list_indent);
}

static int put_block(struct page *p)
{
    if (is_blank(p->at))
        return put_gap(p);
    if (is_fence(p->at))
        return put_fenced(p);
    if (*p->at == '#')
        return put_heading(p);
    if (is_row(p, p->at))
        return put_table(p);
    if (item_start(p->at))
        return put_item(p);
    if (indent_of(p->at) >= p->list_indent + CODE_INDENT)
        return put_code_line(p, p->list_indent + CODE_INDENT);
    return put_text(p);
}

int ml_markdown_text(const char *page, const struct ml_style *style, struct ml_buf *out)
{
    struct page p = {.at = page, .style = style, .out = out};
    int r = 0;

    while (r == 0 && *p.at)
        r = put_block(&p);
    return r;
}
