/* torch_trace.c: the history of a device, with the actions of PyTorch's snapshots: alloc,
 * free_requested, free_completed, segment_alloc, segment_free, oom.
 *
 * Viewers look for the segment of each block, so a block outside all segments gets its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "classify.h"
#include "event_names.h"
#include "samples.h"
#include "scope_path.h"
#include "snapshot_parts.h"

#define LIST_PART 1000 /* items between two marks, as in Python */

/* ---- Lists -------------------------------------------------------------- */

void ml_torch_begin_list(struct ml_snapshot_export *s)
{
    ml_pickle_put_list(&s->pickle);
    ml_pickle_put_mark(&s->pickle);
    s->items = 0;
}

void ml_torch_next_item(struct ml_snapshot_export *s)
{
    if (++s->items % LIST_PART)
        return;
    ml_pickle_put_append(&s->pickle);
    ml_pickle_put_mark(&s->pickle);
}

void ml_torch_end_list(struct ml_snapshot_export *s)
{
    ml_pickle_put_append(&s->pickle);
}

/* ---- Frames ------------------------------------------------------------- */

static void put_key_text(struct ml_snapshot_export *s, const char *key, const char *text,
                         size_t len)
{
    ml_pickle_put_word(&s->pickle, key);
    ml_pickle_put_text(&s->pickle, text, len);
}

static void put_key_number(struct ml_snapshot_export *s, const char *key, uint64_t value)
{
    ml_pickle_put_word(&s->pickle, key);
    ml_pickle_put_u64(&s->pickle, value);
}

static void keep(struct ml_snapshot_export *s, int r)
{
    if (r < 0 && s->error == 0)
        s->error = r;
}

/* Refers to a value that was written before. @return whether it was */
static bool put_again(struct ml_snapshot_export *s, const struct ml_map *memos, uint64_t key)
{
    uint64_t number;

    if (!ml_map_get(memos, key, &number))
        return false;
    ml_pickle_put_again(&s->pickle, (uint32_t)number);
    return true;
}

static void put_frame(struct ml_snapshot_export *s, const char *name, size_t len, const char *file,
                      uint32_t line)
{
    ml_pickle_put_dict(&s->pickle);
    ml_pickle_put_mark(&s->pickle);
    put_key_text(s, "name", name, len);
    put_key_text(s, "filename", file, strlen(file));
    put_key_number(s, "line", line);
    ml_pickle_put_set(&s->pickle);
}

static void put_stack_frame(struct ml_snapshot_export *s, uint32_t number)
{
    const struct ml_site_frame *frame = &s->frames.list.items[number];
    size_t len;
    const char *name = ml_intern_get(&s->frames.texts, frame->name, &len);

    if (put_again(s, &s->frame_memos, number))
        return;
    put_frame(s, name, len, ml_intern_get(&s->frames.texts, frame->file, NULL), frame->line);
    keep(s, ml_map_put(&s->frame_memos, number, ml_pickle_put_remember(&s->pickle)));
}

static void put_scope_frame(struct ml_snapshot_export *s, uint32_t scope)
{
    ml_buf_clear(&s->scratch);
    keep(s, ml_scope_path(s->trace, scope, &s->scratch));
    put_frame(s, s->scratch.len ? (const char *)s->scratch.data : "", s->scratch.len, "scope", 0);
}

void ml_torch_put_frames(struct ml_snapshot_export *s, uint32_t stack, uint32_t scope)
{
    uint64_t key = stack ? stack : (uint64_t)scope << 32;

    if (put_again(s, &s->stack_memos, key))
        return;
    ml_pickle_put_list(&s->pickle);
    ml_pickle_put_mark(&s->pickle);
    if (stack) {
        keep(s, ml_site_stack(&s->frames, stack));
        for (size_t i = 0; s->error == 0 && i < s->frames.path.len; i++)
            put_stack_frame(s, s->frames.path.items[i]);
    } else if (scope) {
        put_scope_frame(s, scope);
    }
    ml_pickle_put_append(&s->pickle);
    keep(s, ml_map_put(&s->stack_memos, key, ml_pickle_put_remember(&s->pickle)));
}

/* ---- Entries ------------------------------------------------------------ */

static uint64_t wall_us(const struct ml_snapshot_export *s, uint64_t time_ns)
{
    return (ml_trace_info(s->trace)->start_wall_ns + time_ns) / 1000;
}

/* The user metadata of PyTorch's snapshots: here the label, else the category. */
static void put_metadata(struct ml_snapshot_export *s, const struct ml_block *block)
{
    uint32_t len = 0;
    const char *label = block ? ml_trace_string(s->trace, block->label, &len) : "";

    ml_pickle_put_word(&s->pickle, "user_metadata");
    if (len > 0)
        ml_pickle_put_text(&s->pickle, label, len);
    else
        ml_pickle_put_word(&s->pickle,
                           block && block->category ? ml_category_name(block->category) : "");
}

static void begin_entry(struct ml_snapshot_export *s, const char *action, uint64_t size,
                        uint64_t time_ns)
{
    ml_pickle_put_dict(&s->pickle);
    ml_pickle_put_mark(&s->pickle);
    ml_pickle_put_word(&s->pickle, "action");
    ml_pickle_put_word(&s->pickle, action);
    put_key_number(s, "size", size);
    put_key_number(s, "stream", 0);
    put_key_number(s, "time_us", wall_us(s, time_ns));
}

