/* replay_spaces.c: see replay_spaces.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "replay_spaces.h"

#include <errno.h>
#include <string.h>

#include "cuda_spaces.h"
#include "defs.h"
#include "samples.h"
#include "live_table.h"
#include "memledger/memledger.h"

uint32_t ml_replay_level_of(const struct ml_space *space)
{
    return space->level >= 1 && space->level < ML_LEVELS ? space->level : ML_LEVELS - 1;
}

bool ml_is_drivers_own(const struct ml_trace *trace, uint32_t space)
{
    static const char *const own[] = {ML_CUDA_DRIVERS_OWN};
    const struct ml_space *s = ml_trace_space(trace, space);
    const char *name = ml_trace_string(trace, s->name, NULL);

    if (ml_replay_level_of(s) != MEMLEDGER_DRIVER)
        return false;
    for (size_t i = 0; i < ML_ARRAY_SIZE(own); i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return false;
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

/* Whether to count `level` rather than `now` (0: none yet): the highest level up to the cap, or
 * else the lowest above it. */
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
    r->only_pid = caps ? caps->only_pid : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct ml_space *space = ml_trace_space(r->trace, i);
        int64_t device;
        uint64_t key, top = 0;

        if (space->level == 0)
            continue; /* an undefined number */
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

int ml_replay_learn_spaces(struct ml_replay *r)
{
    int code = ml_replay_find_levels(r, NULL);

    for (size_t i = 0; code == 0 && i < r->spaces.len; i++) {
        const struct ml_replay_space *s = &r->spaces.items[i];
        uint64_t top = s->level;

        ml_map_get(&r->top_levels, top_level_key(r->processes.items[s->process].number, s->device),
                   &top);
        code = s->counted != (s->level == top);
    }
    return code;
}

void ml_replay_end_process(struct ml_replay *r, uint32_t process, uint64_t time_ns)
{
    struct ml_replay_process *p = &r->processes.items[process];

    for (uint32_t s = p->first_space; s > 0; s = r->spaces.items[s - 1].next_of_process)
        ml_live_set_ended(r, s - 1, true, time_ns);
    p->ended = true;
    p->end_ns = time_ns;
}

uint64_t ml_replay_gone_ns(const struct ml_replay *r, uint32_t number)
{
    uint64_t index;
    const struct ml_replay_space *s;

    if (!ml_map_get(&r->space_index, number, &index))
        return UINT64_MAX;
    s = &r->spaces.items[index];
    return s->ended ? r->processes.items[s->process].end_ns : UINT64_MAX;
}

/* A process that replaced itself by exec has lost all its memory. */
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

bool ml_replay_has_process(const struct ml_replay *r, uint32_t number)
{
    return !r->only_pid || ml_trace_process(r->trace, number)->pid == r->only_pid;
}

bool ml_replay_has_device(const struct ml_replay *r, const char *device)
{
    return !r->only_device || ml_device_is(device, r->only_device);
}

bool ml_replay_has_space(const struct ml_replay *r, uint32_t number)
{
    const struct ml_space *space = ml_trace_space(r->trace, number);

    return ml_replay_has_process(r, space->process) &&
           ml_replay_has_device(r, ml_trace_string(r->trace, space->device, NULL));
}

void ml_replay_narrow(struct ml_replay *r, const char *device, uint32_t pid)
{
    const struct ml_block *b;
    size_t cursor = 0;

    r->only_device = device;
    r->only_pid = pid;
    while ((b = ml_replay_next(r, false, &cursor))) {
        const struct ml_replay_space *s = &r->spaces.items[b->space];

        if (ml_replay_has_space(r, s->number))
            continue;
        r->bytes.live_bytes -= b->size;
        r->devices.items[s->device].bytes.live_bytes -= b->size;
        r->processes.items[s->process].bytes.live_bytes -= b->size;
        r->categories[b->category].bytes.live_bytes -= b->size;
    }
    for (size_t i = 0; i < r->spaces.len; i++) {
        struct ml_replay_space *s = &r->spaces.items[i];

        s->counted &= ml_replay_has_space(r, s->number);
    }
}

