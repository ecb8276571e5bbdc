/* ledger_tree.c: see ledger_tree.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ml_ledger_entry *ml_ledger_add(struct ml_ledger_entry *parent, const char *name,
                                      int64_t bytes, struct ml_arena *arena)
{
    struct ml_ledger_entry entry = {.name = ml_arena_dup(arena, name, strlen(name)),
                                    .bytes = bytes};

    if (!entry.name || ml_vec_push(&parent->entries, entry) < 0)
        return NULL;
    return &parent->entries.items[parent->entries.len - 1];
}

struct ml_ledger_entry *ml_ledger_child(struct ml_ledger_entry *parent, const char *name,
                                        struct ml_arena *arena)
{
    for (size_t i = 0; i < parent->entries.len; i++)
        if (strcmp(parent->entries.items[i].name, name) == 0)
            return &parent->entries.items[i];
    return ml_ledger_add(parent, name, 0, arena);
}

static int by_bytes(const void *a, const void *b)
{
    const struct ml_ledger_entry *x = a, *y = b;

    if (x->rest != y->rest)
        return x->rest ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->name, y->name);
}

void ml_ledger_settle(struct ml_ledger_entry *entry)
{
    if (entry->entries.len == 0)
        return;
    entry->bytes = 0;
    for (size_t i = 0; i < entry->entries.len; i++) {
        ml_ledger_settle(&entry->entries.items[i]);
        entry->bytes = ml_ledger_sum(entry->bytes, entry->entries.items[i].bytes);
    }
    ml_vec_sort(&entry->entries, by_bytes);
}

int ml_ledger_cut(struct ml_ledger_entry *entry, size_t top, struct ml_arena *arena)
{
    char name[32];
    size_t rest = entry->entries.len > top ? entry->entries.len - top : 0;
    struct ml_ledger_entry *more;
    int64_t bytes = 0;

    if (rest == 0 || (rest == 1 && top > 0))
        return 0; /* "1 more" would take as many lines */
    for (size_t i = top; i < entry->entries.len; i++) {
        bytes = ml_ledger_sum(bytes, entry->entries.items[i].bytes);
        ml_ledger_entry_release(&entry->entries.items[i]);
    }
    entry->entries.len = top;
    if (top == 0)
        return 0; /* no details */
    snprintf(name, sizeof(name), "%zu more", rest);
    more = ml_ledger_add(entry, name, bytes, arena);
    if (!more)
        return -ENOMEM;
    more->rest = true;
    return 0;
}

int ml_ledger_lift(struct ml_ledger_entry *entry, size_t index)
{
    struct ml_ledger_entry lifted = entry->entries.items[index];

    if (ml_vec_reserve(&entry->entries, lifted.entries.len) < 0)
        return -ENOMEM;
    entry->entries.len--;
    memmove(&entry->entries.items[index], &entry->entries.items[index + 1],
            (entry->entries.len - index) * sizeof(lifted));
    if (lifted.entries.len > 0)
        memcpy(&entry->entries.items[entry->entries.len], lifted.entries.items,
               lifted.entries.len * sizeof(lifted));
    entry->entries.len += lifted.entries.len;
    ml_vec_release(&lifted.entries);
    return 0;
}

void ml_ledger_share(struct ml_ledger_entry *entry, uint64_t whole)
{
    entry->percent = whole ? 100.0 * (double)entry->bytes / (double)whole : 0;
    for (size_t i = 0; i < entry->entries.len; i++)
        ml_ledger_share(&entry->entries.items[i], whole);
}

bool ml_ledger_adds_up(const struct ml_ledger_entry *entry)
{
    int64_t sum = 0;

    for (size_t i = 0; i < entry->entries.len; i++) {
        if (!ml_ledger_adds_up(&entry->entries.items[i]))
            return false;
        sum = ml_ledger_sum(sum, entry->entries.items[i].bytes);
    }
    return entry->entries.len == 0 || sum == entry->bytes;
}

void ml_ledger_entry_release(struct ml_ledger_entry *entry)
{
    for (size_t i = 0; i < entry->entries.len; i++)
        ml_ledger_entry_release(&entry->entries.items[i]);
    ml_vec_release(&entry->entries);
}
