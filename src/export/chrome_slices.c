/* chrome_slices.c: see chrome_slices.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chrome_slices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "memledger/memledger.h"
#include "read_table.h"
#include "varint.h"

static const uint32_t mark_tids[ML_CHROME_MARKS] = {
    [MEMLEDGER_MARK_STEP] = ML_CHROME_STEPS_TID,
    [MEMLEDGER_MARK_EPOCH] = ML_CHROME_EPOCHS_TID,
    [MEMLEDGER_MARK_PHASE] = ML_CHROME_PHASES_TID,
};
static const char *const mark_names[ML_CHROME_MARKS] = {
    [MEMLEDGER_MARK_STEP] = "step",
    [MEMLEDGER_MARK_EPOCH] = "epoch",
    [MEMLEDGER_MARK_PHASE] = "phase",
};

void ml_chrome_slices_init(struct ml_chrome_slices *s, struct ml_chrome *chrome)
{
    *s = (struct ml_chrome_slices){.chrome = chrome};
}

void ml_chrome_slices_release(struct ml_chrome_slices *s)
{
    for (size_t i = 0; i < s->threads.len; i++)
        ml_vec_release(&s->threads.items[i].open);
    ml_vec_release(&s->threads);
    ml_vec_release(&s->processes);
    ml_map_release(&s->thread_index);
    ml_map_release(&s->process_index);
    ml_map_release(&s->running);
}

static const char *string_of(const struct ml_chrome_slices *s, uint64_t string)
{
    return ml_trace_string(s->chrome->trace, (uint32_t)string, NULL);
}

/* ---- Scopes ------------------------------------------------------------- */

static struct ml_chrome_stack *stack_of(struct ml_chrome_slices *s, uint32_t thread)
{
    uint64_t at;

    if (!ml_map_get(&s->thread_index, thread, &at)) {
        at = s->threads.len;
        if (ml_map_put(&s->thread_index, thread, at) < 0 ||
            ml_vec_push(&s->threads, (struct ml_chrome_stack){.thread = thread}) < 0) {
            s->error = -ENOMEM;
            return NULL;
        }
    }
    return &s->threads.items[at];
}

static void close_scope(struct ml_chrome_slices *s, struct ml_chrome_stack *stack, uint64_t time_ns)
{
    uint32_t scope = stack->open.items[--stack->open.len];

    ml_chrome_begin(s->chrome, 'E', string_of(s, ml_trace_scope(s->chrome->trace, scope)->name),
                    NULL, time_ns, ml_chrome_thread(s->chrome, stack->thread));
    ml_chrome_end(s->chrome);
}

static void close_all(struct ml_chrome_slices *s, struct ml_chrome_stack *stack, uint64_t time_ns)
{
    while (stack->open.len > 0)
        close_scope(s, stack, time_ns);
}

static void push(struct ml_chrome_slices *s, const struct ml_event *event)
{
    const struct ml_scope *scope = ml_trace_scope(s->chrome->trace, event->scope);
    struct ml_chrome_stack *stack = stack_of(s, event->thread);
    struct ml_buf kind = {0};

    if (!stack)
        return;
    if (ml_vec_push(&stack->open, event->scope) < 0 ||
        ml_text_scope_kind(s->chrome->trace, scope->kind, &kind) < 0) {
        s->error = -ENOMEM;
        return;
    }
    ml_chrome_begin(s->chrome, 'B', string_of(s, scope->name), (const char *)kind.data,
                    event->time_ns, ml_chrome_thread(s->chrome, event->thread));
    if (scope->class_name)
        ml_json_kv_cstr(ml_chrome_args(s->chrome), "class", string_of(s, scope->class_name));
    ml_chrome_end(s->chrome);
    ml_buf_release(&kind);
}

static bool is_open(const struct ml_chrome_stack *stack, uint32_t scope)
{
    for (size_t i = stack->open.len; i > 0; i--)
        if (stack->open.items[i - 1] == scope)
            return true;
    return false;
}

/* If pops were lost, the thread's current scope shows how many. */
static void pop(struct ml_chrome_slices *s, const struct ml_event *event)
{
    struct ml_chrome_stack *stack = stack_of(s, event->thread);

    if (!stack || stack->open.len == 0)
        return;
    close_scope(s, stack, event->time_ns);
    if (stack->open.len > 0 && stack->open.items[stack->open.len - 1] != event->scope &&
        is_open(stack, event->scope))
        while (stack->open.items[stack->open.len - 1] != event->scope)
            close_scope(s, stack, event->time_ns);
}

/* ---- Marks -------------------------------------------------------------- */

