/* event_fields.c: the facts in each kind of event, as keys and values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "events.h"

#include <sys/wait.h>

#include "event_names.h"
#include "memledger/memledger.h"
#include "samples.h"
#include "varint.h"

static void add_text(struct ml_event_view *v, const char *key, const char *text)
{
    if (v->field_count < ML_FIELDS_MAX)
        v->fields[v->field_count++] =
            (struct ml_field){.key = key, .type = ML_FIELD_TEXT, .text = text};
}

static void add_number(struct ml_event_view *v, const char *key, enum ml_field_type type,
                       uint64_t number)
{
    if (v->field_count < ML_FIELDS_MAX)
        v->fields[v->field_count++] = (struct ml_field){.key = key, .type = type, .number = number};
}

static void add_string(struct ml_event_view *v, const struct ml_trace *trace, const char *key,
                       uint64_t string)
{
    add_text(v, key, ml_trace_string(trace, (uint32_t)string, NULL));
}

static void freed_fields(const struct ml_trace *trace, const struct ml_block *freed,
                         struct ml_event_view *v)
{
    if (!freed)
        return;
    if (freed->label) {
        add_string(v, trace, "label", freed->label);
        add_text(v, "category", ml_category_name(freed->category));
    }
    add_number(v, "life_ns", ML_FIELD_TIME, v->event->time_ns - freed->time_ns);
}

static void push_fields(const struct ml_trace *trace, struct ml_event_view *v)
{
    const struct ml_scope *scope = ml_trace_scope(trace, v->event->scope);

    if (scope->class_name)
        add_string(v, trace, "class", scope->class_name);
}

static void mark_fields(const struct ml_trace *trace, struct ml_event_view *v)
{
    const uint64_t *args = v->event->args;

    add_text(v, "mark", ml_mark_name(args[0]));
    if (args[0] == MEMLEDGER_MARK_PHASE || args[0] == ML_MARK_TYPE)
        add_string(v, trace, "name", args[2]);
    else if (args[0] != ML_MARK_NODE)
        add_number(v, "number", ML_FIELD_COUNT, args[1]);
}

/* The process or device whose memory a sample's last value is. */
static void whose_fields(const struct ml_trace *trace, struct ml_event_view *v)
{
    uint32_t process;

    if (!ml_sample_about(v->event, &process)) {
        add_text(v, "of", "processes_not_recorded");
        return;
    }
    add_number(v, "of_pid", ML_FIELD_COUNT, ml_trace_process(trace, process)->pid);
    if (v->event->args[1] & ML_SAMPLE_SHARE)
        add_text(v, "counted", "by_share");
}

static void sample_fields(const struct ml_trace *trace, struct ml_event_view *v)
{
    static const char *const keys[] = {"used_bytes", "free_bytes", "total_bytes", "process_bytes"};
    uint64_t bits = v->event->args[1];

    add_string(v, trace, "sampled_device", v->event->args[0]);
    for (unsigned i = 0; i < 4; i++)
        if (bits & (1u << i))
            add_number(v, keys[i], ML_FIELD_BYTES, v->event->args[2 + i]);
    if (bits & ML_SAMPLE_BY_PROCESS)
        whose_fields(trace, v);
    if (bits & ML_SAMPLE_LAST)
        add_text(v, "when", "before_exit");
    else if (bits & ML_SAMPLE_INSIDE)
        add_text(v, "when", "after_call");
}

static void object_fields(const struct ml_trace *trace, struct ml_event_view *v)
{
    static const char *const kinds[] = {"unknown", "domain", "task", "frame", "event", "counter"};
    const struct ml_object *object = ml_trace_object(trace, (uint32_t)v->event->args[0]);

    add_text(v, "object", object->kind < ML_ARRAY_SIZE(kinds) ? kinds[object->kind] : "unknown");
    add_string(v, trace, "name", object->name);
    if (object->domain >= 0 && object->kind != 0)
        add_string(v, trace, "domain", ml_trace_object(trace, (uint32_t)object->domain)->name);
}

static void marker_fields(const struct ml_trace *trace, struct ml_event_view *v)
{
    const uint64_t *args = v->event->args;

    add_string(v, trace, "name", args[1]);
    if (args[0] > 0)
        add_string(v, trace, "domain", ml_trace_object(trace, (uint32_t)(args[0] - 1))->name);
    add_string(v, trace, "marker_scope", args[2]);
}

static void lost_fields(struct ml_event_view *v)
{
    static const char *const reasons[ML_LOST_REASONS] = {
        "unknown",      "ring_full",    "not_written",    "damaged",
        "not_followed", "names_folded", "spaces_refused", "details_lost"};
    const uint64_t *args = v->event->args;

    add_number(v, "lost", ML_FIELD_COUNT, args[0]);
    add_number(v, "since_ns", ML_FIELD_TIME, args[1]);
    add_text(v, "reason", args[2] < ML_ARRAY_SIZE(reasons) ? reasons[args[2]] : "unknown");
}

static void process_end_fields(const struct ml_trace *trace, struct ml_event_view *v)
{
    int status = (int)(v->event->args[1] - 1);

    add_number(v, "ended_pid", ML_FIELD_COUNT,
               ml_trace_process(trace, (uint32_t)v->event->args[0])->pid);
    if (v->event->args[1] == 0)
        return;
    if (WIFEXITED(status))
        add_number(v, "exit_code", ML_FIELD_COUNT, (uint64_t)WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        add_number(v, "signal", ML_FIELD_COUNT, (uint64_t)WTERMSIG(status));
}

void ml_event_fields(const struct ml_trace *trace, const struct ml_block *freed,
                     struct ml_event_view *v)
{
    const struct ml_event *event = v->event;

    v->field_count = 0;
    switch (event->kind) {
    case ML_ALLOC_EX:
        add_number(v, "requested_bytes", ML_FIELD_BYTES, event->args[0]);
        add_number(v, "stream", ML_FIELD_COUNT, event->args[1]);
        break;
    case ML_FREE:
    case ML_MOVE: freed_fields(trace, freed, v); break;
    case ML_LABEL:
        add_string(v, trace, "label", event->args[0]);
        add_text(v, "category", ml_category_name(event->args[1]));
        break;
    case ML_PUSH: push_fields(trace, v); break;
    case ML_MARK: mark_fields(trace, v); break;
    case ML_SAMPLE: sample_fields(trace, v); break;
    case ML_COUNTER:
        object_fields(trace, v);
        add_number(v, "value", ML_FIELD_SIGNED, (uint64_t)ml_unzigzag(event->args[1]));
        break;
    case ML_START:
    case ML_STOP: object_fields(trace, v); break;
    case ML_MARKER: marker_fields(trace, v); break;
    case ML_LOST: lost_fields(v); break;
    case ML_PROCESS_END: process_end_fields(trace, v); break;
    default: break;
    }
}
