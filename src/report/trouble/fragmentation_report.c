/* fragmentation_report.c: see fragmentation_report.h and free_space_json.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fragmentation_report.h"

#include <inttypes.h>

#include "cells.h"
#include "event_names.h"
#include "free_space_json.h"
#include "snapshot_report.h"
#include "summary_samples.h"

/* ---- Text -------------------------------------------------------------- */

#define SIZE(bytes) ml_report_size(style, (bytes)).text

static int put_request(const struct ml_free_place *p, const struct ml_style *style,
                       struct ml_buf *out)
{
    return ml_summary_line(out, style, "largest request", SIZE(p->largest_request),
                           "in a hole %s, in a new segment %s", SIZE(p->largest_inside),
                           p->largest_by_driver.known ? SIZE(p->largest_by_driver.bytes)
                                                      : "unknown: no samples");
}

static int put_segment_totals(const struct ml_free_place *p, const struct ml_style *style,
                              struct ml_buf *out)
{
    int r = ml_summary_line(out, style, "segments", SIZE(p->bytes),
                            "in %" PRIu64 "; %s live, %.1f %% free", p->segments,
                            SIZE(p->live_bytes), p->slack_percent);

    if (r == 0)
        r = ml_summary_line(out, style, "holes", SIZE(p->hole_bytes),
                            "in %" PRIu64 ", the largest %s", p->holes, SIZE(p->largest_hole));
    if (r == 0 && p->empty_segments > 0)
        r = ml_summary_line(out, style, "empty segments", SIZE(p->empty_bytes), "in %" PRIu64,
                            p->empty_segments);
    if (r == 0 && p->foreign_bytes > 0)
        r = ml_summary_line(out, style, "others", SIZE(p->foreign_bytes),
                            "whose blocks are not recorded");
    return r;
}

static int put_place(const struct ml_free_place *p, const struct ml_style *style,
                     struct ml_buf *out)
{
    int r = ml_report_safe(out, p->device);

    if (r == 0 && p->pid)
        r = ml_buf_printf(out, ", process %u", p->pid);
    if (r == 0)
        r = ml_buf_puts(out, p->torch ? ", PyTorch's allocator\n" : "\n");
    if (r == 0)
        r = put_request(p, style, out);
    if (r == 0)
        r = put_segment_totals(p, style, out);
    if (r == 0 && p->driver.free.known)
        r = ml_summary_line(out, style, "driver", SIZE(p->driver.free.bytes), "free%s%s",
                            p->driver.total.known ? " of " : "",
                            p->driver.total.known ? SIZE(p->driver.total.bytes) : "");
    if (r == 0 && p->limit.known)
        r = ml_summary_line(out, style, "limit", SIZE(p->limit.at_least),
                            "of segments at least, and below %s, as refusals show",
                            SIZE(p->limit.below));
    return r;
}

static void class_cell(struct ml_table *t, size_t size_class)
{
    char from[32], below[32];

    if (size_class == 0)
        ml_table_cellf(t, "below %s",
                       ml_format_bytes(below, (int64_t)ml_hole_limits[0], ML_UNIT_AUTO));
    else if (size_class == ML_HOLE_CLASSES - 1)
        ml_table_cellf(
            t, "from %s on",
            ml_format_bytes(from, (int64_t)ml_hole_limits[size_class - 1], ML_UNIT_AUTO));
    else
        ml_table_cellf(t, "%s to %s",
                       ml_format_bytes(from, (int64_t)ml_hole_limits[size_class - 1], ML_UNIT_AUTO),
                       ml_format_bytes(below, (int64_t)ml_hole_limits[size_class], ML_UNIT_AUTO));
}

