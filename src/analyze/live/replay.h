/* replay.h: the live table. Feed it events in order, and it has the live blocks, the totals and
 * the time of their peaks.
 *
 * Levels nest (driver > pool > block), so adding them up would count bytes twice. Totals over
 * several spaces therefore add only the *counted* ones: for each device of each process, the
 * block-level spaces if there are any, else the pool-level ones, else the driver-level ones.
 * Figures by level and by space exist for all spaces.
 *
 * A block that the program reports itself may be contained in a block of its heap, and that one
 * in a mapping. The inner block is cut out of the larger one, which keeps the rest and gets the
 * bytes back when the inner block is freed.
 *
 * When a process ends, or replaces itself by exec, the system takes back its remaining memory:
 * that memory no longer counts in the totals and their peaks. The blocks stay in the table as
 * never freed.
 *
 * Inconsistent events are counted, not refused. An allocation at the address of a live block
 * closes the old one (`replaced`). A free that finds no block is an `unknown free`, or an
 * `inherited` one in a forked child, which got its parent's blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_REPLAY_H
#define ML_ANALYZE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "addr_index.h"
#include "block.h"
#include "classes.h"
#include "event.h"
#include "intern.h"
#include "level_caps.h"
#include "map.h"
#include "order.h"
#include "sampled.h"
#include "trace.h"
#include "vec.h"

#define ML_LEVELS 4      /* index 1 driver, 2 pool, 3 block; 0 is unused */
#define ML_CATEGORIES 13 /* enum memledger_category */

/* One live allocation, or part of one after a free by range. There may be tens of millions, so
 * numbers of definitions, which are below ML_ID_MAX, have 24 bits each. The thread's number uses
 * the bits that remain of three other fields, see ml_block_thread(). */
struct ml_block {
    uint64_t addr;
    uint64_t size;
    uint64_t time_ns;
    uint32_t space : 24; /* index into ml_replay.spaces */
    uint32_t category : 6;
    bool live : 1; /* false: the entry is free */
    bool gone : 1; /* in a frozen table: it has been freed since */
    uint32_t scope : 24, thread_low : 8;
    uint32_t stack : 24, thread_middle : 8;
    uint32_t label : 24, thread_high : 8; /* the label is a string, 0: none */
};
_Static_assert(sizeof(struct ml_block) == 40, "a replay holds one for each live block");
_Static_assert(ML_ID_MAX == 1u << 24, "the number of a definition has 24 bits");

static inline uint32_t ml_block_thread(const struct ml_block *block)
{
    return block->thread_low | (uint32_t)block->thread_middle << 8 |
           (uint32_t)block->thread_high << 16;
}

/* The number of a definition, as blocks store it. A number that no definition can have, in a
 * damaged trace, becomes the highest one, which is undefined as well. */
static inline uint32_t ml_block_number(uint32_t number)
{
    return number < ML_ID_MAX ? number : ML_ID_MAX - 1;
}

/* Whether the event may change the number of live bytes. A label may, too, in a process that has
 * ended: see ml_replay_may_change. */
static inline bool ml_changes_total(const struct ml_event *event)
{
    switch (event->kind) {
    case ML_ALLOC:
    case ML_ALLOC_EX:
    case ML_FREE:
    case ML_FREE_RANGE:
    case ML_MOVE:
    case ML_MOVE_FAILED:
    case ML_PROCESS_END: return true;
    default: return false;
    }
}

/* Live bytes, and their peak. */
struct ml_gauge {
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t peak_time_ns; /* when the peak was first reached */
};

