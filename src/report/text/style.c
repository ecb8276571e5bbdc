/* style.c: see style.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "paragraph.h"
#include "printable.h"
#include "style.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#define BOLD "\033[1m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"
#define CONTINUED_INDENT 2

static int put_line(struct ml_buf *out, const char *before, const char *after, const char *fmt,
                    va_list args)
{
    struct ml_buf text = {0};
    int r = ml_buf_puts(out, before);

    if (r == 0)
        r = ml_buf_vprintf(&text, fmt, args);
    if (r == 0 && text.len)
        r = ml_report_safe(out, (const char *)text.data);
    ml_buf_release(&text);
    return r < 0 ? r : ml_buf_puts(out, after);
}

static int put_plain(struct ml_buf *out, const char *text)
{
    int r = ml_report_safe(out, text);

    return r < 0 ? r : ml_buf_puts(out, "\n");
}

int ml_report_heading(struct ml_buf *out, const struct ml_style *style, const char *fmt, ...)
{
    va_list args;
    int r;

    va_start(args, fmt);
    r = put_line(out, style->colour ? "\n" BOLD : "\n", style->colour ? PLAIN "\n" : "\n", fmt,
                 args);
    va_end(args);
    return r;
}

int ml_report_title(struct ml_buf *out, const struct ml_style *style, const char *fmt, ...)
{
    va_list args;
    int r;

    va_start(args, fmt);
    r = put_line(out, style->colour ? BOLD : "", style->colour ? PLAIN "\n" : "\n", fmt, args);
    va_end(args);
    return r;
}

int ml_report_warning(struct ml_buf *out, const struct ml_style *style, const char *fmt, ...)
{
    struct ml_buf text = {0};
    va_list args;
    int r = ml_buf_puts(&text, "warning: ");

    va_start(args, fmt);
    if (r == 0)
        r = ml_buf_vprintf(&text, fmt, args);
    va_end(args);
    if (r == 0)
        r = ml_buf_puts(out, style->colour ? YELLOW : "");
    if (r == 0 && style->width)
        r = ml_report_paragraph(out, style, CONTINUED_INDENT, (const char *)text.data);
    else if (r == 0)
        r = put_plain(out, (const char *)text.data);
    ml_buf_release(&text);
    return r < 0 || !style->colour ? r : ml_buf_puts(out, PLAIN);
}

int ml_report_safe(struct ml_buf *out, const char *text)
{
    size_t len = strlen(text);
    int r = ml_buf_reserve(out, len); /* even for an empty text: callers read from out->data */

    while (len > 0 && r == 0) {
        uint32_t c = 0;
        size_t bytes = ml_utf8_decode(text, len, &c);

        if (bytes == 0 || ml_is_unsafe(c)) {
            r = ml_buf_puts(out, bytes == 1 && (c == '\n' || c == '\t') ? " " : "?");
            bytes = bytes ? bytes : 1;
        } else {
            r = ml_buf_append(out, text, bytes);
        }
        text += bytes;
        len -= bytes;
    }
    return r;
}

struct ml_size_text ml_report_size(const struct ml_style *style, uint64_t bytes)
{
    struct ml_size_text size;

    ml_format_bytes(size.text, (int64_t)ml_min_u64(bytes, INT64_MAX), style->unit);
    return size;
}

int ml_report_wall_time(struct ml_buf *out, uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000);
    struct tm tm;
    char text[64] = "?";

    if (gmtime_r(&seconds, &tm))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
    return ml_buf_puts(out, text);
}

int ml_report_origin(struct ml_buf *out, const char *run, uint64_t wall_ns, const char *host)
{
    int r = ml_report_safe(out, run);

    if (r == 0)
        r = ml_buf_puts(out, wall_ns ? "\nrecorded " : "\nrecorded at an unknown time");
    if (r == 0 && wall_ns)
        r = ml_report_wall_time(out, wall_ns);
    if (r == 0 && host) {
        r = ml_buf_puts(out, " on ");
        if (r == 0)
            r = ml_report_safe(out, host);
    }
    return r;
}
