/* profile_tracks.h: the named objects of a profile: categories, and in them
 * tracks, each a row of the statistics.
 *
 * A category is a process in the Chrome trace: a domain, with a suffix for some
 * kinds of objects. Names are stored plain and as JSON strings, so that
 * they are escaped once. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILE_TRACKS_H
#define ML_PROFILE_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "intern.h"
#include "vec.h"

enum ml_track_kind {
    ML_TRACK_TIME,    /* values are durations in nanoseconds */
    ML_TRACK_COUNTER, /* values are counts */
    ML_TRACK_MARKER,  /* no values */
};

struct ml_profile_category {
    const char *name;
    const char *json;
    uint32_t pid;       /* its process in the Chrome trace */
    uint32_t announced; /* generation of the file that has its name */
    bool memory;        /* counters here count bytes */
};

struct ml_profile_track {
    uint32_t category;
    enum ml_track_kind kind;
    const char *name;
    const char *json;

    /* Of the values since the last reset. */
    uint64_t count;
    double sum;
    int64_t min, max, last;
};

struct ml_profile_tracks {
    struct ml_arena arena;
    struct ml_intern category_names;
    struct ml_intern track_names; /* category number, kind, name */
    struct ml_buf scratch;
    ML_VEC(struct ml_profile_category) categories;
    ML_VEC(struct ml_profile_track) tracks;
};

/* All zero bytes is a valid empty table. */
void ml_profile_tracks_release(struct ml_profile_tracks *t);

/* The track's number, a new one at its first use. @return -ENOMEM on failure */
int64_t ml_profile_track(struct ml_profile_tracks *t, const char *category, enum ml_track_kind kind,
                         const char *name);

void ml_profile_track_add(struct ml_profile_track *track, int64_t value);

/* Forgets the values and keeps the names. */
void ml_profile_tracks_reset(struct ml_profile_tracks *t);

#endif
