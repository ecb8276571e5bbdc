/* inner_path.c: see inner_path.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_path.h"

#include <stdbool.h>

#include "block.h"
#include "memledger/memledger.h"

static bool is_alike(const struct ml_dict *dict, uint32_t a, uint32_t b)
{
    struct ml_dict_scope x, y;

    if (!a || !b)
        return a == b;
    x = ml_dict_scope_at(dict, a);
    y = ml_dict_scope_at(dict, b);
    return x.kind == y.kind && x.name == y.name && x.class_name == y.class_name;
}

struct ml_inner_path ml_inner_path(struct ml_dict *dict, struct ml_inner_path here, uint32_t made)
{
    uint32_t path[ML_SCOPE_MAX_DEPTH]; /* innermost first */
    uint32_t n = 0, s = made;

    for (; s && !is_alike(dict, s, here.scope); s = ml_dict_scope_parent(dict, s)) {
        if (n == ML_SCOPE_MAX_DEPTH)
            return here;
        path[n++] = s;
    }
    if (!is_alike(dict, s, here.scope))
        return here;
    while (n-- > 0 && here.depth < ML_SCOPE_MAX_DEPTH) {
        struct ml_dict_scope part = ml_dict_scope_at(dict, path[n]);

        if (part.kind == MEMLEDGER_SCOPE_PHASE || part.kind == MEMLEDGER_SCOPE_OPERATOR)
            continue;
        part.parent = here.scope;
        here.scope = ml_dict_scope(dict, &part);
        here.depth++;
    }
    return here;
}
