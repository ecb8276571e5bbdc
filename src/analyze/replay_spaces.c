/* replay_spaces.c: see replay_spaces.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "replay_spaces.h"

#include <errno.h>
#include <string.h>

#include "defs.h"
#include "instant.h"
#include "live_table.h"
#include "memledger/memledger.h"

uint32_t ml_replay_level_of(const struct ml_space *space)
{
    return space->level >= 1 && space->level < ML_LEVELS ? space->level : ML_LEVELS - 1;
}

static int64_t device_of(struct ml_replay *r, const struct ml_space *space)
{
    uint32_t len;
    const char *name = ml_trace_string(r->trace, space->device, &len);

    return ml_intern_put(&r->device_names, name, len, NULL);
}

static uint64_t top_level_key(uint32_t process, int64_t device)
{
    return (uint64_t)process << 32 | (uint32_t)device;
}

/* The cap of a device, by its number. */
static uint32_t cap_of(const struct ml_replay *r, const struct ml_level_caps *caps, int64_t device)
{
    size_t len;
    const char *name = ml_intern_get(&r->device_names, (uint32_t)device, &len);
    uint32_t cap = ml_level_cap(caps, name, len);

    return cap ? cap : ML_LEVELS - 1;
}

/* Whether to count `level` rather than `now` (0: none yet): the highest up to the
 * cap, or else the one that is nearest above it. */
static bool counts_rather(uint64_t level, uint64_t now, uint64_t cap)
{
    if (now == 0 || (level <= cap) != (now <= cap))
        return now == 0 || level <= cap;
    return level <= cap ? level > now : level < now;
}

int ml_replay_find_levels(struct ml_replay *r, const struct ml_level_caps *caps)
{
    uint32_t count = ml_trace_spaces(r->trace);

    r->only_device = caps ? caps->only_device : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct ml_space *space = ml_trace_space(r->trace, i);
        int64_t device;
        uint64_t key, top = 0;

        if (space->level == 0)
            continue; /* a number that is not defined */
        device = device_of(r, space);
        if (device < 0)
            return -ENOMEM;
        key = top_level_key(space->process, device);
        ml_map_get(&r->top_levels, key, &top);
        if (counts_rather(ml_replay_level_of(space), top, cap_of(r, caps, device)) &&
            ml_map_put(&r->top_levels, key, ml_replay_level_of(space)) < 0)
            return -ENOMEM;
    }
    return 0;
}

void ml_replay_end_process(struct ml_replay *r, uint32_t process, uint64_t time_ns)
{
    struct ml_replay_process *p = &r->processes.items[process];

    for (uint32_t s = p->first_space; s > 0; s = r->spaces.items[s - 1].next_of_process)
        ml_live_set_ended(r, s - 1, true, time_ns);
    p->ended = true;
    p->end_ns = time_ns;
}

/* A process that replaced itself by exec has none of its memory any more. */
static void end_former_self(struct ml_replay *r, const struct ml_process *process, uint64_t time_ns)
{
    uint64_t former;

    if (process->how != ML_EXECED || process->parent < 0 ||
        ml_trace_process(r->trace, (uint32_t)process->parent)->pid != process->pid)
        return;
    if (ml_map_get(&r->process_index, (uint64_t)process->parent, &former) &&
        !r->processes.items[former].ended)
        ml_replay_end_process(r, (uint32_t)former, time_ns);
}

int64_t ml_replay_find_process(struct ml_replay *r, uint32_t number, uint64_t time_ns)
{
    uint64_t index;

    if (ml_map_get(&r->process_index, number, &index))
        return (int64_t)index;
    end_former_self(r, ml_trace_process(r->trace, number), time_ns);
    index = r->processes.len;
    if (ml_vec_push(&r->processes, (struct ml_replay_process){.number = number}) < 0 ||
        ml_map_put(&r->process_index, number, index) < 0)
        return -ENOMEM;
    return (int64_t)index;
}

