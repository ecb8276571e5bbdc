/* window_gone.c: see window_gone.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window_gone.h"

#include <errno.h>

#include "window_sums.h"

#define CHUNK_BYTES (128u << 10) /* of definitions between two places where a block may end */

static bool is_gone(const struct ml_window_state *s, uint64_t process)
{
    return process < s->processes.len && s->processes.items[process].end == ML_WINDOW_GONE;
}

static bool thread_is_gone(const struct ml_window_state *s, uint64_t thread)
{
    return thread < s->thread_process.len && is_gone(s, s->thread_process.items[thread]);
}

static bool runs(const struct ml_window_state *s, uint64_t process)
{
    return process >= s->processes.len || s->processes.items[process].end == ML_WINDOW_RUNS;
}

static bool thread_runs(const struct ml_window_state *s, uint64_t thread)
{
    return thread >= s->thread_process.len || runs(s, s->thread_process.items[thread]);
}

/* ---- Processes ------------------------------------------------------------------- */

/* Of all peaks of spaces that are gone, a report needs the highest. */
static void forget_space(struct ml_window_state *s, uint32_t number)
{
    struct ml_window_space *space = &s->blocks.spaces.items[number], *highest;

    space->ranged = false;
    ml_window_sums_forget(s, number);
    if (!space->used)
        return;
    highest = s->highest_gone ? &s->blocks.spaces.items[s->highest_gone - 1] : NULL;
    if (highest && highest->peak_bytes >= space->peak_bytes) {
        space->used = false;
        return;
    }
    if (highest)
        highest->used = false;
    s->highest_gone = number + 1;
}

static bool has_ended(const struct ml_window_state *s, const struct ml_window_process *process)
{
    for (uint32_t i = process->first_space; i > 0; i = s->spaces.items[i - 1].next)
        if (i <= s->blocks.spaces.len && s->blocks.spaces.items[i - 1].used &&
            !s->blocks.spaces.items[i - 1].ended)
            return false;
    return true;
}

/* Whether it is gone at this end, or the next one. An event after the end shows that a process runs
 * after all. */
static void judge(struct ml_window_state *s, struct ml_window_process *process,
                  enum ml_window_end end)
{
    process->end = has_ended(s, process) ? end : ML_WINDOW_RUNS;
    for (uint32_t i = process->first_space; process->end == ML_WINDOW_GONE && i > 0;
         i = s->spaces.items[i - 1].next)
        if (i <= s->blocks.spaces.len)
            forget_space(s, i - 1);
}

static void find_gone(struct ml_window_state *s)
{
    for (size_t i = 0; i < s->ended.len; i++)
        judge(s, &s->processes.items[s->ended.items[i]], ML_WINDOW_GONE);
    for (size_t i = 0; i < s->just_ended.len; i++)
        judge(s, &s->processes.items[s->just_ended.items[i]], ML_WINDOW_ENDED);
}

/* Those that have ended since are next. */
static int remember_ended(struct ml_window_state *s)
{
    ml_vec_clear(&s->ended);
    for (size_t i = 0; i < s->just_ended.len; i++)
        if (ml_vec_push(&s->ended, s->just_ended.items[i]) < 0)
            return -ENOMEM;
    ml_vec_clear(&s->just_ended);
    return 0;
}

/* ---- Definitions ----------------------------------------------------------------- */

static void blank(struct ml_def *def)
{
    for (int i = 0; i < ML_DEF_FIELDS; i++)
        def->fields[i] = 0;
}

/* @return false if the definition need not be there at all */
static bool keep_definition(const struct ml_window_state *s, struct ml_def *def, bool *ret_blank)
{
    *ret_blank = false;
    switch (def->tag) {
    case ML_DEF_PROCESS: *ret_blank = is_gone(s, def->id); break;
    case ML_DEF_THREAD: *ret_blank = thread_is_gone(s, def->id); break;
    case ML_DEF_SPACE:
        *ret_blank = def->id < s->spaces.len && is_gone(s, s->spaces.items[def->id].process) &&
                     s->highest_gone != def->id + 1;
        break;
    case ML_DEF_THREAD_NAME: return !thread_is_gone(s, def->id);
    case ML_DEF_PROCESS_ROLE:
    case ML_DEF_PROCESS_PLACE: return !is_gone(s, def->id);
    default: break;
    }
    if (*ret_blank)
        blank(def);
    return true;
}

/* Definitions as they are from now on. */
struct rewriting {
    struct ml_buf defs;
    ML_VEC(struct ml_window_defs_end) ends;
    struct ml_window_defs_end last; /* where the last chunk ended */
    uint32_t count;
    size_t blank_bytes;
};

static int end_chunk(struct rewriting *r)
{
    const struct ml_window_defs_end end = {r->defs.len, r->count};

    if (r->count == 0)
        return 0;
    r->last = end;
    r->count = 0;
    return ml_vec_push(&r->ends, end);
}

static int rewrite(const struct ml_window_state *s, struct rewriting *r)
{
    const uint8_t *at = s->defs.data, *end = s->defs.data + s->defs.len;
    struct ml_def def;
    bool is_blank;
    int code = 0;

    while (code == 0 && at < end) {
        size_t before = r->defs.len;

        at = ml_def_get(at, end, &def);
        if (!at)
            return -EBADMSG;
        if (!keep_definition(s, &def, &is_blank))
            continue;
        code = ml_buf_reserve(&r->defs, ml_def_room(&def));
        if (code < 0)
            break;
        r->defs.len = (size_t)(ml_def_put(r->defs.data + before, &def) - r->defs.data);
        r->blank_bytes += is_blank ? r->defs.len - before : 0;
        r->count++;
        if (r->defs.len - r->last.bytes >= CHUNK_BYTES)
            code = end_chunk(r);
    }
    return code < 0 ? code : end_chunk(r);
}

static int rewrite_definitions(struct ml_window_state *s)
{
    struct rewriting r = {0};
    int code = rewrite(s, &r);

    if (code == 0) {
        ml_buf_release(&s->defs);
        ml_vec_release(&s->defs_ends);
        s->defs = r.defs;
        s->defs_ends.items = r.ends.items;
        s->defs_ends.len = r.ends.len;
        s->defs_ends.cap = r.ends.cap;
        s->blank_bytes = r.blank_bytes;
    } else {
        ml_buf_release(&r.defs);
        ml_vec_release(&r.ends);
    }
    return code;
}

/* ---- Notes ------------------------------------------------------------------------ */

static bool note_is_wanted(const void *ctx, const struct ml_event *e)
{
    const struct ml_window_state *s = ctx;

    switch (e->kind) {
    case ML_PROCESS_END: return runs(s, e->args[0]);
    case ML_SAMPLE:
        return e->args[1] >> ML_SAMPLE_PROCESS_SHIFT == 0 ||
               runs(s, (e->args[1] >> ML_SAMPLE_PROCESS_SHIFT) - 1);
    case ML_MARK: return ml_mark_is_of_recording(e->args[0]) || thread_runs(s, e->thread);
    case ML_PUSH:
    case ML_START: return thread_runs(s, e->thread);
    default: return true;
    }
}

int ml_window_state_tidy(struct ml_window_state *s)
{
    int r = 0;

    find_gone(s);
    if (s->ended.len > 0)
        r = rewrite_definitions(s);
    if (r == 0 && (s->ended.len > 0 || s->just_ended.len > 0))
        r = ml_window_notes_tidy(&s->notes, note_is_wanted, s);
    return r < 0 ? r : remember_ended(s);
}
