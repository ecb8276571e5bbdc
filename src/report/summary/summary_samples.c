/* summary_samples.c: see summary_samples.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "summary_samples.h"

#include <math.h>

#include "text.h"

/* ---- Text --------------------------------------------------------------- */

static int rate_line(const struct ml_sample_rate *rate, const struct ml_style *style,
                     struct ml_buf *out)
{
    char taken[32], achieved[32], pace[32];

    ml_format_count(taken, (int64_t)rate->taken);
    if (rate->achieved_hz <= 0)
        return ml_summary_line(out, style, "sampled", taken, "time%s", rate->taken == 1 ? "" : "s");
    return ml_summary_line(out, style, "sampled", taken, "times, %s of %s a second",
                           ml_format_count(achieved, lround(rate->achieved_hz)),
                           ml_format_count(pace, lround(rate->pace_hz)));
}

static int device_line(const struct ml_sampled_device *d, const struct ml_style *style,
                       struct ml_buf *out)
{
    char used[32], total[32];
    struct ml_buf name;
    int r;

    if (!d->peak_used.known)
        return 0;
    ml_buf_init(&name);
    r = ml_buf_puts(&name, ""); /* a damaged trace may have a device without a name */
    if (r == 0)
        r = ml_report_safe(&name, d->is_host ? "host" : d->device);
    if (r == 0)
        r = ml_summary_line(
            out, style, (const char *)name.data,
            ml_format_bytes(used, (int64_t)d->peak_used.bytes, style->unit), "in use at most%s%s%s",
            d->total.known ? ", of " : "",
            d->total.known ? ml_format_bytes(total, (int64_t)d->total.bytes, style->unit) : "",
            d->is_host ? ", by all programs" : "");
    ml_buf_release(&name);
    return r;
}

/* The process with the most. */
static int process_line(const struct ml_samples *s, const struct ml_style *style,
                        struct ml_buf *out)
{
    const struct ml_sampled_process *most = NULL;
    char rss[32], pss[32];

    for (size_t i = 0; i < s->processes.len; i++) {
        const struct ml_sampled_process *p = &s->processes.items[i];

        if (p->peak_rss.known && (!most || p->peak_rss.bytes > most->peak_rss.bytes))
            most = p;
    }
    if (!most)
        return 0;
    return ml_summary_line(
        out, style, "RSS", ml_format_bytes(rss, (int64_t)most->peak_rss.bytes, style->unit),
        "of process %u at most%s%s", most->pid, most->peak_pss.known ? "; PSS " : "",
        most->peak_pss.known ? ml_format_bytes(pss, (int64_t)most->peak_pss.bytes, style->unit)
                             : "");
}

int ml_summary_samples_text(const struct ml_samples *s, const struct ml_style *style,
                            struct ml_buf *out)
{
    int r = 0;

    if (s->events == 0)
        return 0;
    if (s->rate.known)
        r = rate_line(&s->rate, style, out);
    for (size_t i = 0; r == 0 && i < s->devices.len; i++)
        r = device_line(&s->devices.items[i], style, out);
    return r < 0 ? r : process_line(s, style, out);
}

/* ---- JSON --------------------------------------------------------------- */

static void seen_json(struct ml_json *json, const char *key, const struct ml_seen *seen)
{
    if (seen->known)
        ml_json_kv_u64(json, key, seen->bytes);
    else
        ml_json_kv_null(json, key);
}

static void rate_json(const struct ml_sample_rate *rate, struct ml_json *json)
{
    static const char *const keys[] = {"hz_asked", "hz_pace", "hz_achieved", "taken",
                                       "cpu_seconds"};

    if (!rate->known) {
        for (size_t i = 0; i < ML_ARRAY_SIZE(keys); i++)
            ml_json_kv_null(json, keys[i]);
        return;
    }
    ml_json_kv_double(json, keys[0], rate->asked_hz);
    ml_json_kv_double(json, keys[1], rate->pace_hz);
    ml_json_kv_double(json, keys[2], rate->achieved_hz);
    ml_json_kv_u64(json, keys[3], rate->taken);
    ml_json_kv_double(json, keys[4], rate->cpu_seconds);
}

static void device_json(const struct ml_sampled_device *d, struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "device", d->device);
    ml_json_kv_cstr(json, "name", d->name);
    seen_json(json, "peak_used_bytes", &d->peak_used);
    if (d->peak_used.known)
        ml_json_kv_u64(json, "peak_time_ns", d->peak_time_ns);
    else
        ml_json_kv_null(json, "peak_time_ns");
    seen_json(json, "total_bytes", &d->total);
    ml_json_end_object(json);
}

static void process_json(const struct ml_sampled_process *p, struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "pid", p->pid);
    seen_json(json, "peak_rss_bytes", &p->peak_rss);
    seen_json(json, "peak_pss_bytes", &p->peak_pss);
    seen_json(json, "peak_gpu_bytes", &p->peak_gpu);
    ml_json_end_object(json);
}

void ml_summary_samples_json(const struct ml_samples *s, struct ml_json *json)
{
    if (s->events == 0) {
        ml_json_kv_null(json, "samples");
        return;
    }
    ml_json_key(json, "samples");
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "events", s->events);
    rate_json(&s->rate, json);
    ml_json_kv_cstr(json, "gpu_driver", s->driver);
    ml_json_key(json, "devices");
    ml_json_begin_array(json);
    for (size_t i = 0; i < s->devices.len; i++)
        device_json(&s->devices.items[i], json);
    ml_json_end_array(json);
    ml_json_key(json, "processes");
    ml_json_begin_array(json);
    for (size_t i = 0; i < s->processes.len; i++)
        process_json(&s->processes.items[i], json);
    ml_json_end_array(json);
    ml_json_end_object(json);
}