static int put_holes(const struct ml_free_place *p, const struct ml_style *style,
                     struct ml_buf *out)
{
    static const char *const titles[] = {"holes of", ">holes", ">bytes"};
    struct ml_table t;
    int r = ml_buf_puts(out, "\n");

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < ML_HOLE_CLASSES; i++) {
        if (p->classes[i].holes == 0)
            continue;
        class_cell(&t, i);
        ml_cells_count(&t, p->classes[i].holes);
        ml_cells_bytes(&t, style, p->classes[i].bytes);
    }
    return ml_cells_print(&t, r, out, style);
}

static void segment_row(struct ml_table *t, const struct ml_segment *s, bool several,
                        const struct ml_style *style)
{
    ml_table_cellf(t, "0x%" PRIx64, s->addr);
    ml_cells_bytes(t, style, s->bytes);
    ml_cells_bytes(t, style, s->live_bytes);
    ml_cells_bytes(t, style, s->slack_bytes);
    ml_cells_percent(t, s->slack_percent);
    ml_cells_count(t, s->count);
    ml_cells_count(t, s->holes);
    ml_cells_bytes(t, style, s->largest_hole);
    if (several) {
        ml_table_cell(t, s->device);
        ml_table_cellf(t, "%u", s->pid);
    }
}

/* Shows the device and the process if there are several. */
static int put_segments(const struct ml_fragmentation *f, const struct ml_style *style,
                        struct ml_buf *out)
{
    static const char *const titles[] = {">segment", ">bytes", ">live",    ">free",  ">share",
                                         ">blocks",  ">holes", ">largest", "device", ">pid"};
    const struct ml_segment_map *map = &f->map;
    bool several = f->free.places.len > 1;
    struct ml_table t;
    int r;

    if (map->list.len == 0)
        return 0;
    if (map->list.len < map->segments)
        r = ml_report_heading(out, style, "Segments with most free (%zu of %zu)", map->list.len,
                              map->segments);
    else
        r = ml_report_heading(out, style, "Segments");
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles) - (several ? 0 : 2));
    for (size_t i = 0; i < map->list.len; i++)
        segment_row(&t, &map->list.items[i], several, style);
    return ml_cells_print(&t, r, out, style);
}

int ml_fragmentation_text(const struct ml_fragmentation *f, const char *file,
                          const struct ml_style *style, struct ml_buf *out)
{
    int r = ml_snapshot_text(&f->map.at, file, style, out);

    for (size_t i = 0; r == 0 && i < f->free.places.len; i++) {
        const struct ml_free_place *p = &f->free.places.items[i];

        r = ml_buf_puts(out, i > 0 ? "\n" : "");
        if (r == 0)
            r = put_place(p, style, out);
        if (r == 0 && p->holes > 0)
            r = put_holes(p, style, out);
    }
    return r < 0 ? r : put_segments(f, style, out);
}

/* ---- JSON -------------------------------------------------------------- */

void ml_json_seen(struct ml_json *json, const char *key, const struct ml_seen *seen)
{
    if (seen->known)
        ml_json_kv_u64(json, key, seen->bytes);
    else
        ml_json_kv_null(json, key);
}

