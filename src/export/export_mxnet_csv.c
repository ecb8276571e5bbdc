/* export_mxnet_csv.c: the CSV and the log of the GPU memory profiler that was proposed for
 * MXNet (pull request 14973): one line for each new allocation with tag and MiB, no frees; the
 * log lists allocations with an unknown tag, with their stacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"
#include "legacy_rows.h"
#include "stack_view.h"

#define MIB (1024.0 * 1024.0)
#define SKIPPED "skip me" /* MXNet's tag for memory that is not listed */

typedef int row_fn(const struct ml_trace *trace, const struct ml_tag_list *rows,
                   const struct ml_tagged *row, struct ml_output *out);

static int put_rows(const struct ml_trace *trace, const struct ml_export_opts *opts, row_fn *put,
                    struct ml_output *out, struct ml_error *err)
{
    struct ml_tag_list rows;
    int r = ml_legacy_rows(trace, opts, &rows, err);

    for (size_t i = 0; r == 0 && i < rows.list.len; i++) {
        const struct ml_tagged *row = &rows.list.items[i];

        if (strcmp(ml_tagged_name(&rows, row), SKIPPED) == 0)
            continue;
        r = put(trace, &rows, row, out);
        if (r == 0)
            r = ml_output_line(out);
    }
    ml_tag_list_release(&rows);
    return r;
}

/* A setting of the old profilers, the newer name first. */
static char *name_from(const char *newer, const char *older)
{
    const char *name = getenv(newer);

    if (!name || !name[0])
        name = getenv(older);
    return name && name[0] ? strdup(name) : NULL;
}

/* ---- CSV ---------------------------------------------------------------- */

/* "%g" matches the output of C++ streams. */
static int put_csv(const struct ml_trace *trace, const struct ml_tag_list *rows,
                   const struct ml_tagged *row, struct ml_output *out)
{
    size_t from = out->text.len;
    int r = ml_buf_puts(&out->text, ml_tagged_name(rows, row));

    (void)trace;
    for (size_t i = from; r == 0 && i < out->text.len; i++)
        if (out->text.data[i] == '\n') /* the format has no quotes */
            out->text.data[i] = '_';
    return r < 0 ? r : ml_buf_printf(&out->text, ",%g\n", (double)row->bytes / MIB);
}

static int export_csv(const struct ml_trace *trace, const struct ml_export_opts *opts,
                      struct ml_output *out, struct ml_error *err)
{
    return put_rows(trace, opts, put_csv, out, err);
}

static char *csv_name(const struct ml_trace *trace, uint32_t pid)
{
    (void)trace;
    (void)pid;
    return name_from("MXNET_GPU_MEMORY_PROFILER_CSV_FNAME", "MXNET_MEMORY_PROFILER_FOUT_FNAME");
}

const struct ml_exporter ml_exporter_mxnet_csv = {
    .name = "mxnet-csv",
    .suffix = ".mxnet.csv",
    .help = "all allocations: tag,MiB of MXNet's profiler",
    .whole_run = true,
    .run = export_csv,
    .file_name = csv_name,
};

/* ---- Log ---------------------------------------------------------------- */

static int put_frame(const struct ml_frame_view *frame, size_t number, struct ml_buf *out)
{
    const char *where = frame->file ? frame->file : frame->library;
    int r = ml_buf_printf(out, "  [bt] (%zu) %s", number, where ? where : "?");

    if (r == 0 && frame->file && frame->line)
        r = ml_buf_printf(out, ":%" PRIu32, frame->line);
    if (r == 0)
        r = ml_buf_printf(out, "(%s)", frame->function ? frame->function : "?");
    if (r == 0 && frame->has_offset)
        r = ml_buf_printf(out, " [0x%" PRIx64 "]", frame->offset);
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

static int put_stack(const struct ml_trace *trace, uint32_t stack, struct ml_buf *out)
{
    struct ml_stack_view view = {0};
    int r = stack ? ml_stack_view(trace, stack, &view) : 0;

    if (r == 0 && view.frames.len > 0)
        r = ml_buf_puts(out, "Stack trace:\n");
    for (size_t i = 0; r == 0 && i < view.frames.len; i++)
        r = put_frame(&view.frames.items[i], i, out);
    ml_stack_view_release(&view);
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

static int put_warning(const struct ml_trace *trace, const struct ml_tag_list *rows,
                       const struct ml_tagged *row, struct ml_output *out)
{
    const char *tag = ml_tagged_name(rows, row);
    int r;

    if (!strstr(tag, "unknown"))
        return 0;
    r = ml_buf_printf(&out->text,
                      "[mxnet:profiler:gpu_memory_profiler:W] Allocating %g with unknown memory "
                      "tag %s\n",
                      (double)row->bytes / MIB, tag);
    return r < 0 ? r : put_stack(trace, row->stack, &out->text);
}

static int export_log(const struct ml_trace *trace, const struct ml_export_opts *opts,
                      struct ml_output *out, struct ml_error *err)
{
    return put_rows(trace, opts, put_warning, out, err);
}

static char *log_name(const struct ml_trace *trace, uint32_t pid)
{
    (void)trace;
    (void)pid;
    return name_from("MXNET_GPU_MEMORY_PROFILER_LOG_FNAME", "MXNET_MEMORY_PROFILER_FERR_FNAME");
}

const struct ml_exporter ml_exporter_mxnet_log = {
    .name = "mxnet-log",
    .suffix = ".mxnet.log",
    .help = "its log: those of unknown tag, with stacks",
    .whole_run = true,
    .run = export_log,
    .file_name = log_name,
};
