/* trace_dump.c: prints a trace for the integration tests: one JSON object with everything that
 * it defines, the events of each kind and thread, and how its books balance; with --events,
 * every event too.
 *
 *     trace_dump [--events] FILE
 *
 * Separate from the reports on purpose: a test of the recorder must not fail because a report
 * changes its words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "defs.h"
#include "event_names.h"
#include "json.h"
#include "replay.h"
#include "trace.h"

static const char *const hows[] = {"?", "started", "forked", "exec"};

static void kv_string(struct ml_json *j, const char *key, const struct ml_trace *t, uint32_t string)
{
    ml_json_kv_cstr(j, key, ml_trace_string(t, string, NULL));
}

/* "a > b > c" */
static void scope_path(const struct ml_trace *t, uint32_t scope, struct ml_buf *out)
{
    const struct ml_scope *s = ml_trace_scope(t, scope);

    if (!scope)
        return;
    scope_path(t, s->parent, out);
    ml_buf_printf(out, "%s%s", s->parent ? " > " : "", ml_trace_string(t, s->name, NULL));
}

static void processes(struct ml_json *j, const struct ml_trace *t)
{
    ml_json_key(j, "processes");
    ml_json_begin_array(j);
    for (uint32_t i = 0; i < ml_trace_processes(t); i++) {
        const struct ml_process *p = ml_trace_process(t, i);
        ml_json_begin_object(j);
        ml_json_kv_u64(j, "pid", p->pid);
        ml_json_kv_i64(j, "parent", p->parent);
        ml_json_kv_cstr(j, "how", hows[p->how < 4 ? p->how : 0]);
        kv_string(j, "command", t, p->command);
        ml_json_end_object(j);
    }
    ml_json_end_array(j);
}

static void spaces(struct ml_json *j, const struct ml_trace *t)
{
    ml_json_key(j, "spaces");
    ml_json_begin_array(j);
    for (uint32_t i = 0; i < ml_trace_spaces(t); i++) {
        const struct ml_space *s = ml_trace_space(t, i);
        ml_json_begin_object(j);
        ml_json_kv_u64(j, "process", s->process);
        kv_string(j, "device", t, s->device);
        kv_string(j, "name", t, s->name);
        ml_json_kv_u64(j, "level", s->level);
        ml_json_end_object(j);
    }
    ml_json_end_array(j);
}

static void libraries(struct ml_json *j, const struct ml_trace *t)
{
    ml_json_key(j, "libraries");
    ml_json_begin_array(j);
    for (uint32_t i = 0; i < ml_trace_libraries(t); i++) {
        const struct ml_library *l = ml_trace_library(t, i);
        ml_json_begin_object(j);
        ml_json_kv_u64(j, "process", l->process);
        ml_json_kv_u64(j, "base", l->base);
        ml_json_kv_u64(j, "end", l->end);
        kv_string(j, "path", t, l->path);
        kv_string(j, "build_id", t, l->build_id);
        ml_json_end_object(j);
    }
    ml_json_end_array(j);
}

static void kinds(struct ml_json *j, const char *key, const uint64_t counts[32])
{
    ml_json_key(j, key);
    ml_json_begin_object(j);
    for (int i = 0; i < 32; i++) {
        if (counts[i])
            ml_json_kv_u64(j, ml_shapes[i].name, counts[i]);
    }
    ml_json_end_object(j);
}

struct tally {
    uint64_t kinds[32];
    uint64_t (*by_thread)[32];
    uint32_t threads;
};

static void threads(struct ml_json *j, const struct ml_trace *t, const struct tally *tally)
{
    ml_json_key(j, "threads");
    ml_json_begin_array(j);
    for (uint32_t i = 0; i < tally->threads; i++) {
        const struct ml_thread *thread = ml_trace_thread(t, i);
        ml_json_begin_object(j);
        ml_json_kv_u64(j, "process", thread->process);
        ml_json_kv_u64(j, "tid", thread->tid);
        kv_string(j, "name", t, thread->name);
        kinds(j, "kinds", tally->by_thread[i]);
        ml_json_end_object(j);
    }
    ml_json_end_array(j);
}

