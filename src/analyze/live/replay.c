/* replay.c: see replay.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "replay.h"

#include <errno.h>

#include "live_table.h"
#include "memledger/memledger.h"
#include "replay_spaces.h"

#define NO_BLOCK UINT64_MAX /* in `moved`: an unknown block */

/* The index of the event's space. Its process is then running. */
static ML_ALWAYS_INLINE int64_t enter_space(struct ml_replay *r, const struct ml_event *event)
{
    int64_t index = r->last_space;

    if (ML_UNLIKELY(event->space != r->last_space_number || r->spaces.len == 0)) {
        index = ml_replay_find_space(r, event->space, event->time_ns);
        if (index < 0)
            return index;
    }
    if (ML_UNLIKELY(r->spaces.items[index].ended))
        ml_live_set_ended(r, (uint32_t)index, false, event->time_ns);
    return index;
}

static void count_unknown(struct ml_replay *r, uint32_t space, const struct ml_event *event)
{
    if (event->addr == 0)
        return; /* free(NULL) is allowed */
    if (r->spaces.items[space].forked)
        r->inherited_frees++;
    else
        r->unknown_frees++;
}

static void uncount_unknown(struct ml_replay *r, uint32_t space, const struct ml_event *event)
{
    uint64_t *count = r->spaces.items[space].forked ? &r->inherited_frees : &r->unknown_frees;

    if (event->addr != 0 && *count > 0)
        (*count)--;
}

static void forget_moved(struct ml_replay *r, uint32_t thread)
{
    uint64_t block;

    if (ml_map_take(&r->moved, thread, &block) && block != NO_BLOCK)
        ml_live_drop(r, (uint32_t)block);
}

struct name {
    uint32_t label;
    uint8_t category;
};

/* An allocation after a move is the same block at its new address: it keeps its label. */
static ML_NOINLINE struct name take_moved(struct ml_replay *r, uint32_t space,
                                          const struct ml_event *event)
{
    struct name name = {0};
    const struct ml_block *b;
    uint64_t block;

    if (ml_map_get(&r->moved, event->thread, &block) && block != NO_BLOCK) {
        b = &r->blocks.items[block];
        if (b->space == space) {
            name = (struct name){b->label, b->category};
            forget_moved(r, event->thread);
        }
    }
    return name;
}

static ML_NOINLINE struct name next_class(struct ml_replay *r)
{
    const struct ml_classes *classes = r->classes;
    uint64_t ordinal = r->ordinal++;
    struct name name = {0};

    if (ordinal < classes->categories.len)
        name.category = classes->categories.items[ordinal];
    if (r->next_label < classes->labels.len &&
        classes->labels.items[r->next_label].ordinal == ordinal)
        name.label = classes->labels.items[r->next_label++].label;
    return name;
}

static ML_ALWAYS_INLINE int on_alloc(struct ml_replay *r, const struct ml_event *event)
{
    int64_t space = enter_space(r, event);
    struct name name = {0};

    if (space < 0)
        return -ENOMEM;
    if (ML_UNLIKELY(r->moved.used > 0 || r->moved.has_zero))
        name = take_moved(r, (uint32_t)space, event);
    if (ML_UNLIKELY(r->classes))
        name = next_class(r);
    return ml_live_open(r, (uint32_t)space, event, name.label, name.category);
}

static ML_ALWAYS_INLINE int on_free(struct ml_replay *r, const struct ml_event *event)
{
    int64_t space = enter_space(r, event);

    if (space < 0)
        return -ENOMEM;
    if (ML_UNLIKELY(ml_live_close(r, (uint32_t)space, event, false) < 0))
        count_unknown(r, (uint32_t)space, event);
    return 0;
}

static int on_free_range(struct ml_replay *r, const struct ml_event *event)
{
    int64_t space = enter_space(r, event), touched;

    if (space < 0)
        return -ENOMEM;
    /* A range without blocks is not an error: munmap does not say whether it unmaps memory or a
     * file. */
    touched = ml_live_close_range(r, (uint32_t)space, event);
    return touched < 0 ? (int)touched : 0;
}

static int on_move(struct ml_replay *r, const struct ml_event *event)
{
    int64_t space = enter_space(r, event), block;

    if (space < 0)
        return -ENOMEM;
    forget_moved(r, event->thread);
    block = ml_live_close(r, (uint32_t)space, event, true);
    if (block < 0)
        count_unknown(r, (uint32_t)space, event);
    return ml_map_put(&r->moved, event->thread, block < 0 ? NO_BLOCK : (uint64_t)block);
}

static int restore_moved(struct ml_replay *r, uint32_t space, uint32_t block,
                         const struct ml_event *event)
{
    const struct ml_block *b = &r->blocks.items[block];

    if (b->space == space && b->addr == event->addr)
        return ml_live_restore(r, block, event);
    ml_live_drop(r, block);
    return 0;
}

static int on_move_failed(struct ml_replay *r, const struct ml_event *event)
{
    int64_t space = enter_space(r, event);
    uint64_t block;

    if (space < 0)
        return -ENOMEM;
    if (!ml_map_take(&r->moved, event->thread, &block))
        return 0;
    if (block != NO_BLOCK)
        return restore_moved(r, (uint32_t)space, (uint32_t)block, event);
    uncount_unknown(r, (uint32_t)space, event);
    return 0;
}

