/* recreated_modules.h: modules that a program makes anew in each step are one.
 *
 * nn.CrossEntropyLoss()(…) in a loop makes a module for each step, and each has a name of
 * its own: Loss, Loss#2, Loss#3. They are one, under the first name, where there are three or
 * more and each takes the place of the one before: when a later one has been called, an
 * earlier one of the same process is not called again. Models that work side by side stay
 * apart: a teacher and its student, an ensemble.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_RECREATED_MODULES_H
#define ML_ANALYZE_RECREATED_MODULES_H

#include "modules.h"

struct ml_recreated_modules {
    ML_VEC(uint32_t) first; /* by module: the one that it counts as; empty: each is itself */
};

/* Reads the trace once, where there are names that are alike.
 * @return 0 or -ENOMEM; release in both cases. From a trace that cannot be read to its end,
 *         what was read counts. */
int ml_recreated_modules_find(const struct ml_modules *modules, struct ml_recreated_modules *ret);
void ml_recreated_modules_release(struct ml_recreated_modules *alike);

static inline uint32_t ml_recreated_first(const struct ml_recreated_modules *alike, uint32_t module)
{
    return module < alike->first.len ? alike->first.items[module] : module;
}

#endif
