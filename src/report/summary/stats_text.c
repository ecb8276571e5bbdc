/* stats_text.c: statistics as a page of text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stats_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cells.h"
#include "health_report.h"
#include "event_names.h"
#include "paragraph.h"

#define TEXT_COLUMN 27 /* where the text of a total begins */
#define WIDE_ENOUGH 96 /* for a table with all its columns */

struct page {
    const struct ml_stats *s;
    const struct ml_style *style;
    struct ml_buf *out;
};

static int put_temporary(const struct page *p)
{
    bool known = !p->s->health.sampled_bytes;
    char count[32], bytes[32], text[128];
    int r = ml_buf_printf(p->out, "temporary    %12s  ",
                          known ? ml_format_count(count, (int64_t)p->s->temporary) : "?");

    if (r == 0 && !known)
        return ml_report_paragraph(p->out, p->style, TEXT_COLUMN, "not known of samples");
    snprintf(text, sizeof(text), "%.1f %% of them, %s: freed by their thread's next memory event",
             p->s->temporary_percent,
             ml_format_bytes(bytes, (int64_t)p->s->temporary_bytes, p->style->unit));
    return r < 0 ? r : ml_report_paragraph(p->out, p->style, TEXT_COLUMN, text);
}

static int put_head(const struct page *p, const char *file)
{
    const struct ml_stats *s = p->s;
    char a[32], b[32], c[32];
    int r = ml_report_safe(p->out, file);

    if (r == 0 && ml_health_no_times(&s->health))
        r = ml_buf_printf(p->out, "\n%s event%s, %.2f bytes each on disk\n\n",
                          ml_format_count(a, (int64_t)s->events), s->events == 1 ? "" : "s",
                          s->bytes_per_event);
    else if (r == 0)
        r = ml_buf_printf(p->out, "\n%s event%s in %s, %s per second, %.2f bytes each on disk\n\n",
                          ml_format_count(a, (int64_t)s->events), s->events == 1 ? "" : "s",
                          ml_format_duration_ns(b, (int64_t)s->duration_ns),
                          ml_format_count(c, (int64_t)s->events_per_second), s->bytes_per_event);
    return r;
}

static int put_totals(const struct page *p)
{
    const struct ml_stats *s = p->s;
    char a[32], b[32], c[32], d[32];
    int r;

    if (s->health.imported_from[0] && s->allocations == 0)
        return ml_buf_printf(p->out, "allocations  %12s  not in this source\n", "?");
    r = ml_buf_printf(p->out, "allocations  %12s  %s in all; average %s, largest %s\n",
                      ml_format_count(a, (int64_t)s->allocations),
                      ml_format_bytes(b, (int64_t)s->allocated_bytes, p->style->unit),
                      ml_format_bytes(c, (int64_t)s->average_bytes, p->style->unit),
                      ml_format_bytes(d, (int64_t)s->largest_bytes, p->style->unit));
    if (ml_health_no_frees(&s->health))
        return r;
    if (r == 0)
        r = put_temporary(p);
    if (r == 0 && !ml_health_no_times(&s->health))
        r = ml_buf_printf(p->out, "freed        %12s  lived %s on average, %s at most\n",
                          ml_format_count(a, (int64_t)s->freed),
                          ml_format_duration_ns(b, (int64_t)s->average_life_ns),
                          ml_format_duration_ns(c, (int64_t)s->longest_life_ns));
    return r;
}

static int put_sizes(const struct page *p)
{
    static const char *const titles[] = {">from size", ">allocations",  ">share",
                                         ">bytes",     ">average life", ""};
    bool bars = ml_cells_bars_fit(p->style);
    struct ml_table t;
    int r = ml_report_heading(p->out, p->style, "By size");

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles) - !bars);
    for (size_t i = 0; i < p->s->sizes.len; i++) {
        const struct ml_stats_size *size = &p->s->sizes.items[i];

        ml_cells_bytes(&t, p->style, size->from_bytes);
        ml_cells_count(&t, size->allocations);
        ml_cells_percent(&t, size->percent);
        ml_cells_bytes(&t, p->style, size->allocated_bytes);
        if (size->freed > 0)
            ml_cells_time(&t, size->average_life_ns);
        else
            ml_table_cell(&t, "");
        if (bars)
            ml_cells_bar(&t, size->percent);
    }
    return ml_cells_print(&t, r, p->out, p->style);
}