/* Innermost frame first, each [function, library, address], of Python [function,
 * file, line]; null: unknown. */
static void stack(struct ml_json *j, const struct ml_trace *t, uint32_t number)
{
    ml_json_key(j, "stack");
    ml_json_begin_array(j);
    for (; number; number = ml_trace_stack(t, number)->caller) {
        const struct ml_frame *f = ml_trace_frame(t, ml_trace_stack(t, number)->frame);
        ml_json_begin_array(j);
        ml_json_cstr(j, f->function ? ml_trace_string(t, f->function, NULL) : NULL);
        if (f->kind == ML_FRAME_PYTHON)
            ml_json_cstr(j, ml_trace_string(t, f->file, NULL));
        else if (f->library >= 0)
            ml_json_u64(j, (uint64_t)f->library);
        else
            ml_json_null(j);
        ml_json_u64(j, f->kind == ML_FRAME_PYTHON ? f->line : f->address);
        ml_json_end_array(j);
    }
    ml_json_end_array(j);
}

/* The object of a start or stop, and its domain. */
static void kv_object(struct ml_json *j, const struct ml_trace *t, uint32_t number)
{
    const struct ml_object *o = ml_trace_object(t, number);

    ml_json_kv_u64(j, "object", number);
    kv_string(j, "name", t, o->name);
    if (o->domain >= 0)
        kv_string(j, "domain", t, ml_trace_object(t, (uint32_t)o->domain)->name);
}

static void kv_marker(struct ml_json *j, const struct ml_trace *t, const struct ml_event *e)
{
    kv_string(j, "name", t, (uint32_t)e->args[1]);
    if (e->args[0])
        kv_string(j, "domain", t, ml_trace_object(t, (uint32_t)e->args[0] - 1)->name);
}

static void one_event(struct ml_json *j, const struct ml_trace *t, const struct ml_event *e)
{
    const struct ml_shape *shape = &ml_shapes[e->kind];
    struct ml_buf path;

    ml_buf_init(&path);
    ml_json_begin_object(j);
    ml_json_kv_cstr(j, "kind", shape->name);
    ml_json_kv_u64(j, "time", e->time_ns);
    ml_json_kv_u64(j, "thread", e->thread);
    if (shape->bits & ML_HAS_ADDR) {
        ml_json_kv_u64(j, "space", e->space);
        ml_json_kv_u64(j, "addr", e->addr);
    }
    if (shape->bits & ML_HAS_SIZE)
        ml_json_kv_u64(j, "size", e->size);
    if (e->stack)
        stack(j, t, e->stack);
    if (e->kind == ML_LABEL) {
        const char *category = ml_category_name(e->args[1]);

        kv_string(j, "label", t, (uint32_t)e->args[0]);
        ml_json_kv_string(j, "category", category, strlen(category));
    }
    if (e->kind == ML_START || e->kind == ML_STOP)
        kv_object(j, t, (uint32_t)e->args[0]);
    if (e->kind == ML_MARKER)
        kv_marker(j, t, e);
    if (e->kind == ML_PUSH) {
        ml_json_kv_u64(j, "scope_kind", ml_trace_scope(t, e->scope)->kind);
        kv_string(j, "scope_class", t, ml_trace_scope(t, e->scope)->class_name);
    }
    scope_path(t, e->scope, &path);
    ml_buf_append(&path, "", 1);
    ml_json_kv_cstr(j, "scope", (char *)path.data);
    ml_json_end_object(j);
    ml_buf_release(&path);
}

static bool belongs_to_thread(const struct ml_event *e)
{
    return e->kind != ML_SAMPLE || e->args[1] & (ML_SAMPLE_INSIDE | ML_SAMPLE_LAST);
}

