/* screen_text.c: see screen_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "screen_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "style.h"
#include "utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"

void ml_screen_init(struct ml_screen *screen, size_t width, size_t height, bool utf8)
{
    *screen = (struct ml_screen){.width = width, .height = height, .utf8 = utf8};
    ml_arena_init(&screen->arena);
}

void ml_screen_release(struct ml_screen *screen)
{
    ml_vec_release(&screen->lines);
    ml_arena_release(&screen->arena);
}

const char *ml_screen_fit(struct ml_screen *screen, const char *text, size_t columns)
{
    struct ml_buf safe = {0};
    size_t width = 0;
    const char *copy = NULL;
    int r = ml_report_safe(&safe, text);

    if (r == 0)
        width = ml_utf8_width((const char *)safe.data, safe.len);
    if (r == 0 && width > columns) {
        safe.len = ml_clip_utf8((const char *)safe.data, safe.len, columns ? columns - 1 : 0);
        r = columns ? ml_buf_puts(&safe, screen->utf8 ? ELLIPSIS : "~") : 0;
        width = r == 0 ? ml_utf8_width((const char *)safe.data, safe.len) : 0;
    }
    if (r == 0 && width < columns)
        r = ml_buf_fill(&safe, ' ', columns - width);
    if (r == 0)
        copy = ml_arena_dup(&screen->arena, safe.data, safe.len);
    ml_buf_release(&safe);
    if (!copy)
        screen->error = -ENOMEM;
    return copy ? copy : "";
}

void ml_screen_line(struct ml_screen *screen, enum ml_look look, const char *fmt, ...)
{
    char text[2048];
    struct ml_screen_line line = {.look = look};
    va_list args;

    if (screen->lines.len >= screen->height)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    line.text = ml_screen_fit(screen, text, screen->width);
    if (ml_vec_push(&screen->lines, line) < 0)
        screen->error = -ENOMEM;
}

void ml_screen_fill(struct ml_screen *screen, size_t lines)
{
    while (screen->lines.len < lines && screen->lines.len < screen->height && !screen->error)
        ml_screen_line(screen, ML_LOOK_PLAIN, "%s", "");
}
