/* error.h: an errno code with a sentence for the person who reads it.
 *
 * Functions of the project return 0 or a negative errno. Those that can say more than the
 * number take a `struct ml_error *`, which may be NULL, and store what failed, on what, and
 * what to do next. Nothing is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_ERROR_H
#define ML_BASE_ERROR_H

#include "compiler.h"

struct ml_error {
    int code;       /* negative errno, 0 when nothing was reported */
    char text[512]; /* NUL-terminated, printable, cut at a whole UTF-8 character */
};

/* Report a failure: `return ml_error_set(err, -EINVAL, "%s: not a trace", path)`.
 *
 * Control characters in the arguments are written as \x1b; see printable.h. The arguments may
 * point into err->text, so that a caller can add a prefix to the message it got.
 *
 * @err   receives code and text; NULL: discard them
 * @return negative_errno */
int ml_error_set(struct ml_error *err, int negative_errno, const char *fmt, ...) ML_PRINTF(3, 4);

#endif
