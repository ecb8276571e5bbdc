/* summary_text.c: a summary as a page of text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "summary_report.h"

#include <stdio.h>
#include <string.h>

#include "category_columns.h"
#include "cells.h"
#include "empty_processes.h"
#include "health_report.h"
#include "event_names.h"
#include "paragraph.h"
#include "summary_caches.h"
#include "summary_samples.h"
#include "summary_steps.h"
#include "utf8.h"

#define VALUE_END 25       /* column where the values of the head end, less the space before */
#define PROCESSES_SHOWN 20 /* --json lists all */
#define WIDE_ENOUGH 100    /* for tables of labels and of processes with all their columns */

#define LABELS_COMPARED 1000

struct page {
    const struct ml_summary *s;
    const struct ml_style *style;
    struct ml_buf *out;
};

static bool is_narrow(const struct page *p)
{
    return p->style->width > 0 && p->style->width < WIDE_ENOUGH;
}

/* ---- The head ---------------------------------------------------------- */

/* A command is one line, however long, so that it can be copied. */
static int put_command_and_facts(const struct page *p, const char *text)
{
    const char *facts = strrchr(text, '\n') + 1;
    int r = ml_buf_append(p->out, text, (size_t)(facts - text));

    if (r == 0)
        r = ml_report_paragraph(p->out, p->style, 0, facts);
    return r < 0 ? r : ml_buf_puts(p->out, "\n");
}

/* "1,988 events and 1,693 samples", as the closing note of `memledger run` counts them. */
static int put_counts(const struct ml_summary *s, struct ml_buf *out)
{
    uint64_t samples = s->samples.events, events = s->events - samples;
    char count[32];
    int r = ml_buf_printf(out, "%s event%s", ml_format_count(count, (int64_t)events),
                          events == 1 ? "" : "s");

    if (r == 0 && samples)
        r = ml_buf_printf(out, " and %s sample%s", ml_format_count(count, (int64_t)samples),
                          samples == 1 ? "" : "s");
    return r;
}

static int put_origin(const struct page *p, const char *file)
{
    char duration[32], bytes[32];
    bool no_times = ml_health_no_times(&p->s->health);
    struct ml_buf text;
    int r;

    ml_buf_init(&text);
    r = ml_report_origin(&text, p->s->command ? p->s->command : file, p->s->start_wall_ns,
                         p->s->host);
    ml_format_duration_ns(duration, (int64_t)p->s->duration_ns);
    if (r == 0)
        r = ml_buf_printf(&text, ": %s%s", no_times ? "" : duration, no_times ? "" : ", ");
    if (r == 0)
        r = put_counts(p->s, &text);
    if (r == 0)
        r = ml_buf_printf(&text, ", %s on disk",
                          ml_format_bytes(bytes, (int64_t)p->s->file_bytes, ML_UNIT_AUTO));
    if (r == 0)
        r = put_command_and_facts(p, (char *)text.data);
    ml_buf_release(&text);
    return r;
}

int ml_summary_line(struct ml_buf *out, const struct ml_style *style, const char *name,
                    const char *value, const char *fmt, ...)
{
    size_t width = ml_utf8_width(name, strlen(name));
    /* A long name takes from the room before the value. */
    int room = width < VALUE_END ? (int)(VALUE_END - width) : 0;
    int r = ml_buf_printf(out, "%s %*s  ", name, room, value);
    struct ml_buf text;
    va_list args;

    ml_buf_init(&text);
    if (r == 0)
        r = ml_buf_puts(&text, ""); /* the text may be empty */
    va_start(args, fmt);
    if (r == 0)
        r = ml_buf_vprintf(&text, fmt, args);
    va_end(args);
    if (r == 0)
        r = ml_report_paragraph(out, style, VALUE_END + 3, (const char *)text.data);
    ml_buf_release(&text);
    return r;
}

static int put_peak(const struct page *p, const char *name, const struct ml_figures *f)
{
    char bytes[32], time[32];
    bool no_times = ml_health_no_times(&p->s->health) || f->peak_bytes == 0;

    return ml_summary_line(p->out, p->style, name,
                           ml_format_bytes(bytes, (int64_t)f->peak_bytes, p->style->unit), "%s%s",
                           ml_health_no_frees(&p->s->health) ? "if nothing was freed"
                           : no_times                        ? ""
                                                             : "at ",
                           no_times ? "" : ml_format_duration_ns(time, (int64_t)f->peak_time_ns));
}

static bool has_several_devices(const struct page *p)
{
    return ml_summary_used_devices(p->s) > 1;
}

