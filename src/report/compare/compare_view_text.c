/* compare_view_text.c: runs side by side, entry by entry, as one table that fits.
 *
 * Each run has a column with its bytes, followed by the change, as far as the
 * width allows: bytes and percent, percent alone, or nothing. If not even that
 * fits, each entry has a line for each run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "cells.h"
#include "paragraph.h"
#include "snapshot_report.h"

#define NAME_ROOM 16 /* the least columns in which names still differ */

enum layout { WITH_CHANGES, WITH_PERCENT, BYTES_ALONE, BY_LINES };

struct writer {
    const struct ml_compare *compare;
    const struct ml_compare_view *view;
    const struct ml_style *style;
    struct ml_table t;
};

/* ---- Names ------------------------------------------------------------- */

static size_t name_count(const struct ml_compare_view *view)
{
    return view->rows == ML_COMPARE_KEYS ? view->by_count : 1;
}

static const char *name_title(const struct ml_compare_view *view, size_t i)
{
    switch (view->rows) {
    case ML_COMPARE_KEYS: return ml_key_name(view->by[i]);
    case ML_COMPARE_STEPS: return "step";
    case ML_COMPARE_PHASES: return "phase";
    }
    return "";
}

static void name_cells(struct writer *w, const struct ml_compare_entry *entry)
{
    for (size_t i = 0; i < name_count(w->view); i++)
        if (entry == &w->view->rest && i == 0)
            ml_table_cellf(&w->t, "(%zu more)", w->view->rest_count);
        else if (entry == &w->view->total && i == 0)
            ml_table_cell(&w->t, "(total)");
        else if (entry == &w->view->rest || entry == &w->view->total)
            ml_table_cell(&w->t, "");
        else if (entry->names[i][0])
            ml_table_cell(&w->t, entry->names[i]);
        else
            ml_table_cellf(&w->t, "(no %s)", name_title(w->view, i));
}

int ml_compare_entry_text(const struct ml_compare_view *view, const struct ml_compare_entry *entry,
                          struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < name_count(view); i++) {
        const char *name = entry->names[i];

        r = ml_buf_printf(out, "%s%s%s%s", i ? ", " : "", *name ? "" : "no ", name_title(view, i),
                          *name ? " " : "");
        if (r == 0)
            r = ml_report_safe(out, name);
    }
    return r;
}

/* ---- Cells ------------------------------------------------------------- */

static void bytes_cell(struct writer *w, const struct ml_compare_cell *cell)
{
    if (cell->known)
        ml_cells_bytes(&w->t, w->style, cell->change.value);
    else
        ml_table_cell(&w->t, "-");
}

/* Empty if the run cannot be compared or nothing changed. */
static void change_cells(struct writer *w, const struct ml_compare_entry *entry, size_t run,
                         bool bytes)
{
    const struct ml_compare_cell *cell = &entry->cells[run];
    bool shown = run > 0 && cell->known && entry->cells[0].known && cell->change.difference != 0;

    if (bytes && shown)
        ml_change_bytes_cell(&w->t, w->style, &cell->change);
    else if (bytes)
        ml_table_cell(&w->t, "");
    if (shown)
        ml_change_percent_cell(&w->t, &cell->change);
    else
        ml_table_cell(&w->t, "");
}

/* ---- The table --------------------------------------------------------- */

static void add_columns(struct writer *w, enum layout layout)
{
    const struct ml_compare *c = w->compare;

    ml_table_init(&w->t);
    for (size_t i = 0; i < name_count(w->view); i++)
        ml_table_column(&w->t, name_title(w->view, i),
                        w->view->rows == ML_COMPARE_STEPS ? ML_RIGHT : ML_LEFT);
    if (layout == BY_LINES) {
        static const char *const titles[] = {"run", "bytes", "change", ""};

        for (size_t i = 0; i < ML_ARRAY_SIZE(titles); i++)
            ml_table_column(&w->t, titles[i], i == 0 ? ML_LEFT : ML_RIGHT);
        return;
    }
    for (size_t run = 0; run < c->runs.len; run++) {
        ml_table_column(&w->t, c->runs.items[run].name, ML_RIGHT);
        if (run > 0 && layout == WITH_CHANGES)
            ml_table_column(&w->t, "change", ML_RIGHT);
        if (run > 0 && layout != BYTES_ALONE)
            ml_table_column(&w->t, "", ML_RIGHT);
    }
}

