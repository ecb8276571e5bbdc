/* compose.h: the composition of live memory at an instant: the blocks of a replay, added up by
 * category, scope or label.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_COMPOSE_H
#define ML_ANALYZE_COMPOSE_H

#include "replay.h"

enum ml_group_by {
    ML_BY_CATEGORY,
    ML_BY_SCOPE,
    ML_BY_LABEL, /* by scope, label and category; skips blocks without a label */
};

/* Members that do not tell groups apart are 0. A parameter and its gradient have the same label,
 * and the same scope if both are older than the recording. */
struct ml_compose_key {
    uint32_t scope, label, category;
};

struct ml_composed {
    struct ml_compose_key key;
    uint64_t bytes;
    uint64_t left_bytes; /* of them, without the driver's own */
    uint64_t blocks;
};

struct ml_composition {
    ML_VEC(struct ml_composed) groups; /* most bytes first, then by key */
    uint64_t bytes, blocks;            /* of all groups */
};

/* Adds up the counted blocks that are live in the replay.
 * @left   also those that ended processes left behind
 * @ret    to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_compose(const struct ml_replay *replay, enum ml_group_by by, bool left,
               struct ml_composition *ret);
void ml_composition_release(struct ml_composition *composition);

/* One group, NULL if it has no blocks. Linear in the number of groups. */
const struct ml_composed *ml_composition_find(const struct ml_composition *composition,
                                              struct ml_compose_key key);

#endif
