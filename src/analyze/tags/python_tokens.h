/* python_tokens.h: the words of a Python source file, to read literals from it without running it.
 *
 * Comments, blank lines and joined lines disappear as in Python; a line ends only outside of
 * brackets. Strings are decoded: single, double or triple quotes, raw or not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PYTHON_TOKENS_H
#define ML_ANALYZE_PYTHON_TOKENS_H

#include <stdbool.h>

#include "slice.h"
#include "vec.h"

enum ml_python_kind {
    ML_PYTHON_END,
    ML_PYTHON_NEWLINE,
    ML_PYTHON_NAME,
    ML_PYTHON_NUMBER,
    ML_PYTHON_STRING,
    ML_PYTHON_OTHER_STRING, /* of a kind that is not decoded; `why` says which */
    ML_PYTHON_SIGN,         /* one character */
    ML_PYTHON_BAD,          /* cannot be read; `why` has the reason */
};

struct ml_python_tokens {
    const char *at; /* NUL-terminated */
    unsigned line;  /* of the token, from 1 */
    unsigned depth; /* of open brackets */
    unsigned lines; /* read so far */
    bool at_margin; /* the token begins a line, without indentation */
    enum ml_python_kind kind;
    struct ml_slice text; /* of a string: decoded, until the next call */
    const char *why;      /* NULL: nothing is wrong with the token */
    struct ml_buf decoded;
};

void ml_python_tokens_init(struct ml_python_tokens *t, const char *text);
void ml_python_tokens_release(struct ml_python_tokens *t);

/* Reads the next token. @return its kind */
enum ml_python_kind ml_python_next(struct ml_python_tokens *t);

/* Whether the token is this sign, or this name. */
bool ml_python_is(const struct ml_python_tokens *t, const char *text);

#endif
