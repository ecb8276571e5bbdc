/* export_tbd.c: the log of TBD's memory profiler for MXNet, and the file that its
 * analysis makes of one.
 *
 * The log has a line for each allocation, and behind it what was free on the GPU, where
 * samples tell. A tag is one word there: the analysis cuts lines at spaces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "exporter.h"
#include "gross_rows.h"
#include "samples.h"
#include "tbd_report.h"

#define MIB (1024 * 1024)

/* ---- What was free ------------------------------------------------------ */

struct reading {
    uint64_t time_ns, free_bytes, total_bytes;
    uint32_t device; /* string */
};

typedef ML_VEC(struct reading) reading_list;

static int gather_readings(const struct ml_trace *trace, reading_list *ret, struct ml_error *err)
{
    const uint64_t both = ML_SAMPLE_FREE | ML_SAMPLE_TOTAL;
    struct ml_cursor *cursor = NULL;
    const struct ml_event *e;
    int n, r = ml_cursor_open(trace, 0, UINT64_MAX, &cursor, err);

    while (r == 0 && (n = ml_cursor_next(cursor, &e, err)) != 0) {
        if (n < 0)
            r = n;
        for (int i = 0; r == 0 && i < n; i++)
            if (e[i].kind == ML_SAMPLE && (e[i].args[1] & both) == both)
                r = ml_vec_push(ret, (struct reading){e[i].time_ns, e[i].args[3], e[i].args[4],
                                                      (uint32_t)e[i].args[0]});
    }
    ml_cursor_free(cursor);
    return r;
}

/* The last one of the row's device up to its time; NULL: none.
 * @next  the first reading after the row's time */
static const struct reading *find_reading(const struct ml_trace *trace,
                                          const reading_list *readings, size_t next,
                                          const struct ml_tagged *row)
{
    uint32_t device = ml_trace_space(trace, row->space)->device;

    while (next-- > 0)
        if (ml_trace_same_string(trace, readings->items[next].device, device))
            return &readings->items[next];
    return NULL;
}

/* ---- The log ------------------------------------------------------------ */

static int put_tag(const char *tag, struct ml_buf *out)
{
    size_t from = out->len;
    int r = ml_buf_puts(out, tag);

    for (size_t i = from; r == 0 && i < out->len; i++)
        if (out->data[i] == ' ' || out->data[i] == '\n')
            out->data[i] = '_';
    return r;
}

static int put_row(const struct ml_tag_list *rows, const struct ml_tagged *row,
                   const struct reading *reading, struct ml_buf *out)
{
    int r = ml_buf_printf(out, "[mem] Allocate %" PRIu64 " bytes GPU memory (", row->bytes);

    if (r == 0)
        r = put_tag(ml_tagged_name(rows, row), out);
    if (r == 0)
        r = ml_buf_puts(out, ").\n");
    if (r == 0 && reading)
        r = ml_buf_printf(out,
                          "[mem] %" PRIu64 " MB GPU global memory free, total %" PRIu64 " MB.\n",
                          reading->free_bytes / MIB, reading->total_bytes / MIB);
    return r;
}

static int export_log(const struct ml_trace *trace, const struct ml_export_opts *opts,
                      struct ml_output *out, struct ml_error *err)
{
    reading_list readings = {0};
    struct ml_tag_list rows;
    size_t next = 0;
    int r = ml_gross_rows(trace, opts, &rows, err);

    if (r == 0)
        r = gather_readings(trace, &readings, err);
    for (size_t i = 0; r == 0 && i < rows.list.len; i++) {
        const struct ml_tagged *row = &rows.list.items[i];

        while (next < readings.len && readings.items[next].time_ns <= row->time_ns)
            next++;
        r = put_row(&rows, row, find_reading(trace, &readings, next, row), &out->text);
        if (r == 0)
            r = ml_output_line(out);
    }
    ml_vec_release(&readings);
    ml_tag_list_release(&rows);
    return r;
}

const struct ml_exporter ml_exporter_tbd_log = {
    .name = "tbd-log",
    .suffix = ".tbd.log",
    .help = "all allocations: [mem] lines of TBD's profiler",
    .run = export_log,
};

/* ---- The analysis ------------------------------------------------------- */

static int export_analysis(const struct ml_trace *trace, const struct ml_export_opts *opts,
                           struct ml_output *out, struct ml_error *err)
{
    struct ml_tbd_analysis analysis = {0};
    struct ml_tag_list rows;
    int r = ml_gross_rows(trace, opts, &rows, err);

    if (r == 0)
        r = ml_tbd_analysis(&rows, &analysis);
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
    .run = export_analysis,
};