struct ml_replay_space {
    uint32_t number;                   /* in the trace */
    uint32_t process, next_of_process; /* the second is an index + 1 */
    uint32_t device;
    uint32_t level;
    bool counted;     /* part of the totals */
    bool drivers_own; /* see ml_is_drivers_own() */
    bool from_libc;   /* of malloc or mmap: its blocks have no stacks */
    bool ranged;      /* blocks are in by_order, else in by_addr */
    bool ended;       /* its process has ended */
    bool forked;
    uint32_t around;        /* index + 1 of the space that its blocks may be cut from */
    uint32_t next_of_place; /* index + 1 of another block-level space of this process and device */
    struct ml_addr_index by_addr;
    struct ml_order by_order;
    struct ml_gauge bytes; /* live: never freed, also after the process's end */
    uint64_t live_blocks;
    uint64_t allocations, allocated_bytes;
    uint64_t frees;
    /* Of its definition: sizes and numbers of its blocks are estimates. The parts are those of a
     * block, see sampled.h, that the numbers above lack. */
    uint64_t sampled_bytes;
    uint32_t live_parts, allocation_parts, free_parts;
};

struct ml_replay_device {
    struct ml_gauge bytes; /* counted spaces */
    uint64_t crest_bytes;  /* see ml_recent_peak */
    struct ml_gauge levels[ML_LEVELS];
};

struct ml_replay_process {
    uint32_t number;      /* in the trace */
    uint32_t first_space; /* index + 1 */
    struct ml_gauge bytes;
    bool ended;
    uint64_t end_ns;
    uint64_t status; /* 1 + wait status, 0: unknown */
};

/* Without a classification a block counts as "other" until it gets its label, usually right after
 * its allocation. A category's peak is therefore updated one memory event later. */
struct ml_replay_category {
    struct ml_gauge bytes;
    uint64_t allocations, frees;
};

/* The peak since an event that the reader chose, such as the start of a step, or else since the
 * first event. The overall peak is compared only when this one rises. */
struct ml_recent_peak {
    uint64_t bytes; /* all counted spaces */
    uint64_t time_ns;
    uint64_t event;   /* the number of events fed by then */
    bool by_category; /* the next is filled in */
    uint64_t categories[ML_CATEGORIES];
};

struct ml_replay {
    const struct ml_trace *trace;
    ML_VEC(struct ml_replay_space) spaces;
    ML_VEC(struct ml_replay_device) devices; /* named by device_names */
    ML_VEC(struct ml_replay_process) processes;
    struct ml_replay_category categories[ML_CATEGORIES];
    struct ml_intern device_names;
    struct ml_gauge bytes; /* all counted spaces */
    struct ml_recent_peak recent_peak;
    /* Of the live bytes in sampled spaces, and at the peak; see sampled.h. A replay that begins at
     * a checkpoint does not know it. */
    double live_variance, peak_variance;
    /* Of the bytes and the number of all allocations there. */
    double allocated_variance, allocations_variance;
    double largest_weight; /* of a sample; 0: none was read */
    uint64_t peak_event; /* events fed when the peak was reached, with the blocks inside its last */
    uint64_t last_label_event;
    uint8_t unsettled; /* category whose peak must still be updated */
    uint64_t unsettled_ns;

    ML_VEC(struct ml_block) blocks; /* free entries are chained by addr */
    uint64_t free_block;            /* index + 1 */
    /* Blocks that are known only as sums, see outline.h. The size of an entry is that of all blocks
     * of a group, its address the number of them. */
    ML_VEC(struct ml_block) groups;

    uint64_t events; /* fed so far */
    uint64_t replaced, splits;
    uint64_t unknown_frees, inherited_frees, unknown_labels;
    uint64_t lost, lost_by[ML_LOST_REASONS]; /* [enum ml_lost_reason], [0]: another reason */
    uint64_t ooms;

    /* The categories and labels of blocks, known at their allocation instead of from later
     * events. */
    const struct ml_classes *classes; /* NULL: not known */
    uint64_t ordinal;                 /* of the next allocation; counted only with classes */
    size_t next_label;                /* in classes->labels */

