/* ledger_tally.h: adds up the lines of a book, and builds the tree of entries from them. Only the
 * ledger includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_TALLY_H
#define ML_ANALYZE_LEDGER_TALLY_H

#include "ledger_tree.h"

/* The kinds of memory that the driver charges. */
enum ml_ledger_group {
    ML_GROUP_BLOCKS,   /* allocations that contain blocks */
    ML_GROUP_PRIVATE,  /* those of private pools, such as the ones of CUDA graphs */
    ML_GROUP_ASYNC,    /* the driver's own pools */
    ML_GROUP_REPORTED, /* blocks of a program whose driver calls are not recorded */
    ML_GROUP_DIRECT,   /* allocations without blocks */
    ML_GROUP_ARRAYS,
    ML_GROUP_GRAPHS,
    ML_GROUP_CONTEXT,
    ML_GROUP_MODULES,
    ML_GROUP_LIMITS,
    ML_GROUP_ROUNDING,
    ML_GROUP_OTHER,
    ML_GROUP_BEFORE,
    ML_GROUP_BEFORE_ALL,
    ML_GROUP_HEAP, /* on the host */
    ML_GROUP_MAPPINGS,
    ML_GROUP_PINNED,
    ML_GROUP_TORCH,
    ML_LEDGER_GROUPS,
};

enum ml_ledger_slack {
    ML_SLACK,          /* unused pool memory; segments are not recorded */
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
    ML_VEC(uint64_t) askers; /* stack or label, and scope */
    struct ml_map asker_index;
};

void ml_ledger_tally_release(struct ml_ledger_tally *tally);

/* Adds bytes to a group, divided in one of these ways. All return 0 or -ENOMEM.
 * whole:  not divided
 * owner:  by the library that requested the block, NCCL by communicator, and by scope if the
 *         library is unknown: the program itself
 * block:  by the block's category, and its scope, label or owner
 * slack:  as unused
 * pool:   by the private pool and the region that it serves, then by category; without a block,
 *         as unused */
int ml_tally_whole(struct ml_ledger_tally *tally, enum ml_ledger_group group, uint64_t bytes);
int ml_tally_owner(struct ml_ledger_tally *tally, enum ml_ledger_group group,
                   const struct ml_trace *trace, const struct ml_block *block);
int ml_tally_block(struct ml_ledger_tally *tally, enum ml_ledger_group group,
                   const struct ml_trace *trace, const struct ml_block *block, uint64_t bytes);
int ml_tally_slack(struct ml_ledger_tally *tally, enum ml_ledger_group group,
                   enum ml_ledger_slack slack, int64_t bytes);
int ml_tally_pool(struct ml_ledger_tally *tally, const struct ml_trace *trace,
                  const struct ml_block *container, const struct ml_block *block, uint64_t bytes);

/* Whether a label is that of a communicator of NCCL. */
bool ml_tally_is_nccl(const struct ml_trace *trace, uint32_t label);

/* Writes the lines as entries below `book`, and settles it.
 * @top    entries in a list of scopes or owners */
int ml_tally_write(const struct ml_ledger_tally *tally, const struct ml_trace *trace, size_t top,
                   struct ml_ledger_entry *book, struct ml_arena *arena);

/* The book of a device in a replay at an instant: the memory of the recorded processes, by
 * process if there are several.
 * @left         processes to omit, since they have no memory left
 * @top          entries in a list of scopes or owners
 * @book         empty; gets the entries, settled
 * @ret_stray    bytes of blocks outside all driver allocations
 * @ret_managed  managed memory of these processes, on any device
 * @return 0 or -ENOMEM */
int ml_ledger_book(const struct ml_replay *replay, const char *device, const uint32_t *left,
                   size_t left_count, size_t top, struct ml_ledger_entry *book,
                   struct ml_arena *arena, uint64_t *ret_stray, uint64_t *ret_managed);

#endif
