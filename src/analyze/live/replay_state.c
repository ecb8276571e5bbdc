/* replay_state.c: the state of a live table without its blocks; see replay_state.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "replay_state.h"

#include <errno.h>

#include "number_rows.h"
#include "replay_spaces.h"
#include "state_tags.h"

#define GAUGE_FIELDS 3

enum counter {
    AT_VERSION,
    AT_EVENTS,
    AT_FREE_BLOCK,
    AT_REPLACED,
    AT_SPLITS,
    AT_UNKNOWN_FREES,
    AT_INHERITED_FREES,
    AT_UNKNOWN_LABELS,
    AT_LOST,
    AT_OOMS,
    AT_PEAK_EVENT,
    AT_LAST_LABEL_EVENT,
    AT_UNSETTLED,
    AT_UNSETTLED_NS,
    AT_BYTES, /* a gauge */
    AT_RECENT_BYTES = AT_BYTES + GAUGE_FIELDS,
    AT_RECENT_NS,
    AT_RECENT_EVENT,
    AT_LAST_SPACE, /* 1 + its index; 0: none */
    COUNTERS,
};

enum process_field {
    PROCESS_NUMBER,
    PROCESS_ENDED,
    PROCESS_END_NS,
    PROCESS_STATUS,
    PROCESS_BYTES,
    PROCESS_FIELDS = PROCESS_BYTES + GAUGE_FIELDS,
};

enum space_field {
    SPACE_NUMBER,
    SPACE_RANGED,
    SPACE_ENDED,
    SPACE_LIVE_BLOCKS,
    SPACE_ALLOCATIONS,
    SPACE_ALLOCATED_BYTES,
    SPACE_FREES,
    SPACE_BYTES,
    SPACE_FIELDS = SPACE_BYTES + GAUGE_FIELDS,
};

enum device_field {
    DEVICE_CREST_BYTES,
    DEVICE_BYTES,
    DEVICE_LEVELS = DEVICE_BYTES + GAUGE_FIELDS,
    DEVICE_FIELDS = DEVICE_LEVELS + ML_LEVELS * GAUGE_FIELDS,
};

enum category_field {
    CATEGORY_ALLOCATIONS,
    CATEGORY_FREES,
    CATEGORY_BYTES,
    CATEGORY_FIELDS = CATEGORY_BYTES + GAUGE_FIELDS,
};

static void gauge_to(const struct ml_gauge *gauge, uint64_t *to)
{
    to[0] = gauge->live_bytes;
    to[1] = gauge->peak_bytes;
    to[2] = gauge->peak_time_ns;
}

static struct ml_gauge gauge_of(const uint64_t *from)
{
    return (struct ml_gauge){from[0], from[1], from[2]};
}

/* ---- Writing ------------------------------------------------------------- */

static int add_row(ml_numbers *numbers, const uint64_t *row, size_t fields)
{
    for (size_t i = 0; i < fields; i++)
        if (ml_vec_push(numbers, row[i]) < 0)
            return -ENOMEM;
    return 0;
}

static int put_counters(const struct ml_replay *r, ml_numbers *numbers)
{
    uint64_t row[COUNTERS] = {
        [AT_VERSION] = ML_STATE_VERSION,
        [AT_EVENTS] = r->events,
        [AT_FREE_BLOCK] = r->free_block,
        [AT_REPLACED] = r->replaced,
        [AT_SPLITS] = r->splits,
        [AT_UNKNOWN_FREES] = r->unknown_frees,
        [AT_INHERITED_FREES] = r->inherited_frees,
        [AT_UNKNOWN_LABELS] = r->unknown_labels,
        [AT_LOST] = r->lost,
        [AT_OOMS] = r->ooms,
        [AT_PEAK_EVENT] = r->peak_event,
        [AT_LAST_LABEL_EVENT] = r->last_label_event,
        [AT_UNSETTLED] = r->unsettled,
        [AT_UNSETTLED_NS] = r->unsettled_ns,
        [AT_RECENT_BYTES] = r->recent_peak.bytes,
        [AT_RECENT_NS] = r->recent_peak.time_ns,
        [AT_RECENT_EVENT] = r->recent_peak.event,
        [AT_LAST_SPACE] = r->spaces.len > 0 ? r->last_space + 1 : 0,
    };

    gauge_to(&r->bytes, &row[AT_BYTES]);
    return add_row(numbers, row, COUNTERS);
}

