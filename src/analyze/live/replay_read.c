/* replay_read.c: replays a trace up to any event, and visits its live blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_table.h"
#include "live_totals.h"
#include "replay.h"

static void learn_all(struct ml_replay *r, const struct ml_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ml_live_learn(r, &events[i]);
    r->events += count;
}

void ml_replay_settle(struct ml_replay *replay)
{
    ml_settle(replay);
}

int ml_replay_instant(struct ml_replay *replay, uint64_t instant, uint64_t last,
                      struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int n, r = ml_cursor_open(replay->trace, 0, UINT64_MAX, &cursor, err);

    if (r == 0)
        ml_cursor_skip(cursor, replay->events);
    if (replay->classes)
        last = 0;
    while (r == 0 && (replay->events < instant || replay->events < last)) {
        uint64_t now = 0;

        n = ml_cursor_next(cursor, &events, err);
        if (n <= 0) {
            r = n;
            break;
        }
        if (replay->events < instant)
            now = ml_min_u64((uint64_t)n, instant - replay->events);
        r = ml_replay_feed_all(replay, events, now);
        if (r < 0)
            ml_error_set(err, r, "out of memory after %llu events",
                         (unsigned long long)replay->events);
        else if (replay->events >= instant && !replay->classes)
            learn_all(replay, events + now, (size_t)n - now);
    }
    ml_cursor_free(cursor);
    ml_settle(replay);
    return r;
}

int ml_replay_trace(struct ml_replay *replay, uint64_t limit, struct ml_error *err)
{
    return ml_replay_instant(replay, limit, 0, err);
}

void ml_replay_reset_crest(struct ml_replay *replay, uint64_t time_ns)
{
    replay->recent_peak.by_category = true;
    ml_crest_take(replay, time_ns);
    for (size_t i = 0; i < replay->devices.len; i++)
        replay->devices.items[i].crest_bytes = replay->devices.items[i].bytes.live_bytes;
}

const struct ml_block *ml_replay_find(struct ml_replay *replay, uint32_t space_number,
                                      uint64_t addr)
{
    uint64_t space;
    int64_t block;

    if (!ml_map_get(&replay->space_index, space_number, &space))
        return NULL;
    block = ml_live_find(replay, (uint32_t)space, addr);
    return block < 0 ? NULL : &replay->blocks.items[block];
}

const struct ml_block *ml_replay_next(const struct ml_replay *replay, bool left, size_t *cursor)
{
    size_t blocks = replay->blocks.len;

    while (*cursor < blocks + replay->groups.len) {
        size_t i = (*cursor)++;
        const struct ml_block *b =
            i < blocks ? &replay->blocks.items[i] : &replay->groups.items[i - blocks];
        const struct ml_replay_space *s = &replay->spaces.items[b->space];

        if (b->live && s->counted && (left || !s->ended))
            return b;
    }
    return NULL;
}
