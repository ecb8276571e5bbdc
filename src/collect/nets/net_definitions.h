/* net_definitions.h: the definitions that nets with classes depend on: what is around a scope, and
 * which spaces a classification looks at. The thread that makes nets has no dictionary, which
 * grows meanwhile in another one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_NET_DEFINITIONS_H
#define ML_COLLECT_NET_DEFINITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

/* Starts zeroed. */
struct ml_net_definitions {
    ML_VEC(uint32_t) parents; /* by number of the scope; [0] is unused */
    ML_VEC(uint8_t) plain; /* by number of the space: 1 if it is malloc's, mmap's or no block's */
};

void ml_net_definitions_release(struct ml_net_definitions *d);

/* The scope around a scope. @return false if it is not known */
bool ml_net_parent_of(const struct ml_net_definitions *d, uint32_t scope, uint32_t *ret);

/* Whether blocks of the space have no other categories than those of their labels. */
bool ml_net_is_plain(const struct ml_net_definitions *d, uint32_t space);

#endif