/* One line for each device: no device has a memory of the size of their sum. */
static int put_peaks(const struct page *p)
{
    int r = 0;

    if (!has_several_devices(p))
        return put_peak(p, "peak", &p->s->counted);
    for (size_t i = 0; r == 0 && i < p->s->devices.len; i++) {
        const struct ml_summary_device *d = &p->s->devices.items[i];
        struct ml_buf name;

        if (d->counted.peak_bytes == 0)
            continue;
        ml_buf_init(&name);
        r = ml_buf_puts(&name, "peak ");
        if (r == 0)
            r = ml_report_safe(&name, d->name);
        if (r == 0)
            r = put_peak(p, (const char *)name.data, &d->counted);
        ml_buf_release(&name);
    }
    return r;
}

/* A figure of a device, and what follows its name. */
struct device_words {
    char figure[32], more[64];
};
typedef bool device_says(const struct page *p, const struct ml_summary_device *d,
                         struct device_words *ret);

/* "216.0 MiB  on cuda:0 in 3 blocks; 64.0 MiB on cuda managed in 1 block": devices without
 * a value are left out. */
static int put_devices_line(const struct page *p, const char *name, const char *on,
                            device_says *says, const char *end)
{
    char first[32] = "";
    struct device_words words;
    struct ml_buf text = {0};
    int r = ml_buf_puts(&text, "");

    for (size_t i = 0; r == 0 && i < p->s->devices.len; i++) {
        const struct ml_summary_device *d = &p->s->devices.items[i];

        if (d->counted.peak_bytes == 0 || !says(p, d, &words))
            continue;
        if (*first)
            r = ml_buf_printf(&text, "; %s ", words.figure);
        if (r == 0)
            r = ml_buf_printf(&text, "%s ", on);
        if (r == 0)
            r = ml_report_safe(&text, d->name);
        if (r == 0)
            r = ml_buf_puts(&text, words.more);
        if (!*first)
            snprintf(first, sizeof(first), "%s", words.figure);
    }
    if (r == 0)
        r = ml_summary_line(p->out, p->style, name, first, "%s%s", (const char *)text.data, end);
    ml_buf_release(&text);
    return r;
}

static const char *left_words(const struct ml_figures *f, char ret[64])
{
    char blocks[32];

    snprintf(ret, 64, " in %s block%s", ml_format_count(blocks, (int64_t)f->left_blocks),
             f->left_blocks == 1 ? "" : "s");
    return ret;
}

static bool device_left(const struct page *p, const struct ml_summary_device *d,
                        struct device_words *ret)
{
    ml_format_bytes(ret->figure, (int64_t)d->counted.left_bytes, p->style->unit);
    left_words(&d->counted, ret->more);
    return true;
}

static const char *leaks_hint(const struct ml_summary *s)
{
    return s->counted.left_bytes > 0 && s->steps.list.len > 1
               ? "; memledger leaks tells whether memory grows from step to step"
               : "";
}

static const char *left_title(const struct page *p)
{
    return ml_health_left_title(&p->s->health);
}

static int put_never_freed(const struct page *p)
{
    const struct ml_figures *f = &p->s->counted;
    const char *title = left_title(p) + 1;
    char bytes[32], more[64];

    if (ml_health_no_frees(&p->s->health))
        return ml_summary_line(p->out, p->style, title, "?", "frees are unknown");
    if (has_several_devices(p))
        return put_devices_line(p, title, "on", device_left, leaks_hint(p->s));
    return ml_summary_line(p->out, p->style, title,
                           ml_format_bytes(bytes, (int64_t)f->left_bytes, p->style->unit), "%s%s",
                           left_words(f, more) + 1, leaks_hint(p->s));
}

/* Some sources contain no allocations: then no figure is right, not even 0. */
static bool knows_allocations(const struct ml_summary *s)
{
    return !s->health.imported_from[0] || s->counted.allocations;
}

static int put_allocations(const struct page *p)
{
    const struct ml_figures *f = &p->s->counted;
    char a[32], b[32], c[32], d[32];
    bool several = has_several_devices(p);
    int r = put_peaks(p);

    if (r == 0)
        r = put_never_freed(p);
    if (r == 0)
        r = ml_summary_line(
            p->out, p->style, "allocations", ml_format_count(a, (int64_t)f->allocations),
            "%s%sfrees %s; events lost %s",
            several ? "" : ml_format_bytes(b, (int64_t)f->allocated_bytes, p->style->unit),
            several ? "" : " in all; ", ml_format_count(c, (int64_t)f->frees),
            ml_format_count(d, (int64_t)p->s->health.lost));
    return r;
}

