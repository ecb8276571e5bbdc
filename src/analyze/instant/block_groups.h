/* block_groups.h: groups blocks that have the same values of chosen keys, and numbers the groups.
 *
 * A key depends on a few fields of a block, whose values repeat often, so each combination of
 * values is evaluated once. Modules that a program recreates in each step count as one
 * (recreated_modules.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BLOCK_GROUPS_H
#define ML_ANALYZE_BLOCK_GROUPS_H

#include "recreated_modules.h"
#include "breakdown.h"
#include "intern.h"
#include "map.h"
#include "modules.h"

enum { ML_BLOCK_FIELDS = 6 }; /* scope, stack, label, category, space, thread */

struct ml_block_groups {
    const struct ml_replay *replay;
    const enum ml_key *by;
    size_t by_count;
    struct ml_modules modules;
    struct ml_recreated_modules alike;
    uint32_t wanted[ML_BLOCK_FIELDS]; /* all ones if a key depends on the field, else 0 */
    struct ml_intern seen;            /* values of the fields -> number in of_seen */
    ML_VEC(uint32_t) of_seen;         /* groups */
    struct ml_intern keys;            /* the keys' numbers -> group */
    struct ml_map lines;              /* file and line -> the first frame there, from 1 */
    uint32_t last_fields[ML_BLOCK_FIELDS];
    uint32_t last; /* group + 1 of last_fields; 0: none yet */
};

/* The replay and `by` must outlive it. @return 0 or -ENOMEM; release it in both cases */
int ml_block_groups_init(struct ml_block_groups *groups, const struct ml_replay *replay,
                         const enum ml_key *by, size_t by_count);
void ml_block_groups_release(struct ml_block_groups *groups);

/* The block's group; new ones get the next number, from 0. @return the group, or -ENOMEM */
int64_t ml_block_group_of(struct ml_block_groups *groups, const struct ml_block *block);

/* The number of each key for a group, in the order of `by`. */
void ml_block_group_keys(const struct ml_block_groups *groups, uint32_t group,
                         uint32_t ret[ML_KEYS]);

/* The name of each key for a group, in the order of `by`, in the arena. @return 0 or -ENOMEM */
int ml_block_group_names(const struct ml_block_groups *groups, uint32_t group,
                         struct ml_arena *arena, const char *ret[ML_KEYS]);

#endif
