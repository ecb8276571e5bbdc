/* recreated_scopes.h: scopes that differ only in the number of a module count as one: "Loss#2 >
 * inner" is the same as "Loss > inner". A program that recreates a module in each step has one
 * such scope for each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_RECREATED_SCOPES_H
#define ML_ANALYZE_RECREATED_SCOPES_H

#include "trace.h"
#include "vec.h"

struct ml_recreated_scopes {
    ML_VEC(uint32_t) first; /* by scope: the first of the similar ones */
};

/* @return 0 or -ENOMEM; release in both cases */
int ml_recreated_scopes_find(const struct ml_trace *trace, struct ml_recreated_scopes *ret);
void ml_recreated_scopes_release(struct ml_recreated_scopes *alike);

static inline uint32_t ml_recreated_scope(const struct ml_recreated_scopes *alike, uint32_t scope)
{
    return scope < alike->first.len ? alike->first.items[scope] : scope;
}

#endif
