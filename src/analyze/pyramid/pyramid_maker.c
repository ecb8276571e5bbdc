/* pyramid_maker.c: see pyramid_maker.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pyramid_maker.h"

#include <errno.h>
#include <string.h>

#include "number_rows.h"
#include "pyramid.h"
#include "pyramid_tags.h"
#include "varint.h"

struct maker {
    struct ml_block_writer *out;
    struct ml_bands bands; /* with the columns of the last level */
    ml_numbers levels;     /* the block where each begins */
    struct ml_buf bytes;
};

/* ---- Halving --------------------------------------------------------------- */

static uint64_t total_of(const struct ml_bands_moment *moment)
{
    uint64_t total = 0;

    for (size_t i = 0; i < ML_BANDS_MAX; i++)
        total += moment->bytes[i];
    return total;
}

/* The lowest and the highest of four moments in order of time, the earliest of equal ones. */
static void merge(const struct ml_bands_moment from[4], struct ml_bands_moment to[2])
{
    size_t low = 0, high = 0;
    struct ml_bands_moment first, second;

    for (size_t i = 1; i < 4; i++) {
        uint64_t total = total_of(&from[i]);

        low = total < total_of(&from[low]) ? i : low;
        high = total > total_of(&from[high]) ? i : high;
    }
    first = from[low < high ? low : high];
    second = from[low < high ? high : low];
    to[0] = first;
    to[1] = second;
}

/* Makes half as many columns, in place. */
static void halve(struct ml_bands_moment *moments, size_t columns)
{
    for (size_t i = 0; i < columns / 2; i++)
        merge(moments + 4 * i, moments + 2 * i);
}

/* ---- Writing ----------------------------------------------------------------- */

/* Values of a band follow each other, as differences. */
static int put_moments(const struct ml_bands_moment *moments, size_t columns, size_t bands,
                       struct ml_buf *out)
{
    int r = ml_number_put(out, columns);

    if (r == 0)
        r = ml_number_put(out, bands);
    for (size_t band = 0; band < bands; band++) {
        uint64_t before = 0;

        for (size_t i = 0; r == 0 && i < 2 * columns; i++) {
            r = ml_number_put(out, ml_zigzag((int64_t)(moments[i].bytes[band] - before)));
            before = moments[i].bytes[band];
        }
    }
    return r;
}

static int put_tile(struct maker *m, const struct ml_bands_moment *moments, size_t columns)
{
    struct ml_buf body = {0};
    int r = put_moments(moments, columns, m->bands.count, &body);

    ml_buf_clear(&m->bytes);
    if (r == 0)
        r = ml_record_put(&m->bytes, ML_PYRAMID_TILE_MOMENTS, body.data, body.len);
    if (r == 0)
        r = ml_block_writer_section(m->out, ML_BLOCK_PYRAMID, 0, m->bytes.data, m->bytes.len);
    ml_buf_release(&body);
    return r;
}

static int put_level(struct maker *m, size_t columns)
{
    int r = ml_vec_push(&m->levels, ml_block_writer_next(m->out));

    for (size_t at = 0; r == 0 && at < columns; at += ML_PYRAMID_TILE)
        r = put_tile(m, m->bands.moments.items + 2 * at,
                     (size_t)ml_min_u64(ML_PYRAMID_TILE, columns - at));
    return r;
}

/* From the last level to the first. */
static int put_levels(struct maker *m)
{
    int r = 0;

    for (unsigned level = ML_PYRAMID_LEVELS; r == 0 && level-- > 0;) {
        r = put_level(m, ml_pyramid_columns(level));
        halve(m->bands.moments.items, ml_pyramid_columns(level));
    }
    return r;
}

static int put_facts(struct maker *m)
{
    uint64_t row[ML_PYRAMID_FACTS_FIELDS] = {
        [ML_PYRAMID_AT_VERSION] = ML_PYRAMID_VERSION,
        [ML_PYRAMID_BY] = m->bands.by,
        [ML_PYRAMID_FROM_SCOPES] = m->bands.from_scopes,
        [ML_PYRAMID_SPAN_NS] = m->bands.total.span_ns,
        [ML_PYRAMID_PEAK_BYTES] = m->bands.total.peak_bytes,
        [ML_PYRAMID_PEAK_NS] = m->bands.total.peak_time_ns,
    };
    const ml_numbers numbers = {.items = row, .len = ML_PYRAMID_FACTS_FIELDS};
    int r = ml_rows_put(&m->bytes, ML_PYRAMID_FACTS, &numbers, ML_PYRAMID_FACTS_FIELDS);

    return r < 0 ? r : ml_rows_put(&m->bytes, ML_PYRAMID_LEVEL_LIST, &m->levels, 1);
}

static int put_bands(struct maker *m)
{
    uint64_t rows[ML_BANDS_MAX * ML_PYRAMID_BAND_FIELDS];
    ml_numbers numbers = {.items = rows, .len = m->bands.count * ML_PYRAMID_BAND_FIELDS};
    int r;

    for (size_t i = 0; i < m->bands.count; i++) {
        uint64_t *row = rows + i * ML_PYRAMID_BAND_FIELDS;

        row[ML_PYRAMID_BAND_REST] = m->bands.list[i].rest;
        row[ML_PYRAMID_BAND_PEAK_BYTES] = m->bands.list[i].peak_bytes;
        row[ML_PYRAMID_BAND_SHARE_BYTES] = m->bands.list[i].share_bytes;
    }
    r = ml_rows_put(&m->bytes, ML_PYRAMID_BANDS, &numbers, ML_PYRAMID_BAND_FIELDS);
    for (size_t i = 0; r == 0 && i < m->bands.count; i++) {
        const char *name = m->bands.list[i].name ? m->bands.list[i].name : "";

        r = ml_record_put(&m->bytes, ML_PYRAMID_NAME, name, strlen(name));
    }
    return r;
}

static int put_head(struct maker *m)
{
    int r;

    ml_buf_clear(&m->bytes);
    r = put_facts(m);
    if (r == 0)
        r = put_bands(m);
    return r < 0
               ? r
               : ml_block_writer_section(m->out, ML_BLOCK_PYRAMID, 0, m->bytes.data, m->bytes.len);
}

/* ---- Reading the trace --------------------------------------------------------- */

/* A run of a few nanoseconds has fewer buckets; the last value goes on. */
static int fill_up(struct ml_bands *bands)
{
    const size_t wanted = 2 * ml_pyramid_columns(ML_PYRAMID_LEVELS - 1);

    while (bands->moments.len < wanted) {
        struct ml_bands_moment last = {0};

        if (bands->moments.len > 0)
            last = bands->moments.items[bands->moments.len - 1];
        if (ml_vec_push(&bands->moments, last) < 0)
            return -ENOMEM;
    }
    return 0;
}

int ml_pyramid_make(const struct ml_trace *trace, enum ml_bands_by by, const char *device,
                    struct ml_block_writer *out, struct ml_error *err)
{
    const struct ml_level_caps caps = {.only_device = device};
    const struct ml_timeline_opts opts = {
        .buckets = ml_pyramid_columns(ML_PYRAMID_LEVELS - 1),
        .caps = &caps,
    };
    struct maker m = {.out = out};
    int r = ml_bands(trace, by, &opts, &m.bands, err);

    if (r == 0)
        r = fill_up(&m.bands);
    if (r == 0)
        r = put_levels(&m);
    if (r == 0)
        r = put_head(&m);
    ml_bands_release(&m.bands);
    ml_vec_release(&m.levels);
    ml_buf_release(&m.bytes);
    return r;
}
