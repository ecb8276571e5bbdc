/* events.h: the events of a trace one by one, selected by a filter, with names instead of
 * numbers.
 *
 * The trace is replayed from its start, so that the block of each free is known; only the live
 * table is in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_EVENTS_H
#define ML_ANALYZE_EVENTS_H

#include "health.h"
#include "replay.h"
#include "stack_view.h"
#include "trace.h"

struct ml_events_opts {
    uint64_t from_ns, to_ns; /* both included */
    const char *scope;       /* part of the scope's path; NULL: any */
    const char *space;       /* part of "device/level/name"; NULL: any */
    const char *device;      /* as in ml_device_is: only events of memory there; NULL: any */
    uint32_t pid;            /* only events of threads of this process; 0: any */
    bool by_size;            /* only events with a size, from min_bytes to max_bytes */
    uint64_t min_bytes, max_bytes;
    uint32_t kinds;          /* bit per enum ml_kind; 0: all */
    uint64_t limit;          /* 0: none */
    struct ml_replay *start; /* the live table before some event up to from_ns, which is then
                                ml_events' to release; NULL: reads the trace from its start */
};

enum ml_field_type {
    ML_FIELD_TEXT,
    ML_FIELD_COUNT,
    ML_FIELD_BYTES,
    ML_FIELD_TIME,
    ML_FIELD_SIGNED
};

/* A fact in an event beyond the common columns. */
struct ml_field {
    const char *key;
    enum ml_field_type type;
    const char *text;
    uint64_t number; /* ML_FIELD_SIGNED: an int64_t */
};

#define ML_FIELDS_MAX 8

/* One event. Strings belong to the trace or are valid until the next event. */
struct ml_event_view {
    const struct ml_event *event;
    const char *kind;
    bool has_thread; /* a thread did it */
    uint32_t pid, tid;
    const char *role; /* of the process; NULL: none */
    bool has_space;
    const char *device, *level, *space;
    bool has_address;
    bool has_bytes;
    uint64_t bytes;                    /* of the event, or of the block that it frees */
    const char *scope;                 /* path, "" for none */
    const struct ml_stack_view *stack; /* NULL: none */
    struct ml_field fields[ML_FIELDS_MAX];
    size_t field_count;
};

/* Calls `visit` for each event that passes the filter, in order; a return value other than 0
 * stops the reading.
 * @ret_health  of the part that was read, always set; may be NULL
 * @return 0, the value from visit, or negative errno */
int ml_events(const struct ml_trace *trace, const struct ml_events_opts *opts,
              int (*visit)(void *ctx, const struct ml_event_view *view), void *ctx,
              struct ml_health *ret_health, struct ml_error *err);

/* "alloc,free": the bits of kinds, by the names of event.h; alloc includes alloc_ex, free
 * includes free_range.
 * @ret_unknown  where the first unknown name starts, on -EINVAL
 * @return 0 or -EINVAL */
int ml_events_parse_kinds(const char *text, uint32_t *ret, const char **ret_unknown);

/* Fills in the fields of the view's event, as keys and values.
 * @freed  the block that the event frees, NULL if it frees none */
void ml_event_fields(const struct ml_trace *trace, const struct ml_block *freed,
                     struct ml_event_view *view);

#endif
