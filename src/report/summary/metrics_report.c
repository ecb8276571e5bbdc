/* metrics_report.c: see metrics_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metrics_report.h"

#include <stdio.h>
#include <string.h>

#include "memledger/memledger.h"
#include "utf8.h"

struct page {
    struct ml_buf *out;
    enum ml_metrics_format format;
    int r;
};

/* The value of a label: quotes, backslashes and line ends are escaped, invalid bytes replaced. */
static void put_value(struct page *p, const char *text)
{
    size_t len = strlen(text);

    while (p->r == 0 && len > 0) {
        uint32_t code = 0;
        size_t bytes = ml_utf8_decode(text, len, &code);

        if (bytes == 0)
            p->r = ml_buf_puts(p->out, ML_UTF8_REPLACEMENT);
        else if (*text == '\n')
            p->r = ml_buf_puts(p->out, "\\n");
        else if (*text == '"' || *text == '\\')
            p->r = ml_buf_printf(p->out, "\\%c", *text);
        else
            p->r = ml_buf_append(p->out, text, bytes);
        bytes = bytes ? bytes : 1;
        text += bytes;
        len -= bytes;
    }
}

static void put_label(struct page *p, const char *name, const char *value)
{
    if (p->r == 0)
        p->r = ml_buf_printf(p->out, ",%s=\"", name);
    put_value(p, value);
    if (p->r == 0)
        p->r = ml_buf_puts(p->out, "\"");
}

static void begin_sample(struct page *p, const char *family, const struct ml_metrics_run *run)
{
    const struct ml_live_view *view = &run->by_category;

    if (p->r == 0)
        p->r = ml_buf_printf(p->out, "memledger_%s{host=\"", family);
    put_value(p, view->host ? view->host : "");
    if (p->r == 0)
        p->r = ml_buf_puts(p->out, "\"");
    put_label(p, "file", run->file);
}

static void end_sample(struct page *p, int64_t value)
{
    if (p->r == 0)
        p->r = ml_buf_printf(p->out, "} %lld\n", (long long)value);
}

static void family(struct page *p, const char *name, const char *type, const char *unit,
                   const char *help)
{
    if (p->r == 0)
        p->r = ml_buf_printf(p->out, "# TYPE memledger_%s %s\n", name, type);
    if (p->r == 0 && unit && p->format == ML_METRICS_OPEN)
        p->r = ml_buf_printf(p->out, "# UNIT memledger_%s %s\n", name, unit);
    if (p->r == 0)
        p->r = ml_buf_printf(p->out, "# HELP memledger_%s %s\n", name, help);
}

/* ---- Devices -------------------------------------------------------------------- */

enum device_figure { NOW, PEAK, DRIVER, POOL, USED, TOTAL, OURS, UNEXPLAINED, DEVICE_FIGURES };

static const struct {
    const char *name, *help;
} device_families[] = {
    [NOW] = {"live_bytes", "Live bytes of the recorded processes on the device."},
    [PEAK] = {"peak_bytes", "The highest number of live bytes so far."},
    [DRIVER] = {"driver_allocated_bytes", "Live bytes that the driver has handed out."},
    [POOL] = {"pool_bytes", "Live bytes in the segments of caching allocators."},
    [USED] = {"device_used_bytes", "Memory of the device in use, of all processes."},
    [TOTAL] = {"device_total_bytes", "Memory of the device."},
    [OURS] = {"driver_used_bytes",
              "Memory that the driver or the kernel charges to the processes."},
    [UNEXPLAINED] = {"unexplained_bytes", "Charged memory that no recorded allocation explains."},
};

static bool device_figure(const struct ml_live_device *d, enum device_figure figure, int64_t *ret)
{
    switch (figure) {
    case NOW: *ret = (int64_t)d->bytes; return true;
    case PEAK: *ret = (int64_t)d->peak_bytes; return true;
    case DRIVER: *ret = (int64_t)d->levels[MEMLEDGER_DRIVER]; return true;
    case POOL: *ret = (int64_t)d->levels[MEMLEDGER_POOL]; return true;
    case USED: *ret = (int64_t)d->used.bytes; return d->used.known;
    case TOTAL: *ret = (int64_t)d->total.bytes; return d->total.known;
    case OURS: *ret = (int64_t)d->ours.bytes; return d->ours.known;
    case UNEXPLAINED: *ret = d->unexplained_bytes; return d->has_unexplained;
    case DEVICE_FIGURES: break;
    }
    return false;
}

