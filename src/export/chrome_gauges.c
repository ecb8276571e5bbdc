/* chrome_gauges.c: see chrome_gauges.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chrome_gauges.h"

#include <stdio.h>
#include <string.h>

void ml_chrome_gauges_init(struct ml_chrome_gauges *gauges, struct ml_chrome *chrome)
{
    *gauges = (struct ml_chrome_gauges){.chrome = chrome};
    gauges->bucket_ns = ml_trace_info(chrome->trace)->end_ns / ML_CHROME_BUCKETS + 1;
}

void ml_chrome_gauges_release(struct ml_chrome_gauges *gauges)
{
    ml_vec_release(&gauges->list);
    ml_map_release(&gauges->index);
}

struct ml_chrome_gauge *ml_chrome_gauge(struct ml_chrome_gauges *gauges, uint64_t key,
                                        const struct ml_chrome_gauge *like)
{
    uint64_t at;

    if (!ml_map_get(&gauges->index, key, &at)) {
        at = gauges->list.len;
        if (ml_vec_push(&gauges->list, *like) < 0)
            return NULL;
        if (ml_map_put(&gauges->index, key, at) < 0) {
            gauges->list.len--;
            return NULL;
        }
    }
    return &gauges->list.items[at];
}

static bool has_seen(const struct ml_chrome_gauge *gauge)
{
    for (size_t i = 0; i < gauge->count; i++)
        if (gauge->seen[i])
            return true;
    return false;
}

static void write_point(struct ml_chrome *c, const struct ml_chrome_gauge *gauge,
                        const struct ml_gauge_point *point)
{
    char title[512];
    struct ml_json *json;

    snprintf(title, sizeof(title), "%s %s", gauge->device, gauge->what);
    ml_chrome_begin(c, 'C', title, NULL, point->time_ns, (struct ml_chrome_track){gauge->pid, 0});
    json = ml_chrome_args(c);
    for (size_t i = 0; i < gauge->count; i++)
        if (gauge->seen[i] || (i == 0 && !has_seen(gauge)))
            ml_json_kv_u64(json, gauge->names[i], point->values[i]);
    ml_chrome_end(c);
}

static void flush(struct ml_chrome_gauges *gauges, struct ml_chrome_gauge *gauge)
{
    if (!gauge->pending)
        return;
    if (gauge->high.time_ns != gauge->last.time_ns)
        write_point(gauges->chrome, gauge, &gauge->high);
    write_point(gauges->chrome, gauge, &gauge->last);
    gauge->pending = false;
}

void ml_chrome_gauge_set(struct ml_chrome_gauges *gauges, struct ml_chrome_gauge *gauge,
                         uint64_t time_ns, const uint64_t *values)
{
    struct ml_gauge_point *last = &gauge->last;

    if (time_ns / gauges->bucket_ns != gauge->bucket)
        flush(gauges, gauge);
    *last = (struct ml_gauge_point){.time_ns = time_ns};
    for (size_t i = 0; i < gauge->count; i++) {
        last->values[i] = values[i];
        last->sum += values[i];
        gauge->seen[i] |= values[i] > 0;
    }
    if (!gauge->pending || last->sum > gauge->high.sum)
        gauge->high = *last;
    gauge->pending = true;
    gauge->bucket = time_ns / gauges->bucket_ns;
}

void ml_chrome_gauges_flush(struct ml_chrome_gauges *gauges)
{
    for (size_t i = 0; i < gauges->list.len; i++)
        flush(gauges, &gauges->list.items[i]);
}
