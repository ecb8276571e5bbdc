/* events_report.c: see events_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "events_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stack_report.h"
#include "utf8.h"

/* Columns are as wide as their contents mostly are; a longer one moves the rest
 * of its line, since lines are written before the next event is known. */
#define BEFORE_SPACE "%15s  %-15s  %-11s  "
#define SPACE_WIDTH_MIN 18
#define SPACE_WIDTH_MAX 40
#define AFTER_SPACE "  %-14s  %10s  "
/* A C++ function can have a name of thousands of characters; JSON has all. */
#define NAME_MAX_WIDTH 80
#define CUT "\xe2\x80\xa6"

size_t ml_events_space_width(const struct ml_trace *trace)
{
    size_t widest = SPACE_WIDTH_MIN;

    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++) {
        const struct ml_space *space = ml_trace_space(trace, i);
        const char *device = ml_trace_string(trace, space->device, NULL);
        const char *name = ml_trace_string(trace, space->name, NULL);
        size_t width =
            ml_utf8_width(device, strlen(device)) + ml_utf8_width(name, strlen(name)) + 1;

        if (space->level != 0 && width > widest)
            widest = width;
    }
    return widest < SPACE_WIDTH_MAX ? widest : SPACE_WIDTH_MAX;
}

int ml_events_text_head(size_t space_width, struct ml_buf *out)
{
    return ml_buf_printf(out, BEFORE_SPACE "%-*s" AFTER_SPACE "%s\n", "time", "process/thread",
                         "kind", (int)space_width, "space", "address", "size", "scope");
}

static int space_text(const struct ml_event_view *v, size_t space_width, struct ml_buf *out)
{
    size_t begin = out->len, width;
    int r = 0;

    if (v->has_space) {
        r = ml_report_safe(out, v->device);
        if (r == 0)
            r = ml_buf_puts(out, "/");
        if (r == 0)
            r = ml_report_safe(out, v->space);
    }
    width = ml_utf8_width((const char *)out->data + begin, out->len - begin);
    if (r == 0 && width < space_width)
        r = ml_buf_fill(out, ' ', space_width - width);
    return r;
}

/* A program may ask for any number of bytes, and a damaged file may say anything. */
static int64_t largest(uint64_t number)
{
    return (int64_t)ml_min_u64(number, INT64_MAX);
}

static void field_value(const struct ml_field *field, const struct ml_style *style, char text[32])
{
    switch (field->type) {
    case ML_FIELD_BYTES: ml_format_bytes(text, largest(field->number), style->unit); break;
    case ML_FIELD_TIME: ml_format_duration_ns(text, largest(field->number)); break;
    case ML_FIELD_SIGNED: snprintf(text, 32, "%" PRId64, (int64_t)field->number); break;
    default: snprintf(text, 32, "%" PRIu64, field->number); break;
    }
}

/* The key without the unit that JSON needs in it: the value has its own. */
static int key_len(const struct ml_field *field)
{
    size_t len = strlen(field->key);

    if (field->type == ML_FIELD_TIME)
        len -= strlen("_ns");
    else if (field->type == ML_FIELD_BYTES)
        len -= strlen("_bytes");
    return (int)len;
}

/* "label=weight category=parameter life=1.2 ms". */
static int fields_text(const struct ml_event_view *v, const struct ml_style *style,
                       struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < v->field_count; i++) {
        const struct ml_field *field = &v->fields[i];
        char value[32];

        r = ml_buf_printf(out, "%s%.*s=", i ? " " : "  ", key_len(field), field->key);
        if (r < 0)
            return r;
        if (field->type != ML_FIELD_TEXT)
            field_value(field, style, value);
        r = ml_report_safe(out, field->type == ML_FIELD_TEXT ? field->text : value);
    }
    return r;
}

/* " (cuBLAS)", of a Python frame " (model.py:42)". */
static int place_text(const struct ml_stack_view *stack, struct ml_buf *out)
{
    const struct ml_frame_view *frame = &stack->frames.items[stack->asker];
    int r = ml_buf_puts(out, " (");

    if (r == 0)
        r = ml_report_safe(out, ml_frame_is_python(frame) ? frame->file : stack->owner);
    if (r == 0 && ml_frame_is_python(frame))
        r = ml_buf_printf(out, ":%" PRIu32, frame->line);
    return r < 0 ? r : ml_buf_puts(out, ")");
}

