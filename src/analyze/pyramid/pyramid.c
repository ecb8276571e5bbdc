/* pyramid.c: see pyramid.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pyramid.h"

#include <errno.h>

#include "number_rows.h"
#include "pyramid_tags.h"
#include "varint.h"

/* ---- Opening ----------------------------------------------------------------- */

static int get_facts(struct ml_pyramid *p, const struct ml_record *record)
{
    uint64_t row[ML_PYRAMID_FACTS_FIELDS];
    struct ml_rows rows;

    if (ml_rows_open(record, &rows) < 0 || ml_rows_next(&rows, row, ML_PYRAMID_FACTS_FIELDS) != 1 ||
        row[ML_PYRAMID_AT_VERSION] != ML_PYRAMID_VERSION || row[ML_PYRAMID_BY] > ML_BANDS_DEVICE ||
        row[ML_PYRAMID_SPAN_NS] == 0)
        return -EBADMSG;
    p->by = (enum ml_bands_by)row[ML_PYRAMID_BY];
    p->from_scopes = row[ML_PYRAMID_FROM_SCOPES];
    p->span_ns = row[ML_PYRAMID_SPAN_NS];
    p->peak_bytes = row[ML_PYRAMID_PEAK_BYTES];
    p->peak_time_ns = row[ML_PYRAMID_PEAK_NS];
    return 0;
}

/* The last level comes first in the file. */
static int get_levels(struct ml_pyramid *p, const struct ml_record *record)
{
    struct ml_rows rows;

    if (ml_rows_open(record, &rows) < 0 || rows.left != ML_PYRAMID_LEVELS)
        return -EBADMSG;
    for (unsigned level = ML_PYRAMID_LEVELS; level-- > 0;)
        if (ml_rows_next(&rows, &p->first_tile[level], 1) != 1)
            return -EBADMSG;
    return 0;
}

static int get_bands(struct ml_pyramid *p, const struct ml_record *record)
{
    uint64_t row[ML_PYRAMID_BAND_FIELDS];
    struct ml_rows rows;

    if (ml_rows_open(record, &rows) < 0 || rows.left > ML_BANDS_MAX)
        return -EBADMSG;
    for (p->count = 0; rows.left > 0; p->count++) {
        if (ml_rows_next(&rows, row, ML_PYRAMID_BAND_FIELDS) != 1)
            return -EBADMSG;
        p->list[p->count] = (struct ml_band){
            .rest = row[ML_PYRAMID_BAND_REST],
            .peak_bytes = row[ML_PYRAMID_BAND_PEAK_BYTES],
            .share_bytes = row[ML_PYRAMID_BAND_SHARE_BYTES],
        };
    }
    return 0;
}

static int get_name(struct ml_pyramid *p, size_t band, const struct ml_record *record)
{
    if (band >= p->count)
        return -EBADMSG;
    p->list[band].name =
        ml_arena_dup(&p->arena, (const char *)record->in, (size_t)(record->end - record->in));
    return p->list[band].name ? 0 : -ENOMEM;
}

static int get_head(struct ml_pyramid *p, const uint8_t *in, const uint8_t *end)
{
    struct ml_record record;
    size_t names = 0;
    int more, r = 0;

    while (r == 0 && (more = ml_record_next(&in, end, &record)) != 0) {
        if (more < 0)
            return more;
        switch (record.tag) {
        case ML_PYRAMID_FACTS: r = get_facts(p, &record); break;
        case ML_PYRAMID_LEVEL_LIST: r = get_levels(p, &record); break;
        case ML_PYRAMID_BANDS: r = get_bands(p, &record); break;
        case ML_PYRAMID_NAME: r = get_name(p, names++, &record); break;
        default: break;
        }
    }
    return r == 0 && (p->span_ns == 0 || names != p->count) ? -EBADMSG : r;
}

int ml_pyramid_open(const struct ml_trace *file, struct ml_pyramid *ret)
{
    int64_t head = ml_trace_last_section(file, ML_BLOCK_PYRAMID);
    struct ml_buf bytes = {0};
    int r;

    *ret = (struct ml_pyramid){.file = file};
    if (head < 0)
        return (int)head;
    r = ml_trace_read_section(file, (size_t)head, ML_BLOCK_PYRAMID, &bytes);
    if (r == 0)
        r = get_head(ret, bytes.data, bytes.data + bytes.len);
    ml_buf_release(&bytes);
    return r;
}

void ml_pyramid_release(struct ml_pyramid *pyramid)
{
    ml_arena_release(&pyramid->arena);
    *pyramid = (struct ml_pyramid){0};
}

/* ---- Columns ------------------------------------------------------------------- */

unsigned ml_pyramid_level(const struct ml_pyramid *pyramid, uint64_t window_ns, size_t columns)
{
    unsigned level = 0;

    while (level + 1 < ML_PYRAMID_LEVELS &&
           (ml_u128)ml_pyramid_columns(level) * window_ns < (ml_u128)columns * pyramid->span_ns)
        level++;
    return level;
}

uint64_t ml_pyramid_time_ns(const struct ml_pyramid *pyramid, unsigned level, size_t column)
{
    size_t columns = ml_pyramid_columns(level);

    return (uint64_t)(((ml_u128)pyramid->span_ns * column + columns - 1) / columns);
}

size_t ml_pyramid_column_at(const struct ml_pyramid *pyramid, unsigned level, uint64_t time_ns)
{
    size_t columns = ml_pyramid_columns(level);

    if (time_ns >= pyramid->span_ns)
        return columns - 1;
    return (size_t)((ml_u128)time_ns * columns / pyramid->span_ns);
}

static int get_moments(const struct ml_record *record, size_t columns, size_t bands,
                       struct ml_bands_moment *ret)
{
    const uint8_t *in = record->in;
    uint64_t number = 0;

    in = ml_varint_get(in, record->end, &number);
    if (!in || number != columns)
        return -EBADMSG;
    in = ml_varint_get(in, record->end, &number);
    if (!in || number != bands)
        return -EBADMSG;
    for (size_t i = 0; i < 2 * columns; i++)
        ret[i] = (struct ml_bands_moment){0};
    for (size_t band = 0; band < bands; band++) {
        uint64_t value = 0;

        for (size_t i = 0; i < 2 * columns; i++) {
            in = ml_varint_get(in, record->end, &number);
            if (!in)
                return -EBADMSG;
            value += (uint64_t)ml_unzigzag(number);
            ret[i].bytes[band] = value;
        }
    }
    return 0;
}

int ml_pyramid_read(const struct ml_pyramid *pyramid, unsigned level, size_t tile,
                    struct ml_bands_moment *ret)
{
    struct ml_buf bytes = {0};
    struct ml_record record;
    const uint8_t *in;
    size_t columns;
    int r;

    if (level >= ML_PYRAMID_LEVELS || tile > (ml_pyramid_columns(level) - 1) / ML_PYRAMID_TILE)
        return -EINVAL;
    columns = (size_t)ml_min_u64(ml_pyramid_columns(level), ML_PYRAMID_TILE);
    r = ml_trace_read_section(pyramid->file, pyramid->first_tile[level] + tile, ML_BLOCK_PYRAMID,
                              &bytes);
    in = bytes.data;
    if (r == 0 && (ml_record_next(&in, bytes.data + bytes.len, &record) != 1 ||
                   record.tag != ML_PYRAMID_TILE_MOMENTS))
        r = -EBADMSG;
    if (r == 0)
        r = get_moments(&record, columns, pyramid->count, ret);
    ml_buf_release(&bytes);
    return r < 0 ? r : (int)columns;
}