static int feed(const struct ml_trace *t, struct ml_replay *replay, struct tally *tally,
                struct ml_json *events, struct ml_error *err)
{
    const struct ml_event *batch;
    struct ml_cursor *c;
    int n = ml_cursor_open(t, 0, UINT64_MAX, &c, err);

    if (n)
        return n;
    while ((n = ml_cursor_next(c, &batch, err)) > 0) {
        if (ml_replay_feed_all(replay, batch, (size_t)n))
            break;
        for (int i = 0; i < n; i++) {
            tally->kinds[batch[i].kind]++;
            if (batch[i].thread < tally->threads && belongs_to_thread(&batch[i]))
                tally->by_thread[batch[i].thread][batch[i].kind]++;
            if (events)
                one_event(events, t, &batch[i]);
        }
    }
    ml_cursor_free(c);
    return n;
}

static void head(struct ml_json *j, const struct ml_trace *t, const struct ml_replay *r)
{
    const struct ml_trace_info *info = ml_trace_info(t);

    ml_json_kv_bool(j, "has_index", info->has_index);
    ml_json_kv_u64(j, "events_in_file", info->events);
    ml_json_kv_u64(j, "file_bytes", info->file_bytes);
    ml_json_kv_u64(j, "lost", r->lost);
    ml_json_kv_u64(j, "lost_ring_full", r->lost_by[ML_LOST_RING_FULL]);
    ml_json_kv_u64(j, "lost_not_written", r->lost_by[ML_LOST_NOT_WRITTEN]);
    ml_json_kv_u64(j, "lost_damaged", r->lost_by[ML_LOST_DAMAGED]);
    ml_json_kv_u64(j, "replaced", r->replaced);
    ml_json_kv_u64(j, "unknown_frees", r->unknown_frees);
    ml_json_kv_u64(j, "inherited_frees", r->inherited_frees);
    ml_json_kv_u64(j, "live_bytes", r->bytes.live_bytes);
    ml_json_kv_u64(j, "peak_bytes", r->bytes.peak_bytes);
}

static int dump(const struct ml_trace *t, bool with_events, struct ml_error *err)
{
    struct tally tally = {.threads = ml_trace_threads(t)};
    struct ml_replay replay;
    struct ml_json j;
    struct ml_buf out;
    int r;

    ml_buf_init(&out);
    ml_json_init(&j, &out, false);
    tally.by_thread = calloc(tally.threads + 1, sizeof(*tally.by_thread));
    r = ml_replay_init(&replay, t);
    if (r || !tally.by_thread)
        return -1;
    ml_json_begin_object(&j);
    if (with_events) {
        ml_json_key(&j, "events");
        ml_json_begin_array(&j);
    }
    r = feed(t, &replay, &tally, with_events ? &j : NULL, err);
    if (with_events)
        ml_json_end_array(&j);
    head(&j, t, &replay);
    kinds(&j, "kinds", tally.kinds);
    processes(&j, t);
    threads(&j, t, &tally);
    spaces(&j, t);
    libraries(&j, t);
    ml_json_end_object(&j);
    if (!r && !ml_json_finish(&j))
        fwrite(out.data, 1, out.len, stdout);
    ml_buf_release(&out);
    ml_replay_release(&replay);
    free(tally.by_thread);
    return r;
}

int main(int argc, char **argv)
{
    bool with_events = argc > 2 && !strcmp(argv[1], "--events");
    struct ml_error err = {0};
    struct ml_trace *t;
    int r;

    if (argc < 2)
        return 2;
    r = ml_trace_open(argv[argc - 1], &(struct ml_trace_opts){0}, &t, &err);
    if (!r) {
        r = dump(t, with_events, &err);
        ml_trace_free(t);
    }
    if (r)
        fprintf(stderr, "trace_dump: %s\n", err.text);
    return r ? 1 : 0;
}
