/* torch_ranges.h: a set of addresses as ranges in order, which never touch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_RANGES_H
#define ML_TORCH_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vec.h"

struct ml_torch_range {
    uint64_t start, end;
};

struct ml_torch_ranges {
    ML_VEC(struct ml_torch_range) list;
};

/* @return 0 or -ENOMEM */
int ml_torch_ranges_add(struct ml_torch_ranges *r, uint64_t start, uint64_t end);
int ml_torch_ranges_remove(struct ml_torch_ranges *r, uint64_t start, uint64_t end);

/* The index of the first range that ends after the address, or the length. */
size_t ml_torch_ranges_find(const struct ml_torch_ranges *r, uint64_t addr);

void ml_torch_ranges_release(struct ml_torch_ranges *r);

#endif