static int put_kinds(const struct page *p)
{
    static const char *const titles[] = {"kind", ">events"};
    struct ml_table t;
    int r = ml_report_heading(p->out, p->style, "By kind of event");

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (uint32_t kind = 0; kind < ML_ARRAY_SIZE(p->s->kinds); kind++)
        if (p->s->kinds[kind] > 0) {
            ml_table_cell(&t, ml_kind_name(kind));
            ml_cells_count(&t, p->s->kinds[kind]);
        }
    return ml_cells_print(&t, r, p->out, p->style);
}

/* Whether columns have to be left out; --json has all. */
static bool is_narrow(const struct page *p)
{
    return p->style->width > 0 && p->style->width < WIDE_ENOUGH;
}

static int put_threads(const struct page *p)
{
    static const char *const wide[] = {">pid",         ">tid",   "name",   ">events",
                                       ">allocations", ">bytes", ">frees", ">temporary"};
    static const char *const few[] = {">pid",    ">tid",   "name",      ">events",
                                      ">allocs", ">bytes", ">temporary"};
    bool narrow = is_narrow(p);
    struct ml_table t;
    int r = p->s->threads.len == p->s->thread_total
                ? ml_report_heading(p->out, p->style, "By thread")
                : ml_report_heading(p->out, p->style, "By thread (the busiest %zu of %zu)",
                                    p->s->threads.len, p->s->thread_total);

    ml_cells_columns(&t, narrow ? few : wide, narrow ? ML_ARRAY_SIZE(few) : ML_ARRAY_SIZE(wide));
    for (size_t i = 0; i < p->s->threads.len; i++) {
        const struct ml_stats_thread *thread = &p->s->threads.items[i];

        ml_table_cellf(&t, "%u", thread->pid);
        ml_table_cellf(&t, "%u", thread->tid);
        ml_table_cell(&t, thread->name);
        ml_cells_count(&t, thread->events);
        ml_cells_count(&t, thread->allocations);
        ml_cells_bytes(&t, p->style, thread->allocated_bytes);
        if (!narrow)
            ml_cells_count(&t, thread->frees);
        ml_cells_count(&t, thread->temporary);
    }
    return ml_cells_print(&t, r, p->out, p->style);
}

static bool has_one_process(const struct ml_stats *s)
{
    for (size_t i = 1; i < s->spaces.len; i++)
        if (s->spaces.items[i].pid != s->spaces.items[0].pid)
            return false;
    return true;
}

static void put_space(const struct page *p, struct ml_table *t, const struct ml_stats_space *space,
                      bool with_pid, bool with_frees)
{
    ml_table_cell(t, space->device);
    ml_table_cell(t, space->level);
    ml_table_cell(t, space->name);
    if (with_pid)
        ml_table_cellf(t, "%u", space->pid);
    ml_cells_bytes(t, p->style, space->figures.peak_bytes);
    if (ml_health_no_frees(&p->s->health))
        ml_table_cell(t, "?");
    else
        ml_cells_bytes(t, p->style, space->figures.left_bytes);
    ml_cells_count(t, space->figures.allocations);
    if (with_frees)
        ml_cells_count(t, space->figures.frees);
    ml_cells_bytes(t, p->style, space->figures.allocated_bytes);
}

/* A narrow terminal loses the columns that are the same in each line first. */
static int put_spaces(const struct page *p)
{
    bool narrow = is_narrow(p), with_pid = !narrow || !has_one_process(p->s);
    const char *titles[9] = {"device", "level", "space"};
    size_t count = 3;
    struct ml_table t;
    int r = ml_report_heading(p->out, p->style, "By space");

    if (with_pid)
        titles[count++] = ">pid";
    titles[count++] = ">peak";
    titles[count++] = ml_health_left_title(&p->s->health);
    titles[count++] = narrow ? ">allocs" : ">allocations";
    if (!narrow)
        titles[count++] = ">frees";
    titles[count++] = ">bytes";
    ml_cells_columns(&t, titles, count);
    for (size_t i = 0; i < p->s->spaces.len; i++)
        put_space(p, &t, &p->s->spaces.items[i], with_pid, !narrow);
    return ml_cells_print(&t, r, p->out, p->style);
}

static int put_scopes(const struct page *p, const struct ml_stats_scope *scopes, size_t count,
                      const char *order)
{
    static const char *const titles[] = {"scope", ">allocations", ">bytes", ">temporary"};
    struct ml_table t;
    int r;

    if (p->s->scope_total == 0 || (p->s->scope_total == 1 && count == 1 && !scopes[0].path[0]))
        return 0; /* the program has no scopes */
    r = ml_report_heading(p->out, p->style, "Scopes that allocate most %s (%zu of %zu)", order,
                          count, p->s->scope_total);
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < count; i++) {
        ml_cells_scope(&t, scopes[i].path);
        ml_cells_count(&t, scopes[i].allocations);
        ml_cells_bytes(&t, p->style, scopes[i].allocated_bytes);
        ml_cells_count(&t, scopes[i].temporary);
    }
    return ml_cells_print(&t, r, p->out, p->style);
}

