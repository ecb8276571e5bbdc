/* free_space.c: see free_space.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "free_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_spaces.h"
#include "torch_packing.h"

#define MIB (UINT64_C(1) << 20)

const uint64_t ml_hole_limits[ML_HOLE_CLASSES - 1] = {MIB, 10 * MIB, 100 * MIB, 1024 * MIB};

/* A hole while it is measured. It may continue from one page of an expandable segment to the
 * next. */
struct hole {
    uint64_t bytes;
    uint64_t segment_bytes; /* of the largest segment that contains a part of it */
    bool beside_blocks;     /* else only empty segments */
    bool serves;            /* it is in the pool of the request */
};

struct measure {
    const struct ml_segment_map *map;
    const char *asks;
    struct ml_free_place *place;
    struct hole hole;
};

/* ---- Holes ------------------------------------------------------------- */

static void end_hole(struct measure *m)
{
    struct ml_free_place *p = m->place;
    struct hole hole = m->hole;
    size_t size_class = 0;

    m->hole = (struct hole){0};
    if (hole.bytes == 0)
        return;
    if (hole.serves)
        p->largest_inside = ml_max_u64(
            p->largest_inside,
            p->torch ? ml_torch_hole_serves(hole.bytes, hole.segment_bytes) : hole.bytes);
    if (!hole.beside_blocks)
        return;
    while (size_class < ML_HOLE_CLASSES - 1 && hole.bytes >= ml_hole_limits[size_class])
        size_class++;
    p->holes++;
    p->largest_hole = ml_max_u64(p->largest_hole, hole.bytes);
    p->classes[size_class].holes++;
    p->classes[size_class].bytes += hole.bytes;
}

static void extend_hole(struct measure *m, const struct ml_segment *s, uint64_t bytes)
{
    struct hole *hole = &m->hole;

    if (bytes == 0)
        return;
    if (hole->bytes == 0)
        hole->serves = true;
    hole->bytes += bytes;
    hole->segment_bytes = ml_max_u64(hole->segment_bytes, s->bytes);
    hole->beside_blocks |= s->count > 0;
    hole->serves &= s->count == 0 || !m->asks || strcmp(m->asks, s->blocks_of) == 0;
}

static void measure_segment(struct measure *m, const struct ml_segment *s)
{
    uint64_t at = 0;

    for (size_t i = s->first; i < s->first + s->count; i++) {
        const struct ml_segment_block *block = &m->map->blocks.items[i];

        extend_hole(m, s, block->offset - at);
        end_hole(m);
        at = block->offset + block->bytes;
    }
    extend_hole(m, s, s->bytes - at);
}

static bool is_virtual(const struct ml_segment *s)
{
    return strcmp(s->space, ML_CUDA_VIRTUAL) == 0;
}

static void measure_holes(struct measure *m, const struct ml_segment *const *segments, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ml_segment *s = segments[i], *next = i + 1 < count ? segments[i + 1] : NULL;

        if (s->foreign)
            continue;
        measure_segment(m, s);
        if (!next || next->foreign || !is_virtual(s) || !is_virtual(next) ||
            next->addr - s->addr != s->bytes)
            end_hole(m);
    }
}

/* ---- Places ------------------------------------------------------------ */

