/* arrow_dictionary.h: the distinct texts of one column, which rows refer to by
 * number, and their export as an Arrow array.
 *
 * A dictionary grows while a stream is read: each batch is exported with the texts seen so far,
 * and batches without a new text share one copy. Texts are valid UTF-8; bytes that are not
 * become U+FFFD.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ARROW_DICTIONARY_H
#define ML_ARROW_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow_abi.h"
#include "intern.h"
#include "map.h"
#include "vec.h"

/* A row without a text. */
#define ML_NO_TEXT (-1)

/* The most bytes for the texts of one dictionary: names from a hostile file could otherwise
 * fill the memory. */
#define ML_ARROW_DICTIONARY_BYTES_MAX (UINT64_C(256) << 20)

struct ml_arrow_dictionary_copy;

struct ml_arrow_dictionary {
    struct ml_intern texts;
    uint64_t bytes;
    struct ml_map codes; /* the caller's key -> code + 1 */
    uint64_t last_key;
    int32_t last_code;
    bool has_last;
    struct ml_buf clean;                   /* the text being converted to valid UTF-8 */
    struct ml_arrow_dictionary_copy *copy; /* of all texts; NULL: out of date */
};

void ml_arrow_dictionary_release(struct ml_arrow_dictionary *d);

/* The code of a text. @return at least 0, -ENOMEM, or -E2BIG */
int32_t ml_arrow_dictionary_put(struct ml_arrow_dictionary *d, const char *text, size_t len);

/* The code that ml_arrow_dictionary_keep put under this key.
 * @ret    set when true is returned; may be ML_NO_TEXT */
bool ml_arrow_dictionary_find(struct ml_arrow_dictionary *d, uint64_t key, int32_t *ret);
int ml_arrow_dictionary_keep(struct ml_arrow_dictionary *d, uint64_t key, int32_t code);

/* All texts as an array of large strings. @return 0 or -ENOMEM */
int ml_arrow_dictionary_export(struct ml_arrow_dictionary *d, struct ArrowArray *ret);

#endif
