/* recreated_modules.h: treats modules that a program recreates in each step as one.
 *
 * nn.CrossEntropyLoss()(…) in a loop creates a module in each step, and each gets a different
 * name: Loss, Loss#2, Loss#3. They count as one, under the first name, if there are three or more
 * and each replaces the one before: once a later one has been called, the same process does not
 * call an earlier one again. Models that are in use at the same time stay separate: a teacher and
 * its student, an ensemble.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_RECREATED_MODULES_H
#define ML_ANALYZE_RECREATED_MODULES_H

#include "modules.h"

struct ml_recreated_modules {
    ML_VEC(uint32_t) first; /* by module: the one that it counts as; empty: each is itself */
};

/* Reads the trace once, if there are such names.
 * @return 0 or -ENOMEM; release in both cases. If the trace cannot be read to its end, the part
 *         that was read counts. */
int ml_recreated_modules_find(const struct ml_modules *modules, struct ml_recreated_modules *ret);
void ml_recreated_modules_release(struct ml_recreated_modules *alike);

static inline uint32_t ml_recreated_first(const struct ml_recreated_modules *alike, uint32_t module)
{
    return module < alike->first.len ? alike->first.items[module] : module;
}

#endif
