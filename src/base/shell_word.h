/* shell_word.h: an argument quoted for a shell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_SHELL_WORD_H
#define ML_BASE_SHELL_WORD_H

#include "vec.h"

/* Appends the text as one word for a shell, in quotes if necessary; control characters in the
 * syntax of bash and zsh ($'\x1b'). @return 0 or negative errno */
int ml_shell_quote(struct ml_buf *out, const char *text);

/* The path of a file as such a word. One that begins with a dash gets "./" before it, so that it is
 * not an option.
 * @word    initialised; to be released, after a failure too
 * @return  the word, or the unchanged path if memory runs out */
const char *ml_shell_word(struct ml_buf *word, const char *path);

#endif