static int put_totals(const struct page *p)
{
    char a[32], b[32];
    int r = knows_allocations(p->s)
                ? put_allocations(p)
                : ml_summary_line(p->out, p->style, "allocations", "?", "not in this source");

    if (r == 0 && p->s->processes.len > 0)
        r = ml_summary_line(p->out, p->style, "processes", ml_format_count(a, p->s->process_count),
                            "with %s thread%s%s", ml_format_count(b, (int64_t)p->s->threads),
                            p->s->threads == 1 ? "" : "s",
                            p->s->process_count == 1 ? "" : " in all");
    if (r == 0 && p->s->ooms > 0)
        r = ml_summary_line(p->out, p->style, "out of memory",
                            ml_format_count(a, (int64_t)p->s->ooms),
                            "%s refused: memledger oom says why",
                            p->s->ooms == 1 ? "allocation was" : "allocations were");
    return r;
}

static bool device_named(const struct page *p, const struct ml_summary_device *d,
                         struct device_words *ret)
{
    (void)p;
    snprintf(ret->figure, sizeof(ret->figure), "%.1f %%", d->named_percent_at_peak);
    ret->more[0] = '\0';
    return d->at_peak_bytes > 0;
}

/* The share of memory with the name of a module or parameter. */
static int put_named(const struct page *p)
{
    char percent[32], backward[64] = "";

    if (!p->s->has_modules || p->s->counted.peak_bytes == 0)
        return 0;
    if (has_several_devices(p))
        return put_devices_line(p, "named", "of", device_named,
                                " at the peak: by module, optimizer or label");
    snprintf(percent, sizeof(percent), "%.1f %%", p->s->named_percent_at_peak);
    if (p->s->backward_allocated_bytes > 0)
        snprintf(backward, sizeof(backward), "; %.1f %% of backward's allocations",
                 p->s->backward_named_percent);
    return ml_summary_line(p->out, p->style, "named", percent,
                           "of the peak: by module, optimizer or label%s", backward);
}

/* ---- Tables ------------------------------------------------------------ */

/* Figures that depend on facts missing from an imported file are shown as unknown. */
static void time_cell(struct ml_table *t, const struct page *p, uint64_t ns)
{
    if (ml_health_no_times(&p->s->health))
        ml_table_cell(t, "?");
    else
        ml_cells_time(t, ns);
}

static void left_cell(struct ml_table *t, const struct page *p, uint64_t bytes)
{
    if (ml_health_no_frees(&p->s->health))
        ml_table_cell(t, "?");
    else
        ml_cells_bytes(t, p->style, bytes);
}

static void device_row(struct ml_table *t, const struct page *p, const char *device,
                       const char *level, const struct ml_figures *f)
{
    ml_table_cell(t, device);
    ml_table_cell(t, level);
    ml_cells_bytes(t, p->style, f->peak_bytes);
    time_cell(t, p, f->peak_time_ns);
    left_cell(t, p, f->left_bytes);
    ml_cells_count(t, f->allocations);
    ml_cells_count(t, f->frees);
}

static size_t level_count(const struct ml_summary_device *d)
{
    size_t n = 0;

    for (size_t level = 1; level < ML_LEVELS; level++)
        n += d->has_level[level];
    return n;
}

static bool same_figures(const struct ml_figures *a, const struct ml_figures *b)
{
    return a->allocations == b->allocations && a->peak_bytes == b->peak_bytes &&
           a->live_bytes == b->live_bytes;
}

/* A line for each level; if there are several, the counted one is marked. */
static void device_rows(struct ml_table *t, const struct page *p, const struct ml_summary_device *d)
{
    bool several = level_count(d) > 1, told = false;

    for (uint32_t level = ML_LEVELS; level-- > 1;) {
        char name[32];
        bool counted = several && !told && same_figures(&d->counted, &d->levels[level]);

        if (!d->has_level[level])
            continue;
        snprintf(name, sizeof(name), "%s%s", ml_level_name(level), counted ? ", counted" : "");
        device_row(t, p, d->name, name, &d->levels[level]);
        told |= counted;
    }
    if (several && !told) /* the counted level differs between processes */
        device_row(t, p, d->name, "counted", &d->counted);
}

