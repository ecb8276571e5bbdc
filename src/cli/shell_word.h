/* shell_word.h: an argument as it can be typed into a shell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SHELL_WORD_H
#define ML_SHELL_WORD_H

#include "vec.h"

/* The path of a file as one word for a shell, in quotes where it needs them; control characters as
 * bash and zsh take them ($'\x1b'). One that begins with a dash begins with "./" instead, so that
 * it is no option.
 * @word    initialised; to be released, after a failure too
 * @return  the word, or the path as it is where there is no memory */
const char *ml_shell_word(struct ml_buf *word, const char *path);

#endif