static void entry_line(struct writer *w, enum layout layout, const struct ml_compare_entry *entry)
{
    name_cells(w, entry);
    for (size_t run = 0; run < w->compare->runs.len; run++) {
        bytes_cell(w, &entry->cells[run]);
        if (run > 0 && layout != BYTES_ALONE)
            change_cells(w, entry, run, layout == WITH_CHANGES);
    }
}

static void entry_lines(struct writer *w, const struct ml_compare_entry *entry)
{
    for (size_t run = 0; run < w->compare->runs.len; run++) {
        if (run == 0)
            name_cells(w, entry);
        for (size_t i = 0; run > 0 && i < name_count(w->view); i++)
            ml_table_cell(&w->t, "");
        ml_table_cell(&w->t, w->compare->runs.items[run].name);
        bytes_cell(w, &entry->cells[run]);
        change_cells(w, entry, run, true);
    }
}

static void add_entry(struct writer *w, enum layout layout, const struct ml_compare_entry *entry)
{
    if (layout == BY_LINES)
        entry_lines(w, entry);
    else
        entry_line(w, layout, entry);
}

static void fill(struct writer *w, enum layout layout)
{
    const struct ml_compare_view *view = w->view;

    add_columns(w, layout);
    for (size_t i = 0; i < view->entries.len; i++)
        add_entry(w, layout, &view->entries.items[i]);
    if (view->rest_count > 0 && view->rows == ML_COMPARE_KEYS)
        add_entry(w, layout, &view->rest);
    if (ml_compare_view_has_total(view))
        add_entry(w, layout, &view->total);
}

/* Names can be cut, figures cannot. */
static bool fits(const struct writer *w)
{
    size_t width = 0;

    for (size_t i = 0; i < w->t.columns.len; i++) {
        const struct ml_table_column *column = &w->t.columns.items[i];

        width +=
            (i ? 2 : 0) +
            (column->align == ML_LEFT && column->width > NAME_ROOM ? NAME_ROOM : column->width);
    }
    return w->style->width == 0 || width <= w->style->width;
}

static int put_heading(const struct ml_compare_view *view, const struct ml_style *style,
                       struct ml_buf *out)
{
    char words[64], keys[128] = "";
    size_t used = 0;

    if (view->rows == ML_COMPARE_STEPS)
        return ml_report_heading(
            out, style, "Peak of each step%s",
            view->by_position ? ", by position: the runs have no step number in common" : "");
    if (view->rows == ML_COMPARE_PHASES)
        return ml_report_heading(out, style, "Peak in each phase");
    for (size_t i = 0; i < view->by_count && used < sizeof(keys); i++)
        used += (size_t)snprintf(keys + used, sizeof(keys) - used, "%s%s", i ? ", " : "",
                                 ml_key_name(view->by[i]));
    if (view->of_instants)
        return ml_report_heading(out, style, "Live by %s", keys);
    if (view->at.kind == ML_AT_PEAK)
        return ml_report_heading(out, style, "At the peak, by %s", keys);
    if (view->at.kind == ML_AT_TIME)
        snprintf(words, sizeof(words), " (%.3f s)", (double)view->at.time_ns / 1e9);
    else
        ml_instant_words(&view->at, words);
    return ml_report_heading(out, style, "Live by %s%s", keys, words);
}

int ml_compare_view_text(const struct ml_compare *compare, const struct ml_compare_view *view,
                         const struct ml_style *style, struct ml_buf *out)
{
    struct writer w = {.compare = compare, .view = view, .style = style};
    int r = put_heading(view, style, out);

    for (enum layout layout = WITH_CHANGES; r == 0; layout++) {
        fill(&w, layout);
        if (layout == BY_LINES || fits(&w))
            break;
        ml_table_release(&w.t);
    }
    if (r == 0)
        r = ml_cells_print(&w.t, r, out, style);
    if (r == 0 && view->rows == ML_COMPARE_KEYS && !ml_compare_view_has_total(view))
        r = ml_report_paragraph(
            out, style, 0,
            "Each run is shown at its own peak, which may be in another step or "
            "phase; --at chooses a moment.");
    if (r == 0 && view->rest_count > 0 && view->rows != ML_COMPARE_KEYS)
        r = ml_buf_printf(out, "%zu more that changed less are not listed; --top lists them.\n",
                          view->rest_count);
    return r;
}