static int put_losses(const struct ml_replay *r, ml_numbers *numbers)
{
    return add_row(numbers, r->lost_by, ML_LOST_REASONS);
}

static int put_processes(const struct ml_replay *r, ml_numbers *numbers)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < r->processes.len; i++) {
        const struct ml_replay_process *p = &r->processes.items[i];
        uint64_t row[PROCESS_FIELDS] = {p->number, p->ended, p->end_ns, p->status};

        gauge_to(&p->bytes, &row[PROCESS_BYTES]);
        result = add_row(numbers, row, PROCESS_FIELDS);
    }
    return result;
}

static int put_spaces(const struct ml_replay *r, ml_numbers *numbers)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < r->spaces.len; i++) {
        const struct ml_replay_space *s = &r->spaces.items[i];
        uint64_t row[SPACE_FIELDS] = {s->number,      s->ranged,          s->ended, s->live_blocks,
                                      s->allocations, s->allocated_bytes, s->frees};

        gauge_to(&s->bytes, &row[SPACE_BYTES]);
        result = add_row(numbers, row, SPACE_FIELDS);
    }
    return result;
}

static int put_devices(const struct ml_replay *r, ml_numbers *numbers)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < r->devices.len; i++) {
        const struct ml_replay_device *d = &r->devices.items[i];
        uint64_t row[DEVICE_FIELDS] = {d->crest_bytes};

        gauge_to(&d->bytes, &row[DEVICE_BYTES]);
        for (size_t level = 0; level < ML_LEVELS; level++)
            gauge_to(&d->levels[level], &row[DEVICE_LEVELS + level * GAUGE_FIELDS]);
        result = add_row(numbers, row, DEVICE_FIELDS);
    }
    return result;
}

static int put_categories(const struct ml_replay *r, ml_numbers *numbers)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < ML_CATEGORIES; i++) {
        const struct ml_replay_category *c = &r->categories[i];
        uint64_t row[CATEGORY_FIELDS] = {c->allocations, c->frees};

        gauge_to(&c->bytes, &row[CATEGORY_BYTES]);
        result = add_row(numbers, row, CATEGORY_FIELDS);
    }
    return result;
}

