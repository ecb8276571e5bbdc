/* terminal.h: a whole terminal for a screen of lines: its other screen, single keys, its size.
 *
 * What was on the terminal before is there again afterwards, also after Ctrl-C and SIGTERM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TUI_TERMINAL_H
#define ML_TUI_TERMINAL_H

#include <termios.h>

#include "screen_text.h"

struct ml_terminal {
    struct termios before;
    bool colour;
    struct ml_buf shown; /* the last frame: an equal one is not drawn again */
};

/* Whether standard input and output are a terminal that can move its cursor: not in pipes, not with
 * TERM=dumb. */
bool ml_terminal_is_there(void);

/* Whether the locale's characters are UTF-8. */
bool ml_terminal_is_utf8(void);

/* @return 0 or negative errno; end it only after success */
int ml_terminal_begin(struct ml_terminal *t);
void ml_terminal_end(struct ml_terminal *t);

/* Columns and lines now; 80 by 24 if unknown. */
void ml_terminal_size(size_t *ret_width, size_t *ret_height);

/* Draws a screen of that size. @return 0 or negative errno */
int ml_terminal_draw(struct ml_terminal *t, const struct ml_screen *screen);

/* The next key: a character or an enum ml_live_key.
 * @return 0 if none came within that time, or the terminal changed its size; -EPIPE if the terminal
 *         is gone; -EINTR if the user or the system asks the program to end */
int64_t ml_terminal_key(struct ml_terminal *t, int timeout_ms);

#endif
