/* ledger_tally.h: the lines of a book as they are found, added up, and the tree of
 * entries that they make. Only the ledger includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_TALLY_H
#define ML_ANALYZE_LEDGER_TALLY_H

#include "ledger_tree.h"

/* What the driver charges for. */
enum ml_ledger_group {
    ML_GROUP_BLOCKS,   /* allocations with blocks inside */
    ML_GROUP_ASYNC,    /* the driver's own pools */
    ML_GROUP_REPORTED, /* blocks of a program whose driver calls are not recorded */
    ML_GROUP_DIRECT,   /* allocations without */
    ML_GROUP_ARRAYS,
    ML_GROUP_GRAPHS,
    ML_GROUP_CONTEXT,
    ML_GROUP_MODULES,
    ML_GROUP_LIMITS,
    ML_GROUP_ROUNDING,
    ML_GROUP_OTHER,
    ML_GROUP_HEAP, /* on the host */
    ML_GROUP_MAPPINGS,
    ML_GROUP_PINNED,
    ML_GROUP_TORCH,
    ML_LEDGER_GROUPS,
};

enum ml_ledger_slack {
    ML_SLACK,          /* pool memory that no block uses; segments are not recorded */
    ML_SLACK_SEGMENTS, /* inside segments */
    ML_SLACK_OUTSIDE,  /* in the driver's allocation, outside segments */
};

struct ml_ledger_line {
    uint64_t key;
    int64_t bytes;
};

struct ml_ledger_tally {
    ML_VEC(struct ml_ledger_line) lines;
    struct ml_map index;     /* key -> line */
    ML_VEC(uint64_t) askers; /* stack and scope */
    struct ml_map asker_index;
};

void ml_ledger_tally_release(struct ml_ledger_tally *tally);

/* Bytes of a group, in which way they are told apart. All return 0 or -ENOMEM.
 * whole:  not at all
 * owner:  by the library that asked for the block, and by scope if that is none of
 *         those that are known by name: the program's own
 * block:  by the block's category, and its scope, label or owner
 * slack:  as unused */
int ml_tally_whole(struct ml_ledger_tally *tally, enum ml_ledger_group group, uint64_t bytes);
int ml_tally_owner(struct ml_ledger_tally *tally, enum ml_ledger_group group,
                   const struct ml_trace *trace, const struct ml_block *block);
int ml_tally_block(struct ml_ledger_tally *tally, enum ml_ledger_group group,
                   const struct ml_trace *trace, const struct ml_block *block, uint64_t bytes);
int ml_tally_slack(struct ml_ledger_tally *tally, enum ml_ledger_group group,
                   enum ml_ledger_slack slack, int64_t bytes);

/* Writes the lines as entries below `book`, and settles it.
 * @top    entries in a list of scopes or owners */
int ml_tally_write(const struct ml_ledger_tally *tally, const struct ml_trace *trace, size_t top,
                   struct ml_ledger_entry *book, struct ml_arena *arena);

/* The book of a device in a replay that stands at an instant: what recorded processes have there,
 * by process if there are several.
 * @left         processes that are left out, since they have nothing any more
 * @top          entries in a list of scopes or owners
 * @book         empty; gets the entries, settled
 * @ret_stray    bytes of blocks that lie in nothing that the driver gave
 * @ret_managed  managed memory of these processes, wherever it lies
 * @return 0 or -ENOMEM */
int ml_ledger_book(const struct ml_replay *replay, const char *device, const uint32_t *left,
                   size_t left_count, size_t top, struct ml_ledger_entry *book,
                   struct ml_arena *arena, uint64_t *ret_stray, uint64_t *ret_managed);

#endif
