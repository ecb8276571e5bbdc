/* ledger_tree.h: the entries of a ledger while it is written. Names are copied
 * into an arena. Only the ledger includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_TREE_H
#define ML_ANALYZE_LEDGER_TREE_H

#include "ledger.h"

/* Sizes in a file may be anything: sums wrap around rather than overflow. */
static inline int64_t ml_ledger_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t ml_ledger_difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* The entry of that name below `parent`, a new one of no bytes if there is none.
 * Valid until the next one is added to the same parent.
 * @return NULL: out of memory */
struct ml_ledger_entry *ml_ledger_child(struct ml_ledger_entry *parent, const char *name,
                                        struct ml_arena *arena);

/* Adds an entry below `parent`, without looking whether there is one of that name.
 * Bytes of parents are added up by ml_ledger_settle. @return NULL: out of memory */
struct ml_ledger_entry *ml_ledger_add(struct ml_ledger_entry *parent, const char *name,
                                      int64_t bytes, struct ml_arena *arena);

/* Makes the bytes of every entry that has others below it their sum, and puts
 * the largest first. */
void ml_ledger_settle(struct ml_ledger_entry *entry);

/* Keeps the `top` largest entries of a settled one; the rest becomes the last,
 * "N more". @return 0 or -ENOMEM */
int ml_ledger_cut(struct ml_ledger_entry *entry, size_t top, struct ml_arena *arena);

/* Puts the entries of the child at `index` in its place. @return 0 or -ENOMEM */
int ml_ledger_lift(struct ml_ledger_entry *entry, size_t index);

/* Each entry's share of `whole`. */
void ml_ledger_share(struct ml_ledger_entry *entry, uint64_t whole);

/* Whether all bytes are the sum of those below. */
bool ml_ledger_adds_up(const struct ml_ledger_entry *entry);

/* Frees what is below. */
void ml_ledger_entry_release(struct ml_ledger_entry *entry);

#endif