static void put_devices(struct page *p, const struct ml_metrics_run *runs, size_t count)
{
    for (int figure = 0; figure < DEVICE_FIGURES; figure++) {
        const char *name = device_families[figure].name;

        family(p, name, "gauge", "bytes", device_families[figure].help);
        for (size_t i = 0; i < count; i++) {
            const struct ml_live_view *view = &runs[i].by_category;

            for (size_t k = 0; k < view->devices.len; k++) {
                int64_t value;

                if (!device_figure(&view->devices.items[k], (enum device_figure)figure, &value))
                    continue;
                begin_sample(p, name, &runs[i]);
                put_label(p, "device", view->devices.items[k].name);
                end_sample(p, value);
            }
        }
    }
}

/* ---- Processes, rows -------------------------------------------------------------- */

static void put_processes(struct page *p, const struct ml_metrics_run *runs, size_t count)
{
    family(p, "process_live_bytes", "gauge", "bytes", "Live bytes of a process that is running.");
    for (size_t i = 0; i < count; i++) {
        const struct ml_live_view *view = &runs[i].by_category;

        for (size_t k = 0; k < view->processes.len; k++) {
            const struct ml_live_process *process = &view->processes.items[k];
            char number[16];

            if (process->ended)
                continue;
            begin_sample(p, "process_live_bytes", &runs[i]);
            snprintf(number, sizeof(number), "%u", process->pid);
            put_label(p, "pid", number);
            snprintf(number, sizeof(number), "%u", process->rank - 1);
            put_label(p, "rank", process->rank ? number : "");
            put_label(p, "role", process->role ? process->role : "");
            end_sample(p, (int64_t)process->bytes);
        }
    }
}

static void put_rows(struct page *p, const char *name, const char *label,
                     const struct ml_metrics_run *run, const struct ml_live_view *view)
{
    for (size_t i = 0; i < view->rows.len; i++) {
        begin_sample(p, name, run);
        put_label(p, label, view->rows.items[i].name);
        end_sample(p, (int64_t)view->rows.items[i].bytes);
    }
    if (view->rest_count > 0) {
        begin_sample(p, name, run);
        put_label(p, label, "(others)");
        end_sample(p, (int64_t)view->rest.bytes);
    }
}

/* ---- Counters ----------------------------------------------------------------------- */

static void put_counter(struct page *p, const char *name, const char *help,
                        const struct ml_metrics_run *runs, size_t count,
                        uint64_t (*value)(const struct ml_live_view *))
{
    char total[64];

    snprintf(total, sizeof(total), "%s_total", name);
    family(p, p->format == ML_METRICS_OPEN ? name : total, "counter", NULL, help);
    for (size_t i = 0; i < count; i++) {
        begin_sample(p, total, &runs[i]);
        end_sample(p, (int64_t)value(&runs[i].by_category));
    }
}

static uint64_t allocations(const struct ml_live_view *view)
{
    return view->allocations;
}

static uint64_t frees(const struct ml_live_view *view)
{
    return view->frees;
}

static uint64_t refusals(const struct ml_live_view *view)
{
    return view->refusals;
}

static uint64_t lost(const struct ml_live_view *view)
{
    return view->lost;
}

static uint64_t steps(const struct ml_live_view *view)
{
    return view->steps;
}

static void put_recording(struct page *p, const struct ml_metrics_run *runs, size_t count)
{
    family(p, "recording", "gauge", NULL, "1 while the recorder is running, 0 afterwards.");
    for (size_t i = 0; i < count; i++) {
        begin_sample(p, "recording", &runs[i]);
        put_label(p, "command", runs[i].by_category.command ? runs[i].by_category.command : "");
        end_sample(p, runs[i].by_category.being_recorded);
    }
}

int ml_metrics_text(const struct ml_metrics_run *runs, size_t count, enum ml_metrics_format format,
                    struct ml_buf *out)
{
    struct page p = {.out = out, .format = format};

    put_recording(&p, runs, count);
    put_devices(&p, runs, count);
    put_processes(&p, runs, count);
    family(&p, "category_live_bytes", "gauge", "bytes", "Live bytes by category, all devices.");
    for (size_t i = 0; i < count; i++)
        put_rows(&p, "category_live_bytes", "category", &runs[i], &runs[i].by_category);
    family(&p, "module_live_bytes", "gauge", "bytes", "Live bytes of the largest modules.");
    for (size_t i = 0; i < count; i++)
        put_rows(&p, "module_live_bytes", "module", &runs[i], &runs[i].by_module);
    put_counter(&p, "allocations", "Allocations.", runs, count, allocations);
    put_counter(&p, "frees", "Frees.", runs, count, frees);
    put_counter(&p, "out_of_memory", "Allocations that were refused.", runs, count, refusals);
    put_counter(&p, "lost_events", "Events that the recorder lost.", runs, count, lost);
    put_counter(&p, "steps", "Steps begun.", runs, count, steps);
    if (p.r == 0 && format == ML_METRICS_OPEN)
        p.r = ml_buf_puts(out, "# EOF\n");
    return p.r;
}