/* Whether a label says more about a block than its present one: see classify.h. */
static bool says_more(const struct ml_block *block, uint8_t category)
{
    return category != MEMLEDGER_OTHER || block->category == MEMLEDGER_OTHER;
}

static int on_label(struct ml_replay *r, const struct ml_event *event)
{
    int64_t space = enter_space(r, event), block;
    uint8_t category = event->args[1] < ML_CATEGORIES ? (uint8_t)event->args[1] : 0;

    if (space < 0)
        return -ENOMEM;
    r->last_label_event = r->events;
    block = ml_live_find(r, (uint32_t)space, event->addr);
    if (block < 0)
        r->unknown_labels++;
    else if (!r->classes && says_more(&r->blocks.items[block], category))
        ml_live_label(r, (uint32_t)block, (uint32_t)event->args[0], category, event->time_ns);
    return 0;
}

static int on_process_end(struct ml_replay *r, const struct ml_event *event)
{
    int64_t process = ml_replay_find_process(r, (uint32_t)event->args[0], event->time_ns);

    if (process < 0)
        return -ENOMEM;
    if (r->on_mark)
        r->on_mark(r->ctx, event);
    ml_replay_end_process(r, (uint32_t)process, event->time_ns);
    r->processes.items[process].status = event->args[1];
    return 0;
}

static int on_lost(struct ml_replay *r, const struct ml_event *event)
{
    if (ml_lost_is_events(event->args[2]))
        r->lost += event->args[0];
    r->lost_by[event->args[2] < ML_LOST_REASONS ? event->args[2] : 0] += event->args[0];
    return 0;
}

static int on_rare(struct ml_replay *r, const struct ml_event *event)
{
    switch (event->kind) {
    case ML_FREE_RANGE: return on_free_range(r, event);
    case ML_MOVE: return on_move(r, event);
    case ML_MOVE_FAILED: return on_move_failed(r, event);
    case ML_LABEL: return on_label(r, event);
    case ML_LOST: return on_lost(r, event);
    case ML_PROCESS_END: return on_process_end(r, event);
    case ML_OOM: r->ooms += ml_replay_has_space(r, event->space); return 0;
    case ML_SAMPLE:
        if (r->on_sample)
            r->on_sample(r->ctx, event);
        return 0;
    case ML_MARK:
        if (r->on_mark)
            r->on_mark(r->ctx, event);
        return 0;
    default: return 0;
    }
}

static ML_ALWAYS_INLINE int feed(struct ml_replay *r, const struct ml_event *event)
{
    r->events++;
    if (event->kind == ML_ALLOC || event->kind == ML_ALLOC_EX)
        return on_alloc(r, event);
    if (event->kind == ML_FREE)
        return on_free(r, event);
    return on_rare(r, event);
}

/* ---- The table from outside -------------------------------------------- */

int ml_replay_init(struct ml_replay *replay, const struct ml_trace *trace)
{
    return ml_replay_init_capped(replay, trace, NULL);
}

int ml_replay_init_capped(struct ml_replay *replay, const struct ml_trace *trace,
                          const struct ml_level_caps *caps)
{
    *replay = (struct ml_replay){.trace = trace};
    return ml_replay_find_levels(replay, caps);
}

void ml_replay_classify(struct ml_replay *replay, const struct ml_classes *classes)
{
    replay->classes = classes && classes->known ? classes : NULL;
}

void ml_replay_release_index(struct ml_replay *replay)
{
    for (size_t i = 0; i < replay->spaces.len; i++) {
        ml_addr_release(&replay->spaces.items[i].by_addr);
        ml_order_release(&replay->spaces.items[i].by_order);
    }
}

void ml_replay_release_blocks(struct ml_replay *replay)
{
    ml_replay_release_index(replay);
    ml_vec_release(&replay->blocks);
    ml_vec_release(&replay->groups);
    replay->free_block = 0;
    ml_map_release(&replay->cut_from);
    ml_map_release(&replay->cut_bytes);
    ml_map_release(&replay->moved);
}

void ml_replay_release(struct ml_replay *replay)
{
    ml_replay_release_blocks(replay);
    ml_vec_release(&replay->spaces);
    ml_vec_release(&replay->devices);
    ml_vec_release(&replay->processes);
    ml_intern_release(&replay->device_names);
    ml_map_release(&replay->space_index);
    ml_map_release(&replay->process_index);
    ml_map_release(&replay->top_levels);
    ml_map_release(&replay->places);
    *replay = (struct ml_replay){0};
}

int ml_replay_feed(struct ml_replay *replay, const struct ml_event *event)
{
    return feed(replay, event);
}

int ml_replay_feed_all(struct ml_replay *replay, const struct ml_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int r;

        ml_replay_prefetch(replay, events, i, count);
        r = feed(replay, &events[i]);
        if (ML_UNLIKELY(r < 0))
            return r;
    }
    return 0;
}
