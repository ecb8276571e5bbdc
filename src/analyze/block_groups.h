/* block_groups.h: blocks that agree in chosen keys are one group, a small number.
 *
 * What a key makes of a block depends on a few of its fields, and the same values of
 * these come again and again: each combination is looked at once. Modules that are made
 * anew in each step are one (recreated_modules.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BLOCK_GROUPS_H
#define ML_ANALYZE_BLOCK_GROUPS_H

#include "recreated_modules.h"
#include "breakdown.h"
#include "intern.h"
#include "modules.h"

enum { ML_BLOCK_FIELDS = 6 }; /* scope, stack, label, category, space, thread */

struct ml_block_groups {
    const struct ml_replay *replay;
    const enum ml_key *by;
    size_t by_count;
    struct ml_modules modules;
    struct ml_recreated_modules alike;
    uint32_t wanted[ML_BLOCK_FIELDS]; /* all ones where a key depends on the field, else 0 */
    struct ml_intern seen;            /* values of the fields -> number in of_seen */
    ML_VEC(uint32_t) of_seen;         /* groups */
    struct ml_intern keys;            /* the keys' numbers -> group */
    uint32_t last_fields[ML_BLOCK_FIELDS];
    uint32_t last; /* group + 1 of these; 0: none yet */
};

/* The replay and `by` must outlive it. @return 0 or -ENOMEM; release it in both cases */
int ml_block_groups_init(struct ml_block_groups *groups, const struct ml_replay *replay,
                         const enum ml_key *by, size_t by_count);
void ml_block_groups_release(struct ml_block_groups *groups);

/* The block's group; new ones get the next number, from 0. @return it, or -ENOMEM */
int64_t ml_block_group_of(struct ml_block_groups *groups, const struct ml_block *block);

/* A group's number of each key, in the order of `by`. */
void ml_block_group_keys(const struct ml_block_groups *groups, uint32_t group,
                         uint32_t ret[ML_KEYS]);

/* A group's name of each key, in the order of `by`, in the arena. @return 0 or -ENOMEM */
int ml_block_group_names(const struct ml_block_groups *groups, uint32_t group,
                         struct ml_arena *arena, const char *ret[ML_KEYS]);

#endif
