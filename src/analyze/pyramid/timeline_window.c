/* timeline_window.c: see timeline_window.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "timeline_window.h"

#include <errno.h>

#include "checkpoints.h"
#include "pyramid.h"

#define LEVEL_MAX 40 /* of 2^40 columns */

static size_t column_at(uint64_t span_ns, size_t of, uint64_t time_ns)
{
    return time_ns >= span_ns ? of - 1 : (size_t)((ml_u128)time_ns * of / span_ns);
}

struct ml_columns ml_window_columns(const struct ml_trace *trace, uint64_t from_ns, uint64_t to_ns,
                                    size_t wanted)
{
    struct ml_columns c = {.span_ns = ml_max_u64(ml_trace_info(trace)->end_ns, 1), .of = 1};
    uint64_t last_ns = ml_min_u64(to_ns, c.span_ns);
    uint64_t window_ns = last_ns > from_ns ? last_ns - from_ns : 1;

    while ((ml_u128)c.of * window_ns < (ml_u128)wanted * c.span_ns && c.of < (size_t)1 << LEVEL_MAX)
        c.of *= 2;
    c.first = column_at(c.span_ns, c.of, from_ns);
    c.count = column_at(c.span_ns, c.of, ml_max_u64(last_ns, from_ns + 1) - 1) + 1 - c.first;
    if (last_ns == c.span_ns) /* a run of few nanoseconds has several columns for the last one */
        c.count = c.of - c.first;
    return c;
}

/* Whether the process was the only one with memory. */
static bool is_alone(const struct ml_replay *end, uint32_t pid)
{
    for (size_t i = 0; i < end->processes.len; i++) {
        const struct ml_replay_process *p = &end->processes.items[i];

        if (p->bytes.peak_bytes > 0 && ml_trace_process(end->trace, p->number)->pid != pid)
            return false;
    }
    return true;
}

/* The pyramid knows the bands, the checkpoints the health.
 * @return -ENOENT if there is none, or none that is fine enough */
static int from_pyramid(const struct ml_trace *trace, const struct ml_bands_opts *opts,
                        const struct ml_columns *columns, struct ml_bands *ret)
{
    struct ml_pyramid pyramid = {0};
    struct ml_replay end = {0};
    int r = -ENOENT;

    if (ml_trace_checkpoints(trace) && (opts->by != ML_BANDS_MODULE || opts->depth == 0))
        r = ml_pyramid_open(ml_trace_checkpoints(trace), opts->device, &pyramid);
    if (r == 0)
        r = ml_totals_at_end(trace, &end, &(struct ml_error){0});
    if (r == 0 && opts->pid && !is_alone(&end, opts->pid))
        r = -ENOENT;
    if (r == 0)
        r = ml_pyramid_bands(&pyramid, trace, opts->by, columns, ret);
    if (r == 0)
        ret->total.health = ml_health_of(&end);
    ml_replay_release(&end);
    ml_pyramid_release(&pyramid);
    return r == -EBADMSG ? -ENOENT : r;
}

int ml_window_bands(const struct ml_trace *trace, const struct ml_bands_opts *opts,
                    const struct ml_columns *columns, struct ml_bands *ret, struct ml_error *err)
{
    int r;

    *ret = (struct ml_bands){0};
    r = from_pyramid(trace, opts, columns, ret);
    if (r == -ENOENT) {
        ml_bands_release(ret);
        r = ml_bands_of_columns(trace, opts, columns, ret, err);
    }
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    return r;
}
