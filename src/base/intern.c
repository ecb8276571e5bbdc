/* intern.c: see intern.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_SLOTS 16

static uint32_t hash_of(const void *bytes, size_t len)
{
    return (uint32_t)XXH3_64bits(len > 0 ? bytes : "", len);
}

void ml_intern_init(struct ml_intern *intern)
{
    *intern = (struct ml_intern){0};
}

void ml_intern_release(struct ml_intern *intern)
{
    ml_arena_release(&intern->arena);
    ml_vec_release(&intern->entries);
    free(intern->slots);
    ml_intern_init(intern);
}

static bool holds(const struct ml_intern *intern, struct ml_intern_slot slot, uint32_t hash,
                  const void *bytes, size_t len)
{
    const struct ml_intern_entry *entry;

    if (slot.hash != hash)
        return false;
    entry = &intern->entries.items[slot.id_plus_one - 1];
    return entry->len == len && (len == 0 || memcmp(entry->bytes, bytes, len) == 0);
}

/* The slot of these bytes, or the empty slot where they would go. Needs slots,
 * one of them empty. */
static struct ml_intern_slot *probe(const struct ml_intern *intern, uint32_t hash,
                                    const void *bytes, size_t len)
{
    size_t mask = intern->slot_count - 1;
    size_t i = hash & mask;

    while (intern->slots[i].id_plus_one != 0 && !holds(intern, intern->slots[i], hash, bytes, len))
        i = (i + 1) & mask;
    return &intern->slots[i];
}

/* Move a slot of the old table into a new one, which does not contain its string yet. */
static void move_slot(struct ml_intern_slot *slots, size_t mask, struct ml_intern_slot slot)
{
    size_t i = slot.hash & mask;

    while (slots[i].id_plus_one != 0)
        i = (i + 1) & mask;
    slots[i] = slot;
}

/* Keeps the table at most half full after one more string, so that probes end. */
static int reserve_slot(struct ml_intern *intern)
{
    size_t count = intern->slot_count ? intern->slot_count * 2 : FIRST_SLOTS;
    struct ml_intern_slot *slots;

    if (intern->entries.len < intern->slot_count / 2)
        return 0;
    slots = calloc(count, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < intern->slot_count; i++)
        if (intern->slots[i].id_plus_one != 0)
            move_slot(slots, count - 1, intern->slots[i]);
    free(intern->slots);
    intern->slots = slots;
    intern->slot_count = count;
    return 0;
}

static int64_t add(struct ml_intern *intern, uint32_t hash, const void *bytes, size_t len)
{
    struct ml_intern_entry entry = {.len = len};
    int r;

    if (intern->entries.len >= UINT32_MAX)
        return -EOVERFLOW;
    r = reserve_slot(intern);
    if (r < 0)
        return r;
    r = ml_vec_reserve(&intern->entries, 1);
    if (r < 0)
        return r;
    entry.bytes = ml_arena_dup(&intern->arena, bytes, len);
    if (!entry.bytes)
        return -ENOMEM;
    *probe(intern, hash, bytes, len) = (struct ml_intern_slot){
        .id_plus_one = (uint32_t)intern->entries.len + 1,
        .hash = hash,
    };
    intern->entries.items[intern->entries.len] = entry;
    return (int64_t)intern->entries.len++;
}

static int64_t find(const struct ml_intern *intern, uint32_t hash, const void *bytes, size_t len)
{
    const struct ml_intern_slot *slot;

    if (intern->slot_count == 0)
        return -ENOENT;
    slot = probe(intern, hash, bytes, len);
    return slot->id_plus_one != 0 ? (int64_t)slot->id_plus_one - 1 : -ENOENT;
}

int64_t ml_intern_put(struct ml_intern *intern, const void *bytes, size_t len, bool *ret_new)
{
    uint32_t hash = hash_of(bytes, len);
    int64_t id = find(intern, hash, bytes, len);
    bool is_new = id < 0;

    if (is_new)
        id = add(intern, hash, bytes, len);
    if (id >= 0 && ret_new)
        *ret_new = is_new;
    return id;
}

int64_t ml_intern_find(const struct ml_intern *intern, const void *bytes, size_t len)
{
    return find(intern, hash_of(bytes, len), bytes, len);
}

const char *ml_intern_get(const struct ml_intern *intern, uint32_t id, size_t *ret_len)
{
    if (id >= intern->entries.len)
        return NULL;
    if (ret_len)
        *ret_len = intern->entries.items[id].len;
    return intern->entries.items[id].bytes;
}

uint32_t ml_intern_len(const struct ml_intern *intern)
{
    return (uint32_t)intern->entries.len;
}
