/* net_learning.c: see net_learning.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_learning.h"

#include <string.h>

#include "event.h"
#include "memledger/memledger.h"

/* As the classification sees it, see space_of() in class_rules.c; followers check it. */
static bool is_plain(const struct ml_dict *dict, const struct ml_def *space)
{
    const char *name = ml_dict_text(dict, (uint32_t)space->fields[ML_SPACE_NAME]);

    return space->fields[ML_SPACE_LEVEL] != MEMLEDGER_BLOCK ||
           strcmp(name, ML_HEAP_SPACE_NAME) == 0 || strcmp(name, ML_MAP_SPACE_NAME) == 0;
}

void ml_net_definitions_learn(struct ml_net_definitions *d, const struct ml_dict *dict)
{
    const struct ml_def *space;

    while (d->parents.len <= ml_intern_len(&dict->scopes)) {
        uint32_t parent = ml_dict_scope_parent(dict, (uint32_t)d->parents.len);

        if (ml_vec_push(&d->parents, parent) < 0)
            return;
    }
    while ((space = ml_dict_get(dict, ML_DEF_SPACE, (uint32_t)d->plain.len)))
        if (ml_vec_push(&d->plain, is_plain(dict, space)) < 0)
            return;
}
