/* say.h: errors and notes of commands, on standard error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SAY_H
#define ML_SAY_H

#include <stdarg.h>

#include "compiler.h"
#include "vec.h"

/* A line "memledger: ...", or several that fit a terminal. Paths, names and all
 * other arguments are made printable, line breaks too: see printable.h. */
void ml_say(const char *fmt, ...) ML_PRINTF(1, 2);
void ml_vsay(const char *fmt, va_list args);

/* The width of the terminal on standard error; 0: it is not a terminal. */
size_t ml_say_width(void);

/* The path of a created file, as a line on standard output: unchanged, for scripts, unless
 * that is a terminal. */
void ml_say_path(const char *path);

/* Writes comma-separated values to standard output: unchanged, unless that is a terminal,
 * where they are made printable, except line breaks.
 * @r  the result of making them; a failure is passed on
 * @return 0 or negative errno */
int ml_say_csv(int r, struct ml_buf *text);

#endif
