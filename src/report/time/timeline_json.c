/* timeline_json.c: see timeline_json.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "timeline_json.h"

#include "json.h"

static void put_bands(struct ml_json *json, const struct ml_bands *bands)
{
    ml_json_key(json, "bands");
    ml_json_begin_array(json);
    for (size_t i = 0; i < bands->count; i++) {
        const struct ml_band *b = &bands->list[i];

        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "name", b->rest || !*b->name ? NULL : b->name);
        ml_json_kv_bool(json, "rest", b->rest);
        ml_json_kv_u64(json, "peak_bytes", b->peak_bytes);
        ml_json_kv_u64(json, "at_peak_bytes", b->share_bytes);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void put_times(struct ml_json *json, const struct ml_timeline *t, size_t buckets,
                      size_t halves)
{
    ml_json_key(json, "times_ns");
    ml_json_begin_array(json);
    for (size_t i = 0; i < halves; i++)
        ml_json_u64(json, (uint64_t)ml_timeline_half_ns(t, buckets, i));
    ml_json_end_array(json);
}

static void put_moments(struct ml_json *json, const struct ml_bands *bands, size_t buckets)
{
    put_times(json, &bands->total, buckets, bands->moments.len);
    ml_json_key(json, "bytes");
    ml_json_begin_array(json);
    for (size_t k = 0; k < bands->count; k++) {
        ml_json_begin_array(json);
        for (size_t i = 0; i < bands->moments.len; i++)
            ml_json_u64(json, bands->moments.items[i].bytes[k]);
        ml_json_end_array(json);
    }
    ml_json_end_array(json);
}

/* Each bucket has two moments, that of its lowest value and that of its highest. */
static uint64_t half_bytes(const struct ml_timeline *t, size_t half)
{
    const struct ml_timeline_bucket *b = &t->buckets.items[half / 2];

    return (half % 2 == 0) == b->min_first ? b->min_bytes : b->max_bytes;
}

static void put_curve(struct ml_json *json, const struct ml_sample_curve *curve, size_t buckets)
{
    const struct ml_timeline *t = &curve->timeline;
    size_t first = ml_timeline_first_bucket(t, buckets);

    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "device", curve->name);
    ml_json_kv_bool(json, "is_rss", curve->is_rss);
    ml_json_kv_u64(json, "peak_bytes", t->peak_bytes);
    put_times(json, t, buckets, 2 * t->buckets.len);
    ml_json_key(json, "used_bytes");
    ml_json_begin_array(json);
    for (size_t i = 0; i < 2 * t->buckets.len; i++) {
        if (i / 2 < first)
            ml_json_null(json);
        else
            ml_json_u64(json, half_bytes(t, i));
    }
    ml_json_end_array(json);
    ml_json_end_object(json);
}

static void put_reserved_curve(struct ml_json *json, const struct ml_reserved_curve *curve,
                               size_t buckets)
{
    const struct ml_timeline *t = &curve->timeline;

    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "device", curve->device);
    ml_json_kv_u64(json, "peak_bytes", t->peak_bytes);
    put_times(json, t, buckets, 2 * t->buckets.len);
    ml_json_key(json, "reserved_bytes");
    ml_json_begin_array(json);
    for (size_t i = 0; i < 2 * t->buckets.len; i++)
        ml_json_u64(json, half_bytes(t, i));
    ml_json_end_array(json);
    ml_json_end_object(json);
}

static void put_reserved(struct ml_json *json, const struct ml_reserved_curves *curves,
                         size_t buckets)
{
    ml_json_key(json, "reserved");
    ml_json_begin_array(json);
    for (size_t i = 0; i < curves->list.len; i++)
        put_reserved_curve(json, &curves->list.items[i], buckets);
    ml_json_end_array(json);
}

static void put_samples(struct ml_json *json, const struct ml_sample_curves *curves, size_t buckets)
{
    ml_json_key(json, "samples");
    ml_json_begin_array(json);
    for (size_t i = 0; i < curves->list.len; i++)
        put_curve(json, &curves->list.items[i], buckets);
    ml_json_end_array(json);
}