static int put_devices(const struct page *p)
{
    const char *const titles[] = {"device",      "level",        ">peak", ">at",
                                  left_title(p), ">allocations", ">frees"};
    struct ml_table t;
    bool nested = false;
    int r = ml_report_heading(p->out, p->style, "By device");

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < p->s->devices.len; i++) {
        device_rows(&t, p, &p->s->devices.items[i]);
        nested |= level_count(&p->s->devices.items[i]) > 1;
    }
    r = ml_cells_print(&t, r, p->out, p->style);
    if (r == 0 && nested)
        r = ml_report_paragraph(p->out, p->style, 0,
                                "The driver's memory contains the pools, and these the blocks; "
                                "only one is counted.");
    return r;
}

/* Without labels there is one category, which is not worth a table. */
static bool has_categories(const struct ml_summary *s)
{
    return s->categories.len > 1 ||
           (s->categories.len == 1 && s->categories.items[0].category != 0);
}

static int put_categories(const struct page *p)
{
    const char *const titles[] = {"category",  ">at peak",    ">share", ">blocks",
                                  ">own peak", left_title(p), ""};
    bool bars = ml_cells_bars_fit(p->style);
    struct ml_table t;
    int r = ml_report_heading(p->out, p->style, "At the peak, by category");

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles) - !bars);
    for (size_t i = 0; i < p->s->categories.len; i++) {
        const struct ml_summary_category *c = &p->s->categories.items[i];

        ml_table_cell(&t, c->name);
        ml_cells_bytes(&t, p->style, c->at_peak_bytes);
        ml_cells_percent(&t, c->at_peak_percent);
        ml_cells_count(&t, c->at_peak_blocks);
        ml_cells_bytes(&t, p->style, c->peak_bytes);
        left_cell(&t, p, c->left_bytes);
        if (bars)
            ml_cells_bar(&t, c->at_peak_percent);
    }
    return ml_cells_print(&t, r, p->out, p->style);
}

static int put_top_heading(const struct page *p, const char *what,
                           const struct ml_summary_entries *entries)
{
    if (entries->list.len == entries->total)
        return ml_report_heading(p->out, p->style, "At the peak, by %s", what);
    return ml_report_heading(p->out, p->style, "At the peak, by %s (the largest %zu of %zu)", what,
                             entries->list.len, entries->total);
}

static void entry_figures(struct ml_table *t, const struct page *p,
                          const struct ml_summary_entry *e)
{
    ml_cells_bytes(t, p->style, e->at_peak_bytes);
    ml_cells_percent(t, e->at_peak_percent);
    ml_cells_count(t, e->at_peak_blocks);
    left_cell(t, p, e->left_bytes);
}

static int put_scopes(const struct page *p)
{
    const char *const titles[] = {"scope", ">at peak", ">share", ">blocks", left_title(p)};
    const struct ml_summary_entries *scopes = &p->s->scopes;
    struct ml_table t;
    int r;

    if (scopes->total == 0 ||
        (scopes->total == 1 && scopes->list.len == 1 && scopes->list.items[0].scope[0] == '\0'))
        return 0; /* the program has no scopes */
    r = put_top_heading(p, "scope", scopes);
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < scopes->list.len; i++) {
        ml_cells_scope(&t, scopes->list.items[i].scope);
        entry_figures(&t, p, &scopes->list.items[i]);
    }
    return ml_cells_print(&t, r, p->out, p->style);
}

/* Whether two rows differ in their scopes alone; a long list is not searched for them. */
static bool scopes_matter(const struct ml_summary_entries *labels)
{
    if (labels->list.len > LABELS_COMPARED)
        return true;
    for (size_t i = 0; i < labels->list.len; i++)
        for (size_t k = 0; k < i; k++) {
            const struct ml_summary_entry *a = &labels->list.items[i], *b = &labels->list.items[k];

            if (strcmp(a->label, b->label) == 0 && strcmp(a->category, b->category) == 0)
                return true;
        }
    return false;
}

/* In a narrow terminal other columns make room for the labels. */
static int put_label_table(const struct page *p, bool narrow)
{
    const char *const titles[] = {"label",  "scope",   "category",   ">at peak",
                                  ">share", ">blocks", left_title(p)};
    const struct ml_summary_entries *labels = &p->s->labels;
    bool scopes = !narrow || scopes_matter(labels);
    struct ml_table t;

    ml_cells_columns(&t, titles, scopes ? 2 : 1);
    ml_table_keep(&t, 0);
    ml_cells_more_columns(&t, titles + 2, ML_ARRAY_SIZE(titles) - 2);
    for (size_t i = 0; i < labels->list.len; i++) {
        const struct ml_summary_entry *e = &labels->list.items[i];

        ml_table_cell(&t, e->label);
        if (scopes)
            ml_cells_scope(&t, e->scope);
        ml_table_cell(&t, narrow ? ml_category_short(e->category) : e->category);
        entry_figures(&t, p, e);
    }
    return ml_cells_print(&t, 0, p->out, p->style);
}

