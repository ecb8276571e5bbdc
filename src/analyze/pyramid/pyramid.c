/* pyramid.c: see pyramid.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pyramid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "column_picker.h"
#include "moment_pages.h"
#include "number_rows.h"
#include "pyramid_tags.h"
#include "samples.h"
#include "varint.h"

/* ---- Opening ----------------------------------------------------------------- */

struct head {
    struct ml_pyramid *ret;
    const char *device;
    bool wanted; /* the records are those of the device asked for */
    bool found;
    size_t names; /* so far */
};

static int get_facts(struct head *h, const struct ml_record *record)
{
    uint64_t row[ML_PYRAMID_FACTS_FIELDS];
    struct ml_rows rows;

    if (ml_rows_open(record, &rows) < 0 || ml_rows_next(&rows, row, ML_PYRAMID_FACTS_FIELDS) != 1 ||
        row[ML_PYRAMID_AT_VERSION] < ML_PYRAMID_OLDEST_VERSION ||
        row[ML_PYRAMID_AT_VERSION] > ML_PYRAMID_VERSION || row[ML_PYRAMID_SPAN_NS] == 0 ||
        row[ML_PYRAMID_LAST_LEVEL] >= ML_PYRAMID_LEVELS)
        return -EBADMSG;
    h->wanted = false;
    if (h->found)
        return 0;
    h->ret->from_scopes = row[ML_PYRAMID_FROM_SCOPES];
    h->ret->span_ns = row[ML_PYRAMID_SPAN_NS];
    h->ret->last_level = (unsigned)row[ML_PYRAMID_LAST_LEVEL];
    return 0;
}

static int get_device(struct head *h, const struct ml_record *record)
{
    size_t len = (size_t)(record->end - record->in);
    char *name = ml_arena_dup(&h->ret->arena, (const char *)record->in, len);

    if (!name)
        return -ENOMEM;
    if (!h->found)
        h->wanted = h->device ? len > 0 && ml_device_is(name, h->device) : len == 0;
    h->found |= h->wanted;
    return 0;
}

static int get_tiles(struct ml_pyramid *p, const struct ml_record *record)
{
    uint64_t row[ML_PYRAMID_TILES_FIELDS];
    struct ml_rows rows;
    int more = 0, r = ml_rows_open(record, &rows);

    while (r == 0 && (more = ml_rows_next(&rows, row, ML_PYRAMID_TILES_FIELDS)) > 0) {
        if (row[ML_PYRAMID_TILE_LEVEL] >= ML_PYRAMID_LEVELS)
            return -EBADMSG;
        r = ml_vec_push(&p->tiles[row[ML_PYRAMID_TILE_LEVEL]], row[ML_PYRAMID_TILE_BLOCK]);
    }
    return r < 0 ? r : more;
}

static int get_pages(struct ml_pyramid *p, const struct ml_record *record)
{
    uint64_t block;
    struct ml_rows rows;
    int more = 0, r = ml_rows_open(record, &rows);

    while (r == 0 && (more = ml_rows_next(&rows, &block, 1)) > 0)
        r = p->pages.len < ML_PYRAMID_PAGES_MAX ? ml_vec_push(&p->pages, block) : -EBADMSG;
    return r < 0 ? r : more;
}

static int get_bands(struct ml_pyramid *p, const struct ml_record *record)
{
    uint64_t row[ML_PYRAMID_BANDS_FIELDS];
    struct ml_rows rows;
    int more = 0, r = ml_rows_open(record, &rows);

    while (r == 0 && (more = ml_rows_next(&rows, row, ML_PYRAMID_BANDS_FIELDS)) > 0) {
        struct ml_pyramid_bands *bands;

        if (row[ML_PYRAMID_BAND_BY] >= ML_BANDS_BY_COUNT)
            return -EBADMSG;
        bands = &p->by[row[ML_PYRAMID_BAND_BY]];
        if (bands->count == ML_BANDS_MAX)
            return -EBADMSG;
        bands->list[bands->count++] =
            (struct ml_band){.name = "", .rest = row[ML_PYRAMID_BAND_REST]};
    }
    return r < 0 ? r : more;
}

/* Names come in the order of the sorts and their bands. */
static int get_name(struct ml_pyramid *p, size_t number, const struct ml_record *record)
{
    for (size_t by = 0; by < ML_BANDS_BY_COUNT; by++) {
        struct ml_pyramid_bands *bands = &p->by[by];

        if (number < bands->count) {
            bands->list[number].name = ml_arena_dup(&p->arena, (const char *)record->in,
                                                    (size_t)(record->end - record->in));
            return bands->list[number].name ? 0 : -ENOMEM;
        }
        number -= bands->count;
    }
    return -EBADMSG;
}

static int get_record(struct head *h, const struct ml_record *record)
{
    switch (record->tag) {
    case ML_PYRAMID_FACTS: return get_facts(h, record);
    case ML_PYRAMID_DEVICE: return get_device(h, record);
    case ML_PYRAMID_TILES: return h->wanted ? get_tiles(h->ret, record) : 0;
    case ML_PYRAMID_PAGES: return h->wanted ? get_pages(h->ret, record) : 0;
    case ML_PYRAMID_BANDS: return h->wanted ? get_bands(h->ret, record) : 0;
    case ML_PYRAMID_NAME: return h->wanted ? get_name(h->ret, h->names++, record) : 0;
    default: return 0;
    }
}

