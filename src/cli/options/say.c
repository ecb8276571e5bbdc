/* say.c: see say.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "paragraph.h"
#include "printable.h"

#define CONTINUED_INDENT 2

size_t ml_say_width(void)
{
    struct winsize size;

    return isatty(STDERR_FILENO) && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Ends the line, or breaks it into several that fit a terminal. */
static int wrap(struct ml_buf *line)
{
    struct ml_style style = {.width = ml_say_width()};
    struct ml_buf wrapped = {0};
    int r;

    if (!style.width)
        return ml_buf_puts(line, "\n");
    r = ml_report_paragraph(&wrapped, &style, CONTINUED_INDENT, (const char *)line->data);
    if (r < 0) {
        ml_buf_release(&wrapped);
        return r;
    }
    ml_buf_release(line);
    *line = wrapped;
    return 0;
}

void ml_vsay(const char *fmt, va_list args)
{
    struct ml_buf line = {0};
    char *text = NULL;
    int len = vasprintf(&text, fmt, args);

    if (len >= 0 && ml_buf_puts(&line, "memledger: ") == 0 &&
        ml_escape_to(&line, text, (size_t)len, "") == 0 && wrap(&line) == 0)
        fwrite(line.data, 1, line.len, stderr);
    else
        fputs("memledger: out of memory\n", stderr);
    ml_buf_release(&line);
    if (len >= 0)
        free(text);
}

void ml_say(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    ml_vsay(fmt, args);
    va_end(args);
}

static int make_printable(struct ml_buf *text, const char *keep)
{
    struct ml_buf shown = {0};
    int r = ml_escape_to(&shown, (const char *)text->data, text->len, keep);

    if (r < 0) {
        ml_buf_release(&shown);
        return r;
    }
    ml_buf_release(text);
    *text = shown;
    return 0;
}

int ml_say_csv(int r, struct ml_buf *text)
{
    return r < 0 || !isatty(STDOUT_FILENO) ? r : make_printable(text, "\n\t");
}

void ml_say_path(const char *path)
{
    struct ml_buf line = {0};
    int r = ml_buf_puts(&line, path);

    if (r == 0 && isatty(STDOUT_FILENO))
        r = make_printable(&line, "");
    if (r == 0)
        printf("%s\n", (const char *)line.data);
    ml_buf_release(&line);
}
