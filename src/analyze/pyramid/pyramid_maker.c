/* pyramid_maker.c: see pyramid_maker.h.
 *
 * A replay makes the columns of the last level. Each pair of columns makes one of the level before,
 * as soon as it is complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pyramid_maker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "band_reader.h"
#include "moment_table.h"
#include "number_rows.h"
#include "pyramid.h"
#include "pyramid_head.h"
#include "pyramid_tags.h"
#include "varint.h"

/* At least, of a column of the last level on average. A column takes two to three bytes if its
 * moments repeat, more if they do not, as those of malloc, whose events take more bytes as well. */
#define COLUMN_EVENTS 256
#define COLUMN_BYTES 160 /* of the trace */
#define LEVEL_MIN 10
#define DEVICES_MAX 16

struct level {
    struct ml_band_column *tile; /* its columns that are not written yet */
    size_t columns;              /* in the tile */
    bool has_half;
    struct ml_band_column half; /* waits for the other half of a column of the level before */
};

struct maker {
    const struct ml_trace *trace;
    struct ml_block_writer *out;
    struct ml_band_reader reader;
    unsigned last_level, stored; /* the last; bits of the sorts in the file */
    struct level levels[ML_PYRAMID_LEVELS];
    ml_numbers tiles; /* rows of the table of tiles */
    struct ml_moment_table moments;
    const struct ml_band_composition *list[2 * ML_PYRAMID_TILE]; /* of a tile or page */
    ml_numbers references;                                       /* of a tile */
    size_t bands[ML_BANDS_BY_COUNT];
    struct ml_buf bytes, head;
    struct ml_progress *progress;
    uint64_t made, total; /* columns, for the progress */
};

/* ---- Tiles --------------------------------------------------------------------- */

/* Values of a band follow each other, as differences. */
static int put_band(const struct maker *m, size_t moments, enum ml_bands_by by, size_t band,
                    struct ml_buf *out)
{
    uint64_t before = 0;

    for (size_t i = 0; i < moments; i++) {
        uint64_t value = m->list[i]->by[by].bytes[band];

        if (ml_number_put(out, ml_zigzag((int64_t)(value - before))) < 0)
            return -ENOMEM;
        before = value;
    }
    return 0;
}

/* @count  as the record has it: columns of two moments, or moments */
static int put_moments(struct maker *m, enum ml_pyramid_tag tag, size_t count, size_t moments,
                       enum ml_bands_by by)
{
    const uint64_t head[] = {by, count, m->bands[by]};
    struct ml_buf body = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < ML_ARRAY_SIZE(head); i++)
        r = ml_number_put(&body, head[i]);
    for (size_t band = 0; r == 0 && band < m->bands[by]; band++)
        r = put_band(m, moments, by, band, &body);
    if (r == 0)
        r = ml_record_put(&m->bytes, tag, body.data, body.len);
    ml_buf_release(&body);
    return r;
}

/* Of each stored sort. */
static int put_all_moments(struct maker *m, enum ml_pyramid_tag tag, size_t count, size_t moments)
{
    int r = 0;

    for (int by = 0; r == 0 && by < ML_BANDS_BY_COUNT; by++)
        if (m->stored >> by & 1)
            r = put_moments(m, tag, count, moments, (enum ml_bands_by)by);
    return r;
}

static int put_references(struct maker *m)
{
    struct ml_buf body = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->references.len; i++)
        r = ml_number_put(&body, m->references.items[i]);
    if (r == 0)
        r = ml_record_put(&m->bytes, ML_PYRAMID_REFERENCES, body.data, body.len);
    ml_buf_release(&body);
    return r;
}

/* The moments of a tile, or their numbers, if that is less. */
static int put_tile_moments(struct maker *m, const struct level *level)
{
    size_t moments = 2 * level->columns;
    int refers;

    for (size_t i = 0; i < moments; i++)
        m->list[i] = &level->tile[i / 2].moments[i % 2];
    ml_vec_clear(&m->references);
    refers = ml_moment_table_refer(&m->moments, m->list, moments, &m->references);
    if (refers < 0)
        return refers;
    return refers ? put_references(m)
                  : put_all_moments(m, ML_PYRAMID_MOMENTS, level->columns, moments);
}

static int put_times(struct maker *m, const struct level *level, unsigned number, size_t first)
{
    struct ml_columns columns = m->reader.picker.columns;
    struct ml_buf body = {0};
    int r = 0;

    columns.of = (size_t)1 << number;
    for (size_t i = 0; r == 0 && i < level->columns; i++)
        r = ml_number_put(&body, level->tile[i].high_ns - ml_columns_edge_ns(&columns, first + i));
    if (r == 0)
        r = ml_record_put(&m->bytes, ML_PYRAMID_TIMES, body.data, body.len);
    ml_buf_release(&body);
    return r;
}