/* "from=cublasCreate_v2 (cuBLAS)": who asked. */
static int asker_text(const struct ml_stack_view *stack, const char *before, struct ml_buf *out)
{
    struct ml_buf name;
    int r;

    ml_buf_init(&name);
    r = ml_frame_name(&stack->frames.items[stack->asker], &name);
    if (r == 0 && name.len > NAME_MAX_WIDTH) {
        name.len = ml_clip_utf8((const char *)name.data, name.len, NAME_MAX_WIDTH - 1);
        r = ml_buf_puts(&name, CUT);
    }
    if (r == 0)
        r = ml_buf_printf(out, "%sfrom=", before);
    if (r == 0)
        r = ml_report_safe(out, (const char *)name.data);
    if (r == 0)
        r = place_text(stack, out);
    ml_buf_release(&name);
    return r;
}

/* "role=worker 1", behind the rest: most traces have none. */
static int role_text(const struct ml_event_view *v, struct ml_buf *out)
{
    int r = ml_buf_puts(out, v->field_count || v->stack ? " role=" : "  role=");

    return r < 0 ? r : ml_report_safe(out, v->role);
}

int ml_event_text(const struct ml_event_view *v, const struct ml_style *style, size_t space_width,
                  struct ml_buf *out)
{
    char time[32], thread[32] = "", address[32] = "", size[32] = "";
    int r;

    snprintf(time, sizeof(time), "%" PRIu64 ".%09u", v->event->time_ns / 1000000000,
             (unsigned)(v->event->time_ns % 1000000000));
    if (v->has_thread)
        snprintf(thread, sizeof(thread), "%" PRIu32 "/%" PRIu32, v->pid, v->tid);
    if (v->has_address)
        snprintf(address, sizeof(address), "0x%" PRIx64, v->event->addr);
    if (v->has_bytes)
        ml_format_bytes(size, largest(v->bytes), style->unit);
    r = ml_buf_printf(out, BEFORE_SPACE, time, thread, v->kind);
    if (r == 0)
        r = space_text(v, space_width, out);
    if (r == 0)
        r = ml_buf_printf(out, AFTER_SPACE, address, size);
    if (r == 0)
        r = ml_report_safe(out, v->scope);
    if (r == 0)
        r = fields_text(v, style, out);
    if (r == 0 && v->stack)
        r = asker_text(v->stack, v->field_count ? " " : "  ", out);
    if (r == 0 && v->role)
        r = role_text(v, out);
    while (r == 0 && out->data[out->len - 1] == ' ')
        out->len--;
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

void ml_event_json(const struct ml_event_view *v, struct ml_json *json)
{
    char address[32];

    ml_json_begin_object(json);
    ml_json_kv_u64(json, "time_ns", v->event->time_ns);
    if (v->has_thread) {
        ml_json_kv_u64(json, "pid", v->pid);
        ml_json_kv_u64(json, "tid", v->tid);
        if (v->role)
            ml_json_kv_cstr(json, "role", v->role);
    } else {
        ml_json_kv_null(json, "pid");
        ml_json_kv_null(json, "tid");
    }
    ml_json_kv_cstr(json, "kind", v->kind);
    if (v->has_space) {
        ml_json_kv_cstr(json, "device", v->device);
        ml_json_kv_cstr(json, "level", v->level);
        ml_json_kv_cstr(json, "space", v->space);
    }
    if (v->has_address) {
        snprintf(address, sizeof(address), "0x%" PRIx64, v->event->addr);
        ml_json_kv_cstr(json, "address", address);
    }
    if (v->has_bytes)
        ml_json_kv_u64(json, "bytes", v->bytes);
    ml_json_kv_cstr(json, "scope", v->scope);
    for (size_t i = 0; i < v->field_count; i++) {
        const struct ml_field *field = &v->fields[i];

        if (field->type == ML_FIELD_TEXT)
            ml_json_kv_cstr(json, field->key, field->text);
        else if (field->type == ML_FIELD_SIGNED)
            ml_json_kv_i64(json, field->key, (int64_t)field->number);
        else
            ml_json_kv_u64(json, field->key, field->number);
    }
    if (v->stack)
        ml_stack_json(v->stack, json);
    ml_json_end_object(json);
}