static int put_map(const struct ml_map *map, uint64_t added, ml_numbers *numbers)
{
    size_t cursor = 0;
    uint64_t row[2];

    while (ml_map_next(map, &cursor, &row[0], &row[1])) {
        row[1] += added;
        if (add_row(numbers, row, 2) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int put_cuts(const struct ml_replay *r, ml_numbers *numbers)
{
    return put_map(&r->cut_from, 0, numbers);
}

static int put_cut_bytes(const struct ml_replay *r, ml_numbers *numbers)
{
    return put_map(&r->cut_bytes, 0, numbers);
}

/* The number of an unknown block is the highest; plus 1 it is 0. */
static int put_moves(const struct ml_replay *r, ml_numbers *numbers)
{
    return put_map(&r->moved, 1, numbers);
}

static const struct {
    enum ml_state_tag tag;
    size_t fields;
    int (*put)(const struct ml_replay *r, ml_numbers *numbers);
} state_tables[] = {
    {ML_STATE_COUNTERS, COUNTERS, put_counters},
    {ML_STATE_LOSSES, ML_LOST_REASONS, put_losses},
    {ML_STATE_PROCESSES, PROCESS_FIELDS, put_processes},
    {ML_STATE_SPACES, SPACE_FIELDS, put_spaces},
    {ML_STATE_DEVICES, DEVICE_FIELDS, put_devices},
    {ML_STATE_CATEGORIES, CATEGORY_FIELDS, put_categories},
    {ML_STATE_CUTS, 2, put_cuts},
    {ML_STATE_CUT_BYTES, 2, put_cut_bytes},
    {ML_STATE_MOVES, 2, put_moves},
};

int ml_replay_put_state(const struct ml_replay *replay, struct ml_buf *out)
{
    ml_numbers numbers = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < ML_ARRAY_SIZE(state_tables); i++) {
        ml_vec_clear(&numbers);
        r = state_tables[i].put(replay, &numbers);
        if (r == 0)
            r = ml_rows_put(out, state_tables[i].tag, &numbers, state_tables[i].fields);
    }
    ml_vec_release(&numbers);
    return r;
}

/* ---- Reading ------------------------------------------------------------- */

static int get_counters(struct ml_replay *r, const uint64_t *row)
{
    if (row[AT_VERSION] != ML_STATE_VERSION || row[AT_UNSETTLED] >= ML_CATEGORIES ||
        row[AT_LAST_SPACE] > UINT32_MAX)
        return -EBADMSG;
    r->events = row[AT_EVENTS];
    r->free_block = row[AT_FREE_BLOCK];
    r->replaced = row[AT_REPLACED];
    r->splits = row[AT_SPLITS];
    r->unknown_frees = row[AT_UNKNOWN_FREES];
    r->inherited_frees = row[AT_INHERITED_FREES];
    r->unknown_labels = row[AT_UNKNOWN_LABELS];
    r->lost = row[AT_LOST];
    r->ooms = row[AT_OOMS];
    r->peak_event = row[AT_PEAK_EVENT];
    r->last_label_event = row[AT_LAST_LABEL_EVENT];
    r->unsettled = (uint8_t)row[AT_UNSETTLED];
    r->unsettled_ns = row[AT_UNSETTLED_NS];
    r->bytes = gauge_of(&row[AT_BYTES]);
    r->recent_peak = (struct ml_recent_peak){
        .bytes = row[AT_RECENT_BYTES],
        .time_ns = row[AT_RECENT_NS],
        .event = row[AT_RECENT_EVENT],
    };
    r->last_space = (uint32_t)row[AT_LAST_SPACE];
    return 0;
}

static int get_losses(struct ml_replay *r, const uint64_t *row)
{
    for (size_t i = 0; i < ML_LOST_REASONS; i++)
        r->lost_by[i] = row[i];
    return 0;
}

/* A process that replaced itself has ended, which its own row says. */
static int get_process(struct ml_replay *r, const uint64_t *row)
{
    struct ml_replay_process p = {
        .number = (uint32_t)row[PROCESS_NUMBER],
        .ended = row[PROCESS_ENDED],
        .end_ns = row[PROCESS_END_NS],
        .status = row[PROCESS_STATUS],
        .bytes = gauge_of(&row[PROCESS_BYTES]),
    };

    if (row[PROCESS_NUMBER] > UINT32_MAX || ml_map_get(&r->process_index, p.number, NULL))
        return -EBADMSG;
    return ml_map_put(&r->process_index, p.number, r->processes.len) < 0 ||
                   ml_vec_push(&r->processes, p) < 0
               ? -ENOMEM
               : 0;
}

static int get_space(struct ml_replay *r, const uint64_t *row)
{
    size_t expected = r->spaces.len, processes = r->processes.len;
    struct ml_replay_space *s;
    int64_t index;

    if (row[SPACE_NUMBER] > UINT32_MAX)
        return -EBADMSG;
    index = ml_replay_find_space(r, (uint32_t)row[SPACE_NUMBER], 0);
    if (index < 0)
        return -ENOMEM;
    if ((size_t)index != expected || r->processes.len != processes)
        return -EBADMSG; /* twice the same, or its process is missing */
    s = &r->spaces.items[index];
    s->ranged = row[SPACE_RANGED];
    s->ended = row[SPACE_ENDED];
    s->live_blocks = row[SPACE_LIVE_BLOCKS];
    s->allocations = row[SPACE_ALLOCATIONS];
    s->allocated_bytes = row[SPACE_ALLOCATED_BYTES];
    s->frees = row[SPACE_FREES];
    s->bytes = gauge_of(&row[SPACE_BYTES]);
    return 0;
}

static int get_map_row(struct ml_map *map, const uint64_t *row, uint64_t added)
{
    return ml_map_put(map, row[0], row[1] - added);
}

static int get_cut(struct ml_replay *r, const uint64_t *row)
{
    return get_map_row(&r->cut_from, row, 0);
}

static int get_cut_bytes(struct ml_replay *r, const uint64_t *row)
{
    return get_map_row(&r->cut_bytes, row, 0);
}

static int get_move(struct ml_replay *r, const uint64_t *row)
{
    return get_map_row(&r->moved, row, 1);
}

/* Devices and categories have fixed places; `i` is the row. */
static int get_device(struct ml_replay *r, size_t i, const uint64_t *row)
{
    struct ml_replay_device *d;

    if (i >= r->devices.len)
        return -EBADMSG;
    d = &r->devices.items[i];
    d->crest_bytes = row[DEVICE_CREST_BYTES];
    d->bytes = gauge_of(&row[DEVICE_BYTES]);
    for (size_t level = 0; level < ML_LEVELS; level++)
        d->levels[level] = gauge_of(&row[DEVICE_LEVELS + level * GAUGE_FIELDS]);
    return 0;
}

static int get_category(struct ml_replay *r, size_t i, const uint64_t *row)
{
    if (i >= ML_CATEGORIES)
        return -EBADMSG;
    r->categories[i] = (struct ml_replay_category){
        .bytes = gauge_of(&row[CATEGORY_BYTES]),
        .allocations = row[CATEGORY_ALLOCATIONS],
        .frees = row[CATEGORY_FREES],
    };
    return 0;
}

#define MOST_FIELDS COUNTERS
_Static_assert((int)DEVICE_FIELDS <= (int)COUNTERS && (int)ML_LOST_REASONS <= (int)COUNTERS,
               "a row of any table fits");

static int get_row(struct ml_replay *r, uint64_t tag, size_t i, const uint64_t *row)
{
    switch (tag) {
    case ML_STATE_COUNTERS: return get_counters(r, row);
    case ML_STATE_LOSSES: return get_losses(r, row);
    case ML_STATE_PROCESSES: return get_process(r, row);
    case ML_STATE_SPACES: return get_space(r, row);
    case ML_STATE_DEVICES: return get_device(r, i, row);
    case ML_STATE_CATEGORIES: return get_category(r, i, row);
    case ML_STATE_CUTS: return get_cut(r, row);
    case ML_STATE_CUT_BYTES: return get_cut_bytes(r, row);
    case ML_STATE_MOVES: return get_move(r, row);
    default: return 0;
    }
}

static int get_table(struct ml_replay *r, const struct ml_record *record)
{
    uint64_t row[MOST_FIELDS];
    struct ml_rows rows;
    size_t i = 0;
    int result = ml_rows_open(record, &rows);

    while (result == 0) {
        int more = ml_rows_next(&rows, row, MOST_FIELDS);

        if (more <= 0)
            return more;
        result = get_row(r, record->tag, i++, row);
    }
    return result;
}

/* Finding the spaces has changed the last one. */
static int set_last_space(struct ml_replay *r, uint32_t last)
{
    if (last > r->spaces.len || (last == 0) != (r->spaces.len == 0))
        return -EBADMSG;
    r->last_space = last > 0 ? last - 1 : 0;
    r->last_space_number = last > 0 ? r->spaces.items[r->last_space].number : 0;
    return 0;
}

int ml_replay_get_state(struct ml_replay *replay, const uint8_t *in, const uint8_t *end)
{
    struct ml_record record;
    uint32_t last_space = 0;
    bool counted = false;
    int r = 0, more;

    while (r == 0 && (more = ml_record_next(&in, end, &record)) != 0) {
        if (more < 0)
            return more;
        if (record.tag >= ML_STATE_BLOCKS)
            continue;
        r = get_table(replay, &record);
        if (record.tag == ML_STATE_COUNTERS) {
            last_space = replay->last_space;
            counted = true;
        }
    }
    if (r == 0 && !counted)
        r = -EBADMSG;
    return r < 0 ? r : set_last_space(replay, last_space);
}