static size_t tiles_of(const struct maker *m, unsigned number)
{
    size_t count = 0;

    for (size_t i = 0; i < m->tiles.len; i += ML_PYRAMID_TILES_FIELDS)
        count += m->tiles.items[i + ML_PYRAMID_TILE_LEVEL] == number;
    return count;
}

static int put_page(struct maker *m, size_t first, size_t count)
{
    int r = ml_vec_push(&m->moments.pages, ml_block_writer_next(m->out));

    for (size_t i = 0; i < count; i++)
        m->list[i] = &m->moments.page.items[first + i];
    ml_buf_clear(&m->bytes);
    if (r == 0)
        r = put_all_moments(m, ML_PYRAMID_PAGE_MOMENTS, count, count);
    return r < 0
               ? r
               : ml_block_writer_section(m->out, ML_BLOCK_PYRAMID, 0, m->bytes.data, m->bytes.len);
}

/* Writes the pages that are full, and in the end the last one. */
static int put_pages(struct maker *m, bool last)
{
    size_t written = 0, waiting = m->moments.page.len;
    int r = 0;

    while (r == 0 && (waiting >= ML_PYRAMID_PAGE || (last && waiting > 0))) {
        size_t count = (size_t)ml_min_u64(waiting, ML_PYRAMID_PAGE);

        r = put_page(m, written, count);
        written += count;
        waiting -= count;
    }
    if (written > 0)
        memmove(m->moments.page.items, m->moments.page.items + written,
                waiting * sizeof(*m->moments.page.items));
    m->moments.page.len = waiting;
    return r;
}

static int put_tile(struct maker *m, unsigned number)
{
    struct level *level = &m->levels[number];
    size_t first = tiles_of(m, number) * ML_PYRAMID_TILE;
    int r = ml_vec_push(&m->tiles, number);

    if (r == 0)
        r = ml_vec_push(&m->tiles, ml_block_writer_next(m->out));
    ml_buf_clear(&m->bytes);
    if (r == 0)
        r = put_tile_moments(m, level);
    if (r == 0)
        r = put_times(m, level, number, first);
    if (r == 0)
        r = ml_block_writer_section(m->out, ML_BLOCK_PYRAMID, 0, m->bytes.data, m->bytes.len);
    level->columns = 0;
    return r < 0 ? r : put_pages(m, false);
}

/* ---- Levels -------------------------------------------------------------------- */

static int store(struct maker *m, unsigned number, const struct ml_band_column *column)
{
    struct level *level = &m->levels[number];

    if (!level->tile)
        level->tile = malloc(ML_PYRAMID_TILE * sizeof(*level->tile));
    if (!level->tile)
        return -ENOMEM;
    level->tile[level->columns++] = *column;
    return level->columns == ML_PYRAMID_TILE ? put_tile(m, number) : 0;
}

/* From the last level down, as long as columns are complete. */
static int add_column(void *ctx, const struct ml_band_column *column)
{
    struct maker *m = ctx;
    struct ml_band_column whole = *column;
    int r = 0;

    for (unsigned number = m->last_level; r == 0; number--) {
        struct level *level = &m->levels[number];

        if (ml_pyramid_is_stored(m->last_level, number))
            r = store(m, number, &whole);
        if (number == 0)
            break;
        level->has_half = !level->has_half;
        if (level->has_half) {
            level->half = whole;
            break;
        }
        ml_column_join(&level->half, &whole);
        whole = level->half;
    }
    if (++m->made % ML_PYRAMID_TILE == 0)
        ml_progress_tell(m->progress, m->made, m->total);
    return r;
}

static int put_rests(struct maker *m)
{
    int r = 0;

    for (unsigned number = 0; r == 0 && number <= m->last_level; number++)
        if (m->levels[number].columns > 0)
            r = put_tile(m, number);
    return r < 0 ? r : put_pages(m, true);
}

static void release_levels(struct maker *m)
{
    for (size_t i = 0; i < ML_PYRAMID_LEVELS; i++) {
        free(m->levels[i].tile);
        m->levels[i] = (struct level){0};
    }
    ml_vec_clear(&m->tiles);
    ml_moment_table_release(&m->moments);
    m->moments = (struct ml_moment_table){0};
}

/* ---- The last section ------------------------------------------------------------- */

/* The pyramid of one device there. */
static int put_head(struct maker *m, const char *device, const struct ml_bands *all)
{
    const struct ml_pyramid_head head = {.device = device,
                                         .span_ns = ml_trace_info(m->trace)->end_ns,
                                         .last_level = m->last_level,
                                         .tiles = &m->tiles,
                                         .pages = &m->moments.pages,
                                         .bands = all};

    return ml_pyramid_head_put(&head, &m->head);
}

