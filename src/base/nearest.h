/* nearest.h: the known word closest to a mistyped one.
 *
 * No malloc, no stdio, no locale and little stack: usable inside the target and
 * in a signal handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NEAREST_H
#define ML_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the known word closest to the typed one; offer the known words one by one. Set `typed`
 * and leave the rest zero. */
struct ml_nearest {
    const char *typed;
    const char *word; /* the best so far that is close enough, or NULL */
    size_t distance;
};

/* @return whether `word` is the best so far */
bool ml_nearest_offer(struct ml_nearest *nearest, const char *word);

#endif