static int get_head(struct head *h, const uint8_t *in, const uint8_t *end)
{
    struct ml_record record;
    int more, r = 0;

    while (r == 0 && (more = ml_record_next(&in, end, &record)) != 0)
        r = more < 0 ? more : get_record(h, &record);
    return r == 0 && !h->found ? -ENOENT : r;
}

int ml_pyramid_open(const struct ml_trace *file, const char *device, struct ml_pyramid *ret)
{
    int64_t head = ml_trace_last_section(file, ML_BLOCK_PYRAMID);
    struct head h = {.ret = ret, .device = device};
    struct ml_buf bytes = {0};
    int r;

    *ret = (struct ml_pyramid){.file = file};
    if (head < 0)
        return (int)head;
    r = ml_trace_read_section(file, (size_t)head, ML_BLOCK_PYRAMID, &bytes);
    if (r == 0)
        r = get_head(&h, bytes.data, bytes.data + bytes.len);
    ml_buf_release(&bytes);
    return r;
}

void ml_pyramid_release(struct ml_pyramid *pyramid)
{
    for (size_t i = 0; i < ML_PYRAMID_LEVELS; i++)
        ml_vec_release(&pyramid->tiles[i]);
    ml_vec_release(&pyramid->pages);
    ml_arena_release(&pyramid->arena);
    *pyramid = (struct ml_pyramid){0};
}

/* ---- Tiles ----------------------------------------------------------------------- */

struct tile {
    size_t columns;
    bool has_moments, has_times;
    struct ml_bands_moment moments[2 * ML_PYRAMID_TILE];
    uint64_t high_ns[ML_PYRAMID_TILE]; /* less the column's begin */
};

static int get_numbers(const uint8_t **in, const uint8_t *end, uint64_t *ret, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *in = ml_varint_get(*in, end, &ret[i]);
        if (!*in)
            return -EBADMSG;
    }
    return 0;
}

/* The sort that is stored. A sort of one band is not: it is the total of any other. */
static enum ml_bands_by stored_sort(const struct ml_pyramid *p, enum ml_bands_by by)
{
    return p->by[by].count > 1 ? by : ML_BANDS_CATEGORY;
}

static int get_moments(const struct ml_record *record, enum ml_bands_by by, struct tile *ret)
{
    size_t count = 0;
    int found = ml_moments_get(record, by, 2, 2 * ret->columns, ret->moments, &count);

    if (found <= 0)
        return found;
    ret->has_moments = count == 2 * ret->columns;
    return ret->has_moments ? 0 : -EBADMSG;
}

static int get_references(const struct ml_record *record, struct ml_moment_pages *pages,
                          struct tile *ret)
{
    const uint8_t *in = record->in;
    uint64_t number;
    int r = 0;

    for (size_t i = 0; r == 0 && i < 2 * ret->columns; i++) {
        r = get_numbers(&in, record->end, &number, 1);
        if (r == 0)
            r = ml_moment_pages_find(pages, number, &ret->moments[i]);
    }
    ret->has_moments = r == 0;
    return r;
}

static int get_times(const struct ml_record *record, struct tile *ret)
{
    const uint8_t *in = record->in;
    int r = get_numbers(&in, record->end, ret->high_ns, ret->columns);

    ret->has_times = r == 0;
    return r;
}

static int get_tile(const struct ml_buf *bytes, struct ml_moment_pages *pages, struct tile *ret)
{
    const uint8_t *in = bytes->data, *end = bytes->data + bytes->len;
    struct ml_record record;
    int more, r = 0;

    ret->has_moments = ret->has_times = false;
    while (r == 0 && (more = ml_record_next(&in, end, &record)) != 0) {
        if (more < 0)
            r = more;
        else if (record.tag == ML_PYRAMID_MOMENTS)
            r = get_moments(&record, pages->by, ret);
        else if (record.tag == ML_PYRAMID_REFERENCES)
            r = get_references(&record, pages, ret);
        else if (record.tag == ML_PYRAMID_TIMES)
            r = get_times(&record, ret);
    }
    return r == 0 && (!ret->has_moments || !ret->has_times) ? -EBADMSG : r;
}

static int read_tile(const struct ml_pyramid *p, unsigned level, size_t number,
                     struct ml_moment_pages *pages, struct ml_buf *bytes, struct tile *ret)
{
    size_t columns = (size_t)1 << level;
    int r;

    if (number >= p->tiles[level].len)
        return -EBADMSG;
    ret->columns = (size_t)ml_min_u64(columns, ML_PYRAMID_TILE);
    r = ml_trace_read_section(p->file, p->tiles[level].items[number], ML_BLOCK_PYRAMID, bytes);
    return r < 0 ? r : get_tile(bytes, pages, ret);
}

