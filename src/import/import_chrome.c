/* import_chrome.c: Chrome traces: MXNet's profiler, PyTorch's, and other programs that write
 * the format.
 *
 * Durations become objects that are started and stopped, except the operators of PyTorch's
 * profiler, which become scopes, so that its memory events are attributed to them. Such files
 * are not sorted, so the sink sorts the events; scopes are derived from the sorted events.
 * MXNet's counters of memory become samples too, since they are the only memory in its profiles.
 *
 * MXNet's files are not always JSON. Names are not escaped, an unfinished file lacks its end,
 * and the file of a second dump begins with a comma. See json_reader.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "block.h"
#include "chrome_memory.h"
#include "chrome_entities.h"
#include "import_formats.h"
#include "import_limits.h"
#include "memledger/memledger.h"
#include "varint.h"

struct chrome {
    struct ml_json_reader json;
    struct ml_chrome_event event;
    struct ml_chrome_entities world;
    struct ml_import_sink *sink;
    uint64_t base_ns; /* the base of all times, if the file gives one */
    bool has_base;
    bool is_mxnet;
    bool has_memory_events;
    uint64_t events, memory_samples;
};

/* ---- Categories --------------------------------------------------------- */

/* Turns "example,frame" into the domain "example". */
static struct ml_slice without_suffix(struct ml_slice cat, const char *suffix)
{
    size_t len = strlen(suffix);

    if (cat.len >= len && memcmp(cat.text + cat.len - len, suffix, len) == 0)
        cat.len -= len;
    return cat;
}

static bool is_operator(struct ml_slice cat)
{
    return ml_slice_is(cat, "operator") || ml_slice_is(cat, "Custom Operator");
}

/* Categories of PyTorch's profiler that can contain allocations. */
static bool is_scope(struct ml_slice cat)
{
    return ml_slice_is(cat, "cpu_op") || ml_slice_is(cat, "user_annotation");
}

/* ---- Durations ---------------------------------------------------------- */

static void put(struct chrome *c, uint32_t kind, uint64_t time_ns, uint32_t thread, uint64_t arg)
{
    struct ml_event event = {
        .kind = (uint8_t)kind, .time_ns = time_ns, .thread = thread, .args = {arg}};

    ml_import_event(c->sink, &event);
}

static uint32_t duration_object(struct chrome *c, const struct ml_chrome_thread *t, uint32_t kind,
                                bool by_id)
{
    struct ml_slice cat = ml_chrome_field(&c->event, ML_CHROME_CAT);
    struct ml_slice id = {"", 0};
    uint32_t domain;

    if (by_id)
        id = ml_chrome_field(&c->event, ML_CHROME_ID);
    if (kind == MEMLEDGER_FRAME)
        cat = without_suffix(cat, ",frame");
    domain = kind == MEMLEDGER_EVENT ? 0 : ml_chrome_domain(&c->world, t->process, cat);
    return ml_chrome_object(&c->world, t->process, kind, domain,
                            ml_chrome_field(&c->event, ML_CHROME_NAME), t->thread, id);
}

/* Events of MXNet have no domain; everything else with B and E is a task. */
static uint32_t kind_of_pair(const struct chrome *c, char phase)
{
    if (phase == '(' || phase == ')')
        return MEMLEDGER_FRAME;
    if ((phase == 'B' || phase == 'E') && c->is_mxnet &&
        ml_slice_is(ml_chrome_field(&c->event, ML_CHROME_CAT), "event"))
        return MEMLEDGER_EVENT;
    return MEMLEDGER_TASK;
}

/* MXNet writes operators twice, on their device and as tasks; this skips one of them. */
static void put_pair(struct chrome *c, char phase, uint64_t time_ns)
{
    bool is_async = phase == 'b' || phase == 'e';
    bool begins = phase == 'b' || phase == 'B' || phase == '(';
    struct ml_chrome_thread t;

    if (is_async && c->is_mxnet && is_operator(ml_chrome_field(&c->event, ML_CHROME_CAT)))
        return;
    t = ml_chrome_thread_of(&c->world, &c->event);
    put(c, begins ? ML_START : ML_STOP, time_ns, t.thread,
        duration_object(c, &t, kind_of_pair(c, phase), is_async));
}