/* ---- Reading the trace --------------------------------------------------------- */

#define ALL_SORTS ((1u << ML_BANDS_BY_COUNT) - 1)

/* The number of bands of each sort, as far as it is known before reading. A sort of one band need
 * not be stored. */
static void choose_sorts(struct maker *m)
{
    const struct ml_replay *end = &m->reader.end;

    for (size_t by = 0; by < ML_BANDS_BY_COUNT; by++)
        m->bands[by] = ML_BANDS_MAX;
    m->bands[ML_BANDS_DEVICE] = ml_min_u64(end->devices.len, ML_BANDS_MAX);
    m->bands[ML_BANDS_PROCESS] = m->reader.processes.count;
    m->stored = ALL_SORTS;
    for (size_t by = 0; by < ML_BANDS_BY_COUNT; by++)
        if (m->bands[by] <= 1)
            m->stored &= ~(1u << by);
}

static int name_all(struct maker *m, struct ml_bands *all)
{
    int r = 0;

    for (int by = 0; r == 0 && by < ML_BANDS_BY_COUNT; by++)
        r = ml_band_reader_name(&m->reader, (enum ml_bands_by)by, &all[by]);
    return r;
}

/* @device  NULL: all
 * @only    the only device that has memory, whose pyramid this is, too; NULL: there are several */
static int make_one(struct maker *m, const char *device, const char *only, struct ml_error *err)
{
    const struct ml_level_caps caps = {.only_device = device};
    const struct ml_columns columns = {.span_ns = ml_trace_info(m->trace)->end_ns,
                                       .of = (size_t)1 << m->last_level,
                                       .count = (size_t)1 << m->last_level};
    struct ml_bands all[ML_BANDS_BY_COUNT] = {0};
    int r = ml_band_reader_begin(&m->reader, m->trace, &caps, ALL_SORTS, false, err);

    choose_sorts(m);
    if (r == 0)
        r = ml_band_reader_read(&m->reader, &columns, add_column, m, err);
    if (r == 0)
        r = put_rests(m);
    if (r == 0)
        r = name_all(m, all);
    if (r == 0)
        r = put_head(m, device ? device : "", all);
    if (r == 0 && only)
        r = put_head(m, only, all);
    for (size_t by = 0; by < ML_BANDS_BY_COUNT; by++)
        ml_bands_release(&all[by]);
    ml_band_reader_release(&m->reader);
    release_levels(m);
    return r;
}

/* ---- The pyramids --------------------------------------------------------------- */

struct devices {
    size_t count; /* with memory */
    const char *names[DEVICES_MAX];
    struct ml_replay end; /* owns the names */
};

static int find_devices(const struct ml_trace *trace, struct devices *ret, struct ml_error *err)
{
    int r = ml_totals_at_end(trace, &ret->end, err);

    for (uint32_t i = 0; r == 0 && i < ret->end.devices.len && ret->count < DEVICES_MAX; i++)
        if (ret->end.devices.items[i].bytes.peak_bytes > 0)
            ret->names[ret->count++] = ml_intern_get(&ret->end.device_names, i, NULL);
    return r;
}

static unsigned choose_level(const struct ml_trace_info *info)
{
    unsigned level = LEVEL_MIN;

    while (level + 1 < ML_PYRAMID_LEVELS && info->events >> (level + 1) >= COLUMN_EVENTS &&
           info->event_bytes >> (level + 1) >= COLUMN_BYTES)
        level++;
    return level;
}

int ml_pyramids_make(const struct ml_trace *trace, struct ml_progress *progress,
                     struct ml_block_writer *out, struct ml_error *err)
{
    struct maker *m = calloc(1, sizeof(*m));
    struct devices devices = {0};
    size_t each;
    int r = m ? find_devices(trace, &devices, err) : -ENOMEM;

    if (r < 0 || ml_trace_info(trace)->end_ns == 0)
        goto out;
    m->trace = trace;
    m->out = out;
    m->progress = progress;
    m->last_level = choose_level(ml_trace_info(trace));
    each = devices.count > 1 ? devices.count : 0;
    m->total = (1 + each) << m->last_level;
    r = make_one(m, NULL, devices.count == 1 ? devices.names[0] : NULL, err);
    for (size_t i = 0; r == 0 && i < each; i++)
        r = make_one(m, devices.names[i], NULL, err);
    if (r == 0)
        r = ml_block_writer_section(out, ML_BLOCK_PYRAMID, 0, m->head.data, m->head.len);
out:
    if (m) {
        ml_vec_release(&m->tiles);
        ml_vec_release(&m->references);
        ml_buf_release(&m->bytes);
        ml_buf_release(&m->head);
    }
    free(m);
    ml_replay_release(&devices.end);
    return r;
}
