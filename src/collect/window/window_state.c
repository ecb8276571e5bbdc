/* window_state.c: see window_state.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window_state.h"

#include <errno.h>

#include "window_sums.h"

void ml_window_state_release(struct ml_window_state *s)
{
    ml_buf_release(&s->defs);
    ml_vec_release(&s->defs_ends);
    ml_vec_release(&s->processes);
    ml_vec_release(&s->spaces);
    ml_vec_release(&s->thread_process);
    ml_vec_release(&s->devices);
    ml_vec_release(&s->places);
    ml_map_release(&s->place_index);
    ml_vec_release(&s->just_ended);
    ml_vec_release(&s->ended);
    ml_window_blocks_release(&s->blocks);
    ml_window_notes_release(&s->notes);
}

static int define_space(struct ml_window_state *s, uint32_t process)
{
    struct ml_window_space_def space = {.process = process};

    if (process < s->processes.len)
        space.next = s->processes.items[process].first_space;
    if (ml_vec_push(&s->spaces, space))
        return -ENOMEM;
    if (process < s->processes.len)
        s->processes.items[process].first_space = (uint32_t)s->spaces.len;
    return 0;
}

/* Numbers rise by one, from 0. */
static int define(struct ml_window_state *s, const struct ml_def *def)
{
    switch (def->tag) {
    case ML_DEF_PROCESS: return ml_vec_push(&s->processes, (struct ml_window_process){0});
    case ML_DEF_THREAD:
        return ml_vec_push(&s->thread_process, (uint32_t)def->fields[ML_THREAD_PROCESS]);
    case ML_DEF_SPACE: return define_space(s, (uint32_t)def->fields[ML_SPACE_PROCESS]);
    default: return 0;
    }
}

int ml_window_state_define(struct ml_window_state *s, const uint8_t *raw, size_t len,
                           uint32_t count)
{
    const uint8_t *end = raw + len;
    struct ml_def def;

    for (const uint8_t *at = raw; at < end;) {
        at = ml_def_get(at, end, &def);
        if (!at)
            return -EBADMSG;
        if (define(s, &def) < 0 || ml_window_sums_define(s, &def) < 0)
            return -ENOMEM;
    }
    if (ml_buf_append(&s->defs, raw, len))
        return -ENOMEM;
    return ml_vec_push(&s->defs_ends, (struct ml_window_defs_end){s->defs.len, count});
}

static int end_process(struct ml_window_state *s, uint64_t process, uint64_t time_ns)
{
    if (process >= s->processes.len)
        return 0;
    for (uint32_t i = s->processes.items[process].first_space; i > 0;
         i = s->spaces.items[i - 1].next)
        ml_window_blocks_end(&s->blocks, i - 1);
    ml_window_sums_end(s, (uint32_t)process, time_ns);
    return ml_vec_push(&s->just_ended, (uint32_t)process);
}

int ml_window_state_feed(struct ml_window_state *s, const struct ml_event *events, size_t count)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct ml_event *e = &events[i];
        uint64_t live_before =
            e->space < s->blocks.spaces.len ? s->blocks.spaces.items[e->space].live_bytes : 0;

        ml_window_blocks_prefetch(&s->blocks, events, i, count);
        s->dropped.events[e->kind]++;
        s->begin_ns = e->time_ns;
        if (e->kind == ML_LOST && ml_lost_is_events(e->args[2]))
            s->dropped.lost += e->args[0];
        if (e->kind == ML_PROCESS_END)
            r = end_process(s, e->args[0], e->time_ns);
        if (r == 0)
            r = ml_window_blocks_feed(&s->blocks, e);
        ml_window_sums_feed(s, e, live_before);
        if (r == 0 && e->kind != ML_ALLOC && e->kind != ML_FREE)
            r = ml_window_notes_feed(&s->notes, e);
    }
    return r;
}