static struct ml_chrome_process *process_of(struct ml_chrome_slices *s, uint32_t process)
{
    uint64_t at;

    if (!ml_map_get(&s->process_index, process, &at)) {
        at = s->processes.len;
        if (ml_map_put(&s->process_index, process, at) < 0 ||
            ml_vec_push(&s->processes, (struct ml_chrome_process){.process = process}) < 0) {
            s->error = -ENOMEM;
            return NULL;
        }
    }
    return &s->processes.items[at];
}

static void name_track(struct ml_chrome_slices *s, const struct ml_chrome_process *process,
                       size_t kind)
{
    struct ml_chrome_track track = {ml_chrome_pid(s->chrome, process->process), mark_tids[kind]};
    char plural[16];

    snprintf(plural, sizeof(plural), "%ss", mark_names[kind]);
    ml_chrome_name(s->chrome, "thread_name", track, plural);
    ml_chrome_sort(s->chrome, "thread_sort_index", track, (int64_t)kind - ML_CHROME_MARKS);
}

static void close_mark(struct ml_chrome_slices *s, struct ml_chrome_process *process, size_t kind,
                       uint64_t time_ns)
{
    struct ml_chrome_mark *mark = &process->marks[kind];
    struct ml_chrome_track track = {ml_chrome_pid(s->chrome, process->process), mark_tids[kind]};
    const char *name = string_of(s, mark->name);
    char title[512];

    if (!mark->open)
        return;
    mark->open = false;
    if (kind == MEMLEDGER_MARK_PHASE || (name[0] && strcmp(name, ML_STEP_AUTOMATIC)))
        snprintf(title, sizeof(title), "%s", name);
    else
        snprintf(title, sizeof(title), "%s %" PRIu64, mark_names[kind], mark->number);
    if (!title[0])
        return;
    ml_chrome_begin(s->chrome, 'X', title, mark_names[kind], mark->begin_ns, track);
    ml_json_key(&s->chrome->json, "dur");
    ml_json_thousandths(&s->chrome->json, time_ns - mark->begin_ns);
    if (kind != MEMLEDGER_MARK_PHASE)
        ml_json_kv_u64(ml_chrome_args(s->chrome), "number", mark->number);
    ml_chrome_end(s->chrome);
}

static void mark(struct ml_chrome_slices *s, const struct ml_event *event)
{
    uint32_t number = ml_trace_thread(s->chrome->trace, event->thread)->process;
    struct ml_chrome_process *process =
        event->args[0] < ML_CHROME_MARKS ? process_of(s, number) : NULL;

    if (!process)
        return;
    close_mark(s, process, event->args[0], event->time_ns);
    if (!process->marks[event->args[0]].named)
        name_track(s, process, event->args[0]);
    process->marks[event->args[0]] = (struct ml_chrome_mark){
        true, true, event->time_ns, event->args[1], (uint32_t)event->args[2]};
}

/* ---- Objects of the program ----------------------------------------- */

static const char *object_category(const struct ml_chrome_slices *s, const struct ml_object *object)
{
    const char *domain =
        object->domain >= 0
            ? string_of(s, ml_trace_object(s->chrome->trace, (uint32_t)object->domain)->name)
            : "";

    if (domain[0])
        return domain;
    return object->kind == MEMLEDGER_TASK    ? "task"
           : object->kind == MEMLEDGER_FRAME ? "frame"
                                             : "event";
}

static void put_object(struct ml_chrome_slices *s, char phase, uint32_t number, uint32_t thread,
                       uint64_t time_ns)
{
    const struct ml_object *object = ml_trace_object(s->chrome->trace, number);

    ml_chrome_begin(s->chrome, phase, string_of(s, object->name), object_category(s, object),
                    time_ns, ml_chrome_thread(s->chrome, thread));
    ml_chrome_id(s->chrome, number);
    ml_chrome_end(s->chrome);
}

static void start(struct ml_chrome_slices *s, const struct ml_event *event)
{
    uint32_t object = (uint32_t)event->args[0];
    uint64_t thread;

    if (ml_map_get(&s->running, object, &thread))
        return; /* a second start changes nothing, as in the profiler */
    if (ml_map_put(&s->running, object, event->thread) < 0)
        s->error = -ENOMEM;
    else
        put_object(s, 'b', object, event->thread, event->time_ns);
}

/* Ends on the track where it began, so that both are in one process. */
static void stop(struct ml_chrome_slices *s, const struct ml_event *event)
{
    uint64_t thread;

    if (ml_map_take(&s->running, (uint32_t)event->args[0], &thread))
        put_object(s, 'e', (uint32_t)event->args[0], (uint32_t)thread, event->time_ns);
}

