/* bands.c: see bands.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bands.h"

#include <errno.h>

#include "band_reader.h"

/* ---- Columns --------------------------------------------------------------- */

static uint64_t total_of(const struct ml_bands_moment *moment)
{
    uint64_t total = 0;

    for (size_t i = 0; i < ML_BANDS_MAX; i++)
        total += moment->bytes[i];
    return total;
}

static void note_own_peaks(struct ml_bands *bands, const struct ml_bands_moment *moment)
{
    for (size_t i = 0; i < ML_BANDS_MAX; i++)
        bands->list[i].peak_bytes = ml_max_u64(bands->list[i].peak_bytes, moment->bytes[i]);
}

static void note_peak(struct ml_bands *bands, const struct ml_bands_moment *moment,
                      uint64_t time_ns)
{
    uint64_t total = total_of(moment);

    if (bands->moments.len > 0 && total <= bands->total.peak_bytes)
        return;
    bands->total.peak_bytes = total;
    bands->total.peak_time_ns = time_ns;
    for (size_t i = 0; i < ML_BANDS_MAX; i++)
        bands->list[i].share_bytes = moment->bytes[i];
}

int ml_bands_add(struct ml_bands *bands, const struct ml_bands_moment *first,
                 const struct ml_bands_moment *second, uint64_t high_ns)
{
    note_own_peaks(bands, first);
    note_own_peaks(bands, second);
    note_peak(bands, total_of(second) > total_of(first) ? second : first, high_ns);
    if (ml_vec_push(&bands->moments, *first) < 0 || ml_vec_push(&bands->moments, *second) < 0)
        return -ENOMEM;
    return 0;
}

static int add_column(void *ctx, const struct ml_band_column *column)
{
    struct ml_bands *bands = ctx;

    if (bands->moments.len == 0)
        bands->total.begin_bytes = column->first_bytes;
    if (ml_vec_push(&bands->total.buckets,
                    ((struct ml_timeline_bucket){column->low_bytes, column->high_bytes,
                                                 column->last_bytes, column->low_first})) < 0)
        return -ENOMEM;
    return ml_bands_add(bands, &column->moments[0].by[bands->by], &column->moments[1].by[bands->by],
                        column->high_ns);
}

/* ---- The analysis ------------------------------------------------------------ */

/* What is read: the device and the process are in the caps. */
struct wanted {
    enum ml_bands_by by;
    size_t depth;
    const struct ml_level_caps *caps;
};

static int try_reading(const struct ml_trace *trace, const struct wanted *wanted,
                       const struct ml_columns *columns, bool from_start, struct ml_bands *ret,
                       struct ml_error *err)
{
    struct ml_band_reader reader;
    int r;

    ml_bands_begin(trace, wanted->by, columns, ret);
    r = ml_band_reader_begin(&reader, trace, wanted->caps, 1u << wanted->by, from_start, err);
    reader.module_depth = wanted->depth;
    if (r == 0)
        r = ml_band_reader_read(&reader, columns, add_column, ret, err);
    if (r == 0) {
        ret->total.health = ml_band_reader_health(&reader);
        r = ml_band_reader_name(&reader, wanted->by, ret);
    }
    ml_band_reader_release(&reader);
    return r;
}

static int read_bands(const struct ml_trace *trace, const struct wanted *wanted,
                      const struct ml_columns *columns, struct ml_bands *ret, struct ml_error *err)
{
    int r = try_reading(trace, wanted, columns, false, ret, err);

    if (r == -EBADMSG && ml_trace_checkpoints(trace)) {
        ml_bands_release(ret);
        *err = (struct ml_error){0};
        r = try_reading(trace, wanted, columns, true, ret, err);
    }
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    return r;
}

void ml_bands_begin(const struct ml_trace *trace, enum ml_bands_by by,
                    const struct ml_columns *columns, struct ml_bands *ret)
{
    uint64_t from_ns = ml_columns_edge_ns(columns, 0);
    uint64_t to_ns = ml_columns_edge_ns(columns, columns->count);
    uint64_t run_ns = ml_trace_info(trace)->end_ns;

    *ret = (struct ml_bands){
        .by = by,
        .total = {.from_ns = from_ns,
                  .span_ns = ml_max_u64(to_ns - from_ns, 1),
                  .begin_ns = from_ns,
                  .duration_ns = ml_max_u64(run_ns < to_ns ? run_ns : to_ns, from_ns)},
    };
}

int ml_bands(const struct ml_trace *trace, enum ml_bands_by by, const struct ml_timeline_opts *opts,
             struct ml_bands *ret, struct ml_error *err)
{
    uint64_t run_ns = ml_trace_info(trace)->end_ns;
    uint64_t rest_ns = run_ns > opts->from_ns ? run_ns - opts->from_ns : 0;
    const struct ml_columns columns = {
        .from_ns = opts->from_ns,
        .span_ns = ml_max_u64(opts->span_ns ? opts->span_ns : rest_ns, 1),
        .of = opts->buckets,
        .count = opts->buckets,
    };

    return read_bands(trace, &(struct wanted){by, opts->module_depth, opts->caps}, &columns, ret,
                      err);
}

int ml_bands_of_columns(const struct ml_trace *trace, const struct ml_bands_opts *opts,
                        const struct ml_columns *columns, struct ml_bands *ret,
                        struct ml_error *err)
{
    const struct ml_level_caps caps = {.only_device = opts->device, .only_pid = opts->pid};

    return read_bands(trace, &(struct wanted){opts->by, opts->depth, &caps}, columns, ret, err);
}

void ml_bands_release(struct ml_bands *bands)
{
    ml_arena_release(&bands->arena);
    ml_timeline_release(&bands->total);
    ml_vec_release(&bands->moments);
    *bands = (struct ml_bands){0};
}