    /* Callbacks, NULL if not wanted. on_open: a new block. on_split: a block whose middle was
     * freed, so that `rest` became a separate block. on_close: before a block leaves the table
     * because of `event`; not called for parts of blocks. */
    void (*on_open)(void *ctx, const struct ml_block *block);
    void (*on_split)(void *ctx, const struct ml_block *from, const struct ml_block *rest);
    void (*on_close)(void *ctx, const struct ml_block *block, const struct ml_event *event);
    void (*on_sample)(void *ctx, const struct ml_event *event);
    void (*on_mark)(void *ctx, const struct ml_event *event); /* also before a process's end */
    /* The totals have changed by that many bytes of the block, modulo 2^64; a label, which may
     * change the block's category, removes its bytes before and adds them after. */
    void (*on_bytes)(void *ctx, const struct ml_block *block, uint64_t change);
    void *ctx;

    struct ml_map space_index, process_index; /* number -> index */
    struct ml_map top_levels;                 /* process and device -> counted level */
    struct ml_map places;                     /* the same -> latest block-level spaces */
    const char *only_device;                  /* count only this one; NULL: all */
    uint32_t only_pid;                        /* the same; 0: all */
    struct ml_map cut_from;                   /* block -> the one it is cut from */
    struct ml_map cut_bytes;                  /* block -> bytes cut from it */
    struct ml_map moved;                      /* thread -> block being resized */
    uint32_t last_space_number, last_space;   /* the index found last */
};

/* Whether the driver took the memory of the space for itself. The program cannot free it: it is
 * never counted as never freed. */
bool ml_is_drivers_own(const struct ml_trace *trace, uint32_t space);

/* A live table for the events of `trace`, which must outlive it.
 * @return 0 or -ENOMEM; release it in both cases */
int ml_replay_init(struct ml_replay *replay, const struct ml_trace *trace);

/* The same for a trace that is compared with others: no device is counted above its cap, unless
 * all of its levels are above it. */
int ml_replay_init_capped(struct ml_replay *replay, const struct ml_trace *trace,
                          const struct ml_level_caps *caps);
void ml_replay_release(struct ml_replay *replay);

/* Call it when the trace has new definitions of spaces.
 * @return 0; 1 if a space counts that did not before, or the other way round: start again with a
 * new table; or -ENOMEM */
int ml_replay_learn_spaces(struct ml_replay *replay);

/* Frees the indexes that find blocks, a quarter of a table's memory; call it after the last
 * event. Blocks can still be visited. */
void ml_replay_release_index(struct ml_replay *replay);

/* Frees the blocks, which are nearly all of a table's memory, and keeps its totals and peaks;
 * call it after the last event. */
void ml_replay_release_blocks(struct ml_replay *replay);

/* Blocks get their category and label from `classes`, which must outlive the table and belong to
 * the same trace. Call it before the first event. An empty `classes` changes nothing. */
void ml_replay_classify(struct ml_replay *replay, const struct ml_classes *classes);

/* Events between prefetching a slot of the index and using it, and the same for the block that the
 * slot leads to. */
#define ML_REPLAY_PREFETCH 24
#define ML_REPLAY_PREFETCH_BLOCK 12
#define ML_REPLAY_PREFETCH_SLOTS (1u << 14) /* in an index that is worth it */

/* Call it before the table gets event `i` of a batch: tells the processor which memory those after
 * it need. A table larger than the cache waits for memory otherwise; a small one needs no help. */
static ML_ALWAYS_INLINE void ml_replay_prefetch(const struct ml_replay *replay,
                                                const struct ml_event *events, size_t i,
                                                size_t count)
{
    const struct ml_addr_index *index;
    uint32_t block;

    if (replay->spaces.len == 0)
        return;
    index = &replay->spaces.items[replay->last_space].by_addr;
    if (index->mask < ML_REPLAY_PREFETCH_SLOTS)
        return;
    if (i + ML_REPLAY_PREFETCH < count)
        ml_addr_prefetch(index, events[i + ML_REPLAY_PREFETCH].addr);
    if (i + ML_REPLAY_PREFETCH_BLOCK < count &&
        events[i + ML_REPLAY_PREFETCH_BLOCK].kind == ML_FREE &&
        ml_addr_guess(index, events[i + ML_REPLAY_PREFETCH_BLOCK].addr, &block))
        __builtin_prefetch(&replay->blocks.items[block]);
}

