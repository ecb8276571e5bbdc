/* ledger_tree.h: builds the entries of a ledger. Names are copied into an arena. Only the ledger
 * includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_TREE_H
#define ML_ANALYZE_LEDGER_TREE_H

#include "ledger.h"

/* Sizes in a file may have any value: sums wrap around rather than overflow. */
static inline int64_t ml_ledger_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t ml_ledger_difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* The entry of that name below `parent`, added with no bytes if it is new. Valid until the next
 * one is added to the same parent.
 * @return NULL: out of memory */
struct ml_ledger_entry *ml_ledger_child(struct ml_ledger_entry *parent, const char *name,
                                        struct ml_arena *arena);

/* Adds an entry below `parent` without checking for one of that name. ml_ledger_settle adds up
 * the bytes of parents.
 * @return NULL: out of memory */
struct ml_ledger_entry *ml_ledger_add(struct ml_ledger_entry *parent, const char *name,
                                      int64_t bytes, struct ml_arena *arena);

/* Sets the bytes of every entry with children to their sum, and sorts the largest first. */
void ml_ledger_settle(struct ml_ledger_entry *entry);

/* Keeps the `top` largest children of a settled entry; the rest become the last one, "N more".
 * @return 0 or -ENOMEM */
int ml_ledger_cut(struct ml_ledger_entry *entry, size_t top, struct ml_arena *arena);

/* Replaces the child at `index` by its own children. @return 0 or -ENOMEM */
int ml_ledger_lift(struct ml_ledger_entry *entry, size_t index);

/* Sets each entry's percentage of `whole`. */
void ml_ledger_share(struct ml_ledger_entry *entry, uint64_t whole);

/* Whether the bytes of every entry are the sum of those below it. */
bool ml_ledger_adds_up(const struct ml_ledger_entry *entry);

/* Frees everything below the entry. */
void ml_ledger_entry_release(struct ml_ledger_entry *entry);

#endif
