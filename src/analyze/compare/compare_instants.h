/* compare_instants.h: compares several instants of one trace with the first, entry by entry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_COMPARE_INSTANTS_H
#define ML_ANALYZE_COMPARE_INSTANTS_H

#include "compare_view.h"

struct ml_compare_instant {
    const char *name; /* as the caller named it */
    struct ml_at at;
    uint64_t time_ns;
    struct ml_change bytes, blocks; /* live then */
};

struct ml_compare_instants {
    const char *device; /* the only one; NULL: all */
    uint32_t pid;       /* of the only process; 0: all */
    struct ml_health health;
    ML_VEC(struct ml_compare_instant) list; /* in the order given */
    struct ml_compare columns;              /* the same as runs, for reports on the view */
    struct ml_compare_view view;
};

/* @names   one for each instant; they and `opts` must outlive the result
 * @opts    its rows are ML_COMPARE_KEYS, its caps NULL; `at` and `instants` are not used
 * @ret     to be released, after a failure too
 * @return 0; -ENOENT without such an instant; or another negative errno, see ml_breakdown */
int ml_compare_instants(const struct ml_trace *trace, const struct ml_at *instants,
                        const char *const *names, size_t count,
                        const struct ml_compare_view_opts *opts, struct ml_compare_instants *ret,
                        struct ml_error *err);
void ml_compare_instants_release(struct ml_compare_instants *compared);

#endif
