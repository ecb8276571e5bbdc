/* window_dump.c: see window_dump.h.
 *
 * Live blocks become allocations, with their own times; a label follows its block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window_dump.h"

#include <errno.h>
#include <stdlib.h>

#include "number_rows.h"
#include "window_gone.h"
#include "window_sums.h"
#include "window_tags.h"

#define DEFS_BYTES (512u << 10) /* of definitions, in one block */

/* ---- Order ---------------------------------------------------------------- */

struct place {
    uint64_t time_ns;
    uint32_t index;
};

static int by_time(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int find_order(struct ml_window_dump *d)
{
    const struct ml_window_blocks *w = &d->state->blocks;
    struct place *places = malloc((w->pool.len + 1) * sizeof(*places));

    d->order = malloc((w->pool.len + 1) * sizeof(*d->order));
    for (size_t i = 0; places && d->order && i < w->pool.len; i++)
        places[i] = (struct place){w->pool.items[i].time_ns, (uint32_t)i};
    if (places && d->order && w->pool.len > 1)
        qsort(places, w->pool.len, sizeof(*places), by_time);
    for (size_t i = 0; places && d->order && i < w->pool.len; i++)
        d->order[i] = places[i].index;
    free(places);
    return places && d->order ? 0 : -ENOMEM;
}

static const struct ml_window_block *block_at(const struct ml_window_dump *d, size_t i)
{
    const struct ml_window_blocks *w = &d->state->blocks;

    return i < w->pool.len ? &w->pool.items[d->order ? d->order[i] : i] : NULL;
}

/* ---- Begin and end -------------------------------------------------------- */

static void survey(struct ml_window_dump *d)
{
    const struct ml_window_blocks *w = &d->state->blocks;
    const struct ml_window_block *first = block_at(d, 0);

    d->first_ns = first ? first->time_ns : UINT64_MAX;
    if (d->note_count)
        d->first_ns = ml_min_u64(d->first_ns, d->notes[0].time_ns);
    for (size_t i = 0; i < w->pool.len; i++)
        d->label_blocks += w->pool.items[i].label || w->pool.items[i].category;
    for (size_t i = 0; i < w->spaces.len; i++)
        d->ranged_spaces += w->spaces.items[i].ranged;
}

int ml_window_dump_begin(struct ml_window_dump *d, struct ml_window_state *state)
{
    int r = ml_window_blocks_tidy(&state->blocks);

    if (r == 0)
        r = ml_window_state_tidy(state);
    *d = (struct ml_window_dump){.state = state, .encoder = calloc(1, sizeof(*d->encoder))};
    if (r == 0)
        r = ml_window_notes_list(&state->notes, &d->notes, &d->note_count);
    if (r == 0 && state->blocks.disordered)
        r = find_order(d);
    if (r < 0 || !d->encoder || ml_buf_reserve(&d->raw, ML_EVENTS_RAW_MAX))
        return -ENOMEM;
    ml_encoder_init(d->encoder);
    survey(d);
    return 0;
}

void ml_window_dump_release(struct ml_window_dump *d)
{
    free(d->encoder);
    ml_buf_release(&d->raw);
    free(d->notes);
    free(d->order);
    *d = (struct ml_window_dump){0};
}

/* ---- Definitions and the section ------------------------------------------ */

static int put_defs(struct ml_window_dump *d, struct ml_block_writer *to)
{
    const struct ml_window_state *s = d->state;
    size_t from = d->next_defs ? s->defs_ends.items[d->next_defs - 1].bytes : 0, end = from;
    uint32_t count = 0;

    while (d->next_defs < s->defs_ends.len && end - from < DEFS_BYTES) {
        const struct ml_window_defs_end *next = &s->defs_ends.items[d->next_defs];

        if (end > from && next->bytes - from > ML_BLOCK_MAX_BYTES / 2)
            break;
        end = next->bytes;
        count += next->count;
        d->next_defs++;
    }
    return ml_block_writer_definitions(to, count, s->defs.data + from, end - from);
}

static int put_dropped(const struct ml_window_dump *d, struct ml_buf *out)
{
    const struct ml_window_state *s = d->state;
    const uint64_t *events = s->dropped.events;
    const struct ml_window_counts counts = ml_window_sums_counts(s);
    ml_numbers row = {0};
    uint64_t all = 0;
    int r = ml_vec_reserve(&row, ML_DROPPED_FIELDS);

    for (int i = 0; i < ML_KIND_COUNT; i++)
        all += events[i];
    if (r == 0) {
        row.len = ML_DROPPED_FIELDS;
        row.items[ML_DROPPED_VERSION] = ML_WINDOW_VERSION;
        row.items[ML_DROPPED_BEGIN_NS] = s->begin_ns;
        row.items[ML_DROPPED_EVENTS] = all;
        row.items[ML_DROPPED_ALLOCATIONS] = events[ML_ALLOC] + events[ML_ALLOC_EX];
        row.items[ML_DROPPED_FREES] =
            events[ML_FREE] + events[ML_FREE_RANGE] + events[ML_MOVE] - events[ML_MOVE_FAILED];
        row.items[ML_DROPPED_LOST] = s->dropped.lost;
        row.items[ML_DROPPED_REPEATED] =
            s->blocks.kept + d->label_blocks + d->ranged_spaces + d->note_count;
        row.items[ML_DROPPED_REFUSALS] = events[ML_OOM];
        row.items[ML_DROPPED_MADE] = counts.allocations;
        row.items[ML_DROPPED_FREED] = counts.frees;
        row.items[ML_DROPPED_STEPS] = ml_window_sums_steps(s);
        r = ml_rows_put(out, ML_WINDOW_DROPPED, &row, ML_DROPPED_FIELDS);
    }
    ml_vec_release(&row);
    return r;
}

static int put_spaces(const struct ml_window_dump *d, struct ml_buf *out)
{
    const struct ml_window_blocks *w = &d->state->blocks;
    ml_numbers rows = {0};
    int r = ml_vec_reserve(&rows, w->spaces.len * ML_WINDOW_SPACE_FIELDS);

    for (size_t i = 0; r == 0 && i < w->spaces.len; i++) {
        const struct ml_window_space *s = &w->spaces.items[i];
        uint64_t *row = rows.items + rows.len;

        if (!s->used)
            continue;
        rows.len += ML_WINDOW_SPACE_FIELDS;
        row[ML_WINDOW_SPACE_NUMBER] = i;
        row[ML_WINDOW_SPACE_LIVE_BYTES] = s->live_bytes;
        row[ML_WINDOW_SPACE_LIVE_BLOCKS] = s->live_blocks;
        row[ML_WINDOW_SPACE_PEAK_BYTES] = s->peak_bytes;
        row[ML_WINDOW_SPACE_PEAK_NS] = s->peak_ns;
        row[ML_WINDOW_SPACE_ALLOCATIONS] = s->allocations;
        row[ML_WINDOW_SPACE_ALLOCATED_BYTES] = s->allocated_bytes;
        row[ML_WINDOW_SPACE_FREES] = s->frees;
    }
    if (r == 0)
        r = ml_rows_put(out, ML_WINDOW_SPACES, &rows, ML_WINDOW_SPACE_FIELDS);
    ml_vec_release(&rows);
    return r;
}

static int add_peak(ml_numbers *rows, enum ml_window_peak_of of, uint64_t number,
                    const struct ml_window_gauge *bytes)
{
    const uint64_t row[ML_WINDOW_PEAK_FIELDS] = {
        [ML_WINDOW_PEAK_OF] = of,
        [ML_WINDOW_PEAK_NUMBER] = number,
        [ML_WINDOW_PEAK_SUM_BYTES] = bytes->peak_bytes,
        [ML_WINDOW_PEAK_SUM_NS] = bytes->peak_ns,
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < ML_WINDOW_PEAK_FIELDS; i++)
        r = ml_vec_push(rows, row[i]);
    return r;
}

/* Readers do not ask for those of processes that are gone. */
static int put_peaks(const struct ml_window_dump *d, struct ml_buf *out)
{
    const struct ml_window_state *s = d->state;
    ml_numbers rows = {0};
    int r = add_peak(&rows, ML_PEAK_OF_ALL, 0, &s->all);

    for (size_t i = 0; r == 0 && i < s->devices.len; i++)
        r = add_peak(&rows, ML_PEAK_OF_DEVICE, s->devices.items[i].string,
                     &s->devices.items[i].bytes);
    for (size_t i = 0; r == 0 && i < s->processes.len; i++)
        if (s->processes.items[i].end != ML_WINDOW_GONE && s->processes.items[i].bytes.peak_bytes)
            r = add_peak(&rows, ML_PEAK_OF_PROCESS, i, &s->processes.items[i].bytes);
    if (r == 0)
        r = ml_rows_put(out, ML_WINDOW_PEAKS, &rows, ML_WINDOW_PEAK_FIELDS);
    ml_vec_release(&rows);
    return r;
}

static int put_section(struct ml_window_dump *d, struct ml_block_writer *to)
{
    struct ml_buf bytes = {0};
    int r = put_dropped(d, &bytes);

    if (r == 0)
        r = put_spaces(d, &bytes);
    if (r == 0)
        r = put_peaks(d, &bytes);
    if (r == 0)
        r = ml_block_writer_section(to, ML_BLOCK_WINDOW, d->state->begin_ns, bytes.data, bytes.len);
    ml_buf_release(&bytes);
    d->section_done = true;
    return r;
}

/* ---- Events --------------------------------------------------------------- */

/* An empty range: from here on the space has ranges. */
static bool next_ranged(struct ml_window_dump *d, struct ml_event *ret)
{
    const struct ml_window_blocks *w = &d->state->blocks;

    while (d->next_space < w->spaces.len) {
        uint32_t space = (uint32_t)d->next_space++;

        if (!w->spaces.items[space].ranged)
            continue;
        *ret = (struct ml_event){.kind = ML_FREE_RANGE, .time_ns = d->first_ns, .space = space};
        return true;
    }
    return false;
}

static void next_block(struct ml_window_dump *d, const struct ml_window_block *b,
                       struct ml_event *ret)
{
    d->next_block++;
    *ret = (struct ml_event){.kind = b->kind,
                             .time_ns = b->time_ns,
                             .addr = b->addr,
                             .size = b->kind == ML_MOVE ? 0 : b->size,
                             .thread = b->thread,
                             .space = b->space,
                             .scope = b->scope,
                             .stack = b->stack};
    if (b->kind == ML_ALLOC_EX) {
        ret->args[0] = b->requested;
        ret->args[1] = b->stream;
    }
    if (!b->label && !b->category)
        return;
    d->label = *ret;
    d->label.kind = ML_LABEL;
    d->label.size = d->label.stack = 0;
    d->label.args[0] = b->label;
    d->label.args[1] = b->category;
}

/* False: there are no more. */
static bool next_event(struct ml_window_dump *d, struct ml_event *ret)
{
    const struct ml_window_block *b = block_at(d, d->next_block);

    if (d->label.kind) {
        *ret = d->label;
        d->label.kind = 0;
        return true;
    }
    if (next_ranged(d, ret))
        return true;
    if (d->next_note < d->note_count && (!b || d->notes[d->next_note].time_ns < b->time_ns)) {
        *ret = d->notes[d->next_note++];
        return true;
    }
    if (!b)
        return false;
    next_block(d, b, ret);
    return true;
}

static int put_events(struct ml_window_dump *d, struct ml_block_writer *to, ml_totals_list *counts)
{
    struct ml_block_header h = {.type = ML_BLOCK_EVENTS};
    struct ml_index_totals sums = {0};
    struct ml_event e;
    uint64_t last_ns;
    size_t len;

    while (!ml_encoder_full(d->encoder)) {
        if (!next_event(d, &e)) {
            d->done = true;
            break;
        }
        ml_encoder_add(d->encoder, &e);
        sums.events[e.kind]++;
        if (e.kind == ML_LOST && ml_lost_is_events(e.args[2]))
            sums.lost += e.args[0];
    }
    last_ns = d->encoder->last_ns;
    len = ml_encoder_finish(d->encoder, d->raw.data, &h);
    d->encoder->floor_ns = last_ns;
    if (!len)
        return 0;
    if (ml_vec_push(counts, sums))
        return -ENOMEM;
    return ml_block_writer_events(to, ML_BLOCK_EVENTS, &h, d->raw.data, len);
}

/* Other blocks have no events. @return 0 or -ENOMEM */
static int count_none(const struct ml_block_writer *to, ml_totals_list *counts)
{
    while (counts->len < to->index.len) {
        if (ml_vec_push(counts, (struct ml_index_totals){0}))
            return -ENOMEM;
    }
    return 0;
}

int ml_window_dump_block(struct ml_window_dump *d, struct ml_block_writer *to,
                         ml_totals_list *counts)
{
    int r;

    if (d->next_defs < d->state->defs_ends.len)
        r = put_defs(d, to);
    else if (!d->section_done)
        r = put_section(d, to);
    else
        return put_events(d, to, counts);
    return r < 0 ? r : count_none(to, counts);
}