static void count_segment(struct ml_free_place *p, const struct ml_segment *s)
{
    if (s->foreign) {
        p->foreign_bytes += s->bytes;
        return;
    }
    p->segments++;
    p->bytes += s->bytes;
    p->live_bytes += s->live_bytes;
    p->torch |= ml_torch_is_caching(s->device, s->blocks_of);
    p->expandable |= is_virtual(s);
    if (s->count > 0) {
        p->hole_bytes += s->slack_bytes;
    } else {
        p->empty_segments++;
        p->empty_bytes += s->bytes;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct ml_segment *x = *(const struct ml_segment *const *)a,
                            *y = *(const struct ml_segment *const *)b;

    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Adds the segments from `first` on that have one device and process.
 * @return the next, or -ENOMEM */
static int64_t add_place(const struct ml_segment_map *map, const char *asks, size_t first,
                         struct ml_free_space *ret)
{
    const struct ml_segment *list = map->list.items;
    struct ml_free_place place = {.device = list[first].device, .pid = list[first].pid};
    struct measure m = {.map = map, .asks = asks, .place = &place};
    const struct ml_segment **order;
    size_t end = first;

    while (end < map->list.len && list[end].pid == place.pid &&
           strcmp(list[end].device, place.device) == 0)
        count_segment(&place, &list[end++]);
    order = malloc((end - first) * sizeof(const struct ml_segment *));
    if (!order)
        return -ENOMEM;
    for (size_t i = first; i < end; i++)
        order[i - first] = &list[i];
    qsort(order, end - first, sizeof(const struct ml_segment *), by_address);
    measure_holes(&m, order, end - first);
    free(order);
    place.slack_percent =
        place.bytes ? 100.0 * (double)(place.bytes - place.live_bytes) / (double)place.bytes : 0;
    place.driver.device = place.device;
    ml_free_place_settle(&place);
    return ml_vec_push(&ret->places, place) < 0 ? -ENOMEM : (int64_t)end;
}

int ml_free_space_of(const struct ml_segment_map *map, const char *asks, struct ml_free_space *ret)
{
    int64_t at = 0;

    *ret = (struct ml_free_space){0};
    while (at >= 0 && (size_t)at < map->list.len)
        at = add_place(map, asks, (size_t)at, ret);
    return at < 0 ? -ENOMEM : 0;
}

void ml_free_space_release(struct ml_free_space *space)
{
    ml_vec_release(&space->places);
}

void ml_free_place_settle(struct ml_free_place *place)
{
    uint64_t left = place->driver.free.bytes;

    place->largest_by_driver = (struct ml_seen){0};
    if (place->driver.free.known) {
        if (place->limit.known)
            left = ml_min_u64(left, place->limit.at_least -
                                        ml_min_u64(place->limit.at_least, place->bytes));
        if (place->torch)
            left = ml_torch_largest_request(ml_sum_u64(left, place->empty_bytes));
        place->largest_by_driver = (struct ml_seen){true, left};
    }
    place->largest_request = ml_max_u64(place->largest_inside, place->largest_by_driver.bytes);
}

/* ---- The analysis ------------------------------------------------------ */

static int most_slack_first(const void *a, const void *b)
{
    const struct ml_segment *x = a, *y = b;

    if (x->slack_bytes != y->slack_bytes)
        return x->slack_bytes > y->slack_bytes ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int settle_place(const struct ml_trace *trace, struct ml_free_place *place,
                        const struct ml_device_figures *figures, size_t count, struct ml_error *err)
{
    int r = 0;

    for (size_t i = 0; i < count; i++)
        if (strcmp(place->device, figures[i].device) == 0)
            place->driver = figures[i];
    if (place->torch && place->driver.free.known)
        r = ml_allocator_limit(trace, place->device, place->pid, &place->limit, err);
    ml_free_place_settle(place);
    return r;
}

static int ask_driver(const struct ml_trace *trace, struct ml_fragmentation *f,
                      struct ml_error *err)
{
    ML_VEC(struct ml_device_figures) figures = {0};
    const struct ml_instant *at = &f->map.at.instant;
    int r = 0;

    for (size_t i = 0; r == 0 && i < f->free.places.len; i++)
        if (i == 0 || strcmp(f->free.places.items[i].device, f->free.places.items[i - 1].device))
            r = ml_vec_push(&figures, f->free.places.items[i].driver);
    if (r == 0)
        r = ml_device_figures(trace, at->event, at->time_ns, figures.items, figures.len, err);
    for (size_t i = 0; r == 0 && i < f->free.places.len; i++)
        r = settle_place(trace, &f->free.places.items[i], figures.items, figures.len, err);
    ml_vec_release(&figures);
    return r;
}

int ml_fragmentation(const struct ml_trace *trace, const struct ml_snapshot_opts *opts, size_t top,
                     struct ml_fragmentation *ret, struct ml_error *err)
{
    int r;

    *ret = (struct ml_fragmentation){0};
    r = ml_segment_map(trace, opts, SIZE_MAX, &ret->map, err);
    if (r < 0)
        return r;
    r = ml_free_space_of(&ret->map, NULL, &ret->free);
    if (r == 0)
        r = ask_driver(trace, ret, err);
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    ml_vec_sort(&ret->map.list, most_slack_first);
    if (ret->map.list.len > top)
        ret->map.list.len = top;
    return r;
}

void ml_fragmentation_release(struct ml_fragmentation *fragmentation)
{
    ml_free_space_release(&fragmentation->free);
    ml_segment_map_release(&fragmentation->map);
}
