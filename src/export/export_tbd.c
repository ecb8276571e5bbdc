/* export_tbd.c: the log of TBD's memory profiler for MXNet, and the file that its analysis
 * script writes.
 *
 * The log has a line for each allocation, followed by the free memory of the device if there are
 * samples, and the lines without a size that an imported log had. A tag is one word: the script
 * splits lines at spaces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "dictionary.h"
#include "exporter.h"
#include "legacy_rows.h"
#include "samples.h"
#include "tbd_report.h"
#include "unknowns.h"

#define MIB (1024 * 1024)

/* ---- Free memory, and lines without a size ------------------------------ */

struct reading {
    uint64_t time_ns, free_bytes, total_bytes;
    uint32_t device; /* string */
};

typedef ML_VEC(struct reading) reading_list;

/* A line that imports as a marker. */
struct note {
    uint64_t time_ns;
    const char *text;
};

typedef ML_VEC(struct note) note_list;

/* What the log has beside allocations. */
struct extras {
    reading_list readings;
    note_list notes;
};

static int take_reading(const struct ml_event *e, reading_list *ret)
{
    const uint64_t both = ML_SAMPLE_FREE | ML_SAMPLE_TOTAL;

    if ((e->args[1] & both) != both)
        return 0;
    return ml_vec_push(ret,
                       (struct reading){e->time_ns, e->args[3], e->args[4], (uint32_t)e->args[0]});
}

/* A marker of a program is no line of TBD's. Lines that begin with "Free" had no "[mem]". */
static bool is_note(const struct ml_trace *trace, const char *text)
{
    const char *format = ml_trace_setting(trace, ML_SETTING_IMPORT_FORMAT);

    return format && strcmp(format, ml_exporter_tbd_log.name) == 0 && strncmp(text, "Free ", 5);
}

static int take_note(const struct ml_trace *trace, const struct ml_event *e, note_list *ret)
{
    const char *text = ml_trace_string(trace, (uint32_t)e->args[1], NULL);

    if (!is_note(trace, text))
        return 0;
    return ml_vec_push(ret, (struct note){e->time_ns, text});
}

static int gather_extras(const struct ml_trace *trace, struct extras *ret, struct ml_error *err)
{
    struct ml_cursor *cursor = NULL;
    const struct ml_event *e;
    int n, r = ml_cursor_open(trace, 0, UINT64_MAX, &cursor, err);

    while (r == 0 && (n = ml_cursor_next(cursor, &e, err)) != 0) {
        if (n < 0)
            r = n;
        for (int i = 0; r == 0 && i < n; i++) {
            if (e[i].kind == ML_SAMPLE)
                r = take_reading(&e[i], &ret->readings);
            else if (e[i].kind == ML_MARKER)
                r = take_note(trace, &e[i], &ret->notes);
        }
    }
    ml_cursor_free(cursor);
    return r;
}

/* The last reading of each device so far. */
struct last_readings {
    const struct ml_trace *trace;
    const reading_list *all;
    size_t next;         /* in all */
    reading_list latest; /* one for each device */
};

static struct reading *find_latest(struct last_readings *l, uint32_t device)
{
    for (size_t i = 0; i < l->latest.len; i++)
        if (ml_trace_same_string(l->trace, l->latest.items[i].device, device))
            return &l->latest.items[i];
    return NULL;
}

