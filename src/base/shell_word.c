/* shell_word.c: see shell_word.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shell_word.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_plain(char c)
{
    return isalnum((unsigned char)c) || strchr("_@%+=:,./-", c);
}

static bool has_control(const char *text)
{
    for (; *text; text++) {
        if (iscntrl((unsigned char)*text))
            return true;
    }
    return false;
}

/* Between $' and '. */
static int put_ansi(struct ml_buf *word, const char *text)
{
    int r = 0;

    for (; *text && r == 0; text++) {
        if (iscntrl((unsigned char)*text))
            r = ml_buf_printf(word, "\\x%02x", (unsigned char)*text);
        else
            r = ml_buf_printf(word, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
    }
    return r;
}

/* Between two '. A quote ends the string, is escaped, and begins another. */
static int put_quoted(struct ml_buf *word, const char *text)
{
    int r = 0;

    for (; *text && r == 0; text++)
        r = *text == '\'' ? ml_buf_puts(word, "'\\''") : ml_buf_append(word, text, 1);
    return r;
}

int ml_shell_quote(struct ml_buf *out, const char *text)
{
    bool control = has_control(text);
    size_t plain = 0;
    int r;

    while (text[plain] && is_plain(text[plain]))
        plain++;
    if (*text && !text[plain])
        return ml_buf_puts(out, text);
    r = ml_buf_puts(out, control ? "$'" : "'");
    if (r == 0)
        r = control ? put_ansi(out, text) : put_quoted(out, text);
    return r < 0 ? r : ml_buf_puts(out, "'");
}

const char *ml_shell_word(struct ml_buf *word, const char *path)
{
    int r = *path == '-' ? ml_buf_puts(word, "./") : 0;

    if (r == 0)
        r = ml_shell_quote(word, path);
    return r < 0 ? path : (const char *)word->data;
}
