/* compare_view.c: see compare_view.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare_view.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_samples.h"
#include "phase_peaks.h"

struct builder {
    const struct ml_compare_input *inputs;
    const struct ml_compare *compare;
    const struct ml_compare_view_opts *opts;
    struct ml_compare_view *view;
    struct ml_intern index; /* names -> entry */
    struct ml_buf key;
};

static const struct ml_compare_input *input_of(const struct builder *b, size_t run)
{
    return &b->inputs[b->compare->runs.items[run].given];
}

/* ---- Entries ----------------------------------------------------------- */

/* The numbers of processes and threads differ in every run. */
static const char *lasting_name(const struct builder *b, enum ml_key key, const char *name)
{
    if (b->view->of_instants || (key != ML_KEY_THREAD && key != ML_KEY_PROCESS))
        return name;
    while (isdigit((unsigned char)*name))
        name++;
    return *name == ' ' ? name + 1 : name;
}

static struct ml_compare_cell *new_cells(struct builder *b)
{
    size_t bytes = b->compare->runs.len * sizeof(struct ml_compare_cell);
    struct ml_compare_cell *cells = ml_arena_alloc(&b->view->arena, bytes);

    if (cells)
        memset(cells, 0, bytes);
    return cells;
}

static int new_entry(struct builder *b, const char *const *names, size_t count)
{
    struct ml_compare_entry entry = {.cells = new_cells(b)};

    for (size_t i = 0; i < count; i++) {
        entry.names[i] = ml_arena_dup(&b->view->arena, names[i], strlen(names[i]));
        if (!entry.names[i])
            return -ENOMEM;
    }
    return entry.cells ? ml_vec_push(&b->view->entries, entry) : -ENOMEM;
}

/* The entry of these names, added if it is new. @return NULL: out of memory */
static struct ml_compare_entry *entry_of(struct builder *b, const char *const *names, size_t count)
{
    int64_t at;

    ml_buf_clear(&b->key);
    for (size_t i = 0; i < count; i++)
        if (ml_buf_append(&b->key, names[i], strlen(names[i]) + 1) < 0)
            return NULL;
    at = ml_intern_put(&b->index, b->key.data, b->key.len, NULL);
    if (at < 0 || ((size_t)at == b->view->entries.len && new_entry(b, names, count) < 0))
        return NULL;
    return &b->view->entries.items[at];
}

static int add(struct builder *b, size_t run, const char *const *names, size_t count,
               uint64_t bytes)
{
    struct ml_compare_entry *entry = entry_of(b, names, count);

    if (!entry)
        return -ENOMEM;
    entry->cells[run].change.value += bytes;
    entry->cells[run].known = true;
    return 0;
}

/* If several peaks have one name, the highest counts. @return NULL: out of memory */
static struct ml_compare_entry *add_peak(struct builder *b, size_t run, const char *name,
                                         uint64_t bytes)
{
    struct ml_compare_entry *entry = entry_of(b, &name, 1);

    if (!entry)
        return NULL;
    entry->cells[run].change.value = ml_max_u64(entry->cells[run].change.value, bytes);
    entry->cells[run].known = true;
    return entry;
}

/* ---- Groups of blocks -------------------------------------------------- */

static int add_breakdown(struct builder *b, size_t run, const struct ml_breakdown *breakdown)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < breakdown->groups.len; i++) {
        const struct ml_breakdown_group *group = &breakdown->groups.items[i];
        const char *names[ML_KEYS];

        for (size_t k = 0; k < breakdown->by_count; k++)
            names[k] = lasting_name(b, breakdown->by[k], group->names[k]);
        r = add(b, run, names, breakdown->by_count, group->bytes);
    }
    return r;
}

static int note_moment(struct builder *b, const struct ml_snapshot *at)
{
    const struct ml_compare_moment moment = {.time_ns = at->instant.time_ns,
                                             .bytes = at->bytes,
                                             .blocks = at->blocks,
                                             .health = at->instant.health};

    return b->view->of_instants ? ml_vec_push(&b->view->moments, moment) : 0;
}

