/* block_types.c: see block_types.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_types.h"

#include <errno.h>

#include "each_event.h"

/* Addresses have 48 bits. In a hostile trace two blocks may have one key, and then one type. */
static uint64_t key_of(uint32_t space, uint64_t addr)
{
    return addr ^ (uint64_t)space << 48;
}

static int on_alloc(struct ml_block_types *t, const struct ml_event *event)
{
    uint64_t key = key_of(event->space, event->addr), type;

    if (event->size >= ML_TYPED_BYTES_MIN && ml_map_get(&t->threads, event->thread, &type) && type)
        return ml_map_put(&t->blocks, key, type);
    ml_map_take(&t->blocks, key, NULL);
    return 0;
}

static int on_event(void *ctx, const struct ml_event *event)
{
    struct ml_block_types *t = ctx;

    if (t->events-- == 0)
        return 1;
    switch (event->kind) {
    case ML_MARK:
        return event->args[0] == ML_MARK_TYPE
                   ? ml_map_put(&t->threads, event->thread, event->args[2])
                   : 0;
    case ML_ALLOC:
    case ML_ALLOC_EX: return on_alloc(t, event);
    case ML_FREE: ml_map_take(&t->blocks, key_of(event->space, event->addr), NULL); return 0;
    default: return 0;
    }
}

int ml_block_types(const struct ml_trace *trace, uint64_t events, struct ml_block_types *ret,
                   struct ml_error *err)
{
    int r;

    *ret = (struct ml_block_types){.trace = trace, .events = events};
    r = ml_each_event(trace, on_event, ret, err);
    return r < 0 ? r : 0;
}

void ml_block_types_release(struct ml_block_types *types)
{
    ml_map_release(&types->threads);
    ml_map_release(&types->blocks);
}

const char *ml_block_type(const struct ml_block_types *types, const struct ml_replay *replay,
                          const struct ml_block *block)
{
    uint32_t space = replay->spaces.items[block->space].number;
    uint64_t type;

    if (!ml_map_get(&types->blocks, key_of(space, block->addr), &type))
        return "";
    return ml_trace_string(types->trace, (uint32_t)type, NULL);
}
