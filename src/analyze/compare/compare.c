/* compare.c: see compare.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_samples.h"
#include "event_names.h"

struct ml_change ml_change_of(uint64_t value, uint64_t first)
{
    struct ml_change c = {.value = value, .difference = (int64_t)(value - first)};

    if (first > 0)
        c.percent = 100.0 * ((double)value - (double)first) / (double)first;
    else
        c.percent = value > 0 ? INFINITY : 0;
    return c;
}

/* ---- Runs -------------------------------------------------------------- */

static int by_increase(const void *a, const void *b)
{
    const struct ml_compare_run *x = a, *y = b;

    if (x->peak.difference != y->peak.difference)
        return x->peak.difference < y->peak.difference ? 1 : -1;
    return x->given < y->given ? -1 : x->given > y->given;
}

static int add_runs(const struct ml_compare_input *inputs, size_t count, struct ml_compare *ret)
{
    const struct ml_summary *first = inputs[0].summary;

    for (size_t i = 0; i < count; i++) {
        const struct ml_summary *s = inputs[i].summary;
        struct ml_compare_run run = {
            .name = inputs[i].name,
            .file = inputs[i].file,
            .given = i,
            .peak = ml_change_of(s->counted.peak_bytes, first->counted.peak_bytes),
            .live = ml_change_of(s->counted.live_bytes, first->counted.live_bytes),
            .allocations = ml_change_of(s->counted.allocations, first->counted.allocations),
            .duration = ml_change_of(s->duration_ns, first->duration_ns),
            .left_bytes = s->counted.left_bytes,
            .peak_time_ns = s->counted.peak_time_ns,
            .health = &s->health,
        };

        if (ml_vec_push(&ret->runs, run) < 0)
            return -ENOMEM;
    }
    if (count > 2)
        qsort(ret->runs.items + 1, count - 1, sizeof(*ret->runs.items), by_increase);
    return 0;
}

/* ---- Devices ----------------------------------------------------------- */

static const struct ml_figures *figures_of(const struct ml_summary *summary, const char *device)
{
    static const struct ml_figures none;

    for (size_t i = 0; i < summary->devices.len; i++)
        if (!strcmp(summary->devices.items[i].name, device))
            return &summary->devices.items[i].counted;
    return &none;
}

static bool is_listed(const struct ml_compare *compare, const char *device)
{
    for (size_t i = 0; i < compare->devices.len; i++)
        if (!strcmp(compare->devices.items[i].name, device))
            return true;
    return false;
}

static int add_device(const struct ml_compare_input *inputs, const char *name,
                      struct ml_compare *ret)
{
    uint64_t first = figures_of(inputs[0].summary, name)->peak_bytes;
    size_t count = ret->runs.len;
    struct ml_change *peak = ml_arena_alloc(&ret->arena, count * sizeof(*peak));
    uint64_t *left_bytes = ml_arena_alloc(&ret->arena, count * sizeof(*left_bytes));

    if (!peak || !left_bytes)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct ml_figures *f = figures_of(inputs[ret->runs.items[i].given].summary, name);

        peak[i] = ml_change_of(f->peak_bytes, first);
        left_bytes[i] = f->left_bytes;
    }
    return ml_vec_push(&ret->devices, ((struct ml_compare_device){name, peak, left_bytes}));
}

/* All that any run used, as their summaries list them. One alone needs no list. */
static int add_devices(const struct ml_compare_input *inputs, size_t count, struct ml_compare *ret)
{
    int r = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; r == 0 && k < inputs[i].summary->devices.len; k++) {
            const struct ml_summary_device *d = &inputs[i].summary->devices.items[k];

            if (d->counted.peak_bytes > 0 && !is_listed(ret, d->name))
                r = add_device(inputs, d->name, ret);
        }
    if (ret->devices.len == 1)
        ml_vec_clear(&ret->devices);
    return r;
}

/* A rise on one device is not made up for by a fall on another. What a device that is new takes
 * shows in the sum. */
