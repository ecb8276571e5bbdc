/* slice.h: slices of a line of text, and the numbers in them.
 *
 * Nothing here is NUL-terminated, and nothing is allocated. Independent of the locale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_SLICE_H
#define ML_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ml_slice {
    const char *text;
    size_t len;
};

/* Without the blanks around it. */
struct ml_slice ml_slice_trim(struct ml_slice slice);
bool ml_slice_is(struct ml_slice slice, const char *text);
bool ml_slice_begins(struct ml_slice slice, const char *text);

/* Takes the text before the next `separator` from `rest`, trimmed.
 * @return false when nothing is left; a line that ends with a separator has one more
 *         slice, an empty one */
bool ml_slice_next(struct ml_slice *rest, char separator, struct ml_slice *ret);

/* The same for a field in double quotes: removes the enclosing quotes but keeps doubled ones
 * (""), which escape a quote. Takes an unquoted field as it is. */
bool ml_slice_next_quoted(struct ml_slice *rest, char separator, struct ml_slice *ret);

/* The whole slice as a number. @return false when it is not a number, or too large */
bool ml_slice_u64(struct ml_slice slice, uint64_t *ret);
bool ml_slice_double(struct ml_slice slice, double *ret);

/* The longest number that the slice begins with; the slice becomes the rest. */
bool ml_slice_take_u64(struct ml_slice *slice, uint64_t *ret);

#endif