static int add_groups(struct builder *b, size_t run, struct ml_error *err)
{
    const struct ml_compare_input *input = input_of(b, run);
    struct ml_breakdown_opts opts = {
        .snapshot = {.at = b->opts->instants ? b->opts->instants[run] : b->opts->at,
                     .device = b->opts->device,
                     .pid = b->opts->pid,
                     .caps = b->opts->caps},
        .by_count = b->opts->by_count,
        .top = SIZE_MAX,
    };
    struct ml_breakdown breakdown;
    int r;

    memcpy(opts.by, b->opts->by, sizeof(opts.by));
    r = ml_breakdown(input->trace, &opts, &breakdown, err);
    if (r < 0 && input->file)
        ml_error_set(err, r, "%s: %s", input->file, err->text);
    if (r == 0)
        r = add_breakdown(b, run, &breakdown);
    if (r == 0)
        r = note_moment(b, &breakdown.at);
    ml_breakdown_release(&breakdown);
    return r;
}

/* The summaries contain these already. */
static int add_categories(struct builder *b)
{
    for (size_t i = 0; i < b->compare->categories.len; i++) {
        const struct ml_compare_category *category = &b->compare->categories.items[i];

        for (size_t run = 0; run < b->compare->runs.len; run++)
            if (add(b, run, &category->name, 1, category->at_peak[run].value) < 0)
                return -ENOMEM;
    }
    return 0;
}

static bool is_default(const struct builder *b)
{
    const struct ml_compare_view_opts *opts = b->opts;

    return !b->view->of_instants && opts->at.kind == ML_AT_PEAK && opts->by_count == 1 &&
           opts->by[0] == ML_KEY_CATEGORY;
}

/* A group that is missing in a run has no bytes there. */
static int add_all_groups(struct builder *b, struct ml_error *err)
{
    int r = is_default(b) ? add_categories(b) : 0;

    for (size_t run = 0; r == 0 && !is_default(b) && run < b->compare->runs.len; run++)
        r = add_groups(b, run, err);
    for (size_t i = 0; i < b->view->entries.len; i++)
        for (size_t run = 0; run < b->compare->runs.len; run++)
            b->view->entries.items[i].cells[run].known = true;
    return r;
}

/* ---- Steps ------------------------------------------------------------- */

static const struct ml_steps *steps_of(const struct builder *b, size_t run)
{
    return &input_of(b, run)->summary->steps;
}

/* Whether some run shares a step number with the first one. @return 0, 1 or -ENOMEM */
static int share_numbers(const struct builder *b)
{
    const struct ml_steps *first = steps_of(b, 0);
    struct ml_map numbers = {0};
    int found = 0;

    for (size_t i = 0; found == 0 && i < first->list.len; i++)
        found = ml_map_put(&numbers, first->list.items[i].number, 0);
    for (size_t run = 1; found == 0 && run < b->compare->runs.len; run++)
        for (size_t i = 0; found == 0 && i < steps_of(b, run)->list.len; i++)
            found = ml_map_get(&numbers, steps_of(b, run)->list.items[i].number, NULL);
    ml_map_release(&numbers);
    return found;
}

static int add_step(struct builder *b, size_t run, uint64_t number, uint64_t peak_bytes)
{
    char text[32];
    struct ml_compare_entry *entry;

    snprintf(text, sizeof(text), "%" PRIu64, number);
    entry = add_peak(b, run, text, peak_bytes);
    if (!entry)
        return -ENOMEM;
    entry->number = number;
    return 0;
}

