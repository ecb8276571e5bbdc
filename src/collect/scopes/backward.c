/* backward.c: see backward.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "backward.h"

#include "block.h"
#include "event.h"
#include "memledger/memledger.h"

void ml_backward_release(struct ml_backward *b)
{
    ml_map_release(&b->by_forward);
    ml_vec_release(&b->made);
}

static struct ml_backward_scope make(struct ml_dict *dict, uint32_t forward)
{
    struct ml_dict_scope phase = {.kind = MEMLEDGER_SCOPE_PHASE,
                                  .name = ml_dict_cstr(dict, "backward")};
    uint32_t function = ml_dict_cstr(dict, ML_FUNCTION_CLASS);
    struct ml_backward_scope made = {.scope = ml_dict_scope(dict, &phase), .depth = 1};
    uint32_t path[ML_SCOPE_MAX_DEPTH]; /* innermost first */
    bool in_backward = false;
    uint32_t n = 0;

    for (uint32_t s = forward; s && n < ML_SCOPE_MAX_DEPTH; s = ml_dict_scope_parent(dict, s))
        path[n++] = s;
    while (n-- > 0 && made.depth < ML_SCOPE_MAX_DEPTH) {
        struct ml_dict_scope part = ml_dict_scope_at(dict, path[n]);

        if (part.kind == MEMLEDGER_SCOPE_PHASE)
            in_backward = part.name == phase.name;
        if (part.kind == MEMLEDGER_SCOPE_PHASE ||
            (part.kind == MEMLEDGER_SCOPE_OPERATOR && in_backward))
            continue;
        part.parent = made.scope;
        made.scope = ml_dict_scope(dict, &part);
        made.depth++;
        made.has_module |= part.kind == MEMLEDGER_SCOPE_MODULE && part.class_name != function;
    }
    return made;
}

struct ml_backward_scope ml_backward_scope(struct ml_backward *b, struct ml_dict *dict,
                                           uint32_t forward)
{
    struct ml_backward_scope made;
    uint64_t place;

    if (ml_map_get(&b->by_forward, forward, &place))
        return b->made.items[place];
    made = make(dict, forward);
    /* Without memory it is created again the next time. */
    if (!ml_vec_push(&b->made, made) && ml_map_put(&b->by_forward, forward, b->made.len - 1))
        b->made.len--;
    return made;
}