static void put_occasion(struct ml_json *json, const struct ml_trace *trace,
                         const struct ml_occasion *o)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "kind", ml_occasion_kind_name(o->kind));
    ml_json_kv_u64(json, "time_ns", o->time_ns);
    switch (o->kind) {
    case ML_OCCASION_STEP:
    case ML_OCCASION_EPOCH: ml_json_kv_u64(json, "number", o->number); break;
    case ML_OCCASION_PHASE:
    case ML_OCCASION_MARKER:
        ml_json_kv_cstr(json, "name", ml_trace_string(trace, o->name, NULL));
        break;
    case ML_OCCASION_OOM: ml_json_kv_u64(json, "bytes", o->number); break;
    }
    ml_json_end_object(json);
}

static void put_occasions(struct ml_json *json, const struct ml_timeline_numbers *n)
{
    ml_json_key(json, "marks");
    ml_json_begin_array(json);
    for (size_t i = 0; i < n->occasions->list.len; i++)
        put_occasion(json, n->trace, &n->occasions->list.items[i]);
    ml_json_end_array(json);
    ml_json_kv_u64(json, "marks_left_out", n->occasions->left_out);
    ml_json_key(json, "pauses");
    ml_json_begin_array(json);
    for (size_t i = 0; i < n->occasions->pauses.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_u64(json, "from_ns", n->occasions->pauses.items[i].from_ns);
        ml_json_kv_u64(json, "to_ns", n->occasions->pauses.items[i].to_ns);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void put_span(struct ml_json *json, const struct ml_timeline_numbers *n)
{
    static const char *const by[] = {[ML_BANDS_CATEGORY] = "category",
                                     [ML_BANDS_MODULE] = "module",
                                     [ML_BANDS_DEVICE] = "device",
                                     [ML_BANDS_PROCESS] = "process",
                                     [ML_BANDS_RANK] = "rank"};
    const struct ml_timeline *total = &n->bands->total;

    ml_json_kv_cstr(json, "file", n->file);
    ml_json_kv_cstr(json, "device", n->device);
    if (n->pid)
        ml_json_kv_u64(json, "pid", n->pid);
    else
        ml_json_kv_null(json, "pid");
    ml_json_kv_cstr(json, "by", by[n->bands->by]);
    if (n->depth)
        ml_json_kv_u64(json, "depth", n->depth);
    else
        ml_json_kv_null(json, "depth");
    ml_json_kv_bool(json, "has_times", !ml_trace_lacks_times(n->trace));
    ml_json_kv_u64(json, "end_ns", n->job ? n->job->end_ns : ml_trace_info(n->trace)->end_ns);
    ml_json_kv_u64(json, "from_ns", total->from_ns);
    ml_json_kv_u64(json, "to_ns", total->from_ns + total->span_ns);
    ml_json_kv_u64(json, "peak_bytes", total->peak_bytes);
    ml_json_kv_u64(json, "peak_time_ns", total->peak_time_ns);
}

/* Where each trace begins and ends on the axis. */
static void put_traces(struct ml_json *json, const struct ml_timeline_numbers *n)
{
    ml_json_kv_u64(json, "start_wall_ns", n->job->start_wall_ns);
    ml_json_key(json, "traces");
    ml_json_begin_array(json);
    for (size_t i = 0; i < n->job->traces.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "file", n->names[i]);
        ml_json_kv_u64(json, "start_ns", n->job->traces.items[i].start_ns);
        ml_json_kv_u64(json, "end_ns", n->job->traces.items[i].end_ns);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

int ml_timeline_json(const struct ml_timeline_numbers *n, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, false);
    ml_json_begin_object(&json);
    put_span(&json, n);
    if (n->job)
        put_traces(&json, n);
    put_bands(&json, n->bands);
    put_moments(&json, n->bands, n->buckets);
    put_samples(&json, n->sampled, n->buckets);
    put_reserved(&json, n->reserved, n->buckets);
    put_occasions(&json, n);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
