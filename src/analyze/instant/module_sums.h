/* module_sums.h: the live blocks of an instant, added up by module. The common part of the tree
 * and the list of layers; only they include it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_MODULE_SUMS_H
#define ML_ANALYZE_MODULE_SUMS_H

#include "module_tree.h"
#include "modules.h"

struct ml_module_sums {
    struct ml_modules modules;
    ML_VEC(struct ml_holding) own; /* by module */
    struct ml_holding all;
};

/* Fills in the snapshot and the sums; release both, after a failure too.
 * @return 0 or negative errno */
int ml_module_sums(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                   struct ml_snapshot *ret_at, struct ml_module_sums *ret, struct ml_error *err);
void ml_module_sums_release(struct ml_module_sums *sums);

void ml_holding_add(struct ml_holding *sum, const struct ml_holding *part);

#endif
