/* read_events.c: the table of events, one row for each, in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "events.h"
#include "read_by_event.h"
#include "samples.h"

enum {
    TIME,
    KIND,
    PROCESS,
    PID,
    THREAD,
    TID,
    DEVICE,
    LEVEL,
    SPACE,
    ADDRESS,
    BYTES,
    REQUESTED,
    STREAM,
    SCOPE,
    STACK,
    NAME,
    CATEGORY,
    VALUE,
    COLUMNS,
};

static const struct ml_column columns[COLUMNS] = {
    [TIME] = {"time_ns", ML_COLUMN_U64, false, NULL},
    [KIND] = {"kind", ML_COLUMN_TEXT, false, ml_text_kind},
    [PROCESS] = {"process", ML_COLUMN_U32, true, NULL},
    [PID] = {"pid", ML_COLUMN_U32, true, NULL},
    [THREAD] = {"thread", ML_COLUMN_U32, true, NULL},
    [TID] = {"tid", ML_COLUMN_U32, true, NULL},
    [DEVICE] = {"device", ML_COLUMN_TEXT, true, ml_text_space_device},
    [LEVEL] = {"level", ML_COLUMN_TEXT, true, ml_text_space_level},
    [SPACE] = {"space", ML_COLUMN_TEXT, true, ml_text_space_name},
    [ADDRESS] = {"address", ML_COLUMN_U64, true, NULL},
    [BYTES] = {"bytes", ML_COLUMN_U64, true, NULL},
    [REQUESTED] = {"requested_bytes", ML_COLUMN_U64, true, NULL},
    [STREAM] = {"stream", ML_COLUMN_U64, true, NULL},
    [SCOPE] = {"scope", ML_COLUMN_TEXT, false, ml_text_scope},
    [STACK] = {"stack", ML_COLUMN_U32, true, NULL},
    [NAME] = {"name", ML_COLUMN_TEXT, true, NULL},
    [CATEGORY] = {"category", ML_COLUMN_TEXT, true, NULL},
    [VALUE] = {"value", ML_COLUMN_I64, true, NULL},
};

static void put_who(struct ml_batch *b, const struct ml_event *event)
{
    const struct ml_thread *thread = ml_trace_thread(b->trace, event->thread);

    /* A sample of the collector has no thread. */
    if (event->kind == ML_SAMPLE && !ml_sample_is_inside(event)) {
        for (size_t column = PROCESS; column <= TID; column++)
            ml_batch_null(b, column);
        ml_batch_text(b, SCOPE, 0);
        return;
    }
    ml_batch_u32(b, PROCESS, thread->process);
    ml_batch_u32(b, PID, ml_trace_process(b->trace, thread->process)->pid);
    ml_batch_u32(b, THREAD, event->thread);
    ml_batch_u32(b, TID, thread->tid);
    ml_batch_text(b, SCOPE, event->scope);
}

static void put_where(struct ml_batch *b, const struct ml_event *event)
{
    bool has_address = ml_shapes[event->kind].bits & ML_HAS_ADDR;

    if (has_address || event->kind == ML_OOM) {
        ml_batch_text(b, DEVICE, event->space);
        ml_batch_text(b, LEVEL, event->space);
        ml_batch_text(b, SPACE, event->space);
    } else {
        for (size_t column = DEVICE; column <= SPACE; column++)
            ml_batch_null(b, column);
    }
    if (has_address)
        ml_batch_u64(b, ADDRESS, event->addr);
    else
        ml_batch_null(b, ADDRESS);
}

/* The bytes of the event, or of the block that it frees. */
static void put_bytes(struct ml_batch *b, const struct ml_event *event,
                      const struct ml_block *freed)
{
    if (ml_shapes[event->kind].bits & ML_HAS_SIZE)
        ml_batch_u64(b, BYTES, event->size);
    else if (freed)
        ml_batch_u64(b, BYTES, freed->size);
    else
        ml_batch_null(b, BYTES);
    if (event->stack)
        ml_batch_u32(b, STACK, event->stack);
    else
        ml_batch_null(b, STACK);
}

static bool is_one_of(const char *key, const char *const *keys)
{
    while (*keys && strcmp(*keys, key) != 0)
        keys++;
    return *keys != NULL;
}

static const struct ml_field *find_field(const struct ml_event_view *view, const char *const *keys)
{
    for (size_t i = 0; i < view->field_count; i++)
        if (is_one_of(view->fields[i].key, keys))
            return &view->fields[i];
    return NULL;
}

static void put_number(struct ml_batch *b, size_t column, const struct ml_field *field)
{
    if (field && field->type != ML_FIELD_TEXT)
        ml_batch_u64(b, column, field->number);
    else
        ml_batch_null(b, column);
}

static void put_text(struct ml_batch *b, size_t column, const struct ml_field *field)
{
    ml_batch_cstr(b, column, field && field->type == ML_FIELD_TEXT ? field->text : NULL);
}

/* Whether `memledger events` shows more than the common columns for it. */
static bool has_fields(const struct ml_event *event, const struct ml_block *freed)
{
    switch (event->kind) {
    case ML_ALLOC:
    case ML_PUSH:
    case ML_POP: return false;
    case ML_FREE:
    case ML_MOVE: return freed && freed->label;
    default: return true;
    }
}

static void put_fields(struct ml_batch *b, const struct ml_event *event,
                       const struct ml_block *freed)
{
    static const char *const requested[] = {"requested_bytes", NULL};
    static const char *const stream[] = {"stream", NULL};
    static const char *const name[] = {"label", "name", "sampled_device", "reason", NULL};
    static const char *const category[] = {"category", NULL};
    static const char *const value[] = {"number", "value", "lost", "used_bytes", "exit_code", NULL};
    struct ml_event_view view = {.event = event};

    ml_event_fields(b->trace, freed, &view);
    put_number(b, REQUESTED, find_field(&view, requested));
    put_number(b, STREAM, find_field(&view, stream));
    put_text(b, NAME, find_field(&view, name));
    put_text(b, CATEGORY, find_field(&view, category));
    put_number(b, VALUE, find_field(&view, value));
}

static void put_no_fields(struct ml_batch *b)
{
    static const uint8_t fields[] = {REQUESTED, STREAM, NAME, CATEGORY, VALUE};

    for (size_t i = 0; i < ML_ARRAY_SIZE(fields); i++)
        ml_batch_null(b, fields[i]);
}

static void put_row(struct ml_batch *b, const struct ml_event *event, const struct ml_block *freed)
{
    bool frees_one = event->kind == ML_FREE || event->kind == ML_MOVE;

    ml_batch_u64(b, TIME, event->time_ns);
    ml_batch_text(b, KIND, event->kind);
    put_who(b, event);
    put_where(b, event);
    put_bytes(b, event, frees_one ? freed : NULL);
    if (has_fields(event, freed))
        put_fields(b, event, frees_one ? freed : NULL);
    else
        put_no_fields(b);
    ml_batch_end_row(b);
}

static int fill(void *state, struct ml_batch *b, struct ml_error *err)
{
    return ml_by_event_fill(state, b, put_row, err);
}

const struct ml_table_kind ml_table_events = {
    "events", columns, COLUMNS, ml_by_event_open_replay, fill, ml_by_event_close};
