/* json_reader.h: JSON, token by token, from a source of any size.
 *
 * Made for files that programs write with printf: commas are not counted, and a file may end
 * anywhere. With `raw` it also reads MXNet's traces, which quote names without escaping them:
 * there a quote ends a string only if the rest of an event follows, and a backslash is literal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_JSON_READER_H
#define ML_JSON_READER_H

#include "slice.h"
#include "import_source.h"
#include "vec.h"

#define ML_JSON_DEPTH_MAX 256
#define ML_JSON_TEXT_MAX 65535 /* the rest of a string is dropped */

enum ml_json_token {
    ML_JSON_END, /* of the source */
    ML_JSON_OBJECT,
    ML_JSON_OBJECT_END,
    ML_JSON_ARRAY,
    ML_JSON_ARRAY_END,
    ML_JSON_KEY,
    ML_JSON_STRING,
    ML_JSON_NUMBER,
    ML_JSON_WORD, /* true, false, null, NaN, Infinity */
};

struct ml_json_reader {
    struct ml_import_source *source;
    bool raw;
    struct ml_buf text; /* of a key, string, number or word */
    bool cut;           /* its end is missing: the source ended */
    unsigned depth;
    bool in_object[ML_JSON_DEPTH_MAX];
    bool has_key; /* a value must follow */
};

/* A reader with `source` (and `raw`) set and the rest zero is at the beginning. */
void ml_json_reader_release(struct ml_json_reader *j);

/* The next token. @return enum ml_json_token, or negative with the place in `err` */
int ml_json_next(struct ml_json_reader *j, struct ml_error *err);

/* Skips the rest of a value whose first token was `token`. @return 0 or negative */
int ml_json_skip(struct ml_json_reader *j, int token, struct ml_error *err);

/* The text of the token. */
static inline struct ml_slice ml_json_text(const struct ml_json_reader *j)
{
    return (struct ml_slice){j->text.data ? (const char *)j->text.data : "", j->text.len};
}

#endif