/* An event with its duration. */
static void put_complete(struct chrome *c, uint64_t time_ns)
{
    struct ml_slice name = ml_chrome_field(&c->event, ML_CHROME_NAME);
    struct ml_chrome_thread t = ml_chrome_thread_of(&c->world, &c->event);
    struct ml_slice cat = ml_chrome_field(&c->event, ML_CHROME_CAT);
    uint64_t dur_ns, object;

    if (!ml_chrome_ns(ml_chrome_field(&c->event, ML_CHROME_DUR), &dur_ns))
        return;
    if (is_scope(cat)) {
        uint64_t kind =
            ml_slice_is(cat, "cpu_op") ? MEMLEDGER_SCOPE_OPERATOR : MEMLEDGER_SCOPE_USER;
        uint64_t key = (uint64_t)ml_dict_string(&c->sink->dict, name.text, name.len) << 8 | kind;

        put(c, ML_PUSH, time_ns, t.thread, key);
        put(c, ML_POP, time_ns + dur_ns, t.thread, key);
        return;
    }
    object = duration_object(c, &t, MEMLEDGER_TASK, false);
    put(c, ML_START, time_ns, t.thread, object);
    put(c, ML_STOP, time_ns + dur_ns, t.thread, object);
}

/* ---- Counters and markers ----------------------------------------------- */

/* "Memory: gpu/0" of "Device Storage": the bytes that MXNet has from that device. */
static void put_memory_sample(struct chrome *c, const struct ml_event *counter,
                              struct ml_slice name, int64_t bytes)
{
    static const char prefix[] = "Memory: ";
    struct ml_event sample = {
        .kind = ML_SAMPLE, .time_ns = counter->time_ns, .thread = counter->thread};

    if (!ml_slice_is(ml_chrome_field(&c->event, ML_CHROME_CAT), "Device Storage") ||
        !ml_slice_begins(name, prefix) || bytes < 0 || bytes > (int64_t)ML_IMPORT_BYTES_MAX)
        return;
    name = (struct ml_slice){name.text + sizeof(prefix) - 1, name.len - (sizeof(prefix) - 1)};
    sample.args[0] = ml_dict_string(&c->sink->dict, name.text, name.len);
    sample.args[1] = ML_SAMPLE_USED;
    sample.args[2] = (uint64_t)bytes;
    ml_import_event(c->sink, &sample);
    c->memory_samples++;
}

static void put_counter(struct chrome *c, uint64_t time_ns, const struct ml_chrome_arg *arg)
{
    struct ml_slice name = ml_chrome_field(&c->event, ML_CHROME_NAME);
    struct ml_slice key = ml_chrome_text(&c->event, arg->key);
    struct ml_chrome_thread t = ml_chrome_thread_of(&c->world, &c->event);
    struct ml_event event = {.kind = ML_COUNTER, .time_ns = time_ns, .thread = t.thread};
    char both[300];
    int64_t value;

    if (arg->value.token != ML_JSON_NUMBER ||
        !ml_chrome_i64(ml_chrome_text(&c->event, arg->value), &value))
        return;
    if (name.len != key.len || memcmp(name.text, key.text, key.len) != 0) {
        int len = snprintf(both, sizeof(both), "%.*s: %.*s", (int)(name.len < 128 ? name.len : 128),
                           name.text, (int)(key.len < 128 ? key.len : 128), key.text);

        name = (struct ml_slice){both, (size_t)len};
    }
    event.args[0] = ml_chrome_object(
        &c->world, t.process, MEMLEDGER_COUNTER,
        ml_chrome_domain(&c->world, t.process, ml_chrome_field(&c->event, ML_CHROME_CAT)), name, 0,
        (struct ml_slice){"*", 1});
    event.args[1] = ml_zigzag(value);
    ml_import_event(c->sink, &event);
    put_memory_sample(c, &event, name, value);
}

static void put_marker(struct chrome *c, uint64_t time_ns)
{
    struct ml_slice cat = ml_chrome_field(&c->event, ML_CHROME_CAT);
    struct ml_slice name = ml_chrome_field(&c->event, ML_CHROME_NAME);
    struct ml_slice s = ml_chrome_field(&c->event, ML_CHROME_S);
    struct ml_chrome_thread t = ml_chrome_thread_of(&c->world, &c->event);
    struct ml_event event = {.kind = ML_MARKER, .time_ns = time_ns, .thread = t.thread};
    const char *scope = ml_slice_is(s, "g") ? "global" : ml_slice_is(s, "t") ? "thread" : "process";

    event.args[0] = ml_chrome_domain(&c->world, t.process, without_suffix(cat, ",instant_marker"));
    event.args[1] = ml_dict_string(&c->sink->dict, name.text, name.len);
    event.args[2] = ml_dict_cstr(&c->sink->dict, scope);
    ml_import_event(c->sink, &event);
}

