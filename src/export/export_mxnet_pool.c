/* export_mxnet_pool.c: the memory profile of MXNet 2's own profiler: the live blocks at an
 * instant in five quoted columns, sorted by name; then for each GPU the driver's figures.
 *
 * MXNet writes the state at the time of the call; without --at this is the end. Each process
 * writes its own file.
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

static int read_entries(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_pool_entries *ret, struct ml_error *err)
{
    struct ml_pool_opts how = {.at = opts->at, .device = opts->device, .pid = opts->pid};

    if (!opts->at_given)
        how.at = (struct ml_at){.kind = ML_AT_END};
    return ml_pool_entries(trace, &how, ret, err);
}

static int export_trace(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_output *out, struct ml_error *err)
{
    struct ml_pool_entries entries;
    int r = read_entries(trace, opts, &entries, err);

    if (r == 0)
        r = put_all(&entries, out);
    ml_pool_entries_release(&entries);
    return r;
}

/* ---- A file for each process -------------------------------------------- */

static int add_pid(ml_pid_list *list, uint32_t pid)
{
    for (size_t i = 0; i < list->len; i++)
        if (list->items[i] == pid)
            return 0;
    return ml_vec_push(list, pid);
}

static int processes(const struct ml_trace *trace, const struct ml_export_opts *opts,
                     ml_pid_list *ret, struct ml_error *err)
{
    struct ml_pool_entries entries;
    int r = read_entries(trace, opts, &entries, err);

    for (size_t i = 0; r == 0 && i < entries.list.len; i++)
        r = add_pid(ret, entries.list.items[i].pid);
    ml_pool_entries_release(&entries);
    return r;
}

/* MXNet's name for the file; a file for all processes is named after the first. */
static char *file_name(const struct ml_trace *trace, uint32_t pid)
{
    char *ret;

    if (pid == 0)
        pid = ml_trace_process(trace, 0)->pid;
    return asprintf(&ret, "gpu_memory_profile-pid_%" PRIu32 ".csv", pid) < 0 ? NULL : ret;
}

const struct ml_exporter ml_exporter_mxnet_pool_csv = {
    .name = "mxnet-pool-csv",
    .suffix = ".pool.csv",
    .help = "held at the end: MXNet 2's own profile",
    .run = export_trace,
    .file_name = file_name,
    .processes = processes,
};
