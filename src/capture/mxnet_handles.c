/* mxnet_handles.c: see mxnet_handles.h.
 *
 * A table with linear probing; what is taken out leaves a hole that is used again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_handles.h"

#include <stdbool.h>
#include <stddef.h>

#include "owner_lock.h"
#include "sys.h"

#define SLOTS (1u << 16)
#define KEPT_MAX (SLOTS / 4 * 3)

struct slot {
    const void *handle; /* NULL: never used, a search ends here */
    memledger_object object;
};

static struct slot *slots;
static uint32_t used; /* slots that have a handle, also those whose object is gone */
static struct ml_owner_lock lock;

static bool reserve(void)
{
    if (!slots)
        slots = ml_sys_map(SLOTS * sizeof(*slots), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    return slots;
}

/* The slot of that handle, or the one to put it into. */
static struct slot *find(const void *handle)
{
    uint32_t at = (uint32_t)(((uintptr_t)handle >> 4) * 2654435761u);
    struct slot *hole = NULL;

    for (uint32_t i = 0; i < SLOTS; i++) {
        struct slot *s = &slots[(at + i) % SLOTS];
        if (s->handle == handle)
            return s;
        if (!s->handle)
            return hole ? hole : s;
        if (!s->object && !hole)
            hole = s;
    }
    return hole;
}

static void put(const void *handle, memledger_object object)
{
    struct slot *s = reserve() ? find(handle) : NULL;

    if (!s || (!s->handle && used == KEPT_MAX))
        return;
    used += !s->handle;
    s->object = 0; /* whole after each store, for a child that is forked in between */
    s->handle = handle;
    s->object = object;
}

void ml_mxnet_handle_put(const void *handle, memledger_object object)
{
    if (!handle || !ml_owner_lock(&lock))
        return;
    put(handle, object);
    ml_owner_unlock(&lock);
}

static memledger_object look_up(const void *handle, bool forget)
{
    memledger_object object = 0;
    struct slot *s;

    if (!handle || !ml_owner_lock(&lock))
        return 0;
    s = slots ? find(handle) : NULL;
    if (s && s->handle == handle) {
        object = s->object;
        if (forget)
            s->object = 0;
    }
    ml_owner_unlock(&lock);
    return object;
}

memledger_object ml_mxnet_handle_get(const void *handle)
{
    return look_up(handle, false);
}

memledger_object ml_mxnet_handle_take(const void *handle)
{
    return look_up(handle, true);
}
