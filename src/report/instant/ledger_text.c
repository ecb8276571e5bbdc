/* ledger_text.c: a ledger as text: for each device the figure of the driver, the
 * entries below it, a double rule, and the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cells.h"
#include "health_report.h"
#include "paragraph.h"
#include "snapshot_report.h"

#define INDENT 2

struct page {
    const struct ml_ledger *ledger;
    const struct ml_ledger_device *device;
    const struct ml_style *style;
    struct ml_buf *out;
    struct ml_table table;
    size_t bytes_width, percent_width; /* of the widest cells so far */
};

/* ---- Rows -------------------------------------------------------------- */

static void number_cell(struct page *p, const char *text, size_t *width)
{
    size_t len = strlen(text);

    if (len > *width)
        *width = len;
    ml_table_cell(&p->table, text);
}

static void row(struct page *p, size_t depth, const char *name, int64_t bytes, double percent)
{
    char text[32];

    ml_table_cellf(&p->table, "%*s%s", (int)(depth * INDENT), "", name);
    number_cell(p, ml_format_bytes(text, bytes, p->style->unit), &p->bytes_width);
    if (p->device->sampled)
        snprintf(text, sizeof(text), "%.1f %%", percent);
    number_cell(p, p->device->sampled ? text : "", &p->percent_width);
}

static void inferred_row(struct page *p, size_t depth, const struct ml_ledger_entry *entry)
{
    char name[128], bytes[32];

    snprintf(name, sizeof(name), "%s (inferred, of %s)", entry->name,
             ml_format_bytes(bytes, (int64_t)entry->of_bytes, p->style->unit));
    row(p, depth, name, entry->bytes, entry->percent);
}

static void entry_rows(struct page *p, size_t depth, const struct ml_ledger_entry *entry)
{
    for (size_t i = 0; i < entry->entries.len; i++) {
        const struct ml_ledger_entry *e = &entry->entries.items[i];

        if (e->inferred)
            inferred_row(p, depth, e);
        else
            row(p, depth, e->name, e->bytes, e->percent);
        entry_rows(p, depth + 1, e);
    }
}

static int put_book(struct page *p)
{
    static const char *const titles[] = {"", ">", ">"};
    const struct ml_ledger_device *d = p->device;

    p->bytes_width = p->percent_width = 0;
    ml_cells_columns(&p->table, titles, ML_ARRAY_SIZE(titles));
    if (d->sampled)
        row(p, 1, d->host ? "resident, as the system says" : "used, as the driver says",
            (int64_t)d->used_bytes, 100);
    else
        row(p, 1, "recorded", d->book.bytes, 0);
    entry_rows(p, 2, &d->book);
    if (d->sampled) {
        ml_table_cell(&p->table, "");
        ml_cells_rule(&p->table, p->bytes_width);
        ml_cells_rule(&p->table, p->percent_width);
        row(p, 2, d->host ? "not recorded" : "unexplained", d->unexplained_bytes,
            d->unexplained_percent);
    }
    return ml_cells_print(&p->table, 0, p->out, p->style);
}

/* ---- Around the entries --------------------------------------------------- */

static int put_heading(struct page *p)
{
    struct ml_buf name;
    char at[32], words[64];
    int r;

    ml_buf_init(&name);
    r = ml_report_safe(&name, p->device->name);
    if (r == 0 && p->device->model)
        r = ml_buf_puts(&name, "  ");
    if (r == 0 && p->device->model)
        r = ml_report_safe(&name, p->device->model);
    if (r == 0)
        r = ml_report_heading(p->out, p->style, "%s  at %s%s", (const char *)name.data,
                              ml_format_duration_ns(at, (int64_t)p->device->at_ns),
                              ml_instant_words(&p->ledger->at, words));
    ml_buf_release(&name);
    return r;
}