/* @return 0 or -ENOMEM */
static int read_up_to(struct last_readings *l, uint64_t time_ns)
{
    for (; l->next < l->all->len && l->all->items[l->next].time_ns <= time_ns; l->next++) {
        const struct reading *reading = &l->all->items[l->next];
        struct reading *latest = find_latest(l, reading->device);

        if (latest)
            *latest = *reading;
        else if (ml_vec_push(&l->latest, *reading) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* ---- The log ------------------------------------------------------------ */

/* TBD's log knows GPUs only. */
static const char *device_word(const char *device)
{
    return strncmp(device, "cpu", 3) == 0 ? "CPU" : "GPU";
}

static int put_row(const struct ml_tag_list *rows, const struct ml_tagged *row, const char *device,
                   const struct reading *reading, struct ml_buf *out)
{
    int r = ml_buf_printf(out, "[mem] Allocate %" PRIu64 " bytes %s memory ", row->bytes,
                          device_word(device));

    if (r == 0)
        r = ml_tbd_word(ml_tagged_name(rows, row), out);
    if (r == 0)
        r = ml_buf_puts(out, "\n");
    if (r == 0 && reading)
        r = ml_buf_printf(
            out, "[mem] %" PRIu64 " MB %s global memory free, total %" PRIu64 " MB.\n",
            reading->free_bytes / MIB, device_word(device), reading->total_bytes / MIB);
    return r;
}

/* Those before `time_ns`, from `*at` on. */
static int put_notes(const note_list *notes, size_t *at, uint64_t time_ns, struct ml_buf *out)
{
    int r = 0;

    for (; r == 0 && *at < notes->len && notes->items[*at].time_ns < time_ns; ++*at)
        r = ml_buf_printf(out, "[mem] %s\n", notes->items[*at].text);
    return r;
}

static int put_rows(const struct ml_trace *trace, const struct ml_tag_list *rows,
                    const struct extras *extras, struct ml_output *out)
{
    struct last_readings last = {.trace = trace, .all = &extras->readings};
    size_t note = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < rows->list.len; i++) {
        const struct ml_tagged *row = &rows->list.items[i];
        uint32_t device = ml_trace_space(trace, row->space)->device;

        r = put_notes(&extras->notes, &note, row->time_ns, &out->text);
        if (r == 0)
            r = read_up_to(&last, row->time_ns);
        if (r == 0)
            r = put_row(rows, row, ml_trace_string(trace, device, NULL), find_latest(&last, device),
                        &out->text);
        if (r == 0)
            r = ml_output_line(out);
    }
    if (r == 0)
        r = put_notes(&extras->notes, &note, UINT64_MAX, &out->text);
    ml_vec_release(&last.latest);
    return r;
}

static int export_log(const struct ml_trace *trace, const struct ml_export_opts *opts,
                      struct ml_output *out, struct ml_error *err)
{
    struct extras extras = {0};
    struct ml_tag_list rows;
    int r = ml_legacy_rows(trace, opts, &rows, err);

    if (r == 0)
        r = gather_extras(trace, &extras, err);
    if (r == 0)
        r = put_rows(trace, &rows, &extras, out);
    ml_vec_release(&extras.readings);
    ml_vec_release(&extras.notes);
    ml_tag_list_release(&rows);
    return r;
}

const struct ml_exporter ml_exporter_tbd_log = {
    .name = "tbd-log",
    .suffix = ".tbd.log",
    .help = "all allocations: TBD profiler's [mem] lines",
    .whole_run = true,
    .run = export_log,
};

/* ---- The analysis ------------------------------------------------------- */

static int export_analysis(const struct ml_trace *trace, const struct ml_export_opts *opts,
                           struct ml_output *out, struct ml_error *err)
{
    struct ml_tbd_analysis analysis = {0};
    struct ml_tag_list rows;
    int r = ml_legacy_rows(trace, opts, &rows, err);

    if (r == 0)
        r = ml_tbd_analysis(&rows, NULL, &analysis);
    if (r == 0)
        r = ml_tbd_json(&analysis, &out->text);
    ml_tbd_analysis_release(&analysis);
    ml_tag_list_release(&rows);
    return r;
}

const struct ml_exporter ml_exporter_tbd_analysis = {
    .name = "tbd-analysis",
    .suffix = "_ANALYSIS",
    .help = "their bytes by category, as its script writes",
    .whole_run = true,
    .run = export_analysis,
};
