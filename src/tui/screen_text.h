/* screen_text.h: the lines of a screen, before they go to a terminal. Each line has one look and is
 * cut to the width of the screen. Control characters in names become "?".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TUI_SCREEN_TEXT_H
#define ML_TUI_SCREEN_TEXT_H

#include <stdbool.h>

#include "arena.h"
#include "compiler.h"
#include "vec.h"

enum ml_look { ML_LOOK_PLAIN, ML_LOOK_TITLE, ML_LOOK_SELECTED, ML_LOOK_DIM, ML_LOOK_WARNING };

struct ml_screen_line {
    enum ml_look look;
    const char *text; /* in the arena */
};

struct ml_screen {
    struct ml_arena arena;
    size_t width, height;
    bool utf8;
    ML_VEC(struct ml_screen_line) lines; /* at most `height` */
    int error;                           /* -ENOMEM */
};

void ml_screen_init(struct ml_screen *screen, size_t width, size_t height, bool utf8);
void ml_screen_release(struct ml_screen *screen);

/* Adds a line, unless the screen is full. */
void ml_screen_line(struct ml_screen *screen, enum ml_look look, const char *fmt, ...)
    ML_PRINTF(3, 4);

/* Empty lines up to that many. */
void ml_screen_fill(struct ml_screen *screen, size_t lines);

/* The text in exactly that many columns, cut at its end or filled with blanks, in the arena. */
const char *ml_screen_fit(struct ml_screen *screen, const char *text, size_t columns);

#endif
