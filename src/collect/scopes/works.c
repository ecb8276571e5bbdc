/* works.c: see works.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "works.h"

void ml_works_release(struct ml_works *works)
{
    ml_map_release(&works->by_key);
    ml_vec_release(&works->places);
    works->free = 0;
}

void ml_works_forget_all(struct ml_works *works)
{
    if (!works->places.len)
        return;
    ml_map_clear(&works->by_key);
    ml_vec_clear(&works->places);
    works->free = 0;
}

static uint64_t queue(uint32_t first, uint32_t last)
{
    return (uint64_t)first << 32 | last;
}

/* @return index + 1, 0: there is no memory */
static uint32_t new_place(struct ml_works *works, struct ml_work work)
{
    uint32_t place = works->free;

    if (place) {
        works->free = works->places.items[place - 1].next;
        works->places.items[place - 1] = (struct ml_work_place){.work = work};
        return place;
    }
    if (ml_vec_push(&works->places, (struct ml_work_place){.work = work}))
        return 0;
    return (uint32_t)works->places.len;
}

static void free_place(struct ml_works *works, uint32_t place)
{
    works->places.items[place - 1].next = works->free;
    works->free = place;
}

void ml_works_put(struct ml_works *works, uint64_t key, struct ml_work work)
{
    uint64_t places;
    uint32_t first, place;

    if (!works->free && works->places.len == ML_WORKS_MAX) {
        works->dropped += ML_WORKS_MAX;
        ml_works_forget_all(works);
    }
    place = new_place(works, work);
    if (!place) {
        works->dropped++;
        return;
    }
    first = place;
    if (ml_map_get(&works->by_key, key, &places)) {
        works->places.items[(uint32_t)places - 1].next = place;
        first = (uint32_t)(places >> 32);
    }
    /* Replaces if the key is known, which needs no memory. */
    if (ml_map_put(&works->by_key, key, queue(first, place)))
        free_place(works, place);
}

bool ml_works_take(struct ml_works *works, uint64_t key, struct ml_work *ret)
{
    uint64_t places;
    uint32_t first, next;

    if (!ml_map_get(&works->by_key, key, &places))
        return false;
    first = (uint32_t)(places >> 32);
    next = works->places.items[first - 1].next;
    *ret = works->places.items[first - 1].work;
    free_place(works, first);
    if (next)
        ml_map_put(&works->by_key, key, queue(next, (uint32_t)places));
    else
        ml_map_take(&works->by_key, key, NULL);
    return true;
}

void ml_works_move(struct ml_works *works, uint64_t from, uint64_t to)
{
    struct ml_work ignored;
    uint64_t places;

    while (ml_works_take(works, to, &ignored))
        continue;
    if (!ml_map_take(&works->by_key, from, &places))
        return;
    if (ml_map_put(&works->by_key, to, places)) /* cannot fail: one entry was removed */
        ml_works_forget_all(works);
}
