/* say.h: sentences on standard error, where every command has its errors and notes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SAY_H
#define ML_SAY_H

#include <stdarg.h>

#include "compiler.h"
#include "vec.h"

/* A line "memledger: ...", or several that fit where a terminal shows it. Paths, names and all
 * else that the arguments hold is made printable, line breaks too: see printable.h. */
void ml_say(const char *fmt, ...) ML_PRINTF(1, 2);
void ml_vsay(const char *fmt, va_list args);

/* The columns of the terminal that shows standard error; 0: no terminal does. */
size_t ml_say_width(void);

/* The path of a file that was made, as a line on standard output: as it is, for scripts, unless
 * that is a terminal. */
void ml_say_path(const char *path);

/* Comma-separated values on their way to standard output: as they are, unless that is a terminal,
 * where they are made printable; lines stay lines.
 * @r  of what made them; a failure is passed on
 * @return 0 or negative errno */
int ml_say_csv(int r, struct ml_buf *text);

#endif
