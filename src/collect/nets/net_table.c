/* net_table.c: see net_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_table.h"

#include <errno.h>
#include <stdlib.h>

#define PLACES_MIN ((size_t)1 << 12)
#define PLACES_MAX ((size_t)1 << 20)
#define GROUP_SLOTS (2 * (size_t)ML_NET_GROUPS_MAX)
static_assert(ML_NET_BLOCKS_MAX <= PLACES_MAX / 2, "a table of carried blocks has room for more");

int ml_net_table_init(struct ml_net_table *t)
{
    *t = (struct ml_net_table){.mask = PLACES_MIN - 1};
    t->places = calloc(PLACES_MIN, sizeof(*t->places));
    t->group_slots = calloc(GROUP_SLOTS, sizeof(*t->group_slots));
    t->groups = calloc(ML_NET_GROUPS_MAX, sizeof(*t->groups));
    return t->places && t->group_slots && t->groups ? 0 : -ENOMEM;
}

void ml_net_table_release(struct ml_net_table *t)
{
    free(t->places);
    free(t->group_slots);
    free(t->groups);
    *t = (struct ml_net_table){0};
}

/* ---- Addresses ----------------------------------------------------------------- */

static void move_carried(const struct ml_net_table *from, struct ml_net_table *to)
{
    for (size_t i = 0; i <= from->mask; i++) {
        size_t at = ml_net_home(to, from->places[i].addr);

        if (from->places[i].state != ML_NET_CARRIED)
            continue;
        while (to->places[at].addr != 0)
            at = (at + 1) & to->mask;
        to->places[at] = from->places[i];
    }
}

/* Forgets the places without a carried block, and doubles a table that is half full of them. */
static bool make_room(struct ml_net_table *t)
{
    size_t places = t->mask + 1;
    struct ml_net_table next = *t;

    if (t->carried >= places / 4 && places < PLACES_MAX)
        places *= 2;
    next.places = calloc(places, sizeof(*next.places));
    if (!next.places)
        return false;
    next.mask = places - 1;
    next.used = t->carried;
    move_carried(t, &next);
    free(t->places);
    *t = next;
    return true;
}

struct ml_net_place *ml_net_place_of(struct ml_net_table *t, uint64_t addr)
{
    size_t at = ml_net_home(t, addr);

    while (t->places[at].addr != 0) {
        if (t->places[at].addr == addr)
            return &t->places[at];
        at = (at + 1) & t->mask;
    }
    if (ML_UNLIKELY(t->used >= t->mask / 4 * 3)) {
        if (!make_room(t))
            return NULL;
        return ml_net_place_of(t, addr);
    }
    t->used++;
    t->places[at] = (struct ml_net_place){.addr = addr};
    return &t->places[at];
}

/* ---- Groups --------------------------------------------------------------------- */

static uint64_t hash_group(uint32_t thread, uint32_t scope, uint32_t stack)
{
    uint64_t hash = stack * UINT64_C(0x9e3779b97f4a7c15);

    hash = (hash ^ hash >> 29 ^ scope) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 32 ^ thread) * UINT64_C(0x94d049bb133111eb);
    return hash >> 32;
}

uint32_t ml_net_find_group(struct ml_net_table *t, uint32_t thread, uint32_t scope, uint32_t stack)
{
    size_t at = hash_group(thread, scope, stack) % GROUP_SLOTS;
    struct ml_net_group_slot *slot;
    uint32_t number = t->group_count;

    while ((slot = &t->group_slots[at])->number != 0) {
        if (slot->stack == stack && slot->scope == scope && slot->thread == thread) {
            t->last = *slot;
            return slot->number - 1;
        }
        at = (at + 1) % GROUP_SLOTS;
    }
    if (number == ML_NET_GROUPS_MAX)
        return number;
    *slot = t->last = (struct ml_net_group_slot){thread, scope, stack, number + 1};
    t->groups[number] = (struct ml_net_group){number, thread, scope, stack, 0, 0, 0, 0};
    t->group_count++;
    return number;
}
