/* shell_word.h: an argument quoted for a shell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SHELL_WORD_H
#define ML_SHELL_WORD_H

#include "vec.h"

/* The path of a file as one word for a shell, in quotes if necessary; control characters in the
 * syntax of bash and zsh ($'\x1b'). A path that begins with a dash gets "./" before it, so that
 * it is not an option.
 * @word    initialised; to be released, after a failure too
 * @return  the word, or the unchanged path if memory runs out */
const char *ml_shell_word(struct ml_buf *word, const char *path);

#endif
