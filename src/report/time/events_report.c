/* events_report.c: see events_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "events_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "health.h"
#include "paragraph.h"
#include "stack_report.h"
#include "table_cell.h"
#include "utf8.h"

#define KIND_WIDTH 11
#define ADDRESS_WIDTH 14
#define BYTES_WIDTH 10
#define GAP 2
#define TIME_WIDTH 15
#define TIME_WIDTH_NARROW 10
#define THREAD_WIDTH 15
#define THREAD_WIDTH_NARROW 7
#define SPACE_WIDTH_MIN 18
#define SPACE_WIDTH_MAX 40
#define SPACE_WIDTH_NARROW 8 /* at least */
#define DETAILS_ROOM 48      /* a terminal without room for that much gets narrow columns */
/* On a terminal: a C++ function can have a name of thousands of characters. */
#define NAME_MAX_WIDTH 80
#define CUT "\xe2\x80\xa6"

static size_t widest_space(const struct ml_trace *trace)
{
    size_t widest = 0;

    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++) {
        const struct ml_space *space = ml_trace_space(trace, i);
        const char *device = ml_trace_string(trace, space->device, NULL);
        const char *name = ml_trace_string(trace, space->name, NULL);
        size_t width =
            ml_utf8_width(device, strlen(device)) + ml_utf8_width(name, strlen(name)) + 1;

        if (space->level != 0 && width > widest)
            widest = width;
    }
    return widest;
}

/* Width of the columns before the scope. */
static size_t total_width(const struct ml_event_columns *c)
{
    return c->time + c->thread + KIND_WIDTH + c->space + ADDRESS_WIDTH + BYTES_WIDTH + 5 * GAP;
}