static void counter(struct ml_chrome_slices *s, const struct ml_event *event)
{
    const struct ml_object *object = ml_trace_object(s->chrome->trace, (uint32_t)event->args[0]);

    ml_chrome_begin(s->chrome, 'C', string_of(s, object->name), NULL, event->time_ns,
                    ml_chrome_thread(s->chrome, event->thread));
    ml_json_kv_i64(ml_chrome_args(s->chrome), "value", ml_unzigzag(event->args[1]));
    ml_chrome_end(s->chrome);
}

/* ---- Moments ------------------------------------------------------------ */

/* @reach  its extent: "g" all, "p" the process, "t" the thread */
static void begin_moment(struct ml_chrome_slices *s, const struct ml_event *event, const char *name,
                         const char *category, const char *reach)
{
    ml_chrome_begin(s->chrome, 'i', name, category, event->time_ns,
                    ml_chrome_thread(s->chrome, event->thread));
    ml_json_kv_cstr(&s->chrome->json, "s", reach);
}

static void marker(struct ml_chrome_slices *s, const struct ml_event *event)
{
    const char *scope = string_of(s, event->args[2]);

    begin_moment(s, event, string_of(s, event->args[1]), "marker",
                 strcmp(scope, "global") == 0   ? "g"
                 : strcmp(scope, "thread") == 0 ? "t"
                                                : "p");
    ml_chrome_end(s->chrome);
}

static void out_of_memory(struct ml_chrome_slices *s, const struct ml_event *event)
{
    const struct ml_space *space = ml_trace_space(s->chrome->trace, event->space);

    begin_moment(s, event, "out of memory", "oom", "p");
    ml_json_kv_u64(ml_chrome_args(s->chrome), "asked_bytes", event->size);
    ml_json_kv_cstr(&s->chrome->json, "device", string_of(s, space->device));
    ml_json_kv_cstr(&s->chrome->json, "space", string_of(s, space->name));
    ml_chrome_end(s->chrome);
}

static void lost(struct ml_chrome_slices *s, const struct ml_event *event)
{
    begin_moment(s, event, "events lost", "loss", "g");
    ml_json_kv_u64(ml_chrome_args(s->chrome), "events", event->args[0]);
    ml_chrome_end(s->chrome);
}

/* ---- Ends --------------------------------------------------------------- */

static void end_thread(struct ml_chrome_slices *s, const struct ml_event *event)
{
    struct ml_chrome_stack *stack = stack_of(s, event->thread);

    if (stack)
        close_all(s, stack, event->time_ns);
}

static void end_process(struct ml_chrome_slices *s, uint32_t number, uint64_t time_ns)
{
    struct ml_chrome_process *process = process_of(s, number);

    for (size_t i = 0; i < s->threads.len; i++)
        if (ml_trace_thread(s->chrome->trace, s->threads.items[i].thread)->process == number)
            close_all(s, &s->threads.items[i], time_ns);
    for (size_t i = 0; process && i < ML_CHROME_MARKS; i++)
        close_mark(s, process, i, time_ns);
}

void ml_chrome_slices_finish(struct ml_chrome_slices *s)
{
    uint64_t end_ns = ml_trace_info(s->chrome->trace)->end_ns, object, thread;
    size_t cursor = 0;

    for (size_t i = 0; i < s->threads.len; i++)
        close_all(s, &s->threads.items[i], end_ns);
    for (size_t i = 0; i < s->processes.len; i++)
        for (size_t kind = 0; kind < ML_CHROME_MARKS; kind++)
            close_mark(s, &s->processes.items[i], kind, end_ns);
    while (ml_map_next(&s->running, &cursor, &object, &thread))
        put_object(s, 'e', (uint32_t)object, (uint32_t)thread, end_ns);
}

void ml_chrome_slices_event(struct ml_chrome_slices *s, const struct ml_event *event)
{
    if (s->error)
        return;
    switch (event->kind) {
    case ML_PUSH: push(s, event); break;
    case ML_POP: pop(s, event); break;
    case ML_MARK: mark(s, event); break;
    case ML_START: start(s, event); break;
    case ML_STOP: stop(s, event); break;
    case ML_COUNTER: counter(s, event); break;
    case ML_MARKER: marker(s, event); break;
    case ML_OOM: out_of_memory(s, event); break;
    case ML_LOST: lost(s, event); break;
    case ML_THREAD_END: end_thread(s, event); break;
    case ML_PROCESS_END: end_process(s, (uint32_t)event->args[0], event->time_ns); break;
    default: break;
    }
}