static double worst_increase(const struct ml_compare *c)
{
    double worst = -INFINITY;

    for (size_t run = 1; run < c->runs.len; run++) {
        worst = fmax(worst, c->runs.items[run].peak.percent);
        for (size_t i = 0; i < c->devices.len; i++)
            if (c->devices.items[i].peak[0].value > 0)
                worst = fmax(worst, c->devices.items[i].peak[run].percent);
    }
    return worst;
}

/* ---- Categories -------------------------------------------------------- */

static uint64_t at_peak(const struct ml_summary *summary, uint8_t category)
{
    for (size_t i = 0; i < summary->categories.len; i++)
        if (summary->categories.items[i].category == category)
            return summary->categories.items[i].at_peak_bytes;
    return 0;
}

static int by_change(const void *a, const void *b)
{
    const struct ml_compare_category *x = a, *y = b;

    if (x->largest_change != y->largest_change)
        return x->largest_change < y->largest_change ? 1 : -1;
    if (x->at_peak[0].value != y->at_peak[0].value)
        return x->at_peak[0].value < y->at_peak[0].value ? 1 : -1;
    return 0;
}

static int add_category(const struct ml_compare_input *inputs, uint8_t category,
                        struct ml_compare *ret)
{
    struct ml_compare_category c = {.name = ml_category_name(category)};
    uint64_t first = at_peak(inputs[0].summary, category);
    bool any = false;

    c.at_peak = ml_arena_alloc(&ret->arena, ret->runs.len * sizeof(*c.at_peak));
    if (!c.at_peak)
        return -ENOMEM;
    for (size_t i = 0; i < ret->runs.len; i++) {
        uint64_t bytes = at_peak(inputs[ret->runs.items[i].given].summary, category);
        uint64_t difference = bytes > first ? bytes - first : first - bytes;

        c.at_peak[i] = ml_change_of(bytes, first);
        c.largest_change = ml_max_u64(c.largest_change, difference);
        any |= bytes > 0;
    }
    return any ? ml_vec_push(&ret->categories, c) : 0;
}

/* ---- Levels ------------------------------------------------------------ */

static int add_levels(const struct ml_level_caps *caps, struct ml_compare *ret)
{
    uint32_t cursor = 0, level;
    const char *device;

    while ((device = ml_level_caps_next(caps, &cursor, &level)))
        if (ml_vec_push(&ret->levels, ((struct ml_compare_level){device, ml_level_name(level)})) <
            0)
            return -ENOMEM;
    return 0;
}

/* ---- The comparison ---------------------------------------------------- */

int ml_compare(const struct ml_compare_input *inputs, size_t count,
               const struct ml_level_caps *caps, struct ml_compare *ret, struct ml_error *err)
{
    int r;

    *ret = (struct ml_compare){0};
    r = ml_compare_check(inputs, count, &ret->by_samples, err);
    if (r < 0)
        return r;
    r = add_runs(inputs, count, ret);
    if (r == 0)
        r = add_devices(inputs, count, ret);
    if (r == 0)
        ret->worst_increase_percent = worst_increase(ret);
    for (uint8_t category = 0; r == 0 && category < ML_CATEGORIES; category++)
        r = add_category(inputs, category, ret);
    if (r == 0)
        r = add_levels(caps, ret);
    if (r == 0 && ret->by_samples)
        r = ml_compare_samples(inputs, ret);
    ml_vec_sort(&ret->categories, by_change);
    return r < 0 ? ml_error_set(err, r, "out of memory") : 0;
}

void ml_compare_release(struct ml_compare *compare)
{
    ml_arena_release(&compare->arena);
    ml_vec_release(&compare->runs);
    ml_vec_release(&compare->categories);
    ml_vec_release(&compare->devices);
    ml_vec_release(&compare->levels);
    ml_vec_release(&compare->sampled);
    *compare = (struct ml_compare){0};
}
