/* nearest.h: what somebody who mistyped a word may have meant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_NEAREST_H
#define ML_CLI_NEAREST_H

#include <stddef.h>

/* Looks for the known word closest to the typed one; feed the words one by one.
 * All zero is a valid start but for `typed`. */
struct ml_nearest {
    const char *typed;
    const char *word; /* the best so far that is close enough, or NULL */
    size_t distance;
};

void ml_nearest_offer(struct ml_nearest *nearest, const char *word);

#endif