static size_t clamp(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

struct ml_event_columns ml_event_columns(const struct ml_trace *trace, const struct ml_style *style)
{
    size_t space = widest_space(trace);
    struct ml_event_columns c = {.time = TIME_WIDTH, .thread = THREAD_WIDTH};

    c.no_times = ml_trace_lacks_times(trace);
    c.space = clamp(space, SPACE_WIDTH_MIN, SPACE_WIDTH_MAX);
    c.narrow = style->width > 0 && total_width(&c) + DETAILS_ROOM > style->width;
    if (c.narrow) {
        c.time = TIME_WIDTH_NARROW;
        c.thread = THREAD_WIDTH_NARROW;
        c.space = 0;
        c.space = clamp(space, SPACE_WIDTH_NARROW,
                        clamp(style->width, total_width(&c) + SPACE_WIDTH_NARROW, SIZE_MAX) -
                            total_width(&c));
    }
    return c;
}

int ml_events_text_head(const struct ml_event_columns *c, struct ml_buf *out)
{
    return ml_buf_printf(out, "%*s  %-*s  %-*s  %-*s  %-*s  %*s%s\n", (int)c->time, "time",
                         (int)c->thread, c->narrow ? "thread" : "process/thread", KIND_WIDTH,
                         "kind", (int)c->space, "space", ADDRESS_WIDTH, "address", BYTES_WIDTH,
                         "size", c->narrow ? "" : "  scope");
}

static int space_text(const struct ml_event_view *v, const struct ml_event_columns *c,
                      struct ml_buf *out)
{
    struct ml_buf name = {0};
    struct ml_table_text text;
    struct ml_name_cut cut;
    int r = 0;

    if (v->has_space) {
        r = ml_report_safe(&name, v->device);
        if (r == 0)
            r = ml_buf_puts(&name, "/");
        if (r == 0)
            r = ml_report_safe(&name, v->space);
    }
    text =
        (struct ml_table_text){.bytes = name.data ? (const char *)name.data : "", .len = name.len};
    text.width = ml_utf8_width(text.bytes, text.len);
    cut = ml_name_cut_after(&text, c->narrow ? c->space : SIZE_MAX, c->space / 2);
    if (r == 0)
        r = ml_table_cut_put(&text, &cut, c->space, out);
    ml_buf_release(&name);
    return r;
}

/* A program may request any number of bytes, and a damaged file may contain any. */
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

/* The key without the unit suffix of JSON: the value has a unit. */
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

/* "from=cublasCreate_v2 (cuBLAS)": the caller. */
static int asker_text(const struct ml_stack_view *stack, const char *before,
                      const struct ml_style *style, struct ml_buf *out)
{
    struct ml_buf name;
    int r;

    ml_buf_init(&name);
    r = ml_frame_name(&stack->frames.items[stack->asker], &name);
    if (r == 0 && style->width > 0 && name.len > NAME_MAX_WIDTH) {
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

/* "role=worker 1", at the end: most traces have none. */
static int role_text(const struct ml_event_view *v, struct ml_buf *out)
{
    int r = ml_buf_puts(out, v->field_count || v->stack ? " role=" : "  role=");

    return r < 0 ? r : ml_report_safe(out, v->role);
}

/* The columns that all events have. */
static int columns_text(const struct ml_event_view *v, const struct ml_style *style,
                        const struct ml_event_columns *c, struct ml_buf *out)
{
    char time[32], thread[32] = "", address[32] = "", size[32] = "";
    uint64_t ns = v->event->time_ns;
    int r;

    if (c->no_times)
        snprintf(time, sizeof(time), "?");
    else if (c->narrow)
        snprintf(time, sizeof(time), "%" PRIu64 ".%06u", ns / 1000000000,
                 (unsigned)(ns % 1000000000 / 1000));
    else
        snprintf(time, sizeof(time), "%" PRIu64 ".%09u", ns / 1000000000,
                 (unsigned)(ns % 1000000000));
    if (v->has_thread && c->narrow)
        snprintf(thread, sizeof(thread), "%" PRIu32, v->tid);
    else if (v->has_thread)
        snprintf(thread, sizeof(thread), "%" PRIu32 "/%" PRIu32, v->pid, v->tid);
    if (v->has_address)
        snprintf(address, sizeof(address), "0x%" PRIx64, v->event->addr);
    if (v->has_bytes)
        ml_format_bytes(size, largest(v->bytes), style->unit);
    r = ml_buf_printf(out, "%*s  %-*s  %-*s  ", (int)c->time, time, (int)c->thread, thread,
                      KIND_WIDTH, v->kind);
    if (c->narrow && !v->has_space && !v->has_address && !v->has_bytes)
        return r; /* the details use its room */
    if (r == 0)
        r = space_text(v, c, out);
    if (r == 0)
        r = ml_buf_printf(out, "  %-*s  %*s  ", ADDRESS_WIDTH, address, BYTES_WIDTH, size);
    return r;
}

/* The scope and the details that only some events have. */
static int details_text(const struct ml_event_view *v, const struct ml_style *style,
                        struct ml_buf *out)
{
    int r = ml_report_safe(out, v->scope);

    if (r == 0)
        r = fields_text(v, style, out);
    if (r == 0 && v->stack)
        r = asker_text(v->stack, v->field_count ? " " : "  ", style, out);
    if (r == 0 && v->role)
        r = role_text(v, out);
    return r;
}

static int end_line(struct ml_buf *out)
{
    while (out->data[out->len - 1] == ' ')
        out->len--;
    return ml_buf_puts(out, "\n");
}

/* The text, with words that are too wide for a line cut in the middle. */
static int cut_words(const char *text, size_t width, struct ml_buf *out)
{
    int r = 0;

    while (*text && r == 0) {
        size_t len = strcspn(text, " "), spaces = strspn(text + len, " ");
        struct ml_table_text word = {text, len, ml_utf8_width(text, len)};
        struct ml_name_cut cut = ml_name_cut_after(&word, width, width / 2);

        r = ml_name_cut_put(&word, &cut, out);
        if (r == 0)
            r = ml_buf_fill(out, ' ', spaces);
        text += len + spaces;
    }
    return r;
}

/* @indent  the columns before them */
static int put_below(const char *details, const struct ml_style *style, size_t indent,
                     struct ml_buf *out)
{
    struct ml_buf text = {0};
    int r = cut_words(details, style->width - indent, &text);

    if (r == 0)
        r = ml_buf_fill(out, ' ', indent);
    if (r == 0)
        r = ml_report_paragraph(out, style, indent, (const char *)text.data);
    ml_buf_release(&text);
    return r;
}

/* Details after the columns, or below them if they do not fit.
 * @start  where the line begins in `out` */
static int put_details(const char *details, const struct ml_style *style, size_t indent,
                       size_t start, struct ml_buf *out)
{
    size_t taken = ml_utf8_width((const char *)out->data + start, out->len - start);
    int r;

    if (!*details || !style->width ||
        taken + ml_utf8_width(details, strlen(details)) <= style->width) {
        r = ml_buf_puts(out, details);
        return r < 0 ? r : end_line(out);
    }
    r = end_line(out);
    return r < 0 ? r : put_below(details, style, indent, out);
}

int ml_event_text(const struct ml_event_view *v, const struct ml_style *style,
                  const struct ml_event_columns *columns, struct ml_buf *out)
{
    struct ml_buf details = {0};
    size_t start = out->len;
    int r = columns_text(v, style, columns, out);

    if (r == 0)
        r = details_text(v, style, &details);
    if (r == 0)
        r = put_details((const char *)details.data, style, columns->time + GAP, start, out);
    ml_buf_release(&details);
    return r;
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