static int put_largest(const struct page *p)
{
    static const char *const titles[] = {">address", ">bytes", ">allocated at", "device",
                                         "space",    "scope",  "label"};
    bool no_frees = ml_health_no_frees(&p->s->health);
    struct ml_table t;
    int r;

    if (p->s->largest.len == 0)
        return 0;
    r = ml_report_heading(p->out, p->style, "Largest blocks%s%s", no_frees ? "" : " ",
                          no_frees ? "" : ml_health_left_title(&p->s->health) + 1);
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < p->s->largest.len; i++) {
        const struct ml_stats_block *block = &p->s->largest.items[i];

        if (p->s->health.unknown & ML_UNKNOWN_ADDRESSES)
            ml_table_cell(&t, "?");
        else
            ml_table_cellf(&t, "0x%llx", (unsigned long long)block->address);
        ml_cells_bytes(&t, p->style, block->bytes);
        if (ml_health_no_times(&p->s->health))
            ml_table_cell(&t, "?");
        else
            ml_cells_time(&t, block->time_ns);
        ml_table_cell(&t, block->device);
        ml_table_cell(&t, block->space);
        ml_cells_scope(&t, block->scope);
        ml_table_cell(&t, block->label);
    }
    return ml_cells_print(&t, r, p->out, p->style);
}

static void put_value(struct ml_table *t, const struct page *p, enum ml_object_unit unit,
                      int64_t value)
{
    char text[32];

    switch (unit) {
    case ML_OBJECT_TIME: ml_table_cell(t, ml_format_duration_ns(text, value)); break;
    case ML_OBJECT_MEMORY: ml_table_cell(t, ml_format_bytes(text, value, p->style->unit)); break;
    case ML_OBJECT_VALUE: ml_table_cell(t, ml_format_count(text, value)); break;
    }
}

/* The rows of one unit and category, from `*at` on. */
static int put_objects(const struct page *p, size_t *at)
{
    const struct ml_object_row *first = &p->s->objects.items[*at];
    bool times = first->unit == ML_OBJECT_TIME;
    const char *titles[] = {"name", ">count", times ? ">total" : ">last",
                            ">min", ">max",   ">average"};
    struct ml_table t;
    int r = first->category[0] ? ml_report_heading(p->out, p->style, "%s of %s",
                                                   times ? "Times" : "Counters", first->category)
                               : ml_report_heading(p->out, p->style, "%s without a domain",
                                                   times ? "Times" : "Counters");

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (; *at < p->s->objects.len; ++*at) {
        const struct ml_object_row *row = &p->s->objects.items[*at];

        if (row->unit != first->unit || strcmp(row->category, first->category) != 0)
            break;
        ml_table_cell(&t, row->name);
        ml_cells_count(&t, row->count);
        put_value(&t, p, row->unit, times ? (int64_t)row->sum : row->last);
        put_value(&t, p, row->unit, row->min);
        put_value(&t, p, row->unit, row->max);
        put_value(&t, p, row->unit, llround(row->average));
    }
    return ml_cells_print(&t, r, p->out, p->style);
}

int ml_stats_text(const struct ml_stats *stats, const char *file, const struct ml_style *style,
                  struct ml_buf *out)
{
    struct page p = {.s = stats, .style = style, .out = out};
    int r = ml_health_text(&stats->health, NULL, style, out);

    if (r == 0)
        r = put_head(&p, file);
    if (r == 0)
        r = put_totals(&p);
    if (r == 0 && stats->sizes.len > 0)
        r = put_sizes(&p);
    if (r == 0)
        r = put_kinds(&p);
    if (r == 0 && stats->threads.len > 0)
        r = put_threads(&p);
    if (r == 0 && stats->spaces.len > 0)
        r = put_spaces(&p);
    if (r == 0)
        r = put_scopes(&p, stats->by_count.items, stats->by_count.len, "often");
    if (r == 0)
        r = put_scopes(&p, stats->by_bytes.items, stats->by_bytes.len, "bytes");
    if (r == 0)
        r = put_largest(&p);
    for (size_t at = 0; r == 0 && at < stats->objects.len;)
        r = put_objects(&p, &at);
    return r;
}
