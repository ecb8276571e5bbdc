/* compare_text.c: runs side by side as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare_report.h"

#include <math.h>
#include <stdio.h>

#include "cells.h"
#include "health_report.h"

#define MANIFOLD 1000   /* percent, above which a factor is easier to read */
#define FACTOR_MAX 1000 /* a larger one only says that the first value was tiny */

void ml_change_percent_cell(struct ml_table *t, const struct ml_change *change)
{
    if (isinf(change->percent))
        ml_table_cell(t, "new");
    else if (change->value == 0 && change->difference < 0)
        ml_table_cell(t, "gone");
    else if (change->percent / 100 + 1 > FACTOR_MAX)
        ml_table_cellf(t, ">×%d", FACTOR_MAX);
    else if (change->percent >= MANIFOLD)
        ml_table_cellf(t, "×%.0f", change->percent / 100 + 1);
    else
        ml_table_cellf(t, "%+.1f %%", change->percent);
}

void ml_change_bytes_cell(struct ml_table *t, const struct ml_style *style,
                          const struct ml_change *change)
{
    char text[32];

    ml_format_bytes(text, change->difference, style->unit);
    ml_table_cellf(t, "%s%s", change->difference > 0 ? "+" : "", text);
}

void ml_change_cells(struct ml_table *t, const struct ml_style *style, size_t run,
                     const struct ml_change *change)
{
    if (run == 0) {
        ml_table_cell(t, "");
        ml_table_cell(t, "");
    } else {
        ml_change_bytes_cell(t, style, change);
        ml_change_percent_cell(t, change);
    }
}

/* Values that an imported file lacks are shown as unknown. */
static void duration_cell(struct ml_table *t, const struct ml_compare_run *run)
{
    if (ml_health_no_times(run->health))
        ml_table_cell(t, "?");
    else
        ml_cells_time(t, run->duration.value);
}

static void left_cell(struct ml_table *t, const struct ml_style *style,
                      const struct ml_compare_run *run, uint64_t left_bytes)
{
    if (ml_health_no_frees(run->health) || ml_health_no_blocks(run->health))
        ml_table_cell(t, "?");
    else
        ml_cells_bytes(t, style, left_bytes);
}

static void peak_cells(struct ml_table *t, const struct ml_style *style, size_t run,
                       const struct ml_change *peak, bool is_known)
{
    if (is_known) {
        ml_cells_bytes(t, style, peak->value);
        ml_change_cells(t, style, run, peak);
    } else {
        ml_table_cell(t, "?");
        ml_table_cell(t, "");
        ml_table_cell(t, "");
    }
}

static void allocations_cell(struct ml_table *t, const struct ml_compare_run *run)
{
    if (ml_health_no_blocks(run->health))
        ml_table_cell(t, "?");
    else
        ml_cells_count(t, run->allocations.value);
}

/* Of a run that was cut short, or went on, what was live at that moment. */
static const char *left_title(const struct ml_compare *c)
{
    for (size_t i = 0; i < c->runs.len; i++)
        if (c->runs.items[i].health->cut_short || c->runs.items[i].health->went_on)
            return ">live at end";
    return ">never freed";
}

static int put_runs_of_one_device(const struct ml_compare *c, const struct ml_style *style,
                                  struct ml_buf *out)
{
    const char *const titles[] = {"run",         ">peak",        ">change",  ">",
                                  left_title(c), ">allocations", ">duration"};
    struct ml_table t;

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < c->runs.len; i++) {
        const struct ml_compare_run *run = &c->runs.items[i];

        ml_table_cell(&t, run->name);
        peak_cells(&t, style, i, &run->peak, !ml_health_no_blocks(run->health));
        left_cell(&t, style, run, run->left_bytes);
        allocations_cell(&t, run);
        duration_cell(&t, run);
    }
    return ml_cells_print(&t, 0, out, style);
}

/* By device if there are several: no device has a memory of the size of their sum. */
static int put_runs_by_device(const struct ml_compare *c, const struct ml_style *style,
                              struct ml_buf *out)
{
    const char *const titles[] = {"run", "device",      ">peak",        ">change",
                                  ">",   left_title(c), ">allocations", ">duration"};
    struct ml_table t;

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < c->runs.len; i++)
        for (size_t k = 0; k < c->devices.len; k++) {
            const struct ml_compare_run *run = &c->runs.items[i];
            const struct ml_compare_device *device = &c->devices.items[k];

            ml_table_cell(&t, k == 0 ? run->name : "");
            ml_table_cell(&t, device->name);
            peak_cells(&t, style, i, &device->peak[i], !ml_health_no_blocks(run->health));
            left_cell(&t, style, run, device->left_bytes[i]);
            if (k > 0) {
                ml_table_cell(&t, "");
                ml_table_cell(&t, "");
                continue;
            }
            allocations_cell(&t, run);
            duration_cell(&t, run);
        }
    return ml_cells_print(&t, 0, out, style);
}

static int put_runs(const struct ml_compare *c, const struct ml_style *style, struct ml_buf *out)
{
    return c->devices.len > 0 ? put_runs_by_device(c, style, out)
                              : put_runs_of_one_device(c, style, out);
}

static int put_levels(const struct ml_compare *c, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < c->levels.len; i++) {
        r = ml_report_safe(out, c->levels.items[i].device);
        if (r == 0)
            r = ml_buf_printf(out, " is counted at the level %s, the highest that all runs have.\n",
                              c->levels.items[i].level);
    }
    return r;
}

/* For runs without allocations. */
static int put_sampled(const struct ml_compare *c, const struct ml_style *style, struct ml_buf *out)
{
    static const char *const titles[] = {"sampled", "run", ">peak", ">change", ">", ">duration"};
    struct ml_table t;
    int r = ml_buf_puts(out, "No run has allocations; these are the highest samples: memory "
                             "in use on a\ndevice, and resident memory (RSS) of the largest "
                             "process.\n\n");

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < c->sampled.len; i++) {
        const struct ml_compare_sampled *sampled = &c->sampled.items[i];
        size_t known = 0; /* changes are from the first of them */

        for (size_t run = 0; run < c->runs.len; run++) {
            ml_table_cell(&t, run == 0 ? sampled->name : "");
            ml_table_cell(&t, c->runs.items[run].name);
            peak_cells(&t, style, known, &sampled->peak[run], sampled->known[run]);
            duration_cell(&t, &c->runs.items[run]);
            known += sampled->known[run];
        }
    }
    return ml_cells_print(&t, r, out, style);
}

int ml_compare_text(const struct ml_compare *compare, const struct ml_compare_view *view,
                    const struct ml_style *style, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < compare->runs.len; i++)
        r = ml_health_text(compare->runs.items[i].health, compare->runs.items[i].name, style, out);
    if (r == 0)
        r = compare->by_samples ? put_sampled(compare, style, out) : put_runs(compare, style, out);
    if (r == 0)
        r = put_levels(compare, out);
    if (r == 0 && view && view->entries.len > 0)
        r = ml_compare_view_text(compare, view, style, out);
    return r;
}