static int put_labels(const struct page *p)
{
    int r = p->s->labels.total ? put_top_heading(p, "label", &p->s->labels) : 0;

    return r < 0 || p->s->labels.total == 0 ? r : put_label_table(p, is_narrow(p));
}

static void process_end_cell(struct ml_table *t, const struct ml_summary_process *process)
{
    switch (process->ending) {
    case ML_ENDING_EXIT: ml_table_cellf(t, "exit %d", process->exit_code); break;
    case ML_ENDING_SIGNAL: ml_table_cellf(t, "signal %d", process->signal); break;
    default: ml_table_cell(t, ml_ending_name(process->ending));
    }
}

static bool have_roles(const struct ml_summary *s)
{
    for (size_t i = 0; i < s->processes.len; i++) {
        if (s->processes.items[i].role)
            return true;
    }
    return false;
}

/* In a narrow terminal the least useful columns make room for the command. */
static void process_row(struct ml_table *t, const struct page *p, bool roles, bool narrow,
                        const struct ml_summary_process *process)
{
    if (roles)
        ml_table_cell(t, process->role ? process->role : "");
    ml_table_cellf(t, "%u", process->pid);
    if (!narrow)
        ml_table_cell(t, process->how);
    process_end_cell(t, process);
    if (!narrow)
        ml_cells_count(t, process->threads);
    ml_cells_bytes(t, p->style, process->counted.peak_bytes);
    left_cell(t, p, process->counted.left_bytes);
    ml_cells_count(t, process->counted.allocations);
    ml_table_cell(t, process->command);
}

static int put_process_table(const struct page *p)
{
    const char *const wide[] = {"role",  ">pid",        "began",        "ended",  ">threads",
                                ">peak", left_title(p), ">allocations", "command"};
    const char *const few[] = {"role",        ">pid",    "ended",  ">peak",
                               left_title(p), ">allocs", "command"};
    bool narrow = is_narrow(p), roles = have_roles(p->s);
    size_t shown = 0;
    struct ml_table t;

    if (narrow)
        ml_cells_columns(&t, few + !roles, ML_ARRAY_SIZE(few) - !roles);
    else
        ml_cells_columns(&t, wide + !roles, ML_ARRAY_SIZE(wide) - !roles);
    for (size_t i = 0; i < p->s->processes.len && shown < PROCESSES_SHOWN; i++) {
        const struct ml_summary_process *process = &p->s->processes.items[i];

        if (ml_process_is_empty(process))
            continue;
        process_row(&t, p, roles, narrow, process);
        shown++;
    }
    return ml_cells_print(&t, 0, p->out, p->style);
}

static int put_processes(const struct page *p)
{
    size_t count = p->s->processes.len - ml_empty_processes(p->s);
    int r;

    if (p->s->processes.len < 2)
        return 0;
    r = count <= PROCESSES_SHOWN
            ? ml_report_heading(p->out, p->style, "By process")
            : ml_report_heading(p->out, p->style, "By process (the largest %d of %zu)",
                                PROCESSES_SHOWN, count);
    if (r == 0 && count > 0)
        r = put_process_table(p);
    return r < 0 ? r : ml_empty_processes_text(p->s, p->style, p->out);
}

int ml_summary_text(const struct ml_summary *summary, const char *file,
                    const struct ml_style *style, struct ml_buf *out)
{
    struct page p = {.s = summary, .style = style, .out = out};
    int r = ml_health_text(&summary->health, NULL, style, out);

    if (r == 0)
        r = put_origin(&p, file);
    if (r == 0)
        r = put_totals(&p);
    if (r == 0)
        r = put_named(&p);
    if (r == 0)
        r = ml_summary_caches_line(&summary->caches, style, out);
    if (r == 0)
        r = ml_summary_steps_line(&summary->steps, style, out);
    if (r == 0)
        r = ml_summary_samples_text(&summary->samples, style, out);
    if (r == 0 && summary->devices.len > 0)
        r = put_devices(&p);
    if (r == 0 && has_categories(summary))
        r = put_categories(&p);
    if (r == 0)
        r = put_scopes(&p);
    if (r == 0)
        r = put_labels(&p);
    if (r == 0)
        r = ml_summary_caches_table(&summary->caches, style, out);
    if (r == 0)
        r = ml_summary_steps_table(&summary->steps, style, out);
    if (r == 0)
        r = put_processes(&p);
    return r;
}