static void holes_json(const struct ml_free_place *p, struct ml_json *json)
{
    ml_json_key(json, "holes_by_size");
    ml_json_begin_array(json);
    for (size_t i = 0; i < ML_HOLE_CLASSES; i++) {
        ml_json_begin_object(json);
        ml_json_kv_u64(json, "from_bytes", i ? ml_hole_limits[i - 1] : 0);
        ml_json_seen(json, "below_bytes",
                     &(struct ml_seen){i < ML_HOLE_CLASSES - 1,
                                       i < ML_HOLE_CLASSES - 1 ? ml_hole_limits[i] : 0});
        ml_json_kv_u64(json, "holes", p->classes[i].holes);
        ml_json_kv_u64(json, "bytes", p->classes[i].bytes);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

void ml_free_place_json(const struct ml_free_place *p, struct ml_json *json)
{
    ml_json_kv_cstr(json, "allocator", p->torch ? "torch" : NULL);
    ml_json_kv_bool(json, "expandable", p->expandable);
    ml_json_kv_u64(json, "segments", p->segments);
    ml_json_kv_u64(json, "bytes", p->bytes);
    ml_json_kv_u64(json, "live_bytes", p->live_bytes);
    ml_json_kv_double(json, "free_percent", p->slack_percent);
    ml_json_kv_u64(json, "foreign_bytes", p->foreign_bytes);
    ml_json_kv_u64(json, "empty_segments", p->empty_segments);
    ml_json_kv_u64(json, "empty_bytes", p->empty_bytes);
    ml_json_kv_u64(json, "holes", p->holes);
    ml_json_kv_u64(json, "hole_bytes", p->hole_bytes);
    holes_json(p, json);
    ml_json_kv_u64(json, "largest_hole_bytes", p->largest_hole);
    ml_json_kv_u64(json, "largest_in_hole_bytes", p->largest_inside);
    ml_json_seen(json, "largest_new_bytes", &p->largest_by_driver);
    ml_json_kv_u64(json, "largest_request_bytes", p->largest_request);
}

static void place_json(const struct ml_free_place *p, struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "device", p->device);
    ml_json_kv_u64(json, "pid", p->pid);
    ml_free_place_json(p, json);
    ml_json_seen(json, "driver_free_bytes", &p->driver.free);
    ml_json_seen(json, "driver_total_bytes", &p->driver.total);
    ml_json_seen(json, "limit_at_least_bytes",
                 &(struct ml_seen){p->limit.known, p->limit.at_least});
    ml_json_seen(json, "limit_below_bytes", &(struct ml_seen){p->limit.known, p->limit.below});
    ml_json_end_object(json);
}

/* Offsets in the segment, and a name: its label, or the owner of the whole segment. */
static void segment_blocks_json(const struct ml_segment_map *map, const struct ml_segment *s,
                                struct ml_json *json)
{
    ml_json_key(json, "block_list");
    ml_json_begin_array(json);
    for (size_t i = s->first; i < s->first + s->count; i++) {
        const struct ml_segment_block *block = &map->blocks.items[i];

        ml_json_begin_object(json);
        ml_json_kv_u64(json, "offset", block->offset);
        ml_json_kv_u64(json, "bytes", block->bytes);
        ml_json_kv_cstr(json, "category", ml_category_name(block->category));
        ml_json_kv_cstr(json, "name", *block->name ? block->name : NULL);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void segment_json(const struct ml_segment_map *map, const struct ml_segment *s, bool blocks,
                         struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "device", s->device);
    ml_json_kv_u64(json, "pid", s->pid);
    ml_json_kv_cstr(json, "space", s->space);
    ml_json_kv_u64(json, "address", s->addr);
    ml_json_kv_u64(json, "bytes", s->bytes);
    ml_json_kv_u64(json, "live_bytes", s->live_bytes);
    ml_json_kv_u64(json, "free_bytes", s->slack_bytes);
    ml_json_kv_double(json, "free_percent", s->slack_percent);
    ml_json_kv_u64(json, "blocks", s->count);
    ml_json_kv_u64(json, "holes", s->holes);
    ml_json_kv_u64(json, "largest_hole_bytes", s->largest_hole);
    ml_json_kv_bool(json, "foreign", s->foreign);
    if (blocks)
        segment_blocks_json(map, s, json);
    ml_json_end_object(json);
}

int ml_fragmentation_json(const struct ml_fragmentation *f, const char *file, bool blocks,
                          struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_snapshot_json(&f->map.at, file, &json);
    ml_json_key(&json, "devices");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < f->free.places.len; i++)
        place_json(&f->free.places.items[i], &json);
    ml_json_end_array(&json);
    ml_json_kv_u64(&json, "segments", f->map.segments);
    ml_json_key(&json, "list");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < f->map.list.len; i++)
        segment_json(&f->map, &f->map.list.items[i], blocks, &json);
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