static int add_all_steps(struct builder *b, struct ml_error *err)
{
    int r = share_numbers(b);

    b->view->by_position = r == 0;
    r = r < 0 ? r : 0;
    for (size_t run = 0; r == 0 && run < b->compare->runs.len; run++) {
        const struct ml_steps *steps = steps_of(b, run);

        for (size_t i = 0; r == 0 && i < steps->list.len; i++)
            r = add_step(b, run, b->view->by_position ? i : steps->list.items[i].number,
                         steps->list.items[i].peak_bytes);
    }
    if (r == 0 && b->view->entries.len == 0)
        r = ml_error_set(err, -ENOENT,
                         "no run has steps; memledger run marks them for PyTorch and MXNet, "
                         "memledger_step(n) in other programs");
    return r;
}

/* ---- Phases ------------------------------------------------------------ */

static int add_phases(struct builder *b, size_t run, struct ml_error *err)
{
    const struct ml_trace *trace = input_of(b, run)->trace;
    struct ml_phase_peaks peaks;
    int r = ml_phase_peaks(trace, b->opts->caps, &peaks, err);

    for (size_t i = 0; r == 0 && i < peaks.list.len; i++) {
        const char *name = ml_trace_string(trace, peaks.list.items[i].phase, NULL);

        if (!add_peak(b, run, name, peaks.list.items[i].peak_bytes))
            r = -ENOMEM;
    }
    ml_phase_peaks_release(&peaks);
    return r;
}

static int add_all_phases(struct builder *b, struct ml_error *err)
{
    int r = 0;

    for (size_t run = 0; r == 0 && run < b->compare->runs.len; run++)
        r = add_phases(b, run, err);
    if (r == 0 && b->view->entries.len == 0)
        r = ml_error_set(err, -ENOENT,
                         "no run has phases; memledger run marks them for PyTorch and MXNet, "
                         "memledger_phase() in other programs");
    return r;
}

/* ---- Changes ----------------------------------------------------------- */

static uint64_t magnitude(int64_t difference)
{
    return difference < 0 ? 0 - (uint64_t)difference : (uint64_t)difference;
}

/* A step or phase that the first run lacks cannot be compared. */
static void set_changes(struct ml_compare_entry *entry, size_t runs)
{
    const struct ml_compare_cell first = entry->cells[0];

    entry->largest_change = 0;
    for (size_t run = 0; run < runs; run++) {
        struct ml_compare_cell *cell = &entry->cells[run];

        cell->change =
            ml_change_of(cell->change.value, first.known ? first.change.value : cell->change.value);
        if (cell->known)
            entry->largest_change =
                ml_max_u64(entry->largest_change, magnitude(cell->change.difference));
    }
}

