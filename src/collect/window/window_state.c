/* window_state.c: see window_state.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window_state.h"

#include <errno.h>

#include "defs.h"

void ml_window_state_release(struct ml_window_state *s)
{
    ml_buf_release(&s->defs);
    ml_vec_release(&s->defs_ends);
    ml_vec_release(&s->space_process);
    ml_window_blocks_release(&s->blocks);
    ml_window_notes_release(&s->notes);
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
        if (def.tag == ML_DEF_SPACE &&
            ml_vec_push(&s->space_process, (uint32_t)def.fields[ML_SPACE_PROCESS]))
            return -ENOMEM;
    }
    if (ml_buf_append(&s->defs, raw, len))
        return -ENOMEM;
    return ml_vec_push(&s->defs_ends, (struct ml_window_defs_end){s->defs.len, count});
}

static void end_process(struct ml_window_state *s, uint64_t process)
{
    for (size_t i = 0; i < s->space_process.len; i++) {
        if (s->space_process.items[i] == process)
            ml_window_blocks_end(&s->blocks, (uint32_t)i);
    }
}

int ml_window_state_feed(struct ml_window_state *s, const struct ml_event *events, size_t count)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct ml_event *e = &events[i];

        s->dropped.events[e->kind]++;
        s->begin_ns = e->time_ns;
        if (e->kind == ML_LOST && ml_lost_is_events(e->args[2]))
            s->dropped.lost += e->args[0];
        if (e->kind == ML_PROCESS_END)
            end_process(s, e->args[0]);
        r = ml_window_blocks_feed(&s->blocks, e);
        if (r == 0 && e->kind != ML_ALLOC && e->kind != ML_FREE)
            r = ml_window_notes_feed(&s->notes, e);
    }
    return r;
}