/* @return 0, or -ENOMEM, after which the table is unusable */
int ml_replay_feed(struct ml_replay *replay, const struct ml_event *event);
int ml_replay_feed_all(struct ml_replay *replay, const struct ml_event *events, size_t count);

/* Updates the last peak of a category; call it after the last event. ml_replay_instant does. */
void ml_replay_settle(struct ml_replay *replay);

/* Whether a label may change the total: it is the first sign of life of a process, or one from a
 * process that has ended. */
bool ml_replay_is_revived(const struct ml_replay *replay, const struct ml_event *label);

/* Whether the event may change the total. */
static inline bool ml_replay_may_change(const struct ml_replay *replay,
                                        const struct ml_event *event)
{
    return event->kind == ML_LABEL ? ml_replay_is_revived(replay, event) : ml_changes_total(event);
}

/* Whether a process, a device or a space is among those that the table counts. Numbers are those of
 * the trace. */
bool ml_replay_has_process(const struct ml_replay *replay, uint32_t number);
bool ml_replay_has_device(const struct ml_replay *replay, const char *device);
bool ml_replay_has_space(const struct ml_replay *replay, uint32_t number);

/* Stops counting the memory of other devices and processes, as if the table had been made for this
 * one alone. The peaks so far are then meaningless.
 * @device  must outlive the table; NULL: all
 * @pid     0: all */
void ml_replay_narrow(struct ml_replay *replay, const char *device, uint32_t pid);

/* Restarts the recent peak at the current total, for each device too, with categories. */
void ml_replay_reset_crest(struct ml_replay *replay, uint64_t time_ns);

/* Feeds the events of the trace from its start, at most `limit` of them; a table that has had some
 * already continues after them.
 * @return 0 or negative errno */
int ml_replay_trace(struct ml_replay *replay, uint64_t limit, struct ml_error *err);

/* The same up to the event `instant`, at which the table is frozen. Reading goes on to the event
 * `last` for labels alone: a block without a label at the instant gets its first later one;
 * nothing else changes. With a classification all labels are known, and `last` does not matter. */
int ml_replay_instant(struct ml_replay *replay, uint64_t instant, uint64_t last,
                      struct ml_error *err);

/* The block at this address, NULL if none is live there; in a space with ranges, the block that
 * contains the address. Valid until the next event. */
const struct ml_block *ml_replay_find(struct ml_replay *replay, uint32_t space_number,
                                      uint64_t addr);

/* When the system took back the memory of this space, because its process had ended; UINT64_MAX: it
 * did not, or no event had the space. @number  of the space */
uint64_t ml_replay_gone_ns(const struct ml_replay *replay, uint32_t number);

/* Whether a process ever had memory that counts, on the device (-1: on any). */
bool ml_replay_had_memory(const struct ml_replay *replay, uint32_t process_number, int64_t device);

/* The number of blocks that an entry stands for, which ml_replay_next returned: that of a group, or
 * of a sample, rounded. */
static inline uint64_t ml_replay_count(const struct ml_replay *replay, const struct ml_block *block)
{
    const struct ml_block *groups = replay->groups.items;
    uint64_t mean = replay->spaces.items[block->space].sampled_bytes;

    if (replay->groups.len > 0 && block >= groups && block < groups + replay->groups.len)
        return block->addr;
    return mean ? (ml_sample_parts(block->size, mean) + ML_SAMPLE_PARTS / 2) / ML_SAMPLE_PARTS : 1;
}

/* Visits the blocks of counted spaces, and groups of them. Start with *cursor 0.
 * @left  also those that ended processes left behind
 * @return NULL at the end */
const struct ml_block *ml_replay_next(const struct ml_replay *replay, bool left, size_t *cursor);

#endif
