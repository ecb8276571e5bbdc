/* window_sums.c: see window_sums.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window_sums.h"

#include <errno.h>
#include <string.h>

#include "memledger/memledger.h"
#include "sampled.h"

/* ---- Gauges ------------------------------------------------------------------ */

/* The number is modulo 2^64. */
static void change_gauge(struct ml_window_gauge *g, uint64_t bytes, uint64_t time_ns)
{
    g->live_bytes += bytes;
    if ((int64_t)bytes > 0 && g->live_bytes > g->peak_bytes) {
        g->peak_bytes = g->live_bytes;
        g->peak_ns = time_ns;
    }
}

static const struct ml_window_space *space_of(const struct ml_window_state *s, uint32_t number)
{
    return number < s->blocks.spaces.len ? &s->blocks.spaces.items[number] : NULL;
}

static bool is_counted(const struct ml_window_state *s, const struct ml_window_space_def *def)
{
    return def->level == s->places.items[def->place].top_level;
}

/* Bytes of the space that are part of the totals. */
static uint64_t bytes_to_count(const struct ml_window_state *s, uint32_t number)
{
    const struct ml_window_space_def *def = &s->spaces.items[number];
    const struct ml_window_space *space = space_of(s, number);

    if (!space || space->ended || !is_counted(s, def) ||
        (def->is_reported && s->places.items[def->place].has_heap))
        return 0;
    return space->live_bytes;
}

static void settle(struct ml_window_state *s, uint32_t number, uint64_t bytes, uint64_t time_ns)
{
    struct ml_window_space_def *def = &s->spaces.items[number];
    uint64_t change = bytes - def->counted_bytes;

    if (change == 0)
        return;
    def->counted_bytes = bytes;
    change_gauge(&s->all, change, time_ns);
    change_gauge(&s->devices.items[s->places.items[def->place].device].bytes, change, time_ns);
    change_gauge(&s->processes.items[def->process].bytes, change, time_ns);
}

static void settle_process(struct ml_window_state *s, uint32_t process, uint64_t time_ns)
{
    for (uint32_t i = s->processes.items[process].first_space; i > 0;
         i = s->spaces.items[i - 1].next)
        settle(s, i - 1, bytes_to_count(s, i - 1), time_ns);
}

/* ---- Definitions ------------------------------------------------------------- */

static int64_t device_of(struct ml_window_state *s, uint32_t string)
{
    for (size_t i = 0; i < s->devices.len; i++)
        if (s->devices.items[i].string == string)
            return (int64_t)i;
    if (ml_vec_push(&s->devices, (struct ml_window_device){.string = string}) < 0)
        return -ENOMEM;
    return (int64_t)s->devices.len - 1;
}

static int64_t place_of(struct ml_window_state *s, uint32_t process, uint32_t device)
{
    uint64_t key = (uint64_t)process << 32 | device, index = s->places.len;

    if (ml_map_get(&s->place_index, key, &index))
        return (int64_t)index;
    if (ml_vec_push(&s->places, (struct ml_window_place){.device = device}) < 0 ||
        ml_map_put(&s->place_index, key, index) < 0)
        return -ENOMEM;
    return (int64_t)index;
}

static int define_space(struct ml_window_state *s, const struct ml_def *def)
{
    struct ml_window_space_def *space = &s->spaces.items[s->spaces.len - 1];
    uint64_t level = def->fields[ML_SPACE_LEVEL];
    uint32_t name = (uint32_t)def->fields[ML_SPACE_NAME];
    int64_t device = device_of(s, (uint32_t)def->fields[ML_SPACE_DEVICE]);
    int64_t place = device < 0 ? device : place_of(s, space->process, (uint32_t)device);
    struct ml_window_place before, *now;

    if (place < 0)
        return -ENOMEM;
    now = &s->places.items[place];
    before = *now;
    space->place = (uint32_t)place;
    space->level = level >= MEMLEDGER_DRIVER && level < MEMLEDGER_BLOCK ? (uint8_t)level
                                                                        : (uint8_t)MEMLEDGER_BLOCK;
    space->sampled_bytes = def->fields[ML_SPACE_SAMPLED];
    space->is_reported = space->level == MEMLEDGER_BLOCK && !space->sampled_bytes &&
                         !(name && (name == s->heap_name || name == s->map_name));
    now->top_level = ml_max_u64(now->top_level, space->level);
    now->has_heap |=
        space->level == MEMLEDGER_BLOCK && !space->sampled_bytes && !space->is_reported;
    if (space->process < s->processes.len &&
        (now->top_level != before.top_level || now->has_heap != before.has_heap))
        settle_process(s, space->process, s->begin_ns);
    return 0;
}

/* A process that replaced itself by exec has lost all its memory. */
static void define_process(struct ml_window_state *s, const struct ml_def *def)
{
    uint64_t parent = def->fields[ML_PROCESS_PARENT];

    s->processes.items[s->processes.len - 1].pid = (uint32_t)def->fields[ML_PROCESS_PID];
    if (def->fields[ML_PROCESS_HOW] == ML_EXECED && parent > 0 && parent < s->processes.len &&
        s->processes.items[parent - 1].pid == def->fields[ML_PROCESS_PID])
        ml_window_sums_end(s, (uint32_t)parent - 1, s->begin_ns);
}

static bool is_text(const struct ml_def *def, const char *text)
{
    return def->len == strlen(text) && memcmp(def->bytes, text, def->len) == 0;
}

