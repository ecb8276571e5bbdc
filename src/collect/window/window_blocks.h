/* window_blocks.h: the blocks that were live when the window of a recording began.
 *
 * Fed with every event that leaves the window, in order. Blocks are kept in the order of their
 * allocation, so that they can be written again as events. The result is that of a replay: see
 * replay.h for what each event means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WINDOW_BLOCKS_H
#define ML_WINDOW_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "map.h"
#include "order.h"
#include "vec.h"

/* A live block, or the move of one: a block that its thread is resizing. */
struct ml_window_block {
    uint64_t addr;
    uint64_t size;
    uint64_t time_ns;
    uint64_t requested, stream; /* of ML_ALLOC_EX */
    uint32_t space;
    uint32_t thread;
    uint32_t scope;
    uint32_t stack;
    uint32_t label;   /* string, 0: none */
    uint8_t kind;     /* ML_ALLOC, ML_ALLOC_EX or ML_MOVE */
    uint8_t category; /* of its label */
    bool kept;        /* false: the entry is free */
};
_Static_assert(sizeof(struct ml_window_block) == 64, "there is one for each live block");

struct ml_window_space {
    bool used;
    bool ranged; /* blocks are in by_order, else in by_addr */
    bool ended;  /* its process has */
    struct ml_map by_addr;
    struct ml_order by_order;
    uint64_t live_bytes, live_blocks, peak_bytes, peak_ns;
    uint64_t allocations, allocated_bytes, frees;
};

struct ml_window_blocks {
    ML_VEC(struct ml_window_block) pool; /* in the order of their events */
    size_t kept;                         /* entries of the pool in use */
    bool disordered;                     /* parts of older blocks came later */
    ML_VEC(struct ml_window_space) spaces;
    _Atomic uint64_t *heartbeat; /* raised in long work; NULL: not wanted */
    struct ml_map moved; /* thread -> 1 + block that is being resized (0: unknown), and in the
                            upper half 1 + its move in the pool */
};

/* All zero bytes is a valid empty table. */
void ml_window_blocks_release(struct ml_window_blocks *w);

/* Whether an event of this kind is about a block. */
static inline bool ml_concerns_block(uint8_t kind)
{
    return kind == ML_ALLOC || kind == ML_ALLOC_EX || kind == ML_FREE || kind == ML_FREE_RANGE ||
           kind == ML_MOVE || kind == ML_MOVE_FAILED || kind == ML_LABEL;
}

/* Takes an event of any kind; those that do not concern blocks change nothing.
 * @return 0 or -ENOMEM, after which the table is unusable */
int ml_window_blocks_feed(struct ml_window_blocks *w, const struct ml_event *event);

/* Events between prefetching the slot of an address and using it, and the same for the block that
 * the slot leads to. */
#define ML_WINDOW_PREFETCH 24
#define ML_WINDOW_PREFETCH_BLOCK 12

/* Call it before the table gets event `i` of a batch: tells the processor which memory those after
 * it need. */
void ml_window_blocks_prefetch(const struct ml_window_blocks *w, const struct ml_event *events,
                               size_t i, size_t count);

/* The process of the space has ended: its blocks are dropped by the next function, unless another
 * event in the space shows that it runs after all. */
void ml_window_blocks_end(struct ml_window_blocks *w, uint32_t space);

/* Forgets the blocks that ended processes have left, and free entries.
 * @return 0 or -ENOMEM */
int ml_window_blocks_tidy(struct ml_window_blocks *w);

#endif
