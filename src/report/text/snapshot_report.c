/* snapshot_report.c: see snapshot_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "snapshot_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "health_report.h"

const char *ml_instant_words(const struct ml_at *at, char buf[64])
{
    buf[0] = '\0';
    switch (at->kind) {
    case ML_AT_PEAK: snprintf(buf, 64, " (peak)"); break;
    case ML_AT_END: snprintf(buf, 64, " (end)"); break;
    case ML_AT_TIME: break;
    case ML_AT_OOM:
        if (at->number == 1)
            snprintf(buf, 64, " (out of memory)");
        else
            snprintf(buf, 64, " (out of memory, number %" PRIu64 ")", at->number);
        break;
    case ML_AT_STEP: snprintf(buf, 64, " (peak of step %" PRIu64 ")", at->number); break;
    case ML_AT_STEP_END: snprintf(buf, 64, " (end of step %" PRIu64 ")", at->number); break;
    }
    return buf;
}

const char *ml_instant_phrase(const struct ml_instant *instant, char buf[128])
{
    char time[32], words[64];

    ml_instant_words(&instant->at, words);
    if (ml_health_no_times(&instant->health))
        snprintf(buf, 128, "%s", words);
    else
        snprintf(buf, 128, " at %s%s", ml_format_duration_ns(time, (int64_t)instant->time_ns),
                 words);
    return buf;
}

static int put_heading(const struct ml_snapshot *at, const struct ml_style *style,
                       struct ml_buf *out)
{
    char bytes[32], blocks[32], when[128], process[32] = "";
    struct ml_buf device;
    int r;

    ml_buf_init(&device);
    r = ml_buf_puts(&device, at->device ? " on " : "");
    if (r == 0 && at->device)
        r = ml_report_safe(&device, at->device);
    if (at->pid)
        snprintf(process, sizeof(process), " of process %u", at->pid);
    if (r == 0)
        r = ml_report_heading(out, style, "%s live in %s block%s%s%s%s",
                              ml_format_bytes(bytes, (int64_t)at->bytes, style->unit),
                              ml_format_count(blocks, (int64_t)at->blocks),
                              at->blocks == 1 ? "" : "s", process, (const char *)device.data,
                              ml_instant_phrase(&at->instant, when));
    ml_buf_release(&device);
    return r;
}

int ml_snapshot_origin_text(const struct ml_snapshot *at, const char *file,
                            const struct ml_style *style, struct ml_buf *out)
{
    int r = ml_health_text(&at->instant.health, NULL, style, out);

    if (r == 0)
        r = ml_report_origin(out, at->command ? at->command : file, at->start_wall_ns, at->host);
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

int ml_snapshot_text(const struct ml_snapshot *at, const char *file, const struct ml_style *style,
                     struct ml_buf *out)
{
    char time[32];
    int r = ml_snapshot_origin_text(at, file, style, out);

    if (r == 0)
        r = put_heading(at, style, out);
    if (r == 0 && at->file_bytes > 0 && !at->device)
        r = ml_buf_printf(out, "%s of it lie in mapped files.\n",
                          ml_format_bytes(time, (int64_t)at->file_bytes, style->unit));
    if (r == 0 && at->instant.at.kind == ML_AT_OOM)
        r = ml_buf_printf(out, "A request for %s more was refused.\n",
                          ml_format_bytes(time, (int64_t)at->instant.refused_bytes, style->unit));
    if (r == 0 && at->instant.run_ended_ns)
        r = ml_buf_printf(out, "The run ended at %s, before the requested time.\n",
                          ml_format_duration_ns(time, (int64_t)at->instant.run_ended_ns));
    return r;
}

void ml_snapshot_origin_json(const struct ml_snapshot *at, const char *file, struct ml_json *json)
{
    ml_json_kv_cstr(json, "file", file);
    ml_json_kv_cstr(json, "command", at->command);
    ml_json_kv_cstr(json, "host", at->host);
    ml_json_kv_u64(json, "start_wall_ns", at->start_wall_ns);
    ml_json_kv_u64(json, "lost", at->instant.health.lost);
    ml_health_json(&at->instant.health, json);
}

void ml_snapshot_json(const struct ml_snapshot *at, const char *file, struct ml_json *json)
{
    ml_snapshot_origin_json(at, file, json);
    ml_json_kv_cstr(json, "instant", ml_at_name(at->instant.at.kind));
    if (at->instant.at.kind == ML_AT_OOM)
        ml_json_kv_u64(json, "refused_bytes", at->instant.refused_bytes);
    if (at->instant.at.kind >= ML_AT_OOM)
        ml_json_kv_u64(json, "number", at->instant.at.number);
    ml_json_kv_u64(json, "at_ns", at->instant.time_ns);
    if (at->instant.run_ended_ns)
        ml_json_kv_u64(json, "run_ended_ns", at->instant.run_ended_ns);
    else
        ml_json_kv_null(json, "run_ended_ns");
    ml_json_kv_cstr(json, "device", at->device);
    if (at->pid)
        ml_json_kv_u64(json, "pid", at->pid);
    ml_json_kv_u64(json, "bytes", at->bytes);
    ml_json_kv_u64(json, "blocks", at->blocks);
    if (at->file_bytes > 0)
        ml_json_kv_u64(json, "mapped_file_bytes", at->file_bytes);
}