/* ---- Columns ----------------------------------------------------------------------- */

struct window {
    const struct ml_pyramid *pyramid;
    enum ml_bands_by by;
    unsigned level;            /* stored */
    size_t together;           /* columns of it that make one of the window */
    struct ml_columns columns; /* of the stored level */
    struct tile *tile;
    size_t tile_number; /* the tile that is loaded; SIZE_MAX: none */
    struct ml_moment_pages pages;
    struct ml_buf bytes;
};

static uint64_t total_of(const struct ml_bands_moment *moment)
{
    uint64_t total = 0;

    for (size_t i = 0; i < ML_BANDS_MAX; i++)
        total += moment->bytes[i];
    return total;
}

/* Of a sort that is not stored, the only band. */
static struct ml_bands_moment only_band(const struct ml_bands_moment *moment)
{
    return (struct ml_bands_moment){.bytes = {total_of(moment)}};
}

/* A column of the stored level, counted in the run. */
static int get_column(struct window *w, size_t at, struct ml_band_column *ret)
{
    size_t tile = at / ML_PYRAMID_TILE, i = at % ML_PYRAMID_TILE;
    const struct ml_bands_moment *moments = w->tile->moments + 2 * i;
    uint64_t first = 0, second = 0;
    int r = 0;

    if (tile != w->tile_number)
        r = read_tile(w->pyramid, w->level, tile, &w->pages, &w->bytes, w->tile);
    if (r < 0)
        return r;
    w->tile_number = tile;
    first = total_of(&moments[0]);
    second = total_of(&moments[1]);
    *ret = (struct ml_band_column){
        .low_bytes = ml_min_u64(first, second),
        .high_bytes = ml_max_u64(first, second),
        .low_first = first <= second,
        .high_ns = ml_columns_edge_ns(&w->columns, at - w->columns.first) + w->tile->high_ns[i],
    };
    for (int k = 0; k < 2; k++)
        ret->moments[k].by[w->by] =
            stored_sort(w->pyramid, w->by) == w->by ? moments[k] : only_band(&moments[k]);
    return 0;
}

/* A column of the window. */
static int join_columns(struct window *w, size_t i, struct ml_band_column *ret)
{
    size_t at = w->columns.first + i * w->together;
    struct ml_band_column next;
    int r = get_column(w, at, ret);

    for (size_t k = 1; r == 0 && k < w->together; k++) {
        r = get_column(w, at + k, &next);
        if (r == 0)
            ml_column_join(ret, &next);
    }
    return r;
}

static int add_columns(struct window *w, size_t count, struct ml_bands *ret)
{
    struct ml_band_column column;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        r = join_columns(w, i, &column);
        if (r == 0)
            r = ml_bands_add(ret, &column.moments[0].by[w->by], &column.moments[1].by[w->by],
                             column.high_ns);
    }
    return r;
}

static int name_bands(const struct ml_pyramid *p, struct ml_bands *ret)
{
    const struct ml_pyramid_bands *bands = &p->by[ret->by];

    ret->count = bands->count;
    ret->from_scopes = ret->by == ML_BANDS_MODULE && p->from_scopes;
    for (size_t i = 0; i < bands->count; i++) {
        ret->list[i].rest = bands->list[i].rest;
        ret->list[i].name =
            ml_arena_dup(&ret->arena, bands->list[i].name, strlen(bands->list[i].name));
        if (!ret->list[i].name)
            return -ENOMEM;
    }
    return 0;
}

/* @return the level that has these columns, -ENOENT if none has */
static int level_of(const struct ml_pyramid *p, const struct ml_columns *c)
{
    for (unsigned level = 0; level <= p->last_level; level++)
        if (c->of == (size_t)1 << level && c->from_ns == 0 && c->span_ns == p->span_ns)
            return (int)level;
    return -ENOENT;
}

int ml_pyramid_bands(const struct ml_pyramid *pyramid, const struct ml_trace *trace,
                     enum ml_bands_by by, const struct ml_columns *columns, struct ml_bands *ret)
{
    struct window w = {.pyramid = pyramid,
                       .by = by,
                       .together = 1,
                       .tile_number = SIZE_MAX,
                       .pages = {.pyramid = pyramid, .by = stored_sort(pyramid, by)}};
    int level = level_of(pyramid, columns), r;

    ml_bands_begin(trace, by, columns, ret);
    if (level < 0 || pyramid->by[by].count == 0)
        return -ENOENT;
    for (w.level = (unsigned)level; !ml_pyramid_is_stored(pyramid->last_level, w.level); w.level++)
        w.together *= 2;
    w.columns = (struct ml_columns){.span_ns = pyramid->span_ns,
                                    .of = columns->of * w.together,
                                    .first = columns->first * w.together,
                                    .count = columns->count * w.together};
    w.tile = malloc(sizeof(*w.tile));
    r = w.tile ? add_columns(&w, columns->count, ret) : -ENOMEM;
    if (r == 0)
        r = name_bands(pyramid, ret);
    free(w.tile);
    ml_moment_pages_release(&w.pages);
    ml_buf_release(&w.bytes);
    return r;
}