static int64_t find_device(struct ml_replay *r, const struct ml_space *space)
{
    int64_t device = device_of(r, space);

    while (device >= 0 && (size_t)device >= r->devices.len)
        if (ml_vec_push(&r->devices, (struct ml_replay_device){0}) < 0)
            return -ENOMEM;
    return device;
}

static bool is_asked_for(const struct ml_replay *r, int64_t device)
{
    return !r->only_device ||
           ml_device_is(ml_intern_get(&r->device_names, (uint32_t)device, NULL), r->only_device);
}

/* Blocks of one rank may be cut from those of a lower one: what the program
 * reports from its heap, the heap of some allocators from mappings. */
enum { RANK_MAPPED, RANK_HEAP, RANK_INNERMOST };

static uint32_t rank_of(const struct ml_trace *trace, const struct ml_space *space)
{
    const char *name = ml_trace_string(trace, space->name, NULL);

    if (!strcmp(name, ML_MAP_SPACE_NAME))
        return RANK_MAPPED;
    return strcmp(name, ML_HEAP_SPACE_NAME) ? RANK_INNERMOST : RANK_HEAP;
}

/* Makes `around` the space that blocks of `s` are cut from, if it is nearer than
 * the one known. */
static void offer_around(struct ml_replay *r, uint32_t s_index, uint32_t around)
{
    struct ml_replay_space *s = &r->spaces.items[s_index];
    const struct ml_replay_space *a = &r->spaces.items[around];

    if (s->device == a->device && s->level == MEMLEDGER_BLOCK && a->level == MEMLEDGER_BLOCK &&
        a->rank < s->rank && (s->around == 0 || a->rank > r->spaces.items[s->around - 1].rank))
        s->around = around + 1;
}

/* Most spaces have nothing cut from them: only the others are looked through for each. */
static void connect(struct ml_replay *r, uint32_t new_space)
{
    struct ml_replay_space *n = &r->spaces.items[new_space];
    struct ml_replay_process *process = &r->processes.items[n->process];

    for (uint32_t i = process->first_outer; i > 0; i = r->spaces.items[i - 1].next_outer)
        offer_around(r, new_space, i - 1);
    if (n->rank == RANK_INNERMOST)
        return;
    for (uint32_t i = n->next_of_process; i > 0; i = r->spaces.items[i - 1].next_of_process)
        offer_around(r, i - 1, new_space);
    n->next_outer = process->first_outer;
    process->first_outer = new_space + 1;
}

static int64_t add_space(struct ml_replay *r, uint32_t number, uint64_t time_ns)
{
    const struct ml_space *space = ml_trace_space(r->trace, number);
    int64_t device = find_device(r, space);
    int64_t process = ml_replay_find_process(r, space->process, time_ns);
    struct ml_replay_space s = {.number = number, .level = ml_replay_level_of(space)};
    uint64_t top = s.level;

    if (device < 0 || process < 0 || r->spaces.len >= ML_ID_MAX)
        return -ENOMEM;
    ml_map_get(&r->top_levels, top_level_key(space->process, device), &top);
    s.device = (uint32_t)device;
    s.process = (uint32_t)process;
    s.rank = rank_of(r->trace, space);
    s.counted = s.level == top && is_asked_for(r, device);
    s.forked = ml_trace_process(r->trace, space->process)->how == ML_FORKED;
    s.next_of_process = r->processes.items[process].first_space;
    if (ml_vec_push(&r->spaces, s) < 0 ||
        ml_map_put(&r->space_index, number, r->spaces.len - 1) < 0)
        return -ENOMEM;
    r->processes.items[process].first_space = (uint32_t)r->spaces.len;
    connect(r, (uint32_t)r->spaces.len - 1);
    return (int64_t)r->spaces.len - 1;
}

int64_t ml_replay_find_space(struct ml_replay *r, uint32_t number, uint64_t time_ns)
{
    uint64_t index;
    int64_t found = ml_map_get(&r->space_index, number, &index) ? (int64_t)index
                                                                : add_space(r, number, time_ns);

    if (found >= 0) {
        r->last_space_number = number;
        r->last_space = (uint32_t)found;
    }
    return found;
}