static int by_change(const void *a, const void *b)
{
    const struct ml_compare_entry *x = a, *y = b;

    if (x->largest_change != y->largest_change)
        return x->largest_change < y->largest_change ? 1 : -1;
    if (x->cells[0].change.value != y->cells[0].change.value)
        return x->cells[0].change.value < y->cells[0].change.value ? 1 : -1;
    for (size_t i = 0; i < ML_KEYS && x->names[i] && y->names[i]; i++) {
        int order = strcmp(x->names[i], y->names[i]);

        if (order != 0)
            return order;
    }
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const struct ml_compare_entry *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static int begin_sum(struct builder *b, struct ml_compare_entry *sum)
{
    sum->cells = new_cells(b);
    if (!sum->cells)
        return -ENOMEM;
    for (size_t run = 0; run < b->compare->runs.len; run++)
        sum->cells[run].known = true;
    return 0;
}

static void add_to_sum(struct ml_compare_entry *sum, const struct ml_compare_entry *entry,
                       size_t runs)
{
    for (size_t run = 0; run < runs; run++)
        sum->cells[run].change.value += entry->cells[run].change.value;
}

static int add_up(struct builder *b)
{
    struct ml_compare_view *view = b->view;

    if (begin_sum(b, &view->total) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < view->entries.len; i++)
        add_to_sum(&view->total, &view->entries.items[i], b->compare->runs.len);
    set_changes(&view->total, b->compare->runs.len);
    return 0;
}

/* Merges the entries after the first `top` into one. */
static int fold_rest(struct builder *b)
{
    struct ml_compare_view *view = b->view;
    size_t runs = b->compare->runs.len;

    if (begin_sum(b, &view->rest) < 0)
        return -ENOMEM;
    while (
        view->entries.len > b->opts->top ||
        (view->entries.len > 0 && b->opts->min_change_bytes > 0 &&
         view->entries.items[view->entries.len - 1].largest_change < b->opts->min_change_bytes)) {
        const struct ml_compare_entry *entry = &view->entries.items[--view->entries.len];

        add_to_sum(&view->rest, entry, runs);
        view->rest_count++;
    }
    set_changes(&view->rest, runs);
    return 0;
}

static bool rose_more(const struct ml_compare_cell *a, const struct ml_compare_cell *b)
{
    if (a->change.percent != b->change.percent)
        return a->change.percent > b->change.percent;
    return a->change.difference > b->change.difference;
}

/* The increase of a new entry exceeds any percentage. */
static void find_worst(struct builder *b)
{
    struct ml_compare_view *view = b->view;

    for (size_t i = 0; i < view->entries.len; i++)
        for (size_t run = 1; run < b->compare->runs.len; run++) {
            const struct ml_compare_entry *entry = &view->entries.items[i];
            const struct ml_compare_cell *cell = &entry->cells[run];

            if (!cell->known || cell->change.difference <= 0 ||
                (uint64_t)cell->change.difference < b->opts->min_change_bytes)
                continue;
            if (view->worst_run == 0 || rose_more(cell, &view->worst.cells[view->worst_run])) {
                view->worst = *entry;
                view->worst_run = run;
            }
        }
}

static int finish(struct builder *b)
{
    struct ml_compare_view *view = b->view;
    struct ml_compare_entry *entries = view->entries.items;

    for (size_t i = 0; i < view->entries.len; i++)
        set_changes(&entries[i], b->compare->runs.len);
    find_worst(b);
    if (view->rows == ML_COMPARE_KEYS && add_up(b) < 0)
        return -ENOMEM;
    if (view->rows != ML_COMPARE_PHASES)
        ml_vec_sort(&view->entries, by_change);
    if (view->rows != ML_COMPARE_PHASES && fold_rest(b) < 0)
        return -ENOMEM;
    if (view->rows == ML_COMPARE_STEPS)
        ml_vec_sort(&view->entries, by_number);
    return 0;
}

/* ---- The view ---------------------------------------------------------- */

int ml_compare_view(const struct ml_compare_input *inputs, const struct ml_compare *compare,
                    const struct ml_compare_view_opts *opts, struct ml_compare_view *ret,
                    struct ml_error *err)
{
    struct builder b = {.inputs = inputs, .compare = compare, .opts = opts, .view = ret};
    int r = 0;

    *ret = (struct ml_compare_view){.rows = opts->rows,
                                    .by_count = opts->by_count,
                                    .at = opts->at,
                                    .of_instants = opts->instants != NULL};
    memcpy(ret->by, opts->by, sizeof(ret->by));
    if (compare->by_samples)
        return ml_error_set(err, -EINVAL,
                            "no run has allocations: only the samples can be compared");
    switch (opts->rows) {
    case ML_COMPARE_KEYS: r = add_all_groups(&b, err); break;
    case ML_COMPARE_STEPS: r = add_all_steps(&b, err); break;
    case ML_COMPARE_PHASES: r = add_all_phases(&b, err); break;
    }
    if (r == 0)
        r = finish(&b);
    ml_intern_release(&b.index);
    ml_buf_release(&b.key);
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    return r;
}

void ml_compare_view_release(struct ml_compare_view *view)
{
    ml_vec_release(&view->entries);
    ml_vec_release(&view->moments);
    ml_arena_release(&view->arena);
    *view = (struct ml_compare_view){0};
}
