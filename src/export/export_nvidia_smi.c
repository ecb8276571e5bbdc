/* export_nvidia_smi.c: the samples of one GPU as `nvidia-smi --query-gpu=memory.used
 * --format=csv -lms N` prints them: a header, then one value per line, in whole MiB. With
 * several GPUs nvidia-smi prints a line for each in turn; so does this, in the order of the
 * samples.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "exporter.h"
#include "samples.h"

#define MIB (1024 * 1024)

static bool is_wanted(const struct ml_trace *trace, const struct ml_event *event, const char *asked)
{
    const char *device;

    /* Samples that recorded threads take after driver calls are not periodic. */
    if (event->kind != ML_SAMPLE || ml_sample_is_inside(event) ||
        !(event->args[1] & ML_SAMPLE_USED))
        return false;
    device = ml_trace_string(trace, (uint32_t)event->args[0], NULL);
    return asked ? ml_device_is(device, asked) : strcmp(device, ML_HOST_DEVICE) != 0;
}

static int put(const struct ml_trace *trace, const struct ml_export_opts *opts,
               const struct ml_event *event, struct ml_output *out, bool *any)
{
    int r;

    if (!is_wanted(trace, event, opts->device))
        return 0;
    *any = true;
    r = ml_buf_printf(&out->text, "%" PRIu64 " MiB\n", event->args[2] / MIB);
    return r < 0 ? r : ml_output_line(out);
}

static int export_trace(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_output *out, struct ml_error *err)
{
    struct ml_cursor *cursor = NULL;
    const struct ml_event *events;
    uint64_t end_ns = ml_trace_info(trace)->end_ns;
    bool any = false;
    int n, r = ml_buf_puts(&out->text, "memory.used [MiB]\n");

    if (r == 0)
        r = ml_cursor_open(trace, 0, UINT64_MAX, &cursor, err);
    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) != 0) {
        if (n < 0)
            r = n;
        for (int i = 0; r == 0 && i < n; i++)
            r = put(trace, opts, &events[i], out, &any);
        if (r == 0)
            ml_progress_tell(opts->progress, events[n - 1].time_ns, end_ns);
    }
    ml_cursor_free(cursor);
    if (r == 0 && !any)
        r = ml_error_set(err, -ENODATA,
                         "the trace has no samples of %s; record where there is a GPU, "
                         "without --sample-hz=0",
                         opts->device ? opts->device : "a GPU");
    return r;
}

const struct ml_exporter ml_exporter_nvidia_smi = {
    .name = "nvidia-smi",
    .suffix = ".smi.txt",
    .help = "samples of the GPUs: --query-gpu=memory.used",
    .whole_run = true,
    .run = export_trace,
};
