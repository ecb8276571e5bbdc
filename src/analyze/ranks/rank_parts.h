/* rank_parts.h: the steps of the analysis of a job. Only this room includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_RANK_PARTS_H
#define ML_ANALYZE_RANK_PARTS_H

#include "intern.h"
#include "ranks.h"

#define ML_RANK_FLOOR_BYTES (UINT64_C(1) << 20)
#define ML_RANK_FLOOR_SHARE 0.03
#define ML_RANK_DEVIATIONS 6.0

/* Rank and module trees of all digests under common numbers. Number 0 is no module. */
struct ml_rank_modules {
    struct ml_intern paths;
    ML_VEC(uint32_t) parents;    /* by number */
    ML_VEC(uint32_t) of_row;     /* of all rows one after another: number by module of a digest */
    ML_VEC(size_t) first;        /* by row: in of_row */
    ML_VEC(uint64_t) signatures; /* by row: of its modules with parameters */
    ML_VEC(int64_t *) medians;   /* by group: bytes of modules × categories; NULL: not yet */
};

/* @return 0 or -ENOMEM; release in both cases */
int ml_rank_modules_init(struct ml_rank_modules *m, const struct ml_ranks *ranks);
void ml_rank_modules_release(struct ml_rank_modules *m);

static inline uint32_t ml_rank_module(const struct ml_rank_modules *m, size_t row, uint32_t module)
{
    return m->of_row.items[m->first.items[row] + module];
}

/* The lower median; sorts the values. 0 if there are none. */
uint64_t ml_rank_median(uint64_t *values, size_t count);

/* Groups of peers, their medians, and each row's distance from them. Ranks whose modules differ
 * from those of most others are compared with them all the same.
 * @return 0 or -ENOMEM */
int ml_rank_peers(struct ml_ranks *ranks, const struct ml_rank_modules *m);

/* Growth from step to step; sets growth_bytes of each row.
 * @return 0 or -ENOMEM */
int ml_rank_growth(struct ml_ranks *ranks);

/* Fills in category, module, ratio and cause of a rank that differs (ABOVE, BELOW) or leaks.
 * @return 0 or -ENOMEM */
int ml_rank_reason(const struct ml_ranks *ranks, struct ml_rank_modules *m, size_t row,
                   struct ml_rank_finding *finding);

/* The first module with parameters that the row has and the other lacks; NULL: none. */
const char *ml_rank_extra_module(const struct ml_ranks *ranks, const struct ml_rank_modules *m,
                                 size_t row, size_t other);

/* @return 0 or -ENOMEM */
int ml_rank_findings(struct ml_ranks *ranks, struct ml_rank_modules *m);

/* Makes one finding of those with the same reason, names what they share, and sorts them.
 * @return 0 or -ENOMEM */
int ml_rank_merge(struct ml_ranks *ranks);

/* @return 0 or -ENOMEM */
int ml_rank_clocks(struct ml_ranks *ranks);

#endif