int ml_window_sums_define(struct ml_window_state *s, const struct ml_def *def)
{
    if (def->tag == ML_DEF_STRING && is_text(def, ML_HEAP_SPACE_NAME))
        s->heap_name = def->id;
    else if (def->tag == ML_DEF_STRING && is_text(def, ML_MAP_SPACE_NAME))
        s->map_name = def->id;
    else if (def->tag == ML_DEF_PROCESS)
        define_process(s, def);
    else if (def->tag == ML_DEF_SPACE)
        return define_space(s, def);
    return 0;
}

void ml_window_sums_end(struct ml_window_state *s, uint32_t process, uint64_t time_ns)
{
    for (uint32_t i = s->processes.items[process].first_space; i > 0;
         i = s->spaces.items[i - 1].next)
        settle(s, i - 1, 0, time_ns);
}

/* ---- Events ------------------------------------------------------------------ */

/* A sample stands for several blocks, or a part of one. */
static void count_samples(struct ml_window_space_def *def, const struct ml_event *e,
                          uint64_t before, uint64_t after)
{
    uint64_t mean = def->sampled_bytes;

    if (e->kind == ML_ALLOC || e->kind == ML_ALLOC_EX)
        def->made_parts += ml_sample_parts(e->size, mean);
    else if (after < before)
        def->freed_parts += ml_sample_parts(before - after, mean);
    else if (after > before) /* a move that failed */
        def->freed_parts -= ml_sample_parts(after - before, mean);
}

/* An evaluation in a step, or a step that begins anew, has the number of that step. */
static void count_step(struct ml_window_state *s, const struct ml_event *e)
{
    uint32_t process = e->thread < s->thread_process.len ? s->thread_process.items[e->thread] : 0;

    if (s->steps == 0)
        s->step_process = process;
    if (process != s->step_process || (s->steps > 0 && s->last_step == e->args[1]))
        return;
    s->steps++;
    s->last_step = e->args[1];
}

void ml_window_sums_feed(struct ml_window_state *s, const struct ml_event *e, uint64_t live_before)
{
    const struct ml_window_space *space = space_of(s, e->space);

    if (e->kind == ML_MARK && e->args[0] == MEMLEDGER_MARK_STEP)
        count_step(s, e);
    if (!space || e->space >= s->spaces.len || !ml_concerns_block(e->kind) ||
        s->spaces.items[e->space].process >= s->processes.len)
        return;
    if (s->spaces.items[e->space].sampled_bytes)
        count_samples(&s->spaces.items[e->space], e, live_before, space->live_bytes);
    settle(s, e->space, bytes_to_count(s, e->space), e->time_ns);
}

/* ---- Results ----------------------------------------------------------------- */

static struct ml_window_counts counts_of(const struct ml_window_state *s, uint32_t number)
{
    const struct ml_window_space_def *def = &s->spaces.items[number];
    const struct ml_window_space *space = space_of(s, number);

    if (!space || !space->used || !is_counted(s, def))
        return (struct ml_window_counts){0};
    if (def->sampled_bytes)
        return (struct ml_window_counts){def->made_parts / ML_SAMPLE_PARTS,
                                         def->freed_parts / ML_SAMPLE_PARTS};
    return (struct ml_window_counts){space->allocations, space->frees};
}

static void add_counts(struct ml_window_counts *sum, struct ml_window_counts more)
{
    sum->allocations += more.allocations;
    sum->frees += more.frees;
}

void ml_window_sums_forget(struct ml_window_state *s, uint32_t number)
{
    struct ml_window_counts counts;

    if (number >= s->spaces.len)
        return;
    counts = counts_of(s, number);
    s->gone_allocations += counts.allocations;
    s->gone_frees += counts.frees;
    s->spaces.items[number].made_parts = s->spaces.items[number].freed_parts = 0;
    if (number < s->blocks.spaces.len)
        s->blocks.spaces.items[number].allocations = s->blocks.spaces.items[number].frees = 0;
}

/* Of those, the file repeats the live ones. */
static uint64_t repeated_allocations(const struct ml_window_state *s)
{
    uint64_t blocks = 0, parts = 0;

    for (size_t i = 0; i < s->blocks.pool.len; i++) {
        const struct ml_window_block *b = &s->blocks.pool.items[i];

        if (!b->kept || b->kind == ML_MOVE || b->space >= s->spaces.len ||
            !is_counted(s, &s->spaces.items[b->space]))
            continue;
        if (s->spaces.items[b->space].sampled_bytes)
            parts += ml_sample_parts(b->size, s->spaces.items[b->space].sampled_bytes);
        else
            blocks++;
    }
    return blocks + parts / ML_SAMPLE_PARTS;
}

/* A block that is being resized: the file repeats its allocation and the move, which frees it. */
static uint64_t repeated_frees(const struct ml_window_state *s)
{
    uint64_t thread, both, frees = 0;
    size_t cursor = 0;

    while (ml_map_next(&s->blocks.moved, &cursor, &thread, &both)) {
        uint32_t block = (uint32_t)both;
        uint32_t space = block ? s->blocks.pool.items[block - 1].space : 0;

        frees += block && space < s->spaces.len && is_counted(s, &s->spaces.items[space]);
    }
    return frees;
}

struct ml_window_counts ml_window_sums_counts(const struct ml_window_state *s)
{
    struct ml_window_counts sum = {s->gone_allocations, s->gone_frees};

    for (uint32_t i = 0; i < s->spaces.len; i++)
        add_counts(&sum, counts_of(s, i));
    sum.allocations -= ml_min_u64(sum.allocations, repeated_allocations(s));
    sum.frees -= ml_min_u64(sum.frees, repeated_frees(s));
    return sum;
}

uint64_t ml_window_sums_steps(const struct ml_window_state *s)
{
    bool repeats = s->steps > 0 && s->step_process < s->processes.len &&
                   s->processes.items[s->step_process].end == ML_WINDOW_RUNS;

    return s->steps - repeats;
}
