/* expected.h: labels for blocks that are not allocated yet, by the key under which the target
 * will report them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPECTED_H
#define ML_EXPECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "map.h"

/* Above this number all are forgotten. */
#define ML_EXPECTED_MAX (1u << 16)

/* All zero bytes is a valid empty one. */
struct ml_expected {
    struct ml_map by_key; /* to category:label */
    uint64_t dropped;     /* as in works.h */
};

void ml_expected_release(struct ml_expected *expected);

/* The first label stays until the key is forgotten. */
void ml_expected_add(struct ml_expected *expected, uint64_t key, uint32_t category, uint32_t label);
void ml_expected_forget(struct ml_expected *expected, uint64_t key);
void ml_expected_forget_all(struct ml_expected *expected);

bool ml_expected_find(const struct ml_expected *expected, uint64_t key, uint32_t *ret_category,
                      uint32_t *ret_label);

#endif