/* ---- Events ------------------------------------------------------------- */

static int put_instant(struct chrome *c, uint64_t time_ns, struct ml_error *err)
{
    int r = ml_chrome_memory(&c->world, &c->event, time_ns);

    if (r < 0)
        return ml_import_bad(c->json.source, err, "%s", ML_IMPORT_TOO_LARGE);
    if (r == 0)
        put_marker(c, time_ns);
    else
        c->has_memory_events = true;
    return 0;
}

static int put_event(struct chrome *c, struct ml_error *err)
{
    struct ml_slice ph = ml_chrome_field(&c->event, ML_CHROME_PH);
    uint64_t time_ns;

    if (ph.len != 1)
        return 0;
    if (ph.text[0] == 'M') {
        ml_chrome_name_process(&c->world, &c->event);
        return 0;
    }
    if (!strchr("BEbe()XCiIn", ph.text[0]))
        return 0;
    if (!ml_chrome_ns(ml_chrome_field(&c->event, ML_CHROME_TS), &time_ns))
        return ml_import_bad(c->json.source, err, "an event without a time 'ts'");
    c->events++;
    switch (ph.text[0]) {
    case 'X': put_complete(c, time_ns); return 0;
    case 'C':
        for (unsigned i = 0; i < c->event.arg_count; i++)
            put_counter(c, time_ns, &c->event.args[i]);
        return 0;
    case 'i':
    case 'I':
    case 'n': return put_instant(c, time_ns, err);
    default: put_pair(c, ph.text[0], time_ns); return 0;
    }
}

/* The array of events; 0 at its end, or at the end of the source if the array has none. */
static int read_events(struct chrome *c, struct ml_error *err)
{
    for (;;) {
        int token = ml_json_next(&c->json, err);
        int r;

        if (token == ML_JSON_ARRAY_END)
            return 0;
        if (token <= ML_JSON_END)
            return token;
        if (token != ML_JSON_OBJECT)
            return ml_import_bad(c->json.source, err, "a value among the events is not an event");
        r = ml_chrome_event_read(&c->event, &c->json, err);
        if (r > 0)
            r = put_event(c, err);
        if (r < 0)
            return r;
        if (c->world.error)
            return ml_error_set(err, c->world.error, "not enough memory, or too many names");
    }
}

/* A value beside the events. */
static int read_other(struct chrome *c, struct ml_error *err)
{
    bool is_events = ml_slice_is(ml_json_text(&c->json), "traceEvents");
    bool is_base = ml_slice_is(ml_json_text(&c->json), "baseTimeNanoseconds");
    int token = ml_json_next(&c->json, err);

    if (token <= ML_JSON_END)
        return token;
    if (is_events && token == ML_JSON_ARRAY)
        return read_events(c, err);
    if (is_base && token == ML_JSON_NUMBER)
        c->has_base = ml_slice_u64(ml_json_text(&c->json), &c->base_ns);
    return ml_json_skip(&c->json, token, err);
}

static int read_file(struct chrome *c, struct ml_error *err)
{
    int token = ml_json_next(&c->json, err);

    if (token == ML_JSON_ARRAY)
        return read_events(c, err);
    if (token >= 0 && token != ML_JSON_OBJECT)
        return ml_import_bad(c->json.source, err, "neither '{' nor '[' at the beginning");
    while (token > ML_JSON_END) {
        token = ml_json_next(&c->json, err);
        if (token == ML_JSON_OBJECT_END)
            return 0;
        if (token == ML_JSON_KEY) {
            int r = read_other(c, err);

            if (r < 0)
                return r;
        }
    }
    return token;
}

/* ---- In order of time --------------------------------------------------- */

/* False when it is nested deeper than a trace allows. */
static bool open_scope(struct ml_dict *dict, struct ml_chrome_thread *t, uint32_t name,
                       uint32_t kind)
{
    if (t->depth == ML_SCOPE_MAX_DEPTH)
        return false;
    t->scope = ml_dict_scope(dict, &(struct ml_dict_scope){t->scope, kind, name, 0});
    t->depth++;
    return true;
}

