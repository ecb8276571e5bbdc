/* export_mxnet_pool.c: the memory profile of MXNet 2's own profiler: what is held at an
 * instant, five quoted columns, by name; then for each GPU what the driver says beyond.
 *
 * MXNet writes what is there when it is asked to; without --at this is the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cuda_spaces.h"
#include "exporter.h"
#include "pool_entries.h"

static int put_quoted(struct ml_buf *out, const char *text)
{
    int r = ml_buf_puts(out, "\"");

    for (; r == 0 && *text; text++)
        r = ml_buf_append(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    return r < 0 ? r : ml_buf_puts(out, "\"");
}

/* MXNet numbers its GPUs; the host is its cpu(0). */
static const char *device_word(const char *device)
{
    size_t len = strlen(ML_CUDA_DEVICE_PREFIX);

    return strncmp(device, ML_CUDA_DEVICE_PREFIX, len) == 0 ? device + len : "0";
}

static int put_entry(const struct ml_pool_entry *entry, struct ml_buf *out)
{
    int r = put_quoted(out, entry->name);

    if (r == 0)
        r = ml_buf_printf(out, ",\"%" PRIu64 "\",", entry->requested_bytes);
    if (r == 0)
        r = put_quoted(out, device_word(entry->device));
    return r < 0 ? r
                 : ml_buf_printf(out, ",\"%" PRIu64 "\",\"%d\"\n", entry->actual_bytes,
                                 entry->reused);
}

static int put_amend(const struct ml_pool_amend *amend, struct ml_buf *out)
{
    return ml_buf_printf(out,
                         "\"" ML_POOL_AMEND "\",\"%" PRId64 "\",\"%s\",\"%" PRId64 "\",\"0\"\n",
                         amend->bytes, device_word(amend->device), amend->bytes);
}

static int put_all(const struct ml_pool_entries *entries, struct ml_output *out)
{
    int r = ml_buf_puts(
        &out->text,
        "\"Attribute Name\",\"Requested Size\",\"Device\",\"Actual Size\",\"Reuse?\"\n");

    for (size_t i = 0; r == 0 && i < entries->list.len; i++) {
        r = put_entry(&entries->list.items[i], &out->text);
        if (r == 0)
            r = ml_output_line(out);
    }
    for (size_t i = 0; r == 0 && i < entries->amends.len; i++)
        r = put_amend(&entries->amends.items[i], &out->text);
    return r;
}

static int export(const struct ml_trace *trace, const struct ml_export_opts *opts,
                  struct ml_output *out, struct ml_error *err)
{
    struct ml_at end = {.kind = ML_AT_END};
    struct ml_pool_entries entries;
    int r = ml_pool_entries(trace, opts->at_given ? &opts->at : &end, opts->device, &entries, err);

    if (r == 0)
        r = put_all(&entries, out);
    ml_pool_entries_release(&entries);
    return r;
}

/* As MXNet calls it, after the first process. */
static char *file_name(const struct ml_trace *trace)
{
    char *ret;

    return asprintf(&ret, "gpu_memory_profile-pid_%" PRIu32 ".csv",
                    ml_trace_process(trace, 0)->pid) < 0
               ? NULL
               : ret;
}

const struct ml_exporter ml_exporter_mxnet_pool_csv = {
    .name = "mxnet-pool-csv",
    .suffix = ".pool.csv",
    .help = "what is held at the end: MXNet 2's own profile",
    .run = export,
    .file_name = file_name,
};