static void end_entry(struct ml_snapshot_export *s, uint32_t stack, uint32_t scope)
{
    ml_pickle_put_word(&s->pickle, "frames");
    ml_torch_put_frames(s, stack, scope);
    ml_pickle_put_set(&s->pickle);
    ml_torch_next_item(s);
}

static void put_entry(struct ml_snapshot_export *s, const char *action,
                      const struct ml_block *block, uint64_t time_ns)
{
    begin_entry(s, action, block->size, time_ns);
    put_key_number(s, "addr", block->addr);
    put_metadata(s, block);
    end_entry(s, block->stack, block->scope);
}

static void put_oom(struct ml_snapshot_export *s, const struct ml_event *event)
{
    begin_entry(s, "oom", event->size, event->time_ns);
    put_key_number(s, "device_free", s->free_bytes);
    put_metadata(s, NULL);
    end_entry(s, event->stack, event->scope);
}

/* ---- Events ------------------------------------------------------------- */

static uint64_t index_of(const struct ml_snapshot_export *s, const struct ml_block *block)
{
    return (uint64_t)(block - s->replay.blocks.items);
}

static bool is_in_segment(const struct ml_snapshot_export *s, const struct ml_block *block)
{
    struct ml_order_entry entry;

    return ml_order_floor(&s->segments, block->addr, &entry) &&
           ml_end_of(block->addr, block->size) <=
               ml_end_of(entry.key, s->replay.blocks.items[entry.value].size);
}

static void on_open(void *ctx, const struct ml_block *block)
{
    struct ml_snapshot_export *s = ctx;
    enum ml_torch_role role = ml_torch_role(s, block);

    if (role == ML_TORCH_SEGMENT) {
        put_entry(s, "segment_alloc", block, block->time_ns);
        keep(s, ml_order_put(&s->segments, block->addr, (uint32_t)index_of(s, block)));
    } else if (role == ML_TORCH_BLOCK) {
        if (!is_in_segment(s, block)) {
            put_entry(s, "segment_alloc", block, block->time_ns);
            keep(s, ml_map_put(&s->alone, index_of(s, block), 1));
        }
        put_entry(s, "alloc", block, block->time_ns);
    }
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct ml_snapshot_export *s = ctx;
    enum ml_torch_role role = ml_torch_role(s, block);
    uint64_t alone;
    uint32_t segment;

    if (role == ML_TORCH_SEGMENT) {
        ml_order_take(&s->segments, block->addr, &segment);
        put_entry(s, "segment_free", block, event->time_ns);
    } else if (role == ML_TORCH_BLOCK) {
        put_entry(s, "free_requested", block, event->time_ns);
        put_entry(s, "free_completed", block, event->time_ns);
        if (ml_map_take(&s->alone, index_of(s, block), &alone))
            put_entry(s, "segment_free", block, event->time_ns);
    }
}

static bool is_of_device(const struct ml_snapshot_export *s, uint64_t string)
{
    return strcmp(ml_trace_string(s->trace, (uint32_t)string, NULL), s->device->name) == 0;
}

static int put_event(struct ml_snapshot_export *s, const struct ml_event *event)
{
    int r = ml_replay_feed(&s->replay, event);

    if (event->kind == ML_SAMPLE && event->args[1] & ML_SAMPLE_FREE &&
        is_of_device(s, event->args[0]))
        s->free_bytes = event->args[3];
    if (event->kind == ML_OOM && is_of_device(s, ml_trace_space(s->trace, event->space)->device) &&
        ml_trace_space(s->trace, event->space)->process == s->process)
        put_oom(s, event);
    return r < 0 ? r : s->error ? s->error : s->pickle.error;
}

static int put_events(struct ml_snapshot_export *s, struct ml_progress *progress,
                      struct ml_error *err)
{
    struct ml_cursor *cursor = NULL;
    const struct ml_event *events;
    uint64_t left = s->event;
    int n, r = ml_cursor_open(s->trace, 0, UINT64_MAX, &cursor, err);

    while (r == 0 && left > 0 && (n = ml_cursor_next(cursor, &events, err)) != 0) {
        if (n < 0)
            r = n;
        for (int i = 0; r == 0 && left > 0 && i < n; i++, left--)
            r = put_event(s, &events[i]);
        ml_progress_tell(progress, s->event - left, s->event);
    }
    ml_cursor_free(cursor);
    return r;
}

static void forget(struct ml_snapshot_export *s)
{
    ml_replay_release(&s->replay);
    ml_order_release(&s->segments);
    ml_order_init(&s->segments);
    ml_map_clear(&s->alone);
    s->free_bytes = 0;
}

int ml_torch_put_trace(struct ml_snapshot_export *s, const struct ml_snapshot_device *device,
                       struct ml_progress *progress, struct ml_error *err)
{
    struct ml_classes classes;
    int64_t index;
    int r;

    forget(s);
    s->device = device;
    r = ml_classify(s->trace, &classes, err);
    if (r == 0)
        r = ml_replay_init(&s->replay, s->trace);
    index = ml_intern_find(&s->replay.device_names, device->name, strlen(device->name));
    s->device_index = index < 0 ? UINT32_MAX : (uint32_t)index;
    ml_replay_classify(&s->replay, &classes);
    s->replay.on_open = on_open;
    s->replay.on_close = on_close;
    s->replay.ctx = s;
    ml_torch_begin_list(s);
    if (r == 0)
        r = put_events(s, progress, err);
    ml_torch_end_list(s);
    ml_replay_classify(&s->replay, NULL);
    ml_classes_release(&classes);
    return r;
}
