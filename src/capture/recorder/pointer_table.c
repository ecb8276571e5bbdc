/* pointer_table.c: see pointer_table.h.
 *
 * Linear probing. A removed entry leaves a hole, which is reused or, at the end of a run of slots,
 * cleared. Unused pages cost nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pointer_table.h"

#include <stddef.h>

#include "address_room.h"
#include "sys.h"

#define SLOTS_MAX (1u << 20)
#define SLOTS_LEAST (1u << 6)

static bool reserve(struct ml_pointer_table *t)
{
    if (!t->slots)
        t->slots = ml_address_table(SLOTS_MAX, SLOTS_LEAST, sizeof(*t->slots), &t->count);
    return t->slots;
}

/* The slot with that pointer, or the slot to put it into. */
static struct ml_pointer_slot *find(const struct ml_pointer_table *t, const void *pointer)
{
    uint32_t at = (uint32_t)(((uintptr_t)pointer >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 44);
    struct ml_pointer_slot *hole = NULL;

    for (uint32_t i = 0; i < t->count; i++) {
        struct ml_pointer_slot *s = &t->slots[(at + i) % t->count];
        if (s->pointer == pointer)
            return s;
        if (!s->pointer)
            return hole ? hole : s;
        if (!s->number && !hole)
            hole = s;
    }
    return hole;
}

static bool put(struct ml_pointer_table *t, const void *pointer, uint64_t number)
{
    struct ml_pointer_slot *s = reserve(t) ? find(t, pointer) : NULL;

    if (!s || (!s->pointer && t->used >= t->count / 4 * 3))
        return false;
    t->used += !s->pointer;
    s->number = 0; /* consistent after each store, for a child that is forked in between */
    s->pointer = pointer;
    s->number = number;
    return true;
}

bool ml_pointer_put(struct ml_pointer_table *t, const void *pointer, uint64_t number)
{
    bool ok;

    if (!pointer || !number || !ml_owner_lock(&t->lock))
        return false;
    ok = put(t, pointer, number);
    ml_owner_unlock(&t->lock);
    return ok;
}

/* Clears holes that end a run of slots: otherwise a long-running program would fill the table with
 * them. The table is consistent after each store. */
static void give_back_holes(struct ml_pointer_table *t, struct ml_pointer_slot *s)
{
    uint32_t at = (uint32_t)(s - t->slots);

    if (t->slots[(at + 1) % t->count].pointer)
        return;
    for (; t->slots[at].pointer && !t->slots[at].number; at = (at - 1) % t->count) {
        t->slots[at].pointer = NULL;
        t->used--;
    }
}

static uint64_t look_up(struct ml_pointer_table *t, const void *pointer, bool forget)
{
    struct ml_pointer_slot *s;
    uint64_t number = 0;

    if (!pointer || !ml_owner_lock(&t->lock))
        return 0;
    s = t->slots ? find(t, pointer) : NULL;
    if (s && s->pointer == pointer) {
        number = s->number;
        if (forget) {
            s->number = 0;
            give_back_holes(t, s);
        }
    }
    ml_owner_unlock(&t->lock);
    return number;
}

uint64_t ml_pointer_get(struct ml_pointer_table *t, const void *pointer)
{
    return look_up(t, pointer, false);
}

uint64_t ml_pointer_take(struct ml_pointer_table *t, const void *pointer)
{
    return look_up(t, pointer, true);
}
