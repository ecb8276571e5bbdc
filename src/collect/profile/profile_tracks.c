/* profile_tracks.c: see profile_tracks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile_tracks.h"

#include <errno.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "json.h"

void ml_profile_tracks_release(struct ml_profile_tracks *t)
{
    ml_arena_release(&t->arena);
    ml_intern_release(&t->category_names);
    ml_intern_release(&t->track_names);
    ml_buf_release(&t->scratch);
    ml_vec_release(&t->categories);
    ml_vec_release(&t->tracks);
}

/* The text as a JSON string, owned by the arena. */
static const char *quote(struct ml_profile_tracks *t, const char *text)
{
    struct ml_json json;

    ml_buf_clear(&t->scratch);
    ml_json_init(&json, &t->scratch, false);
    ml_json_cstr(&json, text);
    if (ml_json_finish(&json))
        return NULL;
    return ml_arena_dup(&t->arena, t->scratch.data, t->scratch.len);
}

/* Viewers keep process numbers as 31 bits or as a double, so a full hash does
 * not fit. Devices are numbered from 0, below all of these. */
static uint32_t category_pid(const char *name)
{
    return (uint32_t)(XXH3_64bits(name, strlen(name)) & 0x3fffffff) | 0x40000000;
}

static bool is_memory(const char *name)
{
    return !strcmp(name, "Device Storage") || !strcmp(name, "Pool Memory") ||
           !strcmp(name, "Driver Memory");
}

/* The number is assigned last, when nothing else can fail: numbers and entries must
 * stay in step. */
static int64_t category_number(struct ml_profile_tracks *t, const char *name)
{
    int64_t number = ml_intern_find(&t->category_names, name, strlen(name));
    struct ml_profile_category c = {.pid = category_pid(name), .memory = is_memory(name)};

    if (number >= 0)
        return number;
    c.name = ml_arena_dup(&t->arena, name, strlen(name));
    c.json = quote(t, name);
    if (!c.name || !c.json || ml_vec_reserve(&t->categories, 1))
        return -ENOMEM;
    number = ml_intern_put(&t->category_names, name, strlen(name), NULL);
    return number < 0 ? number : ml_vec_push(&t->categories, c) ? -ENOMEM : number;
}

/* The same, in the same order. `key` is the one of ml_profile_track. */
static int64_t new_track(struct ml_profile_tracks *t, const struct ml_buf *key, uint32_t category,
                         enum ml_track_kind kind, const char *name)
{
    struct ml_profile_track track = {.category = category, .kind = kind};
    int64_t number;

    track.name = ml_arena_dup(&t->arena, name, strlen(name));
    track.json = quote(t, name);
    if (!track.name || !track.json || ml_vec_reserve(&t->tracks, 1))
        return -ENOMEM;
    number = ml_intern_put(&t->track_names, key->data, key->len, NULL);
    return number < 0 ? number : ml_vec_push(&t->tracks, track) ? -ENOMEM : number;
}

int64_t ml_profile_track(struct ml_profile_tracks *t, const char *category, enum ml_track_kind kind,
                         const char *name)
{
    int64_t in = category_number(t, category);
    uint32_t start[2] = {(uint32_t)in, kind};
    struct ml_buf key = {0};
    int64_t number = -ENOMEM;

    if (in >= 0 && !ml_buf_append(&key, start, sizeof(start)) && !ml_buf_puts(&key, name)) {
        number = ml_intern_find(&t->track_names, key.data, key.len);
        if (number < 0)
            number = new_track(t, &key, (uint32_t)in, kind, name);
    }
    ml_buf_release(&key);
    return number;
}

void ml_profile_track_add(struct ml_profile_track *track, int64_t value)
{
    if (!track->count || value < track->min)
        track->min = value;
    if (!track->count || value > track->max)
        track->max = value;
    track->count++;
    track->sum += (double)value;
    track->last = value;
}

void ml_profile_tracks_reset(struct ml_profile_tracks *t)
{
    for (size_t i = 0; i < t->tracks.len; i++) {
        struct ml_profile_track *track = &t->tracks.items[i];
        track->count = 0;
        track->sum = 0;
        track->min = track->max = track->last = 0;
    }
}