static int put_free(struct page *p)
{
    const struct ml_ledger_device *d = p->device;
    char a[32], b[32];
    int r;

    if (!d->has_free || !d->has_total)
        return 0;
    r = ml_buf_printf(p->out, "  free %s of %s",
                      ml_format_bytes(a, (int64_t)d->free_bytes, p->style->unit),
                      ml_format_bytes(b, (int64_t)d->total_bytes, p->style->unit));
    if (r == 0 && d->reserved_bytes > 0)
        r = ml_buf_printf(p->out, "; %s reserved by driver and firmware",
                          ml_format_bytes(a, (int64_t)d->reserved_bytes, p->style->unit));
    return r < 0 ? r : ml_buf_puts(p->out, "\n");
}

/* Remarks on the requested time. */
static int put_time_remarks(struct page *p)
{
    const struct ml_ledger_device *d = p->device;
    char at[32];
    int r = 0;

    if (p->ledger->run_ended_ns)
        r = ml_buf_printf(p->out, "  The run ended at %s, before the requested time.\n",
                          ml_format_duration_ns(at, (int64_t)p->ledger->run_ended_ns));
    else if (d->ended_ns)
        r = ml_buf_printf(p->out, "  The processes that used it had ended by then, at %s.\n",
                          ml_format_duration_ns(at, (int64_t)d->ended_ns));
    if (r == 0 && d->between_ns && !d->host && !d->ended_ns)
        r = ml_buf_printf(
            p->out,
            "  A driver call may have been in progress; nearest reading between calls: "
            "--at %" PRIu64 "ns\n",
            d->between_ns);
    return r;
}

#define NOT_SAMPLED " figure is unknown, and so is the rest: no sample was taken by then."

static int put_remarks(struct page *p)
{
    const struct ml_ledger_device *d = p->device;
    char bytes[32];
    int r = put_time_remarks(p);

    if (r < 0)
        return r;
    if (!d->sampled) {
        r = ml_buf_puts(p->out, "  ");
        return r < 0 ? r
                     : ml_report_paragraph(p->out, p->style, 2,
                                           d->host ? "The system's" NOT_SAMPLED
                                                   : "The driver's" NOT_SAMPLED);
    }
    if (!d->others_known && !d->host)
        r = ml_buf_puts(p->out, "  The memory of other processes is unknown.\n");
    if (r == 0 && d->stray_bytes > 0)
        r = ml_buf_printf(p->out,
                          "  Not included: %s of blocks outside the driver's allocations.\n",
                          ml_format_bytes(bytes, (int64_t)d->stray_bytes, p->style->unit));
    return r;
}

static int put_device(struct page *p)
{
    int r = put_heading(p);

    if (r == 0)
        r = put_book(p);
    if (r == 0)
        r = put_free(p);
    if (r == 0)
        r = put_remarks(p);
    return r;
}

int ml_ledger_text(const struct ml_ledger *ledger, const char *file, const struct ml_style *style,
                   struct ml_buf *out)
{
    struct page p = {.ledger = ledger, .style = style, .out = out};
    int r = ml_health_text(&ledger->health, NULL, style, out);

    if (r == 0)
        r = ml_report_origin(out, ledger->command ? ledger->command : file, ledger->start_wall_ns,
                             ledger->host);
    if (r == 0)
        r = ml_buf_puts(out, "\n");
    for (size_t i = 0; i < ledger->devices.len && r == 0; i++) {
        p.device = &ledger->devices.items[i];
        r = put_device(&p);
    }
    if (r == 0 && ledger->unlisted_devices > 0)
        r = ml_buf_printf(out, "\n%zu more device%s less; --device shows one.\n",
                          ledger->unlisted_devices,
                          ledger->unlisted_devices == 1 ? " used" : "s used");
    if (r == 0 && ledger->bare_devices > 0)
        r = ml_buf_printf(out,
                          "\n%zu more device%s only the driver's own memory; --device shows one.\n",
                          ledger->bare_devices, ledger->bare_devices == 1 ? " has" : "s have");
    return r;
}
