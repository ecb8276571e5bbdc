/* profile_devices.c: memory by device as counters of a profile.
 *
 * A program whose heap is recorded changes its memory a million times a second.
 * Beyond a rate that viewers can handle, only the peaks and the last value are
 * written; the statistics count every change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "memledger/memledger.h"
#include "profile_parts.h"

/* "cpu" is cpu/0 and "cuda:1" is gpu/1, as MXNet names them; other devices keep
 * their names. */
static void device_name(char *out, size_t room, const char *device)
{
    size_t len = strcspn(device, ":");
    const char *index = device[len] ? device + len + 1 : "0";
    bool cuda = len == 4 && !strncmp(device, "cuda", 4);

    snprintf(out, room, "Memory: %.*s/%s", cuda ? 3 : (int)len, cuda ? "gpu" : device, index);
}

static struct ml_memory_counter new_counter(struct ml_profile *p, const struct ml_memory_book *book)
{
    const char *category = book->level == MEMLEDGER_DRIVER ? "Driver Memory"
                           : book->level == MEMLEDGER_POOL ? "Pool Memory"
                                                           : "Device Storage";
    char name[1100];

    device_name(name, sizeof(name), ml_dict_text(p->dict, book->device));
    return (struct ml_memory_counter){
        .track = ml_profile_track(&p->tracks, category, ML_TRACK_COUNTER, name)};
}

static struct ml_memory_counter *counter_of(struct ml_profile *p, size_t book)
{
    while (p->counters.len <= book) {
        const struct ml_memory_book *b = &p->memory.books.items[p->counters.len];
        if (ml_vec_push(&p->counters, new_counter(p, b)))
            return NULL;
    }
    return p->counters.items[book].track >= 0 ? &p->counters.items[book] : NULL;
}

static void put_point(struct ml_profile *p, int64_t track, const struct ml_memory_point *at)
{
    ml_profile_put_value(p, track, at->time_ns, at->tid, (int64_t)at->bytes);
}

static void put_waiting(struct ml_profile *p, struct ml_memory_counter *c)
{
    if (!c->waiting)
        return;
    c->waiting = false;
    if (c->peak.time_ns < c->last.time_ns && c->peak.bytes > c->last.bytes)
        put_point(p, c->track, &c->peak);
    put_point(p, c->track, &c->last);
}

void ml_profile_settle(struct ml_profile *p)
{
    for (size_t i = 0; i < p->counters.len; i++)
        put_waiting(p, &p->counters.items[i]);
}

static bool allowed(struct ml_profile *p, uint64_t time_ns)
{
    uint64_t since = time_ns - p->allowance_ns;
    uint64_t more = since / (1000000000 / ML_ALLOWANCE_PER_S);

    if (more) {
        p->allowance =
            ml_min_u64(p->allowance + ml_min_u64(more, ML_ALLOWANCE_MAX), ML_ALLOWANCE_MAX);
        p->allowance_ns = time_ns;
    }
    if (!p->allowance)
        return false;
    p->allowance--;
    return true;
}

static void put_memory(struct ml_profile *p, struct ml_memory_counter *c,
                       struct ml_memory_point now)
{
    if (allowed(p, now.time_ns)) {
        put_waiting(p, c);
        put_point(p, c->track, &now);
        return;
    }
    if (!c->waiting || now.bytes > c->peak.bytes)
        c->peak = now;
    c->last = now;
    c->waiting = true;
}

/* Counted also while paused, so that the values are right afterwards. */
void ml_profile_memory_changed(struct ml_profile *p, const struct ml_event *ev)
{
    int64_t book;
    struct ml_memory_counter *c;
    struct ml_memory_point now = {.time_ns = ev->time_ns};

    if (!p->on[ML_CONFIG_PROFILE_ALL] && !p->on[ML_CONFIG_PROFILE_MEMORY])
        return;
    book = ml_profile_memory_event(&p->memory, ev);
    c = book >= 0 && ml_profile_recorded(p) ? counter_of(p, (size_t)book) : NULL;
    if (!c)
        return;
    now.bytes = p->memory.books.items[book].bytes;
    ml_profile_count(p, c->track, (int64_t)now.bytes);
    if (!p->output)
        return;
    now.tid = ml_profile_tid(p, ev->thread);
    put_memory(p, c, now);
}