/* Pops up to the scope with this name and kind; false when none is open. */
static bool close_scope(struct ml_dict *dict, struct ml_chrome_thread *t, uint32_t name,
                        uint32_t kind)
{
    uint32_t depth = t->depth;

    for (uint32_t at = t->scope; at; at = ml_dict_scope_parent(dict, at)) {
        struct ml_dict_scope found = ml_dict_scope_at(dict, at);

        depth--;
        if (found.name == name && found.kind == kind) {
            t->scope = found.parent;
            t->depth = depth;
            return true;
        }
    }
    return false;
}

/* Gives each event the current scope of its thread. */
static bool place(void *ctx, struct ml_event *event)
{
    struct chrome *c = ctx;
    struct ml_chrome_thread *t = &c->world.threads.items[event->thread];
    uint32_t name = (uint32_t)(event->args[0] >> 8), kind = event->args[0] & 0xff;

    if (event->kind == ML_PUSH && !open_scope(&c->sink->dict, t, name, kind))
        return false;
    if (event->kind == ML_POP && !close_scope(&c->sink->dict, t, name, kind))
        return false;
    event->scope = t->scope;
    return true;
}

/* ---- The format --------------------------------------------------------- */

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
        p++;
    return p;
}

/* MXNet's first lines. memledger's own profiles begin the same way but differ after the first
 * record; their names are escaped. */
static bool looks_like_mxnet(const uint8_t *head, size_t len)
{
    static const char start[] = "{\n    \"traceEvents\": [\n";
    static const char first[] = "        {\n            \"ph\": \"M\",\n";
    const char *end = (const char *)head + len;
    const char *p = (const char *)head + sizeof(start) - 1;
    const char *close;

    if (len < sizeof(start) - 1 || memcmp(head, start, sizeof(start) - 1) != 0)
        return false;
    if ((size_t)(end - p) < sizeof(first) - 1 || memcmp(p, first, sizeof(first) - 1) != 0) {
        p = skip_blanks(p, end);
        return p == end || *p == ',' || *p == '{';
    }
    close = memmem(p, (size_t)(end - p), "\n        }", 10);
    return !close || close + 10 == end || close[10] == ',';
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct chrome c = {.json = {.source = source}, .sink = sink};
    const uint8_t *head;
    size_t len;
    int r = ml_import_peek(source, ML_IMPORT_HEAD_BYTES, &head, &len, err);

    if (r < 0)
        return r;
    c.is_mxnet = c.json.raw = looks_like_mxnet(head, len);
    ml_chrome_entities_init(&c.world, sink);
    c.world.one_process = c.is_mxnet;
    sink->unordered = sink->absolute = true;
    r = read_file(&c, err);
    if (r >= 0 && c.events == 0)
        r = ml_error_set(err, -EINVAL, "%s: has no events of a Chrome trace", source->name);
    if (r >= 0) {
        sink->wall_known = c.is_mxnet || c.has_base;
        sink->wall_base_ns = c.base_ns;
        if (!c.has_memory_events)
            ml_import_unknown(sink, ML_UNKNOWN_BLOCKS);
        if (c.memory_samples && !c.has_memory_events)
            ml_dict_config(&sink->dict, "sample_only", "yes");
        sink->on_ordered = place;
        sink->ordered_ctx = &c;
        ml_import_sink_sort(sink);
        sink->on_ordered = NULL;
    }
    ml_chrome_event_release(&c.event);
    ml_chrome_entities_release(&c.world);
    ml_json_reader_release(&c.json);
    return r < 0 ? r : 0;
}

static int recognise(const uint8_t *head, size_t len)
{
    const char *end = (const char *)head + len;
    const char *p = skip_blanks((const char *)head, end);

    if (p == end || (*p != '{' && *p != '['))
        return 0;
    if (*p == '{')
        return memmem(head, len, "\"traceEvents\"", 13) ? 95 : 0;
    return memmem(head, len, "\"ph\"", 4) ? 60 : 0;
}

const struct ml_import_format ml_import_chrome = {
    .name = "chrome",
    .help = "Chrome traces of MXNet's profiler, and of PyTorch's with its memory events",
    .recognise = recognise,
    .run = run,
};
