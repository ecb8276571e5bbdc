/* csv.c: see csv.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "csv.h"

#include <string.h>

static int separate(struct ml_buf *out)
{
    return out->len > 0 && out->data[out->len - 1] != '\n' ? ml_buf_puts(out, ",") : 0;
}

static int put_quoted(struct ml_buf *out, const char *before, const char *text)
{
    int r = ml_buf_printf(out, "\"%s", before);

    for (; *text && r == 0; text++)
        r = *text == '"' ? ml_buf_puts(out, "\"\"") : ml_buf_append(out, text, 1);
    return r < 0 ? r : ml_buf_puts(out, "\"");
}

int ml_csv_text(struct ml_buf *out, const char *text)
{
    int r = separate(out);

    if (r < 0)
        return r;
    /* An empty first cell must not look like no cell. */
    return text[0] == '\0' || strpbrk(text, ",\"\r\n") ? put_quoted(out, "", text)
                                                       : ml_buf_puts(out, text);
}

int ml_csv_name(struct ml_buf *out, const char *text, bool safe)
{
    int r;

    if (!safe || !text[0] || !strchr("=+-@\t\r", text[0]))
        return ml_csv_text(out, text);
    r = separate(out);
    return r < 0 ? r : put_quoted(out, "'", text);
}

int ml_csv_u64(struct ml_buf *out, uint64_t value)
{
    int r = separate(out);

    return r < 0 ? r : ml_buf_u64(out, value);
}

int ml_csv_i64(struct ml_buf *out, int64_t value)
{
    int r = separate(out);

    return r < 0 ? r : ml_buf_i64(out, value);
}

int ml_csv_null(struct ml_buf *out)
{
    bool first = out->len == 0 || out->data[out->len - 1] == '\n';

    return ml_buf_puts(out, first ? "\"\"" : ",");
}

int ml_csv_end(struct ml_buf *out)
{
    return ml_buf_puts(out, "\n");
}