bool ml_replay_is_revived(const struct ml_replay *r, const struct ml_event *label)
{
    uint64_t space;

    return !ml_map_get(&r->space_index, label->space, &space) || r->spaces.items[space].ended;
}

/* Blocks of one rank may be cut from blocks of a lower rank: reported blocks from heap blocks,
 * the heap blocks of some allocators from mappings. */
enum rank { MAPPINGS, HEAP, REPORTED };

static enum rank rank_of(const struct ml_replay *r, const struct ml_replay_space *s)
{
    const char *name = ml_trace_string(r->trace, ml_trace_space(r->trace, s->number)->name, NULL);

    if (!strcmp(name, ML_MAP_SPACE_NAME))
        return MAPPINGS;
    return strcmp(name, ML_HEAP_SPACE_NAME) ? REPORTED : HEAP;
}

static uint64_t place_key(const struct ml_replay_space *s, enum rank rank)
{
    return (uint64_t)rank << 62 | (uint64_t)s->process << 32 | s->device;
}

/* The latest space of that rank, or, for REPORTED, of any rank, on the device of `s`.
 * @return its index + 1, 0: there is none */
static uint32_t latest_of(const struct ml_replay *r, const struct ml_replay_space *s,
                          enum rank rank)
{
    uint64_t latest = 0;

    ml_map_get(&r->places, place_key(s, rank), &latest);
    return (uint32_t)latest;
}

/* For the first space of its rank: existing spaces of higher ranks without a nearer one now cut
 * their blocks from it. Later spaces find it themselves. */
static void offer_around(struct ml_replay *r, uint32_t new_space, enum rank rank)
{
    uint32_t i = r->spaces.items[new_space].next_of_place;

    for (; i > 0; i = r->spaces.items[i - 1].next_of_place) {
        struct ml_replay_space *s = &r->spaces.items[i - 1];

        if (rank < rank_of(r, s) &&
            (s->around == 0 || rank > rank_of(r, &r->spaces.items[s->around - 1])))
            s->around = new_space + 1;
    }
}

/* Finds the nearest space that the new one's blocks may be cut from, and offers the new one to
 * others.
 * @return 0 or -ENOMEM */
static int connect(struct ml_replay *r, uint32_t new_space)
{
    struct ml_replay_space *n = &r->spaces.items[new_space];
    enum rank rank = rank_of(r, n);

    /* An estimate is not the length of a block, from which others could be cut. */
    if (n->level != MEMLEDGER_BLOCK || n->sampled_bytes)
        return 0;
    for (int lower = (int)rank - 1; lower >= 0 && n->around == 0; lower--)
        n->around = latest_of(r, n, (enum rank)lower);
    n->next_of_place = latest_of(r, n, REPORTED);
    if (rank < REPORTED && latest_of(r, n, rank) == 0)
        offer_around(r, new_space, rank);
    if (rank < REPORTED && ml_map_put(&r->places, place_key(n, rank), new_space + 1) < 0)
        return -ENOMEM;
    return ml_map_put(&r->places, place_key(n, REPORTED), new_space + 1);
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
    s.counted = s.level == top && ml_replay_has_space(r, number);
    s.drivers_own = ml_is_drivers_own(r->trace, number);
    s.from_libc = s.level == MEMLEDGER_BLOCK && rank_of(r, &s) != REPORTED;
    s.sampled_bytes = space->sampled_bytes;
    s.forked = ml_trace_process(r->trace, space->process)->how == ML_FORKED;
    s.next_of_process = r->processes.items[process].first_space;
    if (ml_vec_push(&r->spaces, s) < 0 ||
        ml_map_put(&r->space_index, number, r->spaces.len - 1) < 0)
        return -ENOMEM;
    r->processes.items[process].first_space = (uint32_t)r->spaces.len;
    if (connect(r, (uint32_t)r->spaces.len - 1) < 0)
        return -ENOMEM;
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

bool ml_replay_had_memory(const struct ml_replay *r, uint32_t process_number, int64_t device)
{
    for (size_t i = 0; i < r->spaces.len; i++) {
        const struct ml_replay_space *space = &r->spaces.items[i];

        if (space->counted && space->allocations > 0 &&
            r->processes.items[space->process].number == process_number &&
            (device < 0 || space->device == device))
            return true;
    }
    return false;
}
